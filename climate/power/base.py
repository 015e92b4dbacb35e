# SPDX-License-Identifier: Apache-2.0
"""The contract of a power driver, an entry point of ``climate.power``."""
import abc
from collections.abc import Mapping
from typing import Protocol

from oslo_config import cfg

ON, OFF = 'on', 'off'


class SwitchedMachine(Protocol):
    """The facts of a machine that a driver may read."""

    @property
    def name(self) -> str:
        """The name of the host, or of the host of storage back ends."""

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties that operators set on the resources of the machine."""


class Driver(abc.ABC):
    """Switches machines. One instance serves all threads of a manager.

    Each method returns within about [energy] timeout_seconds, and may be repeated. It raises
    ``errors.PowerFailed`` if the machine or its BMC refuses or does not answer. Errors must not
    contain passwords.
    """

    def __init__(self, conf: cfg.ConfigOpts, cloud: object) -> None:
        """Prepare the driver without calling a machine.

        :param cloud: the cloud of the manager, for the simulated driver.
        :raises ConfigurationError: the options of the driver are missing or wrong.
        """
        self.conf = conf

    @abc.abstractmethod
    def state(self, machine: SwitchedMachine) -> str:
        """Return ON or OFF. While the machine is being switched, return its old state.

        :raises errors.PowerFailed: the state of the machine is not known.
        """

    def check(self, machine: SwitchedMachine) -> None:
        """Check, without switching the machine, that it can be put to sleep and woken again.

        :raises errors.PowerFailed: the machine cannot be switched, or the check failed.
        """
        self.state(machine)

    @abc.abstractmethod
    def wake(self, machine: SwitchedMachine) -> None:
        """Switch the machine on; do not wait until it has booted."""

    @abc.abstractmethod
    def sleep(self, machine: SwitchedMachine) -> None:
        """Order the machine to shut down; do not wait until it is off."""
