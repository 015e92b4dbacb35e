# SPDX-License-Identifier: Apache-2.0
"""The power driver "simulated": hosts of the simulated cloud are up or down."""
from climate import errors
from climate.power import base


class Simulated(base.Driver):
    """Switches the hosts of the simulated cloud; one that is off is down in Nova."""

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        if conf.cloud.driver != 'simulated':
            raise base.Unusable('[energy] driver is simulated, so [cloud] driver must be, too.')
        self._cloud = cloud

    def state(self, resource):
        for each in self._cloud.as_service().nova.hypervisors():
            if each.name == resource.name:
                return base.ON if each.up else base.OFF
        raise errors.PowerFailed(resource=resource.name, reason='the cloud has no such host.')

    def wake(self, resource):
        self._cloud.mark_host(resource.name, up=True)

    def sleep(self, resource):
        self._cloud.mark_host(resource.name, up=False)
