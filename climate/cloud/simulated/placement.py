# SPDX-License-Identifier: Apache-2.0
"""Placement of the simulated cloud."""
import json
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud.simulated import capacity
from climate.cloud.simulated import hosts
from climate.cloud.simulated import interface


class SimulatedPlacement(interface.SimulatedInterface, base.Placement):
    """Placement under one identity."""

    def ensure_child(self, hypervisor_name, child_name):
        def work(connection):
            hosts.one(connection, hypervisor_name)
            connection.execute('INSERT OR IGNORE INTO providers VALUES (?, ?, ?, ?)',
                               (child_name, str(uuid.uuid4()), hypervisor_name, '{}'))
            return connection.execute('SELECT uuid FROM providers WHERE name = ?',
                                      (child_name,)).fetchone()['uuid']
        return self._admin_call('ensure_child', work)

    def empty_child(self, child_name):
        self._admin_call('empty_child', lambda connection: connection.execute(
            'UPDATE providers SET inventory = ? WHERE name = ?', ('{}', child_name)))

    def ensure_class(self, resource_class):
        self._admin_call('ensure_class', lambda connection: connection.execute(
            'INSERT OR IGNORE INTO resource_classes VALUES (?)', (resource_class,)))

    def set_slots(self, child_name, resource_class, count):
        self._admin_call('set_slots', lambda connection: _set_slots(
            connection, child_name, resource_class, count))

    def delete_class(self, resource_class):
        children = self._admin_call('providers_with', lambda connection: [
            row['name'] for row in connection.execute('SELECT * FROM providers ORDER BY name')
            if resource_class in json.loads(row['inventory'])])
        for child_name in children:
            self.set_slots(child_name, resource_class, 0)
        self._admin_call('delete_class', lambda connection: connection.execute(
            'DELETE FROM resource_classes WHERE name = ?', (resource_class,)))

    def classes(self):
        return self._admin_call('classes', lambda connection: frozenset(
            row['name'] for row in connection.execute('SELECT name FROM resource_classes')))

    def children(self, prefix):
        return self._admin_call('children', lambda connection: {
            row['name']: json.loads(row['inventory'])
            for row in connection.execute('SELECT name, inventory FROM providers ORDER BY name')
            if row['name'].startswith(prefix)})

    def traits(self, hypervisor_name):
        return self._admin_call('traits', lambda connection: hosts.traits(
            hosts.one(connection, hypervisor_name)))

    def inventory(self, hypervisor_name):
        return self._admin_call('inventory', lambda connection: hosts.inventory(
            hosts.one(connection, hypervisor_name)))

    def held(self, hypervisor_names):
        names = set(hypervisor_names)
        return self._admin_call('allocations', lambda connection: {
            row['name']: capacity.held(connection, row)
            for row in hosts.every(connection) if row['name'] in names})

    def candidates(self, shapes):
        return {shape: self._admin_call('allocation_candidates', lambda connection, shape=shape:
                                        capacity.candidates(connection, shape)) for shape in shapes}

    def survey(self, hypervisor_names):
        names = set(hypervisor_names)
        return self._admin_call('survey', lambda connection: {
            row['name']: (hosts.traits(row), hosts.inventory(row))
            for row in hosts.every(connection) if row['name'] in names})


def _set_slots(connection, child_name, resource_class, count):
    row = connection.execute('SELECT * FROM providers WHERE name = ?', (child_name,)).fetchone()
    if row is None:
        if count:
            raise errors.ResourceNotFound(pool='host', resource=child_name)
        return
    inventory = json.loads(row['inventory'])
    if count:
        inventory[resource_class] = hosts.units(count)
    elif inventory.pop(resource_class, None) is not None:
        used = connection.execute(
            # Each server has a copy of its flavor.
            "SELECT 1 FROM servers JOIN hosts ON hosts.service_host = host "
            "WHERE hosts.name = ? AND instr(servers.flavor, ?)",
            (row['parent'], f'"resources:{resource_class}"')).fetchone()
        if used is not None:
            raise errors.StillBusy(service='Placement', reason='Inventory is in use.')
    connection.execute('UPDATE providers SET inventory = ? WHERE name = ?',
                       (json.dumps(inventory), child_name))


class SimulatedPlacementAdapter(base.PlacementAdapter):
    """Placement of the simulated cloud."""

    interfaces = {'placement': SimulatedPlacement}
