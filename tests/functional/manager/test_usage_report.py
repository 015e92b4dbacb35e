# SPDX-License-Identifier: Apache-2.0
"""Usage counted from what leases did, and the days that are closed."""
import concurrent.futures
import datetime
import types

import daemons
import pytest
from support import builders
from support import waiting

from climate import errors
from climate.cmd import db as climate_db
from climate.db import engine
from climate.db import migrate
from climate.db import resources
from climate.db import usage_days
from climate.db import use_samples
from climate.domain import usage_figures
from climate.domain import usage_groups
from climate.domain import use_sampling
from climate.domain import utilisation
from climate.manager.usage import days

hours, minutes = builders.hours, builders.minutes
NOON = builders.NOON
MIDNIGHT = NOON + hours(12)
DAY = datetime.timedelta(days=1)
TODAY = MIDNIGHT - DAY


def usage(manager, *group_by, first=TODAY, last=MIDNIGHT, **options):
    """The Groups of a question, and the total, as ({keys: {figure: hours}}, the same)."""
    found = manager.client.report_usage(builders.an_admin(), usage_groups.UsageQuery(
        first, last, tuple(group_by), **options))

    def in_hours(group):
        return {name: count / 3600 for name, count in group.seconds.items() if count}
    return {tuple(each.keys.values()): in_hours(each) for each in found.groups}, in_hours(
        found.total)


def host_lease(manager, count=1, first=0, last=2, caller=None):
    lease = manager.create(builders.a_lease(
        builders.hosts(count), start=NOON + hours(first), end=NOON + hours(last)), caller)
    manager.run()
    return lease


def test_a_lease_is_allocated_by_its_dates_and_occupied_from_its_start_on(manager):
    manager.enrol(2)
    host_lease(manager, 2, 1, 4)
    assert usage(manager)[1] == {'allocated': 6}
    manager.run_until(NOON + hours(2) + minutes(30))
    assert usage(manager)[1] == {'allocated': 6, 'occupied': 3}
    manager.run_until(NOON + hours(6))
    assert usage(manager)[1] == {'allocated': 6, 'occupied': 6}


def test_a_whole_host_counts_with_all_its_units(manager):
    [host] = manager.enrol(1)
    host_lease(manager)
    manager.run_until(NOON + hours(3))
    found = manager.client.report_usage(builders.an_admin(),
                                        usage_groups.UsageQuery(TODAY, MIDNIGHT))
    assert {name: counts['occupied'] / 7200 for name, counts in found.total.units.items()} == {
        name: count for name, count in host.capacity.items()}


def test_a_lease_that_ends_early_counts_until_then(manager):
    manager.enrol(1)
    lease = host_lease(manager, last=8)
    manager.run_until(NOON + hours(3))
    manager.delete(lease)
    manager.run_until(NOON + hours(10))
    assert usage(manager)[1] == {'allocated': 3, 'occupied': 3}


def test_a_lease_that_never_started_is_allocated_until_it_was_deleted(manager):
    manager.enrol(1)
    lease = host_lease(manager, first=2, last=4)
    assert usage(manager)[1] == {'allocated': 2}
    manager.delete(lease)
    assert usage(manager)[1] == {}


def test_a_late_start_and_end_change_occupied_and_not_allocated(manager):
    manager.enrol(1)
    host_lease(manager, first=1, last=3)
    # No manager runs from the start on for half an hour, nor at the end.
    manager.clock.now = NOON + hours(1) + minutes(30)
    manager.run()
    manager.clock.now = NOON + hours(4)
    assert usage(manager)[1] == {'allocated': 2, 'occupied': 2.5}
    manager.run()
    manager.clock.now = NOON + hours(9)
    assert usage(manager)[1] == {'allocated': 2, 'occupied': 2.5}


def test_an_end_after_midnight_counts_for_the_next_day(manager):
    manager.enrol(1)
    host_lease(manager, first=10, last=11)
    manager.run_until(NOON + hours(10))
    manager.clock.now = MIDNIGHT + hours(2)
    manager.run()
    found, _ = usage(manager, 'day', last=MIDNIGHT + DAY)
    assert found == {('2030-05-01',): {'allocated': 1, 'occupied': 2},
                     ('2030-05-02',): {'occupied': 2}}


def test_a_lease_that_no_manager_started_in_its_time_occupied_nothing(manager):
    manager.enrol(1)
    host_lease(manager, first=1, last=2)
    manager.clock.now = NOON + hours(5)
    manager.run()
    assert usage(manager)[1] == {'allocated': 1}


def test_idle_hours_come_from_the_samples_and_are_at_most_the_occupied_ones(manager):
    [host] = manager.enrol(1)
    lease = host_lease(manager, last=2)
    manager.run_until(NOON + hours(1) + minutes(30))
    key = lease.reservations[0].id, host.id
    with manager.database.writer() as connection:
        use_samples.add(connection, NOON, {key: use_sampling.Sample(3600, 1800, 0.0)})
        use_samples.add(connection, NOON + hours(1), {key: use_sampling.Sample(3600, 3600, 0.0)})
    assert usage(manager)[1] == {'allocated': 2, 'occupied': 1.5, 'idle': 1}


def test_usage_is_grouped_by_all_words_at_once(manager):
    hosts = manager.enrol(3, rack='r1')
    manager.client.update_resource(builders.an_admin(), 'host', hosts[0].id, {'rack': 'r2'})
    host_lease(manager, 3, 0, 2)
    found, total = usage(manager, 'project', 'user', 'type', 'pool', 'day', 'property:rack')
    same = ('demo', 'demo', 'physical:host', 'host', '2030-05-01')
    assert found == {(*same, 'r1'): {'allocated': 4}, (*same, 'r2'): {'allocated': 2}}
    assert total == {'allocated': 6}


def test_a_project_sees_only_its_own_usage(manager):
    manager.enrol(2)
    host_lease(manager)
    host_lease(manager, last=1, caller=builders.a_member(project='other'))
    found, _ = usage(manager, 'project')
    assert found == {('demo',): {'allocated': 2}, ('other',): {'allocated': 1}}
    assert usage(manager, project_id='other')[1] == {'allocated': 1}


@pytest.fixture
def lived(manager):
    """Three days of leases: early ends, late ends, several projects; it is the fifth of May."""
    manager.enrol(4, rack='r1')
    for number, caller in enumerate(['demo', 'other', 'demo', 'third']):
        host_lease(manager, 1, number * 7, number * 9 + 20,
                   builders.a_member(project=caller))
    manager.run_until(NOON + hours(15))
    late = host_lease(manager, 1, 26, 60)
    manager.run_until(NOON + hours(40))
    manager.delete(late)
    # The manager stands still for some hours.
    manager.clock.now += hours(7)
    manager.run_until(NOON + hours(86))
    return manager


def everything(manager):
    span = {'first': TODAY, 'last': TODAY + 5 * DAY}
    return [usage(manager, *words, **span) for words in (
        (), ('day',), ('project', 'day'), ('project', 'user', 'type', 'pool', 'property:rack'))]


def test_closed_days_equal_the_count_from_the_rows_and_stay_after_a_purge(lived):
    before = everything(lived)
    assert before[0][1]['occupied'] > 50
    assert days.close(lived.database, lived.clock()) == 4
    assert everything(lived) == before
    assert migrate.purge(lived.database, NOON + hours(24 * 4)) == 5
    assert everything(lived) == before
    assert days.close(lived.database, lived.clock()) == 0


def test_a_purge_leaves_the_days_that_are_not_closed(lived):
    before = everything(lived)
    days.close(lived.database, lived.clock(), most=1)
    migrate.purge(lived.database, NOON + hours(24 * 4))
    assert everything(lived) == before


def test_a_purge_removes_nothing_before_a_day_was_closed(lived):
    before = everything(lived)
    assert migrate.purge(lived.database, NOON + hours(24 * 4)) == 0
    assert everything(lived) == before


def test_a_day_is_closed_an_hour_after_its_end(manager):
    manager.enrol(1)
    assert days.close(manager.database, MIDNIGHT + minutes(59)) == 0
    assert days.close(manager.database, MIDNIGHT + hours(1)) == 1


def test_after_an_outage_all_days_are_closed_in_order(manager):
    manager.enrol(1)
    now = NOON + 100 * DAY
    assert [days.close(manager.database, now) for _ in range(5)] == [31, 31, 31, 7, 0]


@pytest.mark.proof
def test_managers_that_close_days_together_close_each_once(lived):
    others = [lived.database] if lived.database.dialect == 'sqlite' else [
        engine.Database(lived.database.engine.url.render_as_string(hide_password=False))
        for _ in range(3)]
    before = everything(lived)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        closed = list(pool.map(lambda number: _closed(others[number % len(others)],
                                                      lived.clock()), range(4)))
    assert sum(closed) == 4
    assert everything(lived) == before


def _closed(database, now):
    """Close days until all are, as managers do each few minutes."""
    closed = 0
    for _ in range(20):
        closed += days.close(database, now)
    return closed


def test_a_manager_that_dies_while_it_closes_a_day_leaves_the_day_open(lived, monkeypatch):
    before = everything(lived)

    class Killed(BaseException):
        pass

    def killed(*_arguments):
        raise Killed()
    with monkeypatch.context() as patch:
        patch.setattr(usage_days, '_insert', killed)
        with pytest.raises(Killed):
            days.close(lived.database, lived.clock())
    assert everything(lived) == before
    assert days.close(lived.database, lived.clock()) == 4
    assert everything(lived) == before


def test_the_parts_of_a_span_add_up_to_it(lived):
    first, last = (usage_figures.second(each) for each in (TODAY, TODAY + 5 * DAY))
    with lived.database.reader() as connection:
        whole = days.count_usage(connection, first, last, lived.clock())
        parts = [days.count_usage(connection, start, start + 86400, lived.clock())
                 for start in range(first, last, 86400)]
    assert whole == {key: seconds for part in parts for key, seconds in part.items()}


def test_hosts_held_by_offers_are_no_usage(manager):
    manager.enrol(2)
    manager.hold(builders.a_lease(builders.hosts(1)))
    assert usage(manager)[1] == {}


def test_a_change_that_takes_a_host_away_ends_its_part(manager):
    manager.enrol(2)
    lease = host_lease(manager, 2, 0, 4)
    manager.run_until(NOON + hours(1))
    manager.change_reservation(lease, min=1, max=1)
    manager.run_until(NOON + hours(6))
    assert usage(manager)[1] == {'allocated': 5, 'occupied': 5}


def refused(manager, count, first, last, expected=errors.NotEnough, **more):
    with pytest.raises(expected):
        host_lease(manager, count, first, last, **more)


def test_a_refusal_counts_for_the_requested_time(manager):
    manager.enrol(1)
    host_lease(manager, 1, 1, 4)
    refused(manager, 1, 2, 5)
    found, _ = usage(manager, 'project', 'pool')
    assert found == {('demo', 'host'): {'allocated': 3, 'refused': 3}}
    report = manager.client.report_usage(builders.an_admin(),
                                         usage_groups.UsageQuery(TODAY, MIDNIGHT))
    assert report.total.reasons == {'not_free': 3 * 3600}


def test_a_repeated_request_counts_as_one_refusal(manager):
    manager.enrol(1)
    for hour in range(4):
        manager.clock.now = NOON + hours(hour)
        refused(manager, 2, 6, 7)
        refused(manager, 2, 6, 7)
    assert usage(manager)[1] == {'refused': 2}


def test_refusals_of_closed_days_stay_after_a_purge(manager):
    manager.enrol(1)
    refused(manager, 2, 10, 14)
    span = {'first': TODAY, 'last': MIDNIGHT + DAY}
    assert usage(manager, 'day', **span)[0] == {('2030-05-01',): {'refused': 4},
                                                ('2030-05-02',): {'refused': 4}}
    manager.clock.now = NOON + 3 * DAY
    before = usage(manager, 'day', 'project', 'user', 'type', 'pool', **span)
    assert days.close(manager.database, manager.clock()) == 3
    migrate.purge(manager.database, manager.clock())
    assert usage(manager, 'day', 'project', 'user', 'type', 'pool', **span) == before


def pool_steps(manager, **options):
    return manager.client.report_utilisation(builders.an_admin(), utilisation.UtilisationQuery(
        TODAY, TODAY + 5 * DAY, 3600, **options)).steps


@pytest.mark.proof
def test_utilisation_of_closed_days_equals_that_of_the_rows_and_stays_after_a_purge(lived):
    host = lived.client.list_resources(builders.an_admin(), 'host')[3]
    lived.client.update_resource(builders.an_admin(), 'host', host.id, {}, reservable=False)
    lived.clock.advance(hours(2))
    lived.client.delete_resource(builders.an_admin(), 'host', host.id)
    before = pool_steps(lived), pool_steps(lived, pool='host')
    assert max(step.seconds['occupied'] for step in before[1]) > 2 * 3600
    assert max(step.seconds['out_of_order'] for step in before[1]) == 3600
    lived.clock.advance(DAY)
    assert days.close(lived.database, lived.clock()) == 5
    assert migrate.purge(lived.database, lived.clock()) == 5
    assert (pool_steps(lived), pool_steps(lived, pool='host')) == before


@pytest.mark.proof
def test_the_command_closes_days_before_it_purges(conf, lived, capsys, monkeypatch):
    before = everything(lived)
    url = lived.database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    monkeypatch.setattr(lived.database, 'now', lived.clock)
    conf.command = types.SimpleNamespace(before='2030-05-05')
    climate_db._purge(conf, lived.database)
    assert 'Removed 5 leases' in capsys.readouterr().out
    assert everything(lived) == before


@pytest.mark.proof
def test_a_running_manager_closes_the_days_that_are_over(conf, database):
    enrolled = datetime.datetime.now(datetime.UTC) - 3 * DAY
    with database.writer() as connection:
        resources.add(connection, 'host', 'compute-1', {'vcpus': 4}, enrolled)

    def closed():
        with database.reader() as connection:
            return usage_days.closed_until(connection)
    with daemons.running(conf, database):
        waiting.until(closed)
