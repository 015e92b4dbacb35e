# SPDX-License-Identifier: Apache-2.0
"""Hosts that nobody has leased sleep, and wake up in time for leases."""
import contextlib

import pytest
import sleepers_world
from support import builders
from support import cloud_points
from support import crashing

from climate import errors
from climate.db import power
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import sleep
from climate.manager.energy import power_saving
from climate.manager.health import checks
from climate.manager.leases import health_moves
from climate.plugins import sleepable

pytestmark = pytest.mark.usefixtures('sleeping_hosts')

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def test_an_idle_host_sleeps_and_nova_knows_why(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    assert keeping.states() == {host.id: sleep.ASLEEP}
    found = keeping.compute(host)
    assert (found.up, found.enabled, found.reason) == (False, False, sleepable.REASON)


def test_a_host_that_sleeps_is_not_sick(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    health_checks = checks.HealthChecks(manager.core, 'this manager')
    for _ in range(20):
        assert not health_checks.check(manager.clock.advance(minutes(1)))
    found = manager.client.get_resource(builders.an_admin(), 'host', host.id)
    assert (found.power_state, found.verdict.state) == (sleep.ASLEEP, health.WELL)


def test_a_future_lease_wakes_its_host_and_starts_in_time(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    lease = manager.book(start=NOON + hours(5), end=NOON + hours(6))
    keeping.until(NOON + hours(4), every=minutes(20))
    assert keeping.states() == {host.id: sleep.ASLEEP}
    keeping.until(NOON + hours(5) - minutes(5), every=minutes(5))
    assert keeping.states() == {host.id: sleep.AWAKE}
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(5))
    assert keeping.compute(host).enabled


def test_an_immediate_lease_waits_until_its_host_is_awake(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    lease = manager.book(end=NOON + hours(6))
    manager.event_loop.tick(manager.clock())
    assert manager.lease(lease).state == lifecycle.PENDING
    assert keeping.states() == {host.id: sleep.WAKING}
    keeping.step()
    manager.expect(lease, lifecycle.ACTIVE, manager.clock.now + minutes(1))
    assert keeping.states() == {host.id: sleep.AWAKE}


@pytest.mark.proof
def test_a_host_that_does_not_wake_up_is_taken_out_of_use_and_replaced(manager, keeping):
    first, second = manager.enrol(2)
    keeping.all_asleep()
    keeping.lying.add(first.name)
    # What says that it is on, and is not up, is looked after as if somebody had switched it on.
    lease = manager.book(start=NOON + hours(5), end=NOON + hours(6))
    assert manager.lease(lease).reservations[0].resource_ids == (first.id,)
    keeping.until(NOON + hours(5) + minutes(40))
    assert keeping.states()[first.id] == sleep.FAILED
    assert not manager.client.get_resource(builders.an_admin(), 'host', first.id).reservable
    found = manager.lease(lease)
    assert found.state == lifecycle.ACTIVE, found.reason
    assert found.reservations[0].resource_ids == (second.id,)


@pytest.mark.proof
def test_a_host_that_dies_asleep_is_replaced_and_reported_as_broken(manager, keeping, caplog):
    first, second = manager.enrol(2)
    keeping.all_asleep()
    # Its BMC has died with it, so nobody can say whether it is on.
    keeping.broken.add(first.name)
    keeping.step(3)
    assert keeping.states()[first.id] == sleep.ASLEEP
    lease = manager.book(end=NOON + hours(6))
    assert manager.lease(lease).reservations[0].resource_ids == (first.id,)
    keeping.until(NOON + hours(2))
    assert keeping.states()[first.id] == sleep.FAILED
    assert 'Repair it' in caplog.text
    found = manager.lease(lease)
    assert (found.state, found.reservations[0].resource_ids) == (lifecycle.ACTIVE, (second.id,))
    # Repaired, woken and enabled, it sleeps again as any other.
    keeping.broken.clear()
    manager.client.set_power(builders.an_admin(), 'host', first.id, True)
    keeping.step()
    manager.client.update_resource(builders.an_admin(), 'host', first.id, {},
                                   reservable=True)
    keeping.until(NOON + hours(3))
    assert keeping.states()[first.id] == sleep.ASLEEP


@pytest.mark.proof
def test_a_host_that_somebody_switches_off_by_hand_is_sick_and_not_asleep(manager, keeping):
    first, second = manager.enrol(2)
    lease = manager.book(start=NOON + hours(5), end=NOON + hours(6))
    [mine] = manager.lease(lease).reservations[0].resource_ids
    name, other = (first.name, second.id) if mine == first.id else (second.name, first.id)
    manager.cloud.mark_host(name, up=False)
    health_checks = checks.HealthChecks(manager.core, 'this manager')
    healer = health_moves.HealthMoves(manager.core)
    for _ in range(6):
        health_checks.check(manager.clock.advance(minutes(1)))
    healer.move_soon(manager.clock())
    assert manager.lease(lease).reservations[0].resource_ids == (other,)
    keeping.until(NOON + hours(5))
    assert mine not in keeping.states()
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_a_leased_host_never_sleeps(manager, keeping):
    manager.enrol(1)
    lease = manager.book(end=NOON + hours(6))
    manager.run()
    keeping.all_asleep()
    assert keeping.states() == {}
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_an_administrators_own_disable_is_never_undone(manager, keeping):
    [host] = manager.enrol(1)
    manager.cloud.mark_host(host.name, enabled=False, reason='my own')
    keeping.all_asleep()
    found = keeping.compute(host)
    assert (found.up, found.enabled, found.reason) == (True, False, 'my own')
    assert keeping.states() == {host.id: sleep.AWAKE}


def test_a_host_that_somebody_switches_on_is_awake(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    manager.cloud.mark_host(host.name, up=True)
    keeping.step(2)
    assert keeping.states() == {host.id: sleep.AWAKE}
    assert keeping.compute(host).enabled


def test_a_host_whose_bmc_does_not_answer_stays_awake_and_open(manager, keeping, caplog):
    host, other = manager.enrol(2)
    keeping.broken.add(host.name)
    keeping.all_asleep()
    keeping.step(3)
    assert keeping.states() == {other.id: sleep.ASLEEP}
    assert keeping.compute(host).enabled
    assert caplog.text.count('it stays awake, because it could not be woken') == 1
    keeping.broken.clear()
    keeping.step(2)
    assert keeping.states() == {host.id: sleep.ASLEEP, other.id: sleep.ASLEEP}


def test_a_host_whose_bmc_falls_silent_while_it_falls_asleep_is_switched_off_later(
        manager, keeping):
    [host] = manager.enrol(1)
    manager.clock.advance(hours(1))
    keeping.keeper.decide(manager.clock())
    keeping.broken.add(host.name)
    keeping.step(2)
    assert keeping.states() == {host.id: sleep.FALLING}
    keeping.broken.clear()
    manager.clock.advance(minutes(1))
    keeping.step()
    assert keeping.states() == {host.id: sleep.ASLEEP}


def test_the_wake_time_is_learned_from_earlier_wakes(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    keeping.lying.add(host.name)
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    manager.clock.advance(minutes(20))
    keeping.lying.clear()
    keeping.step()
    assert keeping.states() == {host.id: sleep.AWAKE}
    [seen] = keeping.keeper._sleepers(manager.clock())
    assert seen.wake == minutes(24)


def test_the_wake_time_includes_the_call_of_the_driver(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    keeping.slowness = minutes(10)
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    keeping.keeper.carry_on()
    assert keeping.states() == {host.id: sleep.AWAKE}
    [seen] = keeping.keeper._sleepers(manager.clock())
    assert seen.wake == minutes(12)


def test_two_managers_at_once_harm_nothing(manager, keeping, conf):
    hosts = manager.enrol(3)
    other = power_saving.PowerSaving(manager.core, 'other', keeping)
    manager.clock.advance(hours(1))
    for _ in range(2):
        keeping.keeper.decide(manager.clock())
        other.decide(manager.clock())
        keeping.keeper.carry_on()
        other.carry_on()
    assert keeping.states() == {host.id: sleep.ASLEEP for host in hosts}
    with manager.database.reader() as connection:
        assert set(power.cycles(connection, NOON).values()) == {1}


def test_an_administrator_wakes_a_host_and_puts_it_to_sleep(manager, keeping):
    [host] = manager.enrol(1)
    admin = builders.an_admin()
    manager.client.set_power(admin, 'host', host.id, False)
    keeping.step()
    assert keeping.states() == {host.id: sleep.ASLEEP}
    shown = manager.client.get_resource(admin, 'host', host.id)
    assert (shown.power_state, shown.power_since) == (sleep.ASLEEP, NOON)
    manager.client.set_power(admin, 'host', host.id, True)
    keeping.step()
    assert keeping.states() == {host.id: sleep.AWAKE}


def test_a_leased_host_is_not_put_to_sleep(manager, keeping):
    [host] = manager.enrol(1)
    manager.book(end=NOON + hours(6))
    with pytest.raises(errors.ResourceInUse):
        manager.client.set_power(builders.an_admin(), 'host', host.id, False)


def test_a_host_with_a_server_on_it_never_sleeps(manager, keeping):
    [host] = manager.enrol(1)
    manager.cloud.boot('demo', 'a server', host=host.name, forced=True)
    keeping.all_asleep()
    found = keeping.compute(host)
    assert (found.up, found.enabled) == (True, True)
    assert keeping.states() == {host.id: sleep.AWAKE}


def test_a_host_that_was_to_wake_up_while_it_was_switched_off_is_switched_on(manager, keeping):
    [host] = manager.enrol(1)
    manager.clock.advance(hours(1))
    keeping.keeper.decide(manager.clock())
    other = sleepers_world.Keeping(manager, manager.core.conf)
    off = keeping.sleep

    def too_late(resource):
        # Meanwhile another manager wakes it and lets a lease start on it.
        manager.book(end=NOON + hours(6))
        manager.event_loop.tick(manager.clock())
        other.step()
        off(resource)
    keeping.sleep = too_late
    keeping.step()
    assert keeping.states() == {host.id: sleep.AWAKE}
    assert keeping.compute(host).up


def test_a_host_that_is_woken_while_it_shuts_down_is_not_awake_before_it_was_off(
        manager, keeping, conf):
    conf.set_override('settle_seconds', 90, group='energy')
    [host] = manager.enrol(1)
    off, told = keeping.sleep, []
    keeping.sleep = told.append
    manager.clock.advance(hours(1))
    keeping.step(2)
    lease = manager.book(end=NOON + hours(6))
    manager.event_loop.tick(manager.clock())
    # It is still on, and Nova says that its service is up.
    keeping.step()
    assert keeping.states() == {host.id: sleep.WAKING}
    off(told[0])
    for state in (sleep.WAKING, sleep.AWAKE):
        manager.clock.advance(minutes(1))
        keeping.step()
        assert keeping.states() == {host.id: state}
    manager.expect(lease, lifecycle.ACTIVE, manager.clock.now + minutes(1))
    assert keeping.compute(host).up


def test_a_host_that_is_woken_right_after_it_went_off_is_not_awake_at_once(
        manager, keeping, conf):
    conf.set_override('settle_seconds', 90, group='energy')
    [host] = manager.enrol(1)
    keeping.all_asleep()
    manager.book(end=NOON + hours(6))
    manager.event_loop.tick(manager.clock())
    for state in (sleep.WAKING, sleep.AWAKE):
        keeping.step()
        assert keeping.states() == {host.id: state}
        manager.clock.advance(minutes(2))


def test_a_host_that_was_woken_while_it_was_being_closed_is_open(manager, keeping):
    [host] = manager.enrol(1)
    manager.clock.advance(hours(1))
    keeping.keeper.decide(manager.clock())
    other = sleepers_world.Keeping(manager, manager.core.conf)

    def meanwhile():
        manager.book(end=NOON + hours(6))
        manager.event_loop.tick(manager.clock())
        other.step()
    cloud_points.once_at(manager.cloud, 'nova.disable_service', meanwhile)
    keeping.step()
    assert keeping.states() == {host.id: sleep.AWAKE}
    found = keeping.compute(host)
    assert (found.up, found.enabled) == (True, True)


@pytest.mark.parametrize('step', ['sleep', 'wake', 'state'])
@pytest.mark.parametrize('after', [False, True])
def test_a_manager_killed_at_any_call_of_the_driver_leaves_a_state_to_go_on_from(
        manager, keeping, conf, step, after):
    [host] = manager.enrol(1)
    dying = sleepers_world.Keeping(manager, conf)
    real = getattr(dying, step)

    def die(resource):
        if after:
            real(resource)
        raise crashing.Crash
    setattr(dying, step, die)
    manager.clock.advance(hours(1))
    with contextlib.suppress(crashing.Crash):
        dying.step(2)
    keeping.step(2)
    assert keeping.states() == {host.id: sleep.ASLEEP}
    lease = manager.book(end=NOON + hours(6))
    manager.event_loop.tick(manager.clock())
    with contextlib.suppress(crashing.Crash):
        dying.step()
    keeping.step()
    manager.expect(lease, lifecycle.ACTIVE, manager.clock.now + minutes(1))
    assert keeping.states() == {host.id: sleep.AWAKE}
    with manager.database.reader() as connection:
        assert power.cycles(connection, NOON) == {host.id: 1}
