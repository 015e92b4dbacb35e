# SPDX-License-Identifier: Apache-2.0
"""The power driver "ironic": Ironic switches the nodes that it manages."""
import threading

from keystoneauth1 import exceptions as login_errors
import openstack
from openstack import exceptions as sdk_errors

from climate import errors
from climate.power import base

_ON, _SOFT_OFF = 'power on', 'soft power off'
_STATES = {_ON: base.ON, 'rebooting': base.ON, 'power off': base.OFF}


class Ironic(base.Driver):
    """Asks Ironic, by the cloud in clouds.yaml that [energy] ironic_cloud names."""

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        self._lock = threading.Lock()
        self._connection = None
        if not conf.energy.ironic_cloud:
            raise errors.ConfigurationError(
                '[energy] ironic_cloud is not set, and [energy] driver is ironic.')

    def state(self, resource):
        node = self._call(resource, lambda baremetal: baremetal.get_node(self._name(resource)))
        if node.power_state not in _STATES:
            raise errors.PowerFailed(resource=resource.name, reason=(
                f'Ironic does not know its power: "{node.power_state}", '
                f'{(node.last_error or "no reason given")[:300]}'))
        return _STATES[node.power_state]

    def wake(self, resource):
        self._switch(resource, _ON)

    def sleep(self, resource):
        # Ironic switches it off the hard way if it does not shut down in time.
        self._switch(resource, _SOFT_OFF)

    def _switch(self, resource, target):
        self._call(resource, lambda baremetal: baremetal.set_node_power_state(
            self._name(resource), target, wait=False))

    def _call(self, resource, work):
        try:
            return work(self._connected().baremetal)
        except (sdk_errors.SDKException, login_errors.ClientException) as error:
            raise errors.PowerFailed(resource=resource.name,
                                     reason=f'Ironic: {str(error)[:300]}') from error

    def _connected(self):
        with self._lock:
            if self._connection is None:
                self._connection = openstack.connect(
                    cloud=self.conf.energy.ironic_cloud,
                    api_timeout=self.conf.energy.timeout_seconds,
                    # A node that is busy is tried again at the next look, not in the call.
                    baremetal_status_code_retries=0, baremetal_connect_retries=0)
            return self._connection

    def _name(self, resource):
        name = self.conf.energy.node_property
        return resource.properties.get(name, resource.name) if name else resource.name
