# SPDX-License-Identifier: Apache-2.0
"""Objects of the simulated cloud that leases of each form have, to remove or to recreate them."""
import contextlib
import json
import uuid

from support import builders
from support import cloud_removals
from support import every_type
import test_outages

from climate.cloud.simulated import neutron
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.audit import comparison
from climate.manager.audit import repairs

#: The tables of the simulated cloud with the objects that a lease has, and {table: its column} of
#: what the cloud removes with each object.
TABLES = {**cloud_removals.TABLES, 'backends': {}, 'network_segments': {}, 'port_devices': {},
          'ports': {'port_devices': 'port_id'}, 'routers': {'port_devices': 'device_id'}}
#: What belongs to the pools and not to leases.
POOLED = ('hosts', 'aggregate_hosts')
#: Objects that Nova and Placement recreate only with another content: {table: SQL}.
_RECREATED = {
    # Nova lists no server by a flavor of the same id that was created later.
    'flavors': "UPDATE servers SET flavor_id = 'the first one' WHERE flavor_id = ?",
    'providers': "UPDATE providers SET inventory = '{}' WHERE name = ?",
}
_PLACED = {'size': {'type': 'string', 'default': 'm1.small'}}
STACK_WITH_SERVER = {
    'heat_template_version': '2021-04-16', 'parameters': _PLACED, 'resources': {
        'vm': {'type': 'OS::Nova::Server', 'properties': {
            'image': 'cirros', 'flavor': {'get_param': 'size'}}}}}


def _of_type(kind, **more):
    def request(_manager):
        return records.ReservationRequest(kind, {**test_outages.TYPES[kind][0], **more})
    return request


def _server(manager):
    server = manager.cloud.boot('demo', 'mine', flavor='2', metadata={})
    return builders.a_server(server, on_end='delete')


def _nodes(manager):
    with every_type.by_hand(manager) as owner:
        cluster_id = owner.clusters.create('mine', {
            'cluster_template_id': 'kubernetes', 'node_count': 1, 'master_count': 1,
            'flavor_id': '1', 'master_flavor_id': '1'})
    # The template of the cluster takes no time.
    assert manager.cloud.as_service().clusters.cluster(cluster_id).status == 'CREATE_COMPLETE'
    return records.ReservationRequest('virtual:cluster', {
        'resource_id': cluster_id, 'node_count': 1})


#: {form of a reservation: callable(manager) -> its request}. What the request leases may be made.
FORMS = {
    **{kind: _of_type(kind) for kind in test_outages.TYPES},
    'existing server': _server,
    'existing volume': lambda manager: every_type.leased_volume(every_type.own_volume(manager)),
    'existing volume, imaged': lambda manager: every_type.leased_volume(
        every_type.own_volume(manager), on_end='image'),
    'existing volume, snapshot': lambda manager: every_type.leased_volume(
        every_type.own_volume(manager), on_end='snapshot'),
    'volume type': _of_type('virtual:volume', give='type'),
    'volumes, imaged': _of_type('virtual:volume', on_end='image'),
    'volumes, retyped': _of_type('virtual:volume', on_end='retype', volume_type='ordinary'),
    'network without router': lambda _: records.ReservationRequest('virtual:network', {}),
    'network that waits': _of_type('virtual:network', on_end='wait'),
    'stack with servers': _of_type(
        'virtual:stack', template=STACK_WITH_SERVER, flavor_parameter='size'),
    'existing stack': lambda manager: every_type.leased_stack(every_type.own_stack(manager)),
    'further nodes': _nodes,
}


def run_for(manager, span):
    manager.run_until(manager.clock() + span)


@contextlib.contextmanager
def unchanged(manager):
    """Restore the cloud after the block."""
    before = rows(manager)
    yield before
    with manager.cloud.state() as connection:
        for table in TABLES:
            connection.execute(f'DELETE FROM {table}')
        for (table, _), row in before.items():
            connection.execute(f'INSERT INTO {table} ({", ".join(row)}) '
                               f'VALUES ({", ".join("?" for _ in row)})', tuple(row.values()))


def rows(manager):
    """Return {(table, rowid): the row, a dict} of all that the cloud has."""
    return cloud_removals.rows(manager.cloud, tuple(TABLES))


def running(manager, form, request=None):
    """Return a running lease of a form, with a server if it can have one."""
    lease = manager.book(request or FORMS[form](manager), end=(manager.clock() + builders.hours(9)))
    run_for(manager, builders.minutes(5))
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    [reservation] = lease.reservations
    if form == 'physical:host':
        manager.cloud.boot('demo', 'mine', {'reservation': reservation.id})
    elif form in ('virtual:instance', 'flavor:instance'):
        manager.cloud.boot('demo', 'mine', flavor=reservation.id)
    elif form == 'volume type':
        with every_type.by_hand(manager) as owner:
            owner.volumes.create('mine', 10, manager.cloud.as_service().volumes.types()[-1].name,
                                 {})
    return lease


#: Forms that draw from the external network of the cloud.
_ON_PUBLIC = ('virtual:floatingip', 'virtual:network')


def _is_leased(form, table, row):
    """Return whether an object that Climate never makes is one of those that the form leases."""
    return {'backends': form.startswith('vol') and row.get('name') == every_type.SSD,
            'networks': row.get('name') == 'public' and form in _ON_PUBLIC,
            'subnets': row.get('network_id') == neutron.PUBLIC and form in _ON_PUBLIC,
            }.get(table, False)


def objects(manager, lease, form, before):
    """Return [(table, rowid)] of the objects of the cloud that a lease has.

    :param before: what `unchanged` yielded.
    """
    hosts = {each.name for each in manager.client.list_resources(builders.an_admin(), 'host')
             if each.id in lease.reservations[0].resource_ids}
    return sorted(key for key, row in rows(manager).items()
                  if (key not in before and key[0] != 'port_devices') or (
                      key[0] in ('hosts', 'providers')
                      and row['name'].removeprefix('climate_') in hosts)
                  or _is_leased(form, key[0], row))


def remove(manager, keys):
    """Remove objects, with what the cloud removes with each."""
    with manager.cloud.state() as connection:
        for table, rowid in keys:
            if table == 'routers':
                # Neutron deletes no router that has ports.
                connection.execute(
                    'DELETE FROM ports WHERE id IN (SELECT port_id FROM port_devices '
                    'WHERE device_id = (SELECT id FROM routers WHERE rowid = ?))', (rowid,))
            row = _row(connection, table, rowid)
            if row is None:
                continue
            for other, column in TABLES[table].items():
                connection.execute(f'DELETE FROM {other} WHERE {column} = ?', (row['id'],))
            connection.execute(f'DELETE FROM {table} WHERE rowid = ?', (rowid,))


def recreate(manager, keys):
    """Give objects another id, as if somebody had deleted and recreated each with all of it."""
    with manager.cloud.state() as connection:
        for table, rowid in keys:
            row = _row(connection, table, rowid)
            if table in _RECREATED:
                connection.execute(_RECREATED[table], (row.get('id', row['name']),))
            elif 'id' in row:
                fresh = row['id'] + 1000 if isinstance(row['id'], int) else str(uuid.uuid4())
                connection.execute(f'UPDATE {table} SET id = ? WHERE rowid = ?', (fresh, rowid))
                for other, column in TABLES[table].items():
                    connection.execute(f'UPDATE {other} SET {column} = ? WHERE {column} = ?',
                                       (fresh, row['id']))


def blank(manager, keys):
    """Recreate objects without the names of the reservation that Climate wrote on each."""
    recreate(manager, keys)
    with manager.cloud.state() as connection:
        for table in ('floating_ips', 'network_segments'):
            connection.execute(f"UPDATE {table} SET description = '', tags = ?", (json.dumps([]),))
        connection.execute("UPDATE routers SET description = ''")


def _row(connection, table, rowid):
    found = connection.execute(f'SELECT * FROM {table} WHERE rowid = ?', (rowid,)).fetchone()
    return None if found is None else dict(found)


def drifts(manager):
    """Return what an audit reports."""
    return comparison.Auditor(manager.core).compare()


def fix(manager):
    """Repair what an audit reports, as "climate-manager audit --fix" does."""
    repairs.Repairs(manager.core).make(drifts(manager))
