# SPDX-License-Identifier: Apache-2.0
"""Fills a database with hosts and leases, many of them and quickly."""
import datetime
import io
import itertools
import json

import numpy as np
import sqlalchemy as sa
from support import builders

from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle

PROJECT = 'demo'
# This number of leases is written, and then copied by the database itself.
_BATCH = 1_000
_PAGE = 5_000
_PROMISES = 100_000
_HOUR = datetime.timedelta(hours=1)
_FACTS = {'hypervisor_type': 'QEMU', 'hypervisor_version': '6002000', 'cpu_info': '{}',
          'service_name': 'compute', 'availability_zone': 'nova', 'traits': 'HW_CPU_X86_AVX2'}


def hosts(database, count):
    """Enrol `count` hosts, with the ids 1 to `count`, facts, and racks of ten."""
    now = builders.NOON
    names = ['rack', *_FACTS]
    with database.writer() as connection:
        connection.execute(sa.insert(tables.PROPERTIES), [
            {'id': number, 'pool': 'host', 'name': name, 'fact': name in _FACTS,
             'created_at': now} for number, name in enumerate(names, 1)])
        _write(connection, tables.RESOURCES, (
            {'id': number, 'pool': 'host', 'name': f'host-{number}',
             'enrolled_name': f'host-{number}', 'created_at': now,
             'capacity': {'vcpus': 32, 'memory_mb': 131072, 'disk_gb': 1000}}
            for number in range(1, count + 1)))
        known = tables.RESOURCES.c.id
        for place, name in enumerate(names, 1):
            text = sa.literal(_FACTS[name]) if name in _FACTS else sa.cast(known % 10, sa.String(8))
            connection.execute(sa.insert(tables.PROPERTY_VALUES).from_select(
                ['resource_id', 'property_id', 'text'],
                sa.select(known, sa.literal(place), text)))


def ended_leases(database, count, hosts_there):
    """Write leases of one host that are over; returns their ids.

    :param count: a number of whole thousands.
    :param hosts_there: the same.
    """
    with database.writer() as connection:
        _write_batch(connection)
        for batch in range(1, count // _BATCH):
            _copy_batch(connection, batch)
        for batch in range(count // _BATCH):
            hour, first = divmod(batch, hosts_there // _BATCH)
            _allocate(connection, tables.RESERVATIONS.c.id,
                      sa.cast(sa.func.substr(tables.RESERVATIONS.c.id, 7, 4), sa.Integer)
                      + first * _BATCH + 1, _long_ago(hour),
                      tables.RESERVATIONS.c.id.startswith(f'b{batch:04}-'))
    return [_id(number // _BATCH, number % _BATCH) for number in range(count)]


def allocations(database, each):
    """Allocate `hours` hours of each host, every other one from tomorrow on."""
    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    with database.writer() as connection:
        ids = connection.execute(sa.select(tables.RESOURCES.c.id)).scalars().all()
        allocate(connection, 'all', start, (
            (resource_id, place * 7200, place * 7200 + 3600, True, {}, 1)
            for resource_id in ids for place in range(each)))


def coming_leases(database, rows):
    """Write leases to come, of one host each.

    :param rows: of (resource id, start, end).
    """
    with database.writer() as connection:
        rows = [(f'c{number:07}', *row) for number, row in enumerate(rows)]
        _write(connection, tables.LEASES, (
            {**_lease(lease_id, start), 'end': end} for lease_id, _, start, end in rows))
        _write(connection, tables.RESERVATIONS, (
            _reservation(lease_id, start) for lease_id, _, start, _ in rows))
        _write(connection, tables.ALLOCATIONS, (
            {'reservation_id': f'{lease_id}-r', 'resource_id': resource_id, 'start': start,
             'end': end, 'whole': True, 'amount': {}, 'copies': 1, 'need': 'hosts'}
            for lease_id, resource_id, start, end in rows))


def allocate(connection, name, origin, rows):
    """Allocate the rows to one lease, in the quickest way that the database has.

    A PostgreSQL loses its second guard by that: it is to be a schema of the benchmark's own.

    :param rows: of a resource's id, the first and the last second after `origin`, whether it is
        whole, the amount, and how many copies.
    """
    _add_lease(connection, name, origin)
    if connection.dialect.name == 'postgresql':
        # Only writers meet it, and it would take most of a fill.
        for guard in ('whole_against_whole', 'whole_against_part'):
            connection.exec_driver_sql(f'ALTER TABLE allocations DROP CONSTRAINT IF EXISTS {guard}')
    write = _copy if connection.dialect.name == 'postgresql' else _insert
    rows = iter(rows)
    while page := list(itertools.islice(rows, _PROMISES)):
        resource_ids, starts, ends, wholes, amounts, copies = zip(*page, strict=True)
        texts = {id(amount): json.dumps(amount) for amount in amounts}
        write(connection, list(zip(
            itertools.repeat(f'{name}-r', len(page)), resource_ids, _stamps(origin, starts),
            _stamps(origin, ends), wholes, [texts[id(amount)] for amount in amounts], copies,
            strict=True)))


def _stamps(origin, seconds):
    """Moments as databases write them, a number of seconds after `origin`."""
    moments = np.datetime64(origin.replace(tzinfo=None), 'us') + (
        np.array(seconds, float) * 1e6).round().astype('timedelta64[us]')
    return [text.replace('T', ' ') for text in np.datetime_as_string(moments, 'us').tolist()]


def _copy(connection, rows):
    text = ''.join(f'{name}\t{resource_id}\t{start}+00\t{end}+00\t{whole}\t{amount}\t{copies}\n'
                   for name, resource_id, start, end, whole, amount, copies in rows)
    with connection.connection.cursor() as cursor:
        cursor.copy_expert('COPY allocations (reservation_id, resource_id, start, "end", whole, '
                           'amount, copies) FROM STDIN', io.StringIO(text))


def _insert(connection, rows):
    mark, quote = ('?', '"') if connection.dialect.name == 'sqlite' else ('%s', '`')
    connection.exec_driver_sql(
        f'INSERT INTO allocations (reservation_id, resource_id, start, {quote}end{quote}, whole, '
        f'amount, copies) VALUES ({", ".join([mark] * 7)})', rows)


def _id(batch, number):
    return f'b{batch:04}-{number:04}'


def _long_ago(hours):
    return builders.NOON - datetime.timedelta(days=20 * 365) + hours * _HOUR


def _write_batch(connection):
    ids = {_id(0, number): _long_ago(number) for number in range(_BATCH)}
    connection.execute(sa.insert(tables.LEASES), [
        {**_lease(lease_id, moment), 'state': lifecycle.TERMINATED}
        for lease_id, moment in ids.items()])
    connection.execute(sa.insert(tables.RESERVATIONS), [
        {**_reservation(lease_id, moment), 'state': lifecycle.RESERVATION_DELETED}
        for lease_id, moment in ids.items()])
    connection.execute(sa.insert(tables.EVENTS), [
        {'id': f'{lease_id}-{kind[:10]}', 'lease_id': lease_id, 'kind': kind, 'at': moment,
         'due_at': moment, 'status': lifecycle.EVENT_DONE, 'created_at': moment,
         'begun_at': moment, 'updated_at': moment}
        for lease_id, moment in ids.items()
        for kind in (event_kinds.START, event_kinds.BEFORE_END, event_kinds.END)])


def _add_lease(connection, lease_id, moment):
    connection.execute(sa.insert(tables.LEASES), [_lease(lease_id, moment)])
    connection.execute(sa.insert(tables.RESERVATIONS), [_reservation(lease_id, moment)])


def _lease(lease_id, moment):
    return {'id': lease_id, 'name': f'lease {lease_id}', 'project_id': PROJECT, 'user_id': 'demo',
            'start': moment, 'end': moment + _HOUR, 'state': lifecycle.PENDING,
            'created_at': moment, 'updated_at': moment}


def _reservation(lease_id, moment):
    return {'id': f'{lease_id}-r', 'lease_id': lease_id, 'position': 0,
            'resource_type': 'physical:host', 'binding': {},
            'request': {'min': 1, 'max': 1, 'hypervisor_properties': '',
                        'resource_properties': ''},
            'state': lifecycle.RESERVATION_PENDING, 'created_at': moment, 'updated_at': moment}


def _copy_batch(connection, batch):
    for table in (tables.LEASES, tables.RESERVATIONS, tables.EVENTS):
        values = {column.name: column for column in table.c}
        for name in {'id', 'lease_id'} & set(values):
            values[name] = sa.literal(f'b{batch:04}') + sa.func.substr(table.c[name], 6)
        connection.execute(sa.insert(table).from_select(
            list(values), sa.select(*values.values()).where(table.c.id < 'b0001')))


def _allocate(connection, reservation, resource, start, where):
    """Allocate an hour from `start` on, for each such row."""
    given = tables.ALLOCATIONS
    values = {'reservation_id': reservation, 'resource_id': resource,
              'start': sa.literal(start, tables.UtcDateTime), 'whole': sa.true(), 'copies': 1,
              'end': sa.literal(start + _HOUR, tables.UtcDateTime),
              'amount': sa.literal({}, sa.JSON)}
    connection.execute(sa.insert(given).from_select(list(values), sa.select(*(
        value if isinstance(value, sa.ColumnElement) else sa.literal(value)
        for value in values.values())).where(where)))


def _write(connection, table, rows):
    page = []
    for row in rows:
        page.append(row)
        if len(page) == _PAGE:
            connection.execute(sa.insert(table), page)
            page = []
    if page:
        connection.execute(sa.insert(table), page)
