# SPDX-License-Identifier: Apache-2.0
"""Several managers bill the same leases and close the same month and day at the same moment.

CLIMATE_RACE_ROUNDS says how often it is tried; a few times by default.
"""
import datetime
import os

import pytest
from support import billing_cases as cases
from support import billing_truths
from support import builders
from support import simultaneous

from climate import errors
from climate.db import engine
from climate.domain import records
from climate.manager.billing import biller
from climate.manager.usage import days

_ROUNDS = int(os.environ.get('CLIMATE_RACE_ROUNDS') or 3)
_MANAGERS = 4
DAY = datetime.timedelta(days=1)
hours, minutes = builders.hours, builders.minutes


@pytest.fixture
def managers(manager):
    """Managers of one service; on a server of databases each has connections of its own."""
    manager.enrol(4)
    cases.book(manager)
    if manager.database.dialect == 'sqlite':
        yield [manager] * _MANAGERS
        return
    url = manager.database.engine.url.render_as_string(hide_password=False)
    others = [engine.Database(url) for _ in range(_MANAGERS - 1)]
    yield [manager, *(builders.Manager(manager.core.conf, each, manager.clock, manager.cloud)
                      for each in others)]
    for each in others:
        each.dispose()


def at_once(*works):
    """Return the results of simultaneous calls, without those whose race others won."""
    return [result for result in simultaneous.at_once(*works, caught=errors.LostRace)
            if result is not errors.LostRace]


def live(manager, first):
    """Leases around the end of a month: one that ended, one that goes on, one to be changed."""
    manager.clock.now = first
    made = [manager.book(end=first + hours(length)) for length in (1, 9, 9)]
    manager.run_until(first + hours(4))
    return made


@pytest.mark.proof
def test_managers_that_bill_together_write_each_line_once(managers):
    manager = managers[0]
    for number in range(_ROUNDS):
        # It is two hours before the end of a month.
        first = cases.day(6 + number % 6, 1) + (number // 6) * 365 * DAY - hours(2)
        _, _, changed = live(manager, first)
        before = len(billing_truths.statement_lines(manager.database))
        written = at_once(*[lambda each=each: biller.Biller(each.core).bill(manager.clock())
                            for each in managers])
        after = len(billing_truths.statement_lines(manager.database))
        assert after - before == sum(written) > 0
        # One ends early while it is billed; then the month is closed.
        manager.clock.now = first + hours(5)
        at_once(
            lambda changed=changed: manager.client.update_lease(
                builders.a_member(), changed.id, records.LeaseChanges(end_now=True)),
            *[lambda each=each: biller.Biller(each.core).bill(manager.clock())
              for each in managers])
        manager.run_until(first + hours(12))
        manager.clock.now = first + DAY * 5
        closed = billing_truths.closed_months(manager.database)
        at_once(*[lambda each=each: biller.Biller(each.core).bill(manager.clock())
                  for each in managers])
        cases.bill(manager)
        assert len(billing_truths.closed_months(manager.database)) == len(closed) + 1
        billing_truths.statements_are_right(manager.database)


@pytest.mark.proof
def test_managers_that_close_days_together_count_each_once(managers):
    manager = managers[0]
    first = builders.NOON
    for _ in range(_ROUNDS):
        live(manager, first)
        manager.run_until(first + 2 * DAY)
        closed = at_once(*[lambda each=each: days.close(each.database, manager.clock())
                           for each in managers])
        left = days.close(manager.database, manager.clock())
        assert sum(closed) + left == 2
        first += 2 * DAY
        billing_truths.usage_is_right(manager.core, builders.NOON - hours(12), first + hours(12))
