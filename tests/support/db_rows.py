# SPDX-License-Identifier: Apache-2.0
"""Builders for the tests of the database: records, and rows with sensible defaults that are not
counted as changes, because the tables may be of an earlier release."""
import concurrent.futures
import contextlib
import uuid

import sqlalchemy as sa

from climate.db import allocations
from climate.db import engine
from climate.db import leases
from climate.db import managers
from climate.db import resource_properties
from climate.db import resources
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import interval
from climate.domain import records
from support import builders

NOON = builders.NOON
hours = builders.hours


def an_id():
    return str(uuid.uuid4())


def an_event(lease_id, kind=event_kinds.START, at=NOON, **more):
    return records.Event(id=an_id(), lease_id=lease_id, kind=kind, at=at,
                         **{'due_at': at, 'created_at': NOON, **more})


def a_reservation(lease_id, request=None, **more):
    return records.Reservation(id=an_id(), lease_id=lease_id, resource_type='physical:host',
                               request=request or {'min': 1, 'max': 1}, created_at=NOON, **more)


def a_lease(name='a lease', start=NOON, end=None, reservations=1, **more):
    """A Lease from noon on for an hour, with reservations and the events of start and end."""
    lease_id = more.pop('id', None) or an_id()
    end = end or start + hours(1)
    return records.Lease(
        id=lease_id, name=name, start=start, end=end,
        reservations=tuple(a_reservation(lease_id) for _ in range(reservations)),
        events=(an_event(lease_id, at=start), an_event(lease_id, event_kinds.END, at=end)),
        **{'project_id': 'demo', 'user_id': 'demo', 'created_at': NOON, **more})


def saved(database, *wanted):
    """Write leases; return the last one."""
    with database.writer(counted=False) as connection:
        for lease in wanted:
            leases.add(connection, lease)
    return wanted[-1]


def saved_in_old_tables(database, lease):
    """Write a lease and its reservations to a database without later columns; return it."""
    with database.writer(counted=False) as connection:
        for table, some in ((tables.LEASES, [lease]), (tables.RESERVATIONS, lease.reservations)):
            for place, each in enumerate(some):
                write_in_old_table(connection, table, {**vars(each), 'position': place})
    return lease


def write_in_old_table(connection, table, row):
    """Write those fields of a row for which the table of an earlier release has a column.

    The database gives a row without an id one.
    """
    known = {each.name for each in columns_there(connection, table)}
    connection.execute(sa.insert(table).values(
        {name: value for name, value in row.items()
         if name in known and (name, value) != ('id', None)}))


def columns_there(connection, table):
    """The columns of a table that it has in the database, which may be of an earlier release."""
    known = {each['name'] for each in sa.inspect(connection).get_columns(table.name)}
    return [each for each in table.c if each.name in known]


def closed(database, day=NOON):
    """Have usage closed up to the end of a day, so that a purge may remove what is over."""
    with database.writer(counted=False) as connection:
        managers.take_slot(connection, 'usage', day.replace(
            hour=0, minute=0, second=0, microsecond=0))


def hosts(database, *names, pool='host'):
    """Enrol hosts of those names; returns their ids."""
    with database.writer(counted=False) as connection:
        return [resources.add(connection, pool, name, {'vcpus': 4}, NOON) for name in names]


def set_properties(database, resource_id, values, fact=False, pool='host'):
    """Set values of properties of a resource, those of its owner or facts of the cloud."""
    with database.writer(counted=False) as connection:
        resource_properties.set_values(connection, pool, resource_id, values, NOON, fact=fact)


def lease_of(database, lease):
    """The lease as it is saved."""
    with database.reader() as connection:
        return leases.get(connection, lease.id)


def span(first, last):
    """The Interval between two hours after noon."""
    return interval.Interval(NOON + hours(first), NOON + hours(last))


def host_in_old_table(database, name, pool='host'):
    """Enrol a host in tables of an earlier release; returns its id."""
    with database.writer(counted=False) as connection:
        write_in_old_table(connection, tables.RESOURCES, {
            'pool': pool, 'name': name, 'enrolled_name': name, 'capacity': {'vcpus': 4},
            'reservable': True, 'generation': 0, 'created_at': NOON})
        return connection.execute(sa.select(tables.RESOURCES.c.id).where(
            tables.RESOURCES.c.pool == pool, tables.RESOURCES.c.name == name)).scalar_one()


def allocation(lease, resource_id, start=None, end=None, **more):
    """The Allocation of a resource to the first reservation of a lease, for all of its time."""
    return records.Allocation(reservation_id=lease.reservations[0].id, resource_id=resource_id,
                              start=start or lease.start, end=end or lease.end, **more)


def allocate(database, *given):
    """Write allocations, including released ones."""
    with database.writer(counted=False) as connection:
        for each in given:
            allocations.add(connection, [each])
            if each.released_at is not None:
                allocations.cut(connection, [each.reservation_id], each.released_at,
                                [each.resource_id])


def stored_allocations(database, table):
    """Return all allocations as (resource id, start, end, whether released), in id order."""
    with database.reader() as connection:
        rows = connection.execute(sa.select(table).order_by(table.c.id)).all()
    return [(row.resource_id, row.start, row.end, row.released_at is not None) for row in rows]


@contextlib.contextmanager
def another(database):
    """A second connection to the database, as of another manager."""
    found = engine.Database(database.engine.url.render_as_string(hide_password=False))
    yield found
    found.dispose()


def on_a_thread(work):
    """Start a function on a thread of its own; the Future of what it returns."""
    threads = concurrent.futures.ThreadPoolExecutor(1)
    started = threads.submit(work)
    threads.shutdown(wait=False)
    return started
