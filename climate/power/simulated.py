# SPDX-License-Identifier: Apache-2.0
"""The power driver "simulated": machines of the simulated cloud are up or down."""
from climate import errors
from climate.power import base


class Simulated(base.Driver):
    """Switches machines of the simulated cloud; what is on one that is off is down."""

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        if conf.cloud.driver != 'simulated':
            raise errors.ConfigurationError(
                '[energy] driver is simulated, so [cloud] driver must be, too.')
        self._machines = cloud.machines

    def state(self, resource):
        try:
            return base.ON if self._machines.is_up(resource.name) else base.OFF
        except errors.ResourceNotFound as error:
            raise errors.PowerFailed(resource=resource.name,
                                     reason='the cloud has no such machine.') from error

    def wake(self, resource):
        self._machines.switch(resource.name, up=True)

    def sleep(self, resource):
        self._machines.switch(resource.name, up=False)
