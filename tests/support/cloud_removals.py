# SPDX-License-Identifier: Apache-2.0
"""Removes objects of the simulated cloud behind Climate's back."""

#: The tables of the simulated cloud with the objects that a lease has, and {table: its column} of
#: what the cloud removes with each object.
TABLES = {
    'hosts': {}, 'servers': {},
    'aggregates': {'aggregate_hosts': 'aggregate_id', 'aggregate_metadata': 'aggregate_id'},
    'aggregate_hosts': {}, 'aggregate_metadata': {}, 'providers': {},
    'flavors': {'flavor_access': 'flavor_id'}, 'flavor_access': {}, 'server_groups': {},
    'resource_classes': {},
    'networks': {'network_segments': 'network_id', 'subnets': 'network_id', 'ports': 'network_id'},
    'subnets': {}, 'ports': {}, 'routers': {}, 'floating_ips': {}, 'volumes': {},
    'volume_types': {'volume_type_access': 'type_name'}, 'volume_type_access': {},
    'volume_quotas': {},
    'stacks': {'stack_parts': 'stack_id'}, 'stack_parts': {},
    'clusters': {'node_groups': 'cluster_id'}, 'node_groups': {'cluster_nodes': 'group_id'},
    'cluster_nodes': {}, 'trusts': {}}


# The column to which other tables refer, where that is not the id.
_KEYS = {'volume_types': 'name'}
# What is removed with a row, where no column of another table has its key.
_WITH_IT = {
    # Neutron deletes no router that has interfaces, so people remove these first.
    'routers': 'DELETE FROM ports WHERE id IN (SELECT port_id FROM port_devices '
               'JOIN routers ON routers.id = device_id WHERE routers.rowid = ?)',
    'volume_types': 'DELETE FROM volume_quotas WHERE name IN '
                    "(SELECT prefix.value || '_' || name FROM volume_types, "
                    """json_each('["gigabytes", "volumes"]') AS prefix """
                    'WHERE volume_types.rowid = ?)'}


def rows(cloud, tables=tuple(TABLES)):
    """Return {(table, rowid): the row as a dict} of all that the cloud has in these tables."""
    found = {}
    with cloud.state() as connection:
        for table in tables:
            for row in connection.execute(f'SELECT rowid AS at_row, * FROM {table}'):
                values = dict(row)
                found[table, values.pop('at_row')] = values
    return found


def remove(cloud, objects):
    """Remove objects, with what the cloud removes with them; return [(table, row as a dict)].

    :param objects: pairs (table, rowid); those that are gone already are left out.
    """
    removed = []
    with cloud.state() as connection:
        connection.execute('PRAGMA defer_foreign_keys = ON')
        for table, rowid in objects:
            row = connection.execute(f'SELECT * FROM {table} WHERE rowid = ?', (rowid,)).fetchone()
            if row is not None:
                removed.append((table, dict(row)))
                _delete(connection, table, rowid)
    return removed


def _delete(connection, table, rowid):
    for other, column in TABLES.get(table, {}).items():
        for row in connection.execute(
                f'SELECT rowid AS at_row FROM {other} WHERE {column} = '
                f'(SELECT {_KEYS.get(table, "id")} FROM {table} WHERE rowid = ?)',
                (rowid,)).fetchall():
            _delete(connection, other, row['at_row'])
    if table in _WITH_IT:
        connection.execute(_WITH_IT[table], (rowid,))
    connection.execute(f'DELETE FROM {table} WHERE rowid = ?', (rowid,))
