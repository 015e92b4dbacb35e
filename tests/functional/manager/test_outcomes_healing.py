# SPDX-License-Identifier: Apache-2.0
"""Leases whose start was given up start after all when it becomes possible."""
import acts
import pytest
from support import builders

from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
LATER = {'start': NOON + hours(1), 'end': NOON + hours(9)}


@pytest.fixture
def broken(manager):
    """A lease that could not start: its host is out of use, and there is no other."""
    host, = manager.enrol(1)
    lease = manager.book(**LATER)
    acts.disable(manager, host)
    manager.run_until(NOON + hours(1) + minutes(10))
    return manager.lease(lease)


def test_without_a_substitute_it_is_in_error_and_says_what_failed(manager, broken):
    assert broken.state == lifecycle.ERROR
    assert 'Out of use: compute-1; and there is no substitute.' in broken.reason
    assert broken.event(event_kinds.START).status == lifecycle.EVENT_ERROR
    assert acts.history(manager, broken).count('start_lease given up') == 1
    assert acts.news(manager).count('lease.error') == 1


def test_with_a_substitute_it_starts_there(manager):
    first, second = manager.enrol(2)
    lease = manager.book(**LATER)
    acts.disable(manager, first)
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1))
    assert lease.reservations[0].resource_ids == (second.id,)
    assert 'substitute' in acts.history(manager, lease)


@pytest.mark.proof
def test_resources_held_back_for_waiting_leases_are_substitutes(manager):
    first, _, third = manager.enrol(3)
    lease = manager.book(**LATER)
    manager.book(end=NOON + hours(12))
    waiting = acts.sought(manager, 'wait', builders.hosts(2))
    manager.run()
    assert manager.lease(waiting).reservations[0].resource_ids == (third.id,)
    acts.disable(manager, first)
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1))
    assert lease.reservations[0].resource_ids == (third.id,)
    assert manager.lease(waiting).reservations[0].resource_ids == ()


def test_a_failed_start_is_retried_at_once_when_its_host_is_in_use_again(manager, broken):
    [host] = manager.client.list_resources(builders.an_admin(), 'host')
    acts.enable(manager, host)
    manager.run()
    healed = manager.lease(broken)
    assert (healed.state, healed.reason) == (lifecycle.ACTIVE, None)
    assert healed.event(event_kinds.START).status == lifecycle.EVENT_DONE
    assert (healed.start, healed.end) == (broken.start, broken.end)
    [line] = [each for each in acts.told(manager, broken) if each.what == 'healed']
    assert 'Out of use: compute-1' in line.why
    assert acts.news(manager).count('lease.event.start_lease') == 1
    manager.expect(broken, lifecycle.TERMINATED, NOON + hours(9))
    assert acts.is_clean(manager, 1)


def test_a_failed_start_is_retried_with_a_host_that_is_enrolled_or_released(manager, broken):
    manager.client.create_resource(builders.an_admin(), 'host', 'compute-2', {})
    manager.expect(broken, lifecycle.ACTIVE)


def test_the_clock_retries_a_failed_start_when_the_cloud_works_again(manager):
    manager.enrol(1)
    manager.cloud.fail('nova.create_aggregate', 99, acts.NO)
    lease = manager.book(end=NOON + hours(9))
    manager.expect(lease, lifecycle.ERROR, NOON + minutes(30))
    manager.cloud.fail('nova.create_aggregate', 0, None)
    manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(31))


@pytest.fixture
def unhurried(conf):
    """A manager looks each ten minutes after what is broken, so that hours are not many looks."""
    conf.set_override('heal_seconds', 600, group='manager')


def test_a_repeated_failure_is_noted_once(unhurried, manager, broken):
    manager.run_until(NOON + hours(6))
    assert acts.history(manager, broken).count('heal_lease failed') == 1


@pytest.mark.proof
def test_at_its_end_it_ends_and_is_not_healed_any_more(unhurried, manager, broken):
    over = manager.expect(broken, lifecycle.TERMINATED, NOON + hours(10))
    assert {each.status for each in over.events} == {lifecycle.EVENT_DONE}
    [host] = manager.client.list_resources(builders.an_admin(), 'host')
    acts.enable(manager, host)
    manager.expect(broken, lifecycle.TERMINATED)
    assert acts.is_clean(manager, 1)


def test_a_lease_can_be_deleted_while_its_start_fails(manager, broken):
    manager.delete(broken)
    manager.run_until(NOON + hours(2))
    gone = manager.lease(broken)
    assert gone.deleted_at is not None
    assert {each.status for each in gone.events} == {lifecycle.EVENT_DONE}


def test_a_failed_start_is_not_retried_if_retries_are_off(conf, database, clock):
    conf.set_override('heal_seconds', 0, group='manager')
    manager = builders.Manager(conf, database, clock)
    host, = manager.enrol(1)
    lease = manager.book(**LATER)
    acts.disable(manager, host)
    manager.run_until(NOON + hours(2))
    acts.enable(manager, host)
    manager.expect(lease, lifecycle.ERROR, NOON + hours(3))


def test_a_retried_start_comes_before_waiting_leases(manager, broken):
    waiting = acts.sought(manager, 'wait')
    manager.run()
    manager.client.create_resource(builders.an_admin(), 'host', 'compute-2', {})
    manager.expect(broken, lifecycle.ACTIVE)
    assert manager.lease(waiting).state == lifecycle.ACQUIRING


def test_two_that_start_in_part_do_not_wake_each_other_for_ever(manager):
    manager.enrol(6)
    manager.cloud.fail('placement.ensure_class', 10_000, acts.NO)
    sized = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 1, 'affinity': None}
    both = [manager.book(
        builders.hosts(), records.ReservationRequest('virtual:instance', sized),
        end=NOON + hours(9)) for _ in range(2)]
    manager.event_loop.tick(manager.clock())
    while any(manager.lease(each).event(event_kinds.HEAL) is None for each in both):
        manager.clock.advance(minutes(1))
        manager.event_loop.tick(manager.clock())
    manager.clock.advance(minutes(1))
    assert sum(manager.event_loop.tick(manager.clock()) for _ in range(10)) == len(both)
    manager.cloud.fail('placement.ensure_class', 0, None)
    manager.run_until(manager.clock() + minutes(2))
    assert [manager.lease(each).state for each in both] == [lifecycle.ACTIVE] * 2
