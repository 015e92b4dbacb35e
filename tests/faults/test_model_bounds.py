# SPDX-License-Identifier: Apache-2.0
"""The invariants of what one member can leave or take fail after an action that breaks them."""
import model_bounds as bounds
import model_records
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.manager.usage import days

ADMIN = builders.an_admin()
TOO_MANY = builders.hosts(10 ** 6)


@pytest.fixture
def lease(manager):
    manager.enrol(2)
    found = manager.book()
    manager.run()
    return manager.lease(found)


def _write(manager, statement):
    with manager.database.writer() as connection:
        connection.execute(statement)


def _read(manager):
    return model_records.read(manager.database)


def _refused(manager, count=1):
    for number in range(count):
        with pytest.raises(errors.NotEnough):
            manager.book(
                TOO_MANY, start=manager.clock() + builders.minutes(number),
                end=builders.at(9))


def test_a_host_that_is_kept_for_a_lease_that_is_over_is_seen(manager, lease):
    bounds.what_is_over_keeps_nothing(_read(manager), manager.clock())
    _write(manager, sa.update(tables.LEASES).values(state='TERMINATED'))
    with pytest.raises(AssertionError, match=r'is kept for .* which is over'):
        bounds.what_is_over_keeps_nothing(_read(manager), manager.clock())


@pytest.mark.parametrize('by_admin', [True, False])
def test_a_quarantine_by_the_word_of_one_member_is_seen(manager, lease, by_admin):
    [host] = lease.reservations[0].resource_ids
    manager.client.swap_resource(builders.a_member(), lease.id, str(host), by_admin=by_admin)
    bounds.no_member_quarantines(_read(manager), {host} if by_admin else set())
    _write(manager, sa.update(tables.RESOURCES).where(tables.RESOURCES.c.id == host).values(
        health_state='quarantined'))
    with pytest.raises(AssertionError, match='The word of one member'):
        bounds.no_member_quarantines(_read(manager), set())


def test_a_member_who_takes_from_others_is_seen(manager, lease):
    before = bounds.free_for_others(_read(manager), set(), manager.clock())
    mine = manager.book()
    assert bounds.free_for_others(_read(manager), {mine.id}, manager.clock()) == before
    assert bounds.free_for_others(_read(manager), set(), manager.clock()) != before
    manager.delete(mine)
    manager.run()
    assert bounds.free_for_others(_read(manager), set(), manager.clock()) == before


def test_too_many_or_too_large_refusals_are_seen(manager, lease):
    _refused(manager, 3)
    bounds.refusals_are_few_and_small(manager.database, 3)
    with pytest.raises(AssertionError, match="'demo': 3"):
        bounds.refusals_are_few_and_small(manager.database, 2)
    _write(manager, sa.update(tables.REFUSALS).values(criteria=['x' * 5000]))
    with pytest.raises(AssertionError, match=r'leaves .* bytes'):
        bounds.refusals_are_few_and_small(manager.database, 3)


def test_a_refusal_that_moves_a_forecast_by_more_than_the_pool_is_seen(manager, lease):
    _refused(manager, 3)
    manager.clock.advance(builders.hours(5))
    _write(manager, sa.update(tables.RESOURCES).values(created_at=builders.NOON))
    judge = bounds.no_refusal_moves_a_forecast_by_more_than_the_pool
    assert judge(manager, ADMIN, ['host']) == judge(manager, ADMIN, ['host']) == 3

    class Gives(type(manager)):
        """Forecasts as they would be if a project counted three times."""

        def __init__(self):
            self.database, self.client = manager.database, self

        def forecast(self, *arguments):
            found = manager.client.forecast(*arguments)
            return type(found)(**{**vars(found), 'hours': tuple(
                type(each)(**{**vars(each), 'expected': 3 * each.expected})
                for each in found.hours)})
    with pytest.raises(AssertionError, match='moves the forecast from'):
        judge(Gives(), ADMIN, ['host'])


def test_rows_of_members_that_a_purge_leaves_are_seen(manager, lease):
    _refused(manager)
    manager.run_until(builders.at(99))
    days.close(manager.database, manager.clock(), most=None)
    bounds.a_purge_leaves_nothing_of_members(manager.core, manager.clock())
    _write(manager, sa.insert(tables.HISTORY).values(
        lease_id='gone', at=builders.NOON, who='demo', what='x', why='y'))
    with pytest.raises(AssertionError, match="'history': 1"):
        bounds.a_purge_leaves_nothing_of_members(manager.core, manager.clock())
