# SPDX-License-Identifier: Apache-2.0
"""The forecast learns from what was given and refused, and knows what is leased ahead."""
import datetime

import acts
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import forecast
from climate.domain import records
from climate.manager.planning import pool_demand

NOON, hours = builders.NOON, builders.hours
LATER = NOON + hours(24 * 28)


def asked(manager, pool='host', **more):
    return manager.client.forecast(builders.an_admin(), forecast.ForecastQuery(pool, **more))


@pytest.fixture
def history(manager, conf):
    """Four weeks in which three of four hosts were leased from 8 to 16 each day, and a GPU host."""
    conf.set_override('cleaning_minutes', 0, group='manager')
    found = manager.enrol(4)
    manager.client.update_resource(builders.an_admin(), 'host', found[0].id, {'accelerator': 'A1'})
    with manager.database.writer() as connection:
        for day in range(28):
            start = NOON + hours(24 * day + 20)
            for host in found[:3]:
                connection.execute(sa.insert(tables.ALLOCATIONS), {
                    'reservation_id': f'{day}-{host.id}', 'resource_id': host.id, 'start': start,
                    'end': start + hours(8), 'whole': True, 'amount': {}, 'copies': 1,
                    'need': 'hosts'})
        connection.execute(sa.update(tables.RESOURCES).values(created_at=NOON))
    manager.clock.now = LATER
    return found


def test_a_forecast_expects_the_demand_of_each_day(manager, history):
    found = asked(manager)
    assert (found.pool, found.capacity, len(found.hours)) == ('host', 4, 168)
    assert found.method == 'holt-winters' and found.learned_from == NOON
    for hour in found.hours:
        busy = hour.start.hour >= 8 and hour.start.hour < 16
        assert hour.expected == pytest.approx(3 if busy else 0, abs=0.2), hour
        assert hour.low95 <= hour.low80 <= hour.expected <= hour.high80 <= hour.high95
    assert (found.short_at, found.may_be_short_at, found.refused) == (None, None, 0)
    assert found.past_error < 0.1


def test_a_criterion_counts_only_the_resources_that_meet_it(manager, history):
    found = asked(manager, criteria='["==", "$accelerator", "A1"]')
    assert found.capacity == 1
    assert max(hour.expected for hour in found.hours) == pytest.approx(1, abs=0.1)


def test_future_allocations_are_the_minimum_of_a_forecast(manager, history):
    manager.book(builders.hosts(4), start=LATER + hours(30), end=LATER + hours(32))
    found = asked(manager)
    busy = [hour for hour in found.hours if hour.allocated == 4]
    assert [hour.start for hour in busy] == [LATER + hours(30), LATER + hours(31)]
    for hour in busy:
        assert hour.expected == hour.allocated == 4 and hour.low80 >= 4 and hour.high95 >= 4


def test_refused_requests_are_demand_so_it_may_run_short(manager, history):
    for day in range(1, 8):
        manager.clock.now = LATER - hours(24 * day)
        for project in ('demo', 'other'):
            with pytest.raises(errors.NotEnough):
                manager.create(builders.a_lease(
                    builders.hosts(9), start=manager.clock.now + hours(1),
                    end=manager.clock.now + hours(3)), builders.a_member('eve', project))
    manager.clock.now = LATER
    found = asked(manager)
    # A project counts for at most the four hosts of the pool, whatever it asks for.
    assert found.refused == 2 * 4 * 2 * 7
    # From 13 to 15, when three hosts are leased anyway: eleven are wanted of four.
    first = found.hours[1]
    assert first.start == LATER + hours(1) == found.short_at
    assert first.missing == pytest.approx(first.expected - 4) and first.expected > 4


@pytest.mark.proof
def test_a_lease_that_waited_counts_from_when_it_was_asked_for(manager, conf):
    conf.set_override('cleaning_minutes', 0, group='manager')
    conf.set_override('method', 'seasonal-naive', group='forecast')
    manager.enrol(1)
    manager.book(end=NOON + hours(5))
    manager.run()
    manager.book(duration_seconds=3600 * 2, acquire=records.AcquireRequest('wait'))
    manager.run_until(NOON + hours(24))
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.RESOURCES).values(created_at=NOON))
    found = asked(manager, end=NOON + hours(48))
    assert [round(hour.expected, 2) for hour in found.hours] == [2, 2, 1, 1, 1, *[0] * 19]


@pytest.fixture
def accelerated(manager, conf):
    """Four hosts, of which the first has an accelerator, and a naive forecast."""
    conf.set_override('method', 'seasonal-naive', group='forecast')
    first, *_ = manager.enrol(4)
    manager.client.update_resource(builders.an_admin(), 'host', first.id, {'accelerator': 'A1'})


def wanted_today(manager, criteria=''):
    """Return the demand from NOON on, which is expected again a day later."""
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.RESOURCES).values(created_at=NOON))
    manager.clock.now = NOON + hours(24)
    found = asked(manager, end=NOON + hours(48), criteria=criteria)
    return [round(hour.expected, 2) for hour in found.hours[:4]], found.refused


def refused(manager, count, last, criteria):
    with pytest.raises(errors.NotEnough):
        manager.book(builders.hosts(count, criteria=criteria), end=NOON + hours(last))


def test_a_refused_request_with_the_criterion_is_demand_for_it(manager, accelerated):
    refused(manager, 2, 1, '["==", "$accelerator", "A1"]')
    refused(manager, 3, 2, '["and", [">=", "$vcpus", 1], ["==", "$accelerator", "A1"]]')
    refused(manager, 4, 3, '["not", ["==", "$accelerator", "A1"]]')
    assert wanted_today(manager, '["==", "$accelerator", "A1"]') == ([4, 3, 0, 0], 7)
    assert wanted_today(manager) == ([4, 4, 4, 0], 12)


def test_a_refused_request_for_any_host_is_demand_for_the_criterion_in_part(manager, accelerated):
    refused(manager, 8, 1, '')
    assert wanted_today(manager, '["==", "$accelerator", "A1"]') == ([2, 0, 0, 0], 2)


def test_criteria_that_no_host_meets_are_demand_of_nobody_else(manager, accelerated):
    refused(manager, 2, 1, '["==", "$accelerator", "B2"]')
    assert wanted_today(manager, '["==", "$accelerator", "A1"]')[0][0] == 0
    assert wanted_today(manager, '["==", "$accelerator", "B2"]')[0][0] == 2


def test_after_many_different_criteria_further_ones_count_as_requests_for_any_host(
        manager, accelerated, monkeypatch):
    monkeypatch.setattr(pool_demand, '_MOST_COMPARED', 1)
    for name in ('compute-2', 'compute-3', 'compute-4'):
        refused(manager, 2, 1, f'["==", "$hypervisor_hostname", "{name}"]')
    refused(manager, 2, 1, '["==", "$accelerator", "A1"]')
    # The first is compared, and is nothing; two are a quarter of two hosts; the last is its own.
    assert wanted_today(manager, '["==", "$accelerator", "A1"]')[0][0] == 3


def test_a_refusal_without_recorded_criteria_counts_for_the_whole_pool_only(manager, accelerated):
    refused(manager, 5, 1, '["==", "$accelerator", "A1"]')
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.REFUSALS).values(criteria=sa.null()))
    assert wanted_today(manager)[0][0] == 4
    assert wanted_today(manager, '["==", "$accelerator", "A1"]')[0][0] == 0


def test_a_lease_that_waits_still_is_demand_from_when_it_was_asked_for(manager, accelerated):
    manager.book(builders.hosts(4), end=NOON + hours(90))
    manager.run()
    for count, criteria in ((1, '["==", "$accelerator", "A1"]'), (2, '')):
        manager.book(builders.hosts(count, criteria=criteria),
                     duration_seconds=2 * 3600,
                     acquire=records.AcquireRequest('wait'))
    assert wanted_today(manager)[0] == [7, 7, 4, 4]
    assert wanted_today(manager, '["==", "$accelerator", "A1"]')[0] == [2.5, 2.5, 1, 1]


@pytest.mark.parametrize('gone', [
    {'reservable': False}, {'reservable': False, 'withdrawn_at': NOON + hours(2)}])
def test_demand_for_a_host_that_is_out_of_order_or_gone_is_demand_all_the_same(
        manager, accelerated, gone):
    manager.book(builders.hosts(1, criteria='["==", "$accelerator", "A1"]'), end=NOON + hours(2))
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.RESOURCES).where(
            tables.RESOURCES.c.id == 1).values(**gone))
    assert wanted_today(manager, '["==", "$accelerator", "A1"]')[0] == [1, 1, 0, 0]
    found = asked(manager, criteria='["==", "$accelerator", "A1"]')
    assert found.capacity == 0 and found.short_at == NOON + hours(24)
    assert asked(manager).capacity == 3


def test_one_lease_is_enough_for_a_forecast_and_one_day_for_the_next(manager, accelerated):
    manager.book(builders.hosts(2), end=NOON + hours(1))
    assert [hour.expected for hour in asked(manager).hours[:2]] == [2, 0]
    assert wanted_today(manager)[0] == [2, 0, 0, 0]


@pytest.mark.parametrize(('days_ago', 'least'), [(1, 1.2), (14, 2.6)])
def test_a_week_in_which_climate_was_down_pulls_down_for_some_days_and_widens_the_bands(
        manager, history, days_ago, least):
    with manager.database.writer() as connection:
        connection.execute(sa.delete(tables.ALLOCATIONS).where(
            tables.ALLOCATIONS.c.start >= LATER - hours(24 * (days_ago + 7)),
            tables.ALLOCATIONS.c.start < LATER - hours(24 * days_ago)))
    found = asked(manager)
    busy = [hour for hour in found.hours if 8 <= hour.start.hour < 16]
    assert sum(hour.expected for hour in busy) / len(busy) > least
    assert all(hour.expected <= 3.01 for hour in busy)
    assert all(hour.high95 >= 3 for hour in busy)


def test_hosts_that_came_later_change_no_demand_of_the_past(manager, history):
    more = [each for each in sorted(manager.cloud.host_names())[4:6]]
    for name in more:
        manager.client.create_resource(builders.an_admin(), 'host', name, {})
    found = asked(manager)
    assert found.capacity == 4 + len(more) and found.learned_from == NOON
    assert max(hour.expected for hour in found.hours) == pytest.approx(3, abs=0.2)


def test_a_pool_without_history_has_a_forecast_without_bands(manager):
    found = asked(manager, end=NOON + datetime.timedelta(minutes=90))
    assert (found.method, found.capacity, found.past_error) == ('simple', 0, None)
    assert [(hour.expected, hour.low80, hour.high95) for hour in found.hours] == [
        (0, None, None)] * 2


def test_a_forecast_only_reads(manager, history):
    with acts.meddling(manager, acts.no_writer) as reading:
        assert asked(reading).hours


@pytest.mark.parametrize(('more', 'error'), [
    ({'end': NOON}, errors.BadField), ({'end': NOON - hours(1)}, errors.BadField),
    ({'end': NOON + hours(24 * 36500)}, errors.BadField), ({'pool': 'moon'}, errors.UnknownPool),
    ({'criteria': '["==", "$moon", "1"]'}, errors.UnknownProperty),
    ({'criteria': '["=="'}, errors.MalformedRequirement)])
def test_an_impossible_query_is_refused(manager, more, error):
    with pytest.raises(error):
        asked(manager, **more)


@pytest.mark.parametrize('copies', [5, 10 ** 6])
def test_no_project_moves_a_forecast_by_more_than_the_pool(manager, accelerated, copies):
    for project in ('demo', 'other'):
        for last in (1, 2, 24 * 36500):
            with pytest.raises(errors.NotEnough):
                manager.create(builders.a_lease(builders.hosts(copies), end=NOON + hours(last)),
                               builders.a_member('eve', project))
    expected, total = wanted_today(manager)
    assert (expected, total) == ([8] * 4, 8 * 24)
