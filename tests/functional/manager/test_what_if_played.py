# SPDX-License-Identifier: Apache-2.0
"""A what-if question is simulated on a copy: moves, waits and refusals; nothing is written."""
import datetime

import acts
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import records
from climate.domain import what_if

NOON, hours, days = builders.NOON, builders.hours, lambda count: builders.hours(24 * count)


def asked(manager, **more):
    given = {'start': NOON, 'end': NOON + days(10), **more}
    return manager.client.what_if(builders.an_admin(), what_if.WhatIfQuestion('host', **given))


def lease(manager, count, first, last, **more):
    return manager.book(
        builders.hosts(count, **more), start=NOON + hours(first) if first else None,
        end=NOON + hours(last))


def contents(database):
    with database.reader() as connection:
        return {table.name: sorted(map(repr, connection.execute(sa.select(table)).all()))
                for table in tables.METADATA.sorted_tables}


@pytest.fixture(autouse=True)
def no_cleaning(conf):
    conf.set_override('cleaning_minutes', 0, group='manager')


def test_a_question_writes_nothing(manager):
    hosts = manager.enrol(3)
    lease(manager, 2, 0, 4)
    lease(manager, 2, 5, 9)
    before = contents(manager.database)
    with acts.meddling(manager, acts.no_writer) as reading:
        answer = asked(reading, add=(what_if.Added(2, hosts[0].name),), remove=(hosts[1].name,),
                       out=(what_if.Outage((str(hosts[2].id),), NOON, NOON + hours(6)),),
                       demand_factor=3)
    assert answer.counts
    assert contents(manager.database) == before


def test_a_question_without_changes_changes_no_lease(manager):
    manager.enrol(3)
    lease(manager, 2, 0, 24)
    answer = asked(manager)
    assert (answer.resources, answer.new_resources, answer.leases) == (3, 3, 1)
    assert (answer.counts, answer.fates, answer.dropped) == ({}, (), 0)
    first = answer.steps[0]
    assert (first.capacity, first.allocated) == (72, 48)
    assert (first.new_capacity, first.new_allocated) == (72, 48)


def test_a_lease_on_a_host_that_goes_moves_to_a_free_one(manager):
    hosts = manager.enrol(3)
    made = lease(manager, 2, 0, 4)
    answer = asked(manager, remove=(hosts[0].name,))
    (fate,) = answer.fates
    assert (fate.lease_id, fate.kind, fate.outcome) == (made.id, 'displaced', 'moves')
    assert fate.resources == (hosts[0].name, hosts[1].name)
    assert fate.new_resources == (hosts[1].name, hosts[2].name)
    assert answer.new_resources == 2


def test_a_lease_that_runs_keeps_its_start_when_it_moves(manager):
    hosts = manager.enrol(2)
    lease(manager, 1, 0, 4)
    manager.clock.advance(hours(1))
    (fate,) = asked(manager, start=NOON + hours(1), remove=(hosts[0].name,)).fates
    assert (fate.outcome, fate.start, fate.new_start) == ('moves', NOON, NOON)


def test_a_lease_to_come_waits_until_hosts_are_free_and_a_running_one_is_refused(manager):
    hosts = manager.enrol(2)
    running = lease(manager, 1, 0, 4)
    other = lease(manager, 1, 0, 6)
    coming = lease(manager, 2, 8, 12)
    answer = asked(manager, out=(what_if.Outage((hosts[0].name,), NOON, NOON + hours(20)),))
    fates = {fate.lease_id: fate for fate in answer.fates}
    assert set(fates) == {running.id, coming.id}
    assert fates[running.id].outcome == 'refused'
    assert (fates[coming.id].outcome, fates[coming.id].new_start) == ('waits', NOON + hours(20))
    assert other.id not in fates
    assert answer.counts == {'displaced': {'refused': 1, 'waits': 1}}
    assert answer.steps[0].new_capacity == 48 - 20


def test_more_demand_takes_what_is_free_then_waits_then_is_refused(manager):
    manager.enrol(2)
    lease(manager, 1, 1, 5)
    answer = asked(manager, demand_factor=4, end=NOON + hours(9))
    assert [(fate.kind, fate.outcome, fate.new_start and fate.new_start - NOON)
            for fate in answer.fates] == [('extra', 'served', hours(1)),
                                          ('extra', 'waits', hours(5)),
                                          ('extra', 'waits', hours(5))]
    assert asked(manager, demand_factor=7, end=NOON + hours(9)).counts == {
        'extra': {'served': 1, 'waits': 2, 'refused': 3}}


def test_less_demand_leaves_leases_to_come_out(manager):
    manager.enrol(2)
    lease(manager, 2, 0, 1)
    lease(manager, 1, 2, 4)
    lease(manager, 1, 5, 7)
    answer = asked(manager, demand_factor=0.5)
    assert answer.dropped == 1
    assert answer.steps[0].new_allocated == answer.steps[0].allocated - 2


def test_hosts_that_are_added_serve_leases_that_wait(manager):
    hosts = manager.enrol(1)
    lease(manager, 1, 0, 90)
    manager.run()
    waiting = manager.book(duration_seconds=3600, acquire=records.AcquireRequest('wait'))
    kept = asked(manager)
    assert [(fate.lease_id, fate.outcome) for fate in kept.fates] == [(waiting.id, 'waits')]
    answer = asked(manager, add=(what_if.Added(1, hosts[0].name),))
    (fate,) = answer.fates
    assert (fate.outcome, fate.new_resources) == ('served', ('new-1',))


def test_criteria_hold_in_the_changed_pool_too(manager):
    fast, slow = manager.enrol(2)
    manager.client.update_resource(builders.an_admin(), 'host', fast.id, {'drive': 'ssd'})
    lease(manager, 1, 0, 4, criteria='["==", "$drive", "ssd"]')
    assert asked(manager, remove=(fast.name,)).counts == {'displaced': {'refused': 1}}
    answer = asked(manager, remove=(fast.name,), add=(
        what_if.Added(1, slow.name), what_if.Added(1, fast.name)))
    assert [fate.new_resources for fate in answer.fates] == [('new-2',)]


def test_parts_of_hosts_are_counted_by_their_amounts(manager):
    hosts = manager.enrol(2)
    request = builders.instances(2, vcpus=2, memory_mb=2048)
    made = manager.book(request, end=NOON + hours(4))
    answer = asked(manager, remove=(hosts[0].name,))
    (fate,) = answer.fates
    assert (fate.lease_id, fate.outcome, fate.new_resources) == (
        made.id, 'moves', (hosts[1].name,))


@pytest.mark.parametrize(('more', 'field'), [
    ({'end': NOON}, 'end'), ({'end': NOON - hours(1)}, 'end'),
    ({'end': NOON + days(36500)}, 'end'), ({'start': NOON - hours(2)}, 'start'),
    ({'remove': ('nowhere',)}, 'remove'),
    ({'add': (what_if.Added(1, '99'),)}, 'add.0.like'),
    ({'add': (what_if.Added(10001, '1'),)}, 'add'),
    ({'out': (what_if.Outage(('x',), NOON, NOON + hours(1)),)}, 'out.0.resources'),
    ({'out': (what_if.Outage(('1',), NOON, NOON),)}, 'out.0.end'),
    ({'out': (what_if.Outage(('1',), NOON + days(20), NOON + days(21)),)}, 'out.0'),
    ({'remove': ('1',), 'out': (what_if.Outage(('1',), NOON, NOON + hours(1)),)},
     'out.0.resources')])
def test_an_impossible_question_is_refused_with_the_field(manager, more, field):
    manager.enrol(1)
    with pytest.raises(errors.BadField) as refused:
        asked(manager, **more)
    assert refused.value.kwargs['field'] == field


def test_an_unknown_pool_is_refused(manager):
    with pytest.raises(errors.UnknownPool):
        manager.client.what_if(builders.an_admin(),
                               what_if.WhatIfQuestion('moon', NOON, NOON + hours(1)))


def test_a_removed_resource_is_free_for_no_lease_after_the_time_of_the_question(manager):
    host, _ = manager.enrol(2)
    late = lease(manager, 2, 24 * 70, 24 * 71)
    answer = asked(manager, remove=(host.name,))
    [fate] = answer.fates
    assert (fate.lease_id, fate.outcome) == (late.id, what_if.REFUSED)


def test_a_pool_without_resources_has_no_capacity_at_all(manager):
    hosts = manager.enrol(8)
    lease(manager, 1, 0, 4)
    answer = asked(manager, start=NOON + datetime.timedelta(seconds=0.1),
                   remove=tuple(each.name for each in hosts))
    assert {step.new_capacity for step in answer.steps} == {0}
