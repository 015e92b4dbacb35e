# SPDX-License-Identifier: Apache-2.0
"""The contract of a power driver, an entry point of ``climate.power``."""
import abc
from collections.abc import Mapping
from typing import Protocol

from oslo_config import cfg

ON, OFF = 'on', 'off'


class SwitchedMachine(Protocol):
    """A machine, as a driver sees it, with the resources on it."""

    @property
    def name(self) -> str:
        """The name of the machine: that of a host, or of the host of storage back ends."""

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties that operators gave to the resources on it."""


class Driver(abc.ABC):
    """Switches machines. One instance serves all threads of a manager.

    Each method ends within [energy] timeout_seconds, or little later, and may be repeated. It
    raises ``errors.PowerFailed`` if the machine, or its BMC, refuses or does not answer. No error
    may contain a password.
    """

    def __init__(self, conf: cfg.ConfigOpts, cloud: object) -> None:
        """Prepare the driver without calling anything.

        :param cloud: the cloud of the manager; only the simulated driver uses it.
        :raises ConfigurationError: its options are missing or wrong.
        """
        self.conf = conf

    @abc.abstractmethod
    def state(self, machine: SwitchedMachine) -> str:
        """Return ON or OFF; the old state while the machine is being switched.

        :raises errors.PowerFailed: its state is not known now.
        """

    def check(self, machine: SwitchedMachine) -> None:
        """Check, without switching it, that the machine can be put to sleep and woken again.

        :raises errors.PowerFailed: it cannot, or that is not known now.
        """
        self.state(machine)

    @abc.abstractmethod
    def wake(self, machine: SwitchedMachine) -> None:
        """Switch the machine on; do not wait until it has booted."""

    @abc.abstractmethod
    def sleep(self, machine: SwitchedMachine) -> None:
        """Ask the machine to shut down; do not wait until it is off."""
