# SPDX-License-Identifier: Apache-2.0
"""The number of statements of a booking: as many for two hundred hosts as for ten."""
import dataclasses
import re

import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows

from climate.client import status_words
from climate.db import events
from climate.db import lease_lists
from climate.db import leases
from climate.db import reservations
from climate.db import resource_properties
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.limits import books

LIVING = ','.join(status_words.LIVING)
NEWEST = (('created_at', False),)
# Pages in each order that has an index, as the console lists them, and without its filter.
SORTED = [{'sort': ((key, up),), **project, **status}
          for key in ('created_at', 'name', 'start', 'end') for up in (True, False)
          for project in ({}, {'project_id': 'p'}) for status in ({}, {'status': LIVING})]


@pytest.fixture
def manager(conf, database, clock):
    """A manager that has read the limit book, and whose caches stay however slow the database is.

    The limit book is read once in some seconds, and not for each request.
    """
    made = builders.Manager(conf, database, clock, monotonic=lambda: 0.0)
    books.known(made.core, clock())
    return made


def enrol(database, count):
    ids = db_rows.hosts(database, *[f'host-{number}' for number in range(count)])
    with database.writer() as connection:
        for resource_id in ids:
            resource_properties.set_values(
                connection, 'host', resource_id, {'rack': '7'}, builders.NOON)


@pytest.mark.parametrize('count', [10, 200])
def test_planning_costs_six_statements_however_many_hosts_there_are(manager, database, count):
    enrol(database, count)
    request = builders.a_lease(builders.hosts(count // 2, criteria='["=", "$rack", "7"]'),
                               dry_run=True)
    with builders.statements() as made:
        manager.create(request)
    assert len(made) <= 6, made


@pytest.mark.parametrize('count', [10, 200])
def test_booking_costs_the_same_however_many_hosts_are_booked(manager, database, count):
    enrol(database, count)
    with builders.statements() as made:
        manager.book(builders.hosts(count // 2, criteria='["=", "$rack", "7"]'))
    # PostgreSQL's driver may send a long list of rows in pages of a thousand; here it is one.
    assert len(made) <= 18, made


def test_a_list_of_leases_costs_the_same_however_many_there_are(manager, database):
    counts = []
    for _ in range(2):
        for _ in range(5):
            db_rows.saved(database, db_rows.a_lease())
        with builders.statements() as made:
            manager.client.list_leases(builders.a_member(), records.LeaseQuery())
        counts.append(len(made))
    assert counts[0] == counts[1] <= 5


def plan_of(database, statement, parameters):
    """The plan of the database for a statement, as text."""
    words = {'sqlite': 'EXPLAIN QUERY PLAN '}.get(database.dialect, 'EXPLAIN ')
    with database.engine.connect() as connection:
        if database.dialect == 'postgresql':
            # It would read and sort all of a few rows.
            connection.exec_driver_sql('SET LOCAL enable_seqscan = off')
            connection.exec_driver_sql('SET LOCAL enable_sort = off')
        return str(connection.exec_driver_sql(words + statement, parameters).all())


@pytest.mark.parametrize('query', [
    {'project_id': 'p'}, {'project_id': 'p', 'marker': 'the first'},
    {'project_id': 'p', 'status': 'TERMINATED'}, {}, {'marker': 'the first'},
    {'project_id': 'p', 'sort': NEWEST, 'marker': 'the first'}, {'sort': NEWEST}, *SORTED])
def test_a_page_of_leases_comes_in_the_order_of_an_index(database, query):
    if database.dialect == 'mysql':
        pytest.skip('MariaDB decides by how many rows there are.')
    if 'marker' in query:
        first = db_rows.saved(database, db_rows.a_lease(project_id='p'))
        query = {**query, 'marker': first.id}
    asked = []

    def note(connection, cursor, statement, parameters, context, many):
        asked.append((statement, parameters))

    sa.event.listen(sa.Engine, 'before_cursor_execute', note)
    with database.reader() as connection:
        lease_lists.find(connection, records.LeaseQuery(limit=100, **query), builders.NOON)
    sa.event.remove(sa.Engine, 'before_cursor_execute', note)
    [(statement, parameters)] = [each for each in asked if 'LIMIT' in each[0]]
    # The rows of the page are sorted again after they were read by their ids.
    ids = re.search(r'JOIN \((SELECT .* LIMIT .*)\) AS', statement, re.DOTALL)[1]
    plan = plan_of(database, ids, parameters)
    assert 'ix_leases_' in plan and 'Sort' not in plan and 'TEMP B-TREE' not in plan, plan


def test_a_list_of_leases_tells_of_no_errands_and_all_that_is_shown(manager, database):
    lease = db_rows.saved(database, db_rows.a_lease())
    moment = lease.start
    with database.writer() as connection:
        events.add(connection, [events.new(lease.id, kind, moment, builders.NOON)
                                for kind in (*event_kinds.SHOWN, event_kinds.DROP_TRUST,
                                             event_kinds.CHECK)])
    [found] = manager.client.list_leases(builders.a_member(), records.LeaseQuery())
    whole = manager.lease(lease)
    shown = tuple(event for event in whole.events if event.kind in event_kinds.SHOWN)
    assert found == dataclasses.replace(whole, events=shown)
    assert len(shown) < len(whole.events)


@pytest.mark.parametrize('count', [10, 200])
def test_a_question_of_the_scheduler_costs_two_statements_for_all_hosts(manager, database, count):
    enrol(database, count)
    lease = manager.book(builders.hosts(count // 2))
    with database.writer() as connection:
        leases.change(connection, lease, builders.NOON, state=lifecycle.ACTIVE)
        reservations.change(connection, [lease.reservations[0].id], builders.NOON,
                            state=lifecycle.RESERVATION_ACTIVE)
        for resource_id in lease.reservations[0].resource_ids:
            resources.change(connection, resource_id, builders.NOON,
                             held_by=lease.reservations[0].id)
    with builders.statements() as made:
        found = manager.client.reservation_hosts(builders.an_admin(), lease.reservations[0].id,
                                                 'demo')
    assert len(found.hosts) == count // 2
    assert len(made) == 2, made
