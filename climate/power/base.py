# SPDX-License-Identifier: Apache-2.0
"""The contract of a power driver, an entry point of ``climate.power``."""
import abc
from collections.abc import Mapping
from typing import Protocol

from oslo_config import cfg

from climate import errors

ON, OFF = 'on', 'off'


class Resource(Protocol):
    """What a driver needs to know of the machine of a resource, or of several."""

    @property
    def name(self) -> str:
        """The name of the machine: that of a host, or of the host of storage back ends."""

    @property
    def properties(self) -> Mapping[str, str]:
        """What operators say of the resources on it."""


class Driver(abc.ABC):
    """Switches resources. One instance serves all threads of a manager.

    Each method ends within [energy] timeout_seconds, or little later, and may be repeated. It
    raises ``errors.PowerFailed`` if the resource, or what switches it, refuses or does not answer.
    No error may have a password in it.
    """

    def __init__(self, conf: cfg.ConfigOpts, cloud: object) -> None:
        """Prepare the driver without calling anything.

        :param cloud: the cloud of the manager; only the simulated driver uses it.
        :raises ConfigurationError: its options are missing or wrong.
        """
        self.conf = conf

    @abc.abstractmethod
    def state(self, resource: Resource) -> str:
        """Return ON or OFF. While it is being switched, it is still what it was.

        :raises errors.PowerFailed: its state is not known now.
        """

    def check(self, resource: Resource) -> None:
        """Check, without switching it, that the resource can be put to sleep and woken again.

        :raises errors.PowerFailed: it cannot, or that is not known now.
        """
        self.state(resource)

    @abc.abstractmethod
    def wake(self, resource: Resource) -> None:
        """Switch the resource on; do not wait until it has booted."""

    @abc.abstractmethod
    def sleep(self, resource: Resource) -> None:
        """Ask the resource to shut down; do not wait until it is off."""
