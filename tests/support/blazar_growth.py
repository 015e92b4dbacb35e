# SPDX-License-Identifier: Apache-2.0
"""Many leases in a database of Blazar, to measure an import."""
import contextlib
import datetime
import sqlite3
import uuid

HOSTS = 200
_FIRST = datetime.datetime(2027, 1, 1)
_LENGTH = datetime.timedelta(hours=2)
_CREATED = '2026-11-26 14:26:04'
_LEASE_TABLES = (
    'computehost_allocations', 'computehost_reservations', 'instance_reservations',
    'floatingip_allocations', 'floatingip_reservations', 'required_floatingips', 'events',
    'reservations', 'leases')


def grow(blazar, count):
    """Replace the leases of a BlazarDatabase by `count` pending leases of one of 200 hosts each."""
    with contextlib.closing(sqlite3.connect(blazar.path)) as connection, connection:
        for table in _LEASE_TABLES:
            connection.execute(f'DELETE FROM {table}')
        _add_hosts(connection)
        for number in range(count):
            _add_lease(connection, number)


def _add_hosts(connection):
    present = {row[0] for row in connection.execute('SELECT id FROM computehosts')}
    template = dict(zip(*_row(connection, 'SELECT * FROM computehosts'), strict=True))
    for number in range(1, HOSTS + 1):
        if str(number) not in present:
            name = f'host{number}'
            _insert(connection, 'computehosts', {
                **template, 'id': str(number), 'hypervisor_hostname': name, 'service_name': name})


def _row(connection, statement):
    """Return (the names of the columns, the first row) of a query."""
    cursor = connection.execute(statement)
    return [column[0] for column in cursor.description], cursor.fetchone()


def _add_lease(connection, number):
    lease_id, reservation_id = _id(number, 'lease'), _id(number, 'reservation')
    start = _FIRST + _LENGTH * (number // HOSTS)
    end = start + _LENGTH
    _insert(connection, 'leases', {
        'id': lease_id, 'name': f'lease {number}', 'user_id': f'user{number % 50}',
        'project_id': f'project{number % 50}', 'start_date': str(start), 'end_date': str(end),
        'trust_id': _id(number, 'trust'), 'status': 'PENDING', 'degraded': 0})
    _insert(connection, 'reservations', {
        'id': reservation_id, 'lease_id': lease_id, 'resource_id': _id(number, 'details'),
        'resource_type': 'physical:host', 'status': 'pending', 'missing_resources': 0,
        'resources_changed': 0})
    _insert(connection, 'computehost_reservations', {
        'id': _id(number, 'details'), 'reservation_id': reservation_id, 'count_range': '1-1',
        'resource_properties': '', 'hypervisor_properties': '', 'aggregate_id': number + 1,
        'before_end': 'default'})
    _insert(connection, 'computehost_allocations', {
        'id': _id(number, 'allocation'), 'compute_host_id': str(number % HOSTS + 1),
        'reservation_id': reservation_id})
    for kind, moment in (('start_lease', start), ('end_lease', end)):
        _insert(connection, 'events', {
            'id': _id(number, kind), 'lease_id': lease_id, 'event_type': kind,
            'time': str(moment), 'status': 'UNDONE'})


def _id(number, what):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f'{what} {number}'))


def _insert(connection, table, row):
    row = {'created_at': _CREATED, **row}
    connection.execute(
        f'INSERT INTO {table} ({", ".join(row)}) VALUES ({", ".join("?" * len(row))})',
        list(row.values()))
