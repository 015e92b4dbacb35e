# SPDX-License-Identifier: Apache-2.0
"""Placement of the simulated cloud."""
import json
import uuid

from climate.cloud import base
from climate.cloud.simulated import hosts


class Placement(base.Placement):
    """Placement under one identity.

    :param calls: the Calls of that identity.
    """

    def __init__(self, calls):
        self.trust_id = calls.trust_id
        self._calls = calls

    def ensure_child(self, hypervisor_name, child_name):
        def work(connection):
            hosts.one(connection, hypervisor_name)
            connection.execute('INSERT OR IGNORE INTO providers VALUES (?, ?, ?, ?)',
                               (child_name, str(uuid.uuid4()), hypervisor_name, '{}'))
            return connection.execute('SELECT uuid FROM providers WHERE name = ?',
                                      (child_name,)).fetchone()['uuid']
        return self._call('ensure_child', work)

    def empty_child(self, child_name):
        self._call('empty_child', lambda connection: connection.execute(
            'UPDATE providers SET inventory = ? WHERE name = ?', ('{}', child_name)))

    def traits(self, hypervisor_name):
        return self._call('traits', lambda connection: frozenset(
            json.loads(hosts.one(connection, hypervisor_name)['traits'])))

    def inventory(self, hypervisor_name):
        return self._call('inventory', lambda connection: _inventory(
            hosts.one(connection, hypervisor_name)))

    def _call(self, name, work):
        return self._calls.make(f'placement.{name}', lambda connection, project_id: work(
            connection))


def _inventory(host):
    return {
        'VCPU': _class(host['vcpus'], ratio=4.0),
        'MEMORY_MB': _class(host['memory_mb'], reserved=512),
        'DISK_GB': _class(host['disk_gb']),
    }


def _class(total, ratio=1.0, reserved=0):
    return {'total': total, 'reserved': reserved, 'allocation_ratio': ratio, 'min_unit': 1,
            'max_unit': total, 'step_size': 1}
