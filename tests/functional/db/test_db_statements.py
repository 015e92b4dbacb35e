# SPDX-License-Identifier: Apache-2.0
"""How many statements booking costs: as many for two hundred hosts as for ten."""
import contextlib

import builders
import db_rows
import pytest
import sqlalchemy as sa

from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import lifecycle


@contextlib.contextmanager
def statements(database):
    """The statements that are executed inside, as a list that grows."""
    found = []

    def note(connection, cursor, statement, parameters, context, many):
        if not statement.startswith('BEGIN'):
            found.append(statement)

    sa.event.listen(sa.Engine, 'before_cursor_execute', note)
    yield found
    sa.event.remove(sa.Engine, 'before_cursor_execute', note)


def enrol(database, count):
    ids = db_rows.hosts(database, *[f'host-{number}' for number in range(count)])
    with database.writer() as connection:
        for resource_id in ids:
            resources.set_values(connection, 'host', resource_id, {'rack': '7'}, builders.NOON)


@pytest.mark.parametrize('count', [10, 200])
def test_planning_costs_five_statements_however_many_hosts_there_are(manager, database, count):
    enrol(database, count)
    request = builders.a_lease(builders.hosts(count // 2, criteria='["=", "$rack", "7"]'),
                               dry_run=True)
    with statements(database) as made:
        manager.create(request)
    assert len(made) <= 5, made


@pytest.mark.parametrize('count', [10, 200])
def test_booking_costs_the_same_however_many_hosts_are_booked(manager, database, count):
    enrol(database, count)
    with statements(database) as made:
        manager.create(builders.a_lease(
            builders.hosts(count // 2, criteria='["=", "$rack", "7"]')))
    # PostgreSQL's driver may send a long list of rows in pages of a thousand; here it is one.
    assert len(made) <= 17, made


def test_a_list_of_leases_costs_the_same_however_many_there_are(manager, database):
    counts = []
    for _ in range(2):
        for _ in range(5):
            db_rows.saved(database, db_rows.a_lease())
        with statements(database) as made:
            manager.client.list_leases(builders.a_member(), builders.records.LeaseQuery())
        counts.append(len(made))
    assert counts[0] == counts[1] <= 4


@pytest.mark.parametrize('count', [10, 200])
def test_what_the_scheduler_asks_costs_two_statements_however_many_hosts(manager, database, count):
    enrol(database, count)
    lease = manager.create(builders.a_lease(builders.hosts(count // 2)))
    with database.writer() as connection:
        leases.change(connection, lease, builders.NOON, state=lifecycle.ACTIVE)
        reservations.change(connection, [lease.reservations[0].id], builders.NOON,
                            state=lifecycle.RESERVATION_ACTIVE)
        for resource_id in lease.reservations[0].resource_ids:
            resources.change(connection, resource_id, builders.NOON,
                             held_by=lease.reservations[0].id)
    with statements(database) as made:
        found = manager.client.reservation_hosts(builders.an_admin(), lease.reservations[0].id,
                                                 'demo')
    assert len(found.hosts) == count // 2
    assert len(made) == 2, made
