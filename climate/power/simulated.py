# SPDX-License-Identifier: Apache-2.0
"""The power driver "simulated": it switches machines of the simulated cloud."""
from climate import errors
from climate.power import base


class Simulated(base.Driver):
    """Switches machines of the simulated cloud. The resources on a machine that is off are down."""

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        if conf.cloud.driver != 'simulated':
            raise errors.ConfigurationError(
                '[energy] driver is simulated, so [cloud] driver must be, too.')
        self._machines = cloud.machines

    def state(self, machine):
        try:
            return base.ON if self._machines.is_up(machine.name) else base.OFF
        except errors.ResourceNotFound as error:
            raise errors.PowerFailed(resource=machine.name,
                                     reason='the cloud has no such machine.') from error

    def wake(self, machine):
        self._machines.switch(machine.name, up=True)

    def sleep(self, machine):
        self._machines.switch(machine.name, up=False)
