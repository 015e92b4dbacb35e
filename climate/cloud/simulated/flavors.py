# SPDX-License-Identifier: Apache-2.0
"""The flavors and server groups of the simulated cloud."""
import json
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import interface
from climate.cloud.simulated import server_rows

_FIRST = (('1', 'm1.tiny', 1, 512, 1), ('2', 'm1.small', 1, 2048, 20),
          ('3', 'm1.medium', 2, 4096, 40), ('4', 'm1.large', 4, 8192, 80))
# The flavors that a project may use.
_USABLE = ('SELECT * FROM flavors WHERE (is_public OR id IN '
           '(SELECT flavor_id FROM flavor_access WHERE project_id = ?))')
# The project of server groups that an administrator creates.
_SERVICE = 'service'


class SimulatedFlavors(interface.SimulatedInterface, base.Flavors):
    """Flavors and server groups under one identity."""

    def flavor(self, flavor_id, project_id):
        return self._admin_call('flavor', lambda connection: usable(
            connection, flavor_id, project_id))

    def ensure(self, flavor_id, name, sizes, extra_specs, exactly=False):
        def work(connection):
            row = _row(connection, flavor_id)
            if exactly and row is not None and (
                    json.loads(row['extra_specs']) != extra_specs
                    or any(row[key] != size for key, size in sizes.items())):
                _delete(connection, flavor_id)
            make(connection, flavor_id, name, public=False, **sizes)
        self._admin_call('create_flavor', work)
        self._admin_call('set_flavor_keys', lambda connection: connection.execute(
            'UPDATE flavors SET extra_specs = json_patch(extra_specs, ?) WHERE id = ?',
            (json.dumps(extra_specs), flavor_id)))

    def allow(self, flavor_id, project_id):
        def work(connection):
            if _row(connection, flavor_id) is None:
                raise errors.CloudError(service=self.service, reason=(
                    f'Flavor {flavor_id} could not be found.'))
            connection.execute('INSERT OR IGNORE INTO flavor_access VALUES (?, ?)',
                               (flavor_id, project_id))
        self._admin_call('allow_flavor', work)

    def forbid(self, flavor_id, project_id):
        self._admin_call('forbid_flavor', lambda connection: connection.execute(
            'DELETE FROM flavor_access WHERE flavor_id = ? AND project_id = ?',
            (flavor_id, project_id)))

    def delete(self, flavor_id):
        self._admin_call('delete_flavor', lambda connection: _delete(connection, flavor_id))

    def servers(self, flavor_id):
        return self._admin_call('servers_of_flavor', lambda connection: server_rows.of_flavor(
            connection, flavor_id))

    def create_group(self, name, policy):
        return self._call('create_server_group', lambda connection, project_id: _make_group(
            connection, name, policy, project_id))

    def ensure_group(self, name, policy):
        def work(connection, project_id):
            row = connection.execute(
                'SELECT id FROM server_groups WHERE name = ? AND policy = ? AND project_id = ?',
                (name, policy, project_id or _SERVICE)).fetchone()
            return row['id'] if row else _make_group(connection, name, policy, project_id)
        return self._call('create_server_group', work)

    def has_group(self, group_id):
        return self._admin_call('server_group', lambda connection: connection.execute(
            'SELECT 1 FROM server_groups WHERE id = ?', (group_id,)).fetchone() is not None)

    def delete_group(self, group_id):
        self._admin_call('delete_server_group', lambda connection: connection.execute(
            'DELETE FROM server_groups WHERE id = ?', (group_id,)))

    def delete_groups(self, name, but=None):
        self._admin_call('delete_server_group', lambda connection: connection.execute(
            'DELETE FROM server_groups WHERE name = ? AND id != ?', (name, but or '')))

    def every(self):
        return self._admin_call('flavors', lambda connection: [
            _record(row) for row in connection.execute('SELECT * FROM flavors ORDER BY id')])

    def usable(self):
        return self._call('usable_flavors', lambda connection, project_id: [
            _record(row) for row in connection.execute(f'{_USABLE} ORDER BY id', (project_id,))])

    def groups(self):
        return self._admin_call('server_groups', lambda connection: [
            _group(connection, row) for row in
            connection.execute('SELECT * FROM server_groups ORDER BY name')])


def add_first(connection):
    """Create the public flavors of a new cloud."""
    for flavor_id, name, vcpus, ram, disk in _FIRST:
        make(connection, flavor_id, name, vcpus, ram, disk)


def make(connection, flavor_id, name, vcpus, ram, disk, ephemeral=0, swap=0, public=True,
         extra_specs=None):
    """Create a flavor if there is none of that id."""
    connection.execute(
        'INSERT OR IGNORE INTO flavors VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        (flavor_id, name, vcpus, ram, disk, ephemeral, swap, public,
         json.dumps(extra_specs or {})))


def _row(connection, flavor_id):
    return connection.execute('SELECT * FROM flavors WHERE id = ?', (flavor_id,)).fetchone()


def _delete(connection, flavor_id):
    connection.execute('DELETE FROM flavor_access WHERE flavor_id = ?', (flavor_id,))
    connection.execute('DELETE FROM flavors WHERE id = ?', (flavor_id,))


def usable(connection, flavor_id, project_id):
    """Return the Flavor, or None if there is none that the project may use."""
    row = connection.execute(f'{_USABLE} AND id = ?', (project_id, flavor_id)).fetchone()
    return None if row is None else _record(row)


def _make_group(connection, name, policy, project_id):
    group_id = str(uuid.uuid4())
    connection.execute('INSERT INTO server_groups VALUES (?, ?, ?, ?)',
                       (group_id, name, policy, project_id or _SERVICE))
    return group_id


def _group(connection, row):
    # A scheduler hint at boot puts a server into a group.
    members = connection.execute(
        "SELECT id FROM servers WHERE json_extract(hints, '$.group') = ?", (row['id'],))
    return models.ServerGroup(id=row['id'], name=row['name'], policy=row['policy'],
                              members=frozenset(member['id'] for member in members))


def _record(row):
    sizes = {name: row[name] for name in ('id', 'name', 'vcpus', 'ram', 'disk', 'ephemeral',
                                          'swap')}
    return models.Flavor(**sizes, extra_specs=json.loads(row['extra_specs']))
