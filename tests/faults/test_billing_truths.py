# SPDX-License-Identifier: Apache-2.0
"""The invariants of statements and usage fail after an action that breaks them."""
import pytest
import sqlalchemy as sa
from support import billing_cases as cases
from support import billing_truths
from support import builders
import test_model_truths as model_tests

from climate.db import tables
from climate.manager.usage import days

lease = model_tests.lease


@pytest.fixture
def billed(manager, lease):
    """Two leases that have ended and are billed; all is true of their statements."""
    cases.book(manager)
    manager.run_until(model_tests.LATER['end'] + builders.hours(1))
    cases.bill(manager)
    billing_truths.statements_are_right(manager.database)
    return manager


def _line(lease, number=1):
    lines = tables.STATEMENT_LINES.c
    return sa.and_(lines.lease_id == lease.id, lines.number == number)


def test_a_line_that_is_lost_is_seen(billed, lease):
    model_tests.write(billed, sa.delete(tables.STATEMENT_LINES).where(_line(lease, 3)))
    with pytest.raises(AssertionError, match=r'billed .*and it costs'):
        billing_truths.statements_are_right(billed.database)


def test_a_line_that_is_there_twice_is_seen(billed, lease):
    model_tests.write(billed, sa.update(tables.STATEMENT_LINES).where(_line(lease, 3)).values(
        kind='resource_hours', percent=''))
    with pytest.raises(AssertionError, match='there twice'):
        billing_truths.statements_are_right(billed.database)


def test_an_amount_that_is_wrong_by_a_cent_is_seen(billed, lease):
    model_tests.write(billed, sa.update(tables.STATEMENT_LINES).where(_line(lease)).values(
        minor=tables.STATEMENT_LINES.c.minor + 1))
    with pytest.raises(AssertionError):
        billing_truths.statements_are_right(billed.database)


def test_a_lease_that_is_not_billed_is_seen(billed, lease):
    model_tests.write(billed, sa.delete(tables.STATEMENT_LINES).where(
        tables.STATEMENT_LINES.c.lease_id == lease.id))
    with pytest.raises(AssertionError, match=r'billed \{\}'):
        billing_truths.statements_are_right(billed.database)


def test_a_line_that_changes_and_one_that_is_new_in_a_closed_month_are_seen(billed, lease):
    lines = billing_truths.statement_lines(billed.database)
    billing_truths.nothing_was_taken_back(lines, lines, {'2030-05'})
    with pytest.raises(AssertionError, match='is new in a closed month'):
        billing_truths.nothing_was_taken_back({}, lines, {'2030-05'})
    model_tests.write(billed, sa.update(tables.STATEMENT_LINES).where(_line(lease)).values(minor=1))
    with pytest.raises(AssertionError, match='became'):
        billing_truths.nothing_was_taken_back(
            lines, billing_truths.statement_lines(billed.database), set())


def test_a_day_that_is_counted_twice_is_seen(billed):
    midnight = builders.at(12)
    days.close(billed.database, midnight + builders.hours(2))
    billing_truths.usage_is_right(billed.core, midnight - builders.hours(24), midnight)
    model_tests.write(billed, sa.update(tables.USAGE_DAYS).values(
        allocated=2 * tables.USAGE_DAYS.c.allocated))
    with pytest.raises(AssertionError):
        billing_truths.usage_is_right(billed.core, midnight - builders.hours(24), midnight)
