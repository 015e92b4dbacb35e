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
    """Calls Ironic in the cloud that [energy] ironic_cloud names in clouds.yaml."""

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        self._lock = threading.Lock()
        self._connection = None
        if not conf.energy.ironic_cloud:
            raise errors.ConfigurationError(
                '[energy] ironic_cloud is not set, and [energy] driver is ironic.')

    def state(self, machine):
        node = self._call(machine, lambda baremetal: baremetal.get_node(self._name(machine)))
        if node.power_state not in _STATES:
            raise errors.PowerFailed(resource=machine.name, reason=(
                f'Ironic does not know its power: "{node.power_state}", '
                f'{(node.last_error or "no reason given")[:300]}'))
        return _STATES[node.power_state]

    def wake(self, machine):
        self._switch(machine, _ON)

    def sleep(self, machine):
        # If the node does not shut down in time, Ironic switches it off.
        self._switch(machine, _SOFT_OFF)

    def _switch(self, machine, target):
        self._call(machine, lambda baremetal: baremetal.set_node_power_state(
            self._name(machine), target, wait=False))

    def _call(self, machine, work):
        try:
            return work(self._connected().baremetal)
        except (sdk_errors.SDKException, login_errors.ClientException) as error:
            raise errors.PowerFailed(resource=machine.name,
                                     reason=f'Ironic: {str(error)[:300]}') from error

    def _connected(self):
        with self._lock:
            if self._connection is None:
                self._connection = openstack.connect(
                    cloud=self.conf.energy.ironic_cloud,
                    api_timeout=self.conf.energy.timeout_seconds,
                    # A busy node is tried again in the next pass, not in the call.
                    baremetal_status_code_retries=0, baremetal_connect_retries=0)
            return self._connection

    def _name(self, machine):
        name = self.conf.energy.node_property
        return machine.properties.get(name, machine.name) if name else machine.name
