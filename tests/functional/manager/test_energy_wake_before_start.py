# SPDX-License-Identifier: Apache-2.0
"""Waking is an event of a lease: it moves with it, is carried out at least once, and early enough.
"""
import pytest
import sleepers_world
from support import builders
from support import crashing

from climate.db import events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import sleep
from climate.domain import texts
from climate.manager.energy import wake_before_start
from climate.manager.leases import resource_moves

pytestmark = pytest.mark.usefixtures('sleeping_hosts')

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
MEMBER = builders.a_member()


def _lease(manager, start=5, length=1, count=1):
    return manager.book(
        builders.hosts(count), start=NOON + hours(start), end=NOON + hours(start + length))


def _event(manager, lease):
    return manager.lease(lease).event(event_kinds.WAKE)


def test_a_future_lease_has_a_wake_event_from_its_creation_on(manager, keeping):
    manager.enrol(1)
    event = _event(manager, _lease(manager))
    # 10 minutes to wake up, 5 ahead.
    assert (event.at, event.status) == (NOON + hours(5) - minutes(15), lifecycle.EVENT_UNDONE)


def test_an_immediate_lease_or_one_of_awake_resources_has_no_wake_event(manager, keeping, conf):
    manager.enrol(1)
    assert _event(manager, manager.book()) is None
    conf.set_override('driver', '', group='energy')
    assert _event(manager, _lease(manager, 30)) is None


def test_the_event_wakes_the_host_without_a_pass_of_power_saving(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    lease = _lease(manager)
    manager.run_until(NOON + hours(5) - minutes(16))
    assert keeping.states() == {host.id: sleep.ASLEEP}
    manager.run_until(NOON + hours(5) - minutes(15))
    assert keeping.states() == {host.id: sleep.WAKING}
    assert _event(manager, lease).status == lifecycle.EVENT_DONE


@pytest.mark.proof
def test_the_wake_event_moves_with_the_start_even_after_it_was_done(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    lease = _lease(manager)
    manager.client.update_lease(MEMBER, lease.id, records.LeaseChanges(
        start=NOON + hours(7), end=NOON + hours(8)))
    assert _event(manager, lease).at == NOON + hours(7) - minutes(15)
    keeping.until(NOON + hours(7) - minutes(10), every=minutes(5))
    assert keeping.states() == {host.id: sleep.AWAKE}
    manager.client.update_lease(MEMBER, lease.id, records.LeaseChanges(
        start=NOON + hours(12), end=NOON + hours(13)))
    keeping.until(NOON + hours(9), every=minutes(5))
    assert keeping.states() == {host.id: sleep.ASLEEP}
    keeping.until(NOON + hours(12), every=minutes(5))
    assert manager.lease(lease).state == lifecycle.ACTIVE


@pytest.mark.proof
def test_the_wake_event_moves_to_the_learned_wake_time(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    keeping.lying.add(host.name)
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    manager.clock.advance(minutes(20))
    keeping.lying.clear()
    keeping.step()
    lease = _lease(manager)
    keeping.until(NOON + hours(2))
    assert keeping.states() == {host.id: sleep.ASLEEP}
    keeping.until(NOON + hours(4))
    # 20 minutes, a fifth more, and 5 ahead.
    assert _event(manager, lease).at == NOON + hours(5) - minutes(29)
    keeping.until(NOON + hours(5) - minutes(28))
    assert keeping.states() == {host.id: sleep.AWAKE}


@pytest.mark.proof
def test_a_lease_older_than_sleeping_gets_a_wake_event(manager, keeping, conf):
    manager.enrol(1)
    conf.set_override('driver', '', group='energy')
    lease = _lease(manager)
    conf.set_override('driver', 'simulated', group='energy')
    keeping.all_asleep()
    assert _event(manager, lease) is None
    keeping.until(NOON + hours(5))
    assert _event(manager, lease).at == NOON + hours(5) - minutes(15)
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_a_lease_that_moves_to_a_sleeping_host_after_its_event_wakes_that_one(manager, keeping):
    first, second = manager.enrol(2)
    keeping.all_asleep()
    lease = _lease(manager)
    [mine] = manager.lease(lease).reservations[0].resource_ids
    other = second if mine == first.id else first
    manager.run_until(NOON + hours(5) - minutes(15))
    assert _event(manager, lease).status == lifecycle.EVENT_DONE
    assert resource_moves.ResourceMoves(manager.core).move(lease.id, resource_moves.MoveCause(
        frozenset({mine}), frozenset({mine}), texts.same('It burns.'), 'moved'), manager.clock())
    keeping.step()
    manager.run_until(NOON + hours(5) - minutes(14))
    assert keeping.states()[other.id] in (sleep.WAKING, sleep.AWAKE)
    keeping.until(NOON + hours(5))
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_two_managers_that_correct_the_wake_event_make_one(manager, keeping, conf):
    [host] = manager.enrol(1)
    conf.set_override('driver', '', group='energy')
    lease = _lease(manager, 2)
    conf.set_override('driver', 'simulated', group='energy')
    keeping.all_asleep()
    for _ in range(2):
        wake_before_start.WakeBeforeStart(manager.core).align_events(
            {host.id: minutes(15)}, manager.clock())
    with manager.database.reader() as connection:
        [found] = [each for each in events.of_leases(connection, [lease.id])[lease.id]
                   if each.kind == event_kinds.WAKE]
    assert found.at == NOON + hours(2) - minutes(15)


def test_a_manager_that_dies_while_it_wakes_hosts_leaves_the_event_to_another(
        manager, keeping, monkeypatch):
    hosts = manager.enrol(2)
    keeping.all_asleep()
    lease = _lease(manager, count=2)
    at = NOON + hours(5) - minutes(15)
    manager.run_until(at - minutes(1))
    manager.clock.now = at
    sleepers_world.kill_after_one_wake(monkeypatch)
    with pytest.raises(crashing.Crash):
        manager.event_loop.tick(at)
    monkeypatch.undo()
    assert sorted(keeping.states().values()) == [sleep.ASLEEP, sleep.WAKING]
    keeping.until(NOON + hours(5))
    assert set(keeping.states().values()) == {sleep.AWAKE}
    assert len(hosts) == 2
    assert manager.lease(lease).state == lifecycle.ACTIVE
