# SPDX-License-Identifier: Apache-2.0
"""A lease that cannot be billed stops no other bill, is reported, and is tried again."""
import prometheus_client
import pytest
import sqlalchemy as sa
from support import billing_cases as cases
from support import builders

from climate.db import bills
from climate.db import migrate
from climate.db import price_facts
from climate.db import tables
from climate.domain import prices
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.events import clock_watch
from climate.manager.usage import days

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
# The amount of an hour of a thousand million copies is larger than 64 bits.
RATES = {'currency': 'BHD', 'lease_fee': '0', 'rates': [{'rate': '99999999'}], 'short_notice': None,
         'early_end': None}
BOOK = {name: value for name, value in {**cases.BOOK, **RATES}.items() if value is not None}


@pytest.fixture
def leased(manager):
    """A manager with six leases of an hour that are over; the ids are in order."""
    manager.enrol(3)
    manager.client.create_price_book(builders.an_admin(), None, BOOK)
    made = [manager.book(
        start=NOON + hours(first), end=NOON + hours(first + 1)).id
        for first in (0, 0, 0, 2, 2, 2)]
    manager.run_until(NOON + hours(4))
    return manager, sorted(made)


def give(manager, lease_id, copies):
    """Write how many copies a lease had, as only a mistake in the database can."""
    own = sa.select(tables.RESERVATIONS.c.id).where(tables.RESERVATIONS.c.lease_id == lease_id)
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.ALLOCATIONS).where(
            tables.ALLOCATIONS.c.reservation_id.in_(own)).values(copies=copies))


def billed(manager):
    return {each.lease_id for each in cases.lines(manager)}


def metric(manager):
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(
        manager.core, manager.event_loop, schedule.AuditSchedule(manager.core, 'this manager'),
        clock_watch.ClockWatch(manager.core, 'this manager')))
    return registry.get_sample_value('climate_billing_failed_leases')


def told(manager, lease_id):
    """Return the entries about the bill of a lease for operators and owners."""
    with manager.database.reader() as connection:
        return [tuple(row) for row in connection.execute(
            sa.select(tables.HISTORY.c.why, tables.HISTORY.c.owner_why)
            .where(tables.HISTORY.c.lease_id == lease_id, tables.HISTORY.c.what == 'billing'))]


def test_a_lease_that_cannot_be_billed_stops_no_other_one_and_is_reported(leased, caplog):
    manager, ids = leased
    give(manager, ids[0], 10 ** 9)
    cases.bill(manager)
    assert billed(manager) == set(ids[1:])
    assert f'Lease {ids[0]} cannot be billed' in caplog.text
    [(operator, owner)] = told(manager, ids[0])
    assert '99999999000000000.000 BHD is larger than a line can have' in operator
    assert owner == 'The lease cannot be billed yet; your operator can see why.'
    assert metric(manager) == 1
    # What the others have to pay can still be read and added up.
    [statement] = manager.client.list_statements(builders.an_admin(), prices.StatementQuery())
    assert statement.amount == '499999995.000'


def test_a_lease_that_fails_unexpectedly_stops_no_other_one(leased, monkeypatch, caplog):
    manager, ids = leased
    real = price_facts.read

    def fails(connection, lease_id, *arguments, **more):
        if lease_id == ids[2]:
            raise ArithmeticError('made for this test')
        return real(connection, lease_id, *arguments, **more)
    monkeypatch.setattr(price_facts, 'read', fails)
    cases.bill(manager)
    assert billed(manager) == {*ids} - {ids[2]}
    assert 'ArithmeticError: made for this test' in caplog.text
    monkeypatch.undo()
    manager.clock.advance(minutes(5))
    cases.bill(manager)
    assert billed(manager) == set(ids)
    assert metric(manager) == 0


def test_a_failed_bill_is_retried_after_growing_pauses(leased):
    manager, ids = leased
    give(manager, ids[0], 10 ** 9)
    tried = []
    for _ in range(12):
        with manager.database.reader() as connection:
            tried.append(bills.failed_attempts(connection, ids[0]))
        cases.bill(manager)
        manager.clock.advance(minutes(5))
    assert tried == [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4]
    # A lasting problem is in the history once.
    assert len(told(manager, ids[0])) == 1


def test_a_month_closes_without_a_failed_bill_whose_lines_follow_later(leased):
    manager, ids = leased
    give(manager, ids[0], 10 ** 9)
    for moment in (cases.day(5, 2), cases.day(6, 5)):
        manager.run_until(moment)
        cases.bill(manager)
    [statement] = manager.client.list_statements(builders.an_admin(), prices.StatementQuery())
    assert (statement.month, statement.closed, statement.leases) == ('2030-05', True, 5)
    give(manager, ids[0], 1)
    manager.run_until(cases.day(6, 6))
    assert cases.bill(manager) == 1
    [line] = cases.lines(manager, lease_id=ids[0])
    assert (line.month, line.for_month, line.line.amount) == ('2030-06', '2030-05', '99999999.000')
    assert metric(manager) == 0
    assert cases.bill(manager) == 0


def test_a_purge_keeps_a_lease_with_a_failed_bill(leased):
    manager, ids = leased
    give(manager, ids[0], 10 ** 9)
    for moment in (cases.day(5, 2), cases.day(6, 5)):
        manager.run_until(moment)
        cases.bill(manager)
    # It is corrected, but not tried again yet.
    give(manager, ids[0], 1)
    days.close(manager.database, manager.clock(), most=None)
    assert migrate.purge(manager.database, cases.day(6, 4)) == 5
    assert manager.client.get_lease(builders.an_admin(), ids[0]).id == ids[0]


def test_a_failed_bill_is_deleted_with_its_lease(leased):
    manager, ids = leased
    give(manager, ids[0], 10 ** 9)
    cases.bill(manager)
    with manager.database.writer() as connection:
        connection.execute(sa.delete(tables.LEASES).where(tables.LEASES.c.id == ids[0]))
    manager.clock.advance(hours(1))
    cases.bill(manager)
    assert metric(manager) == 0
