# SPDX-License-Identifier: Apache-2.0
"""Late cancellations: what a dry run announces is what the statement has, once."""
import decimal

import pytest
import sqlalchemy as sa
from support import billing_cases as cases
from support import billing_truths
from support import builders

from climate.db import migrate
from climate.db import tables
from climate.domain import records
from climate.manager.usage import days

hours, NOON = builders.hours, builders.NOON
LATE = {'hours': '24', 'percent': '50'}
STRANGER = builders.an_admin()


@pytest.fixture
def enrolled(manager):
    manager.enrol(4)
    cases.book(manager, late_cancel=LATE, short_notice={'hours': '1', 'percent': '20'})
    return manager


def announced(manager, lease, **changes):
    """Return the amount that a dry run of a change, or of the deletion, announces, or None."""
    if changes:
        price = manager.change(lease, dry_run=True, **changes).late_cancel
    else:
        price = manager.client.price_deletion(builders.a_member(), lease.id)
    return None if price is None else price.amount


def late_lines(manager):
    return [(each.month, each.line.percent, each.line.amount)
            for each in cases.lines(manager) if each.line.kind == 'late_cancel']


def test_a_late_deletion_costs_what_the_dry_run_announces_once(enrolled):
    lease = enrolled.book(builders.hosts(2), start=NOON + hours(5), end=NOON + hours(9))
    # Half of the fee of 2.00 and of 8 hours for 0.50.
    assert announced(enrolled, lease) == '3.00'
    enrolled.delete(lease)
    assert cases.bill(enrolled) == 1
    assert cases.bill(enrolled) == 0
    assert late_lines(enrolled) == [('2030-05', '50', '3.00')]
    billing_truths.statements_are_right(enrolled.database)


def test_an_early_deletion_costs_nothing(enrolled):
    lease = enrolled.book(start=NOON + hours(24), end=NOON + hours(30))
    assert announced(enrolled, lease) is None
    enrolled.delete(lease)
    assert cases.bill(enrolled) == 0


def test_a_deletion_by_the_operator_costs_nothing(enrolled):
    lease = enrolled.book(start=NOON + hours(5), end=NOON + hours(9))
    assert enrolled.client.price_deletion(STRANGER, lease.id) is None
    enrolled.client.delete_lease(STRANGER, lease.id)
    assert cases.bill(enrolled) == 0


def test_a_lease_that_is_moved_away_costs_its_former_hours_and_its_new_ones(enrolled):
    lease = enrolled.book(start=NOON + hours(5), end=NOON + hours(9))
    moved = {'start': NOON + hours(48), 'end': NOON + hours(52)}
    assert announced(enrolled, lease, **moved) == '1.00'
    price = enrolled.change(lease, dry_run=True, **moved).price
    enrolled.change(lease, **moved)
    assert late_lines(enrolled) == []
    cases.bill(enrolled)
    assert late_lines(enrolled) == [('2030-05', '50', '1.00')]
    assert announced(enrolled, lease) is None
    enrolled.run_until(NOON + hours(53))
    cases.bill(enrolled)
    assert cases.total(cases.lines(enrolled)) == decimal.Decimal(price.amount) == 5
    billing_truths.statements_are_right(enrolled.database)


def test_a_smaller_lease_costs_the_hosts_that_it_gives_up(enrolled):
    lease = enrolled.book(builders.hosts(4), start=NOON + hours(5), end=NOON + hours(9))
    fewer = (records.ReservationRequest(
        None, {'min': 1, 'max': 1}, id=lease.reservations[0].id),)
    assert announced(enrolled, lease, reservations=fewer) == '3.00'
    enrolled.change(lease, reservations=fewer)
    cases.bill(enrolled)
    assert late_lines(enrolled) == [('2030-05', '50', '3.00')]


def test_a_longer_or_larger_lease_and_a_new_name_cost_nothing(enrolled):
    lease = enrolled.book(start=NOON + hours(5), end=NOON + hours(9))
    assert announced(enrolled, lease, end=NOON + hours(12)) is None
    enrolled.change(lease, end=NOON + hours(12))
    enrolled.change(lease, name='other')
    assert cases.bill(enrolled) == 0


def test_cancellations_of_one_lease_are_charged_one_by_one(enrolled):
    lease = enrolled.book(start=NOON + hours(5), end=NOON + hours(9))
    enrolled.change(lease, end=NOON + hours(7))
    cases.bill(enrolled)
    enrolled.delete(lease)
    cases.bill(enrolled)
    # The deletion costs half of the fee and of the two remaining hours.
    assert [line[-1] for line in late_lines(enrolled)] == ['0.50', '1.50']
    billing_truths.statements_are_right(enrolled.database)


def test_a_later_price_book_changes_no_charge(enrolled):
    lease = enrolled.book(start=NOON + hours(5), end=NOON + hours(9))
    enrolled.delete(lease)
    enrolled.run_until(NOON + hours(1))
    cases.book(enrolled, late_cancel={'hours': '24', 'percent': '100'})
    cases.bill(enrolled)
    assert [line[-1] for line in late_lines(enrolled)] == ['2.00']


def test_a_lease_that_ends_early_while_it_runs_pays_by_early_end_only(enrolled):
    lease = enrolled.book(end=NOON + hours(10))
    enrolled.run_until(NOON + hours(4))
    assert announced(enrolled, lease) is None
    enrolled.delete(lease)
    enrolled.run_until(NOON + hours(5))
    cases.bill(enrolled)
    kinds = [each.line.kind for each in cases.lines(enrolled)]
    assert 'late_cancel' not in kinds
    assert 'early_end_credit' in kinds


def test_the_month_of_a_cancellation_is_that_of_its_line(enrolled):
    enrolled.run_until(cases.day(5, 31, 23))
    lease = enrolled.book(start=cases.day(6, 1, 5), end=cases.day(6, 1, 9))
    enrolled.delete(lease)
    enrolled.run_until(cases.day(6, 2))
    cases.bill(enrolled)
    assert [line[0] for line in late_lines(enrolled)] == ['2030-05']


def test_a_purge_keeps_a_cancelled_lease_until_it_is_billed(enrolled):
    lease = enrolled.book(start=NOON + hours(5), end=NOON + hours(9))
    enrolled.delete(lease)
    enrolled.run_until(NOON + hours(40))
    days.close(enrolled.database, NOON + hours(40))

    def is_stored():
        with enrolled.database.reader() as connection:
            return connection.execute(sa.select(tables.LEASES.c.id).where(
                tables.LEASES.c.id == lease.id)).first() is not None
    migrate.purge(enrolled.database, NOON + hours(30))
    assert is_stored()
    cases.bill(enrolled)
    migrate.purge(enrolled.database, NOON + hours(30))
    assert not is_stored()
    assert [line[-1] for line in late_lines(enrolled)] == ['2.00']
