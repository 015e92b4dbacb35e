# SPDX-License-Identifier: Apache-2.0
"""Maintenance switches nothing, and what it held up goes on after it."""
import contextlib

import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.domain import sleep
from climate.manager.maintenance import windows
from climate.plugins import sleepable

pytestmark = pytest.mark.usefixtures('sleeping_hosts')

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def _maintain(manager, host, start, end):
    request = maintenance_windows.MaintenanceRequest(
        'host', NOON + start, NOON + end, 'new firmware', resources=(host.name,))
    return manager.client.create_maintenance(builders.an_admin(), request)


@pytest.mark.proof
def test_a_maintenance_neither_wakes_hosts_nor_lets_them_fall_asleep(conf, manager, keeping):
    # It would fall asleep before the maintenance otherwise.
    conf.set_override('min_awake_minutes', 30, group='energy')
    asleep, awake = manager.enrol(2)
    manager.client.set_power(builders.an_admin(), 'host', asleep.id, False)
    keeping.step()
    for host in (asleep, awake):
        _maintain(manager, host, minutes(20), hours(4))
    keeping.until(NOON + hours(3))
    assert keeping.states() == {asleep.id: sleep.ASLEEP}
    with pytest.raises(errors.ResourceInUse):
        manager.client.set_power(builders.an_admin(), 'host', awake.id, False)
    keeping.until(NOON + hours(5))
    assert keeping.states() == {host.id: sleep.ASLEEP for host in (asleep, awake)}


@pytest.mark.proof
def test_a_host_that_is_woken_by_hand_during_its_maintenance_stays_closed(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    found = _maintain(manager, host, hours(2), hours(4))
    care = windows.Windows(manager.core, 'this manager')
    keeping.until(NOON + hours(2))
    care.carry_on(manager.clock())
    assert keeping.compute(host).reason == sleepable.REASON
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    keeping.step()
    care.carry_on(manager.clock())
    assert keeping.compute(host).reason == maintenance_windows.mark(found.windows[0])
    keeping.until(NOON + hours(3))
    assert keeping.states() == {host.id: sleep.AWAKE}


@contextlib.contextmanager
def _unswitched(keeping):
    """Check that no host is switched in this block."""
    keeping.switched.clear()
    yield
    assert not keeping.switched


@pytest.mark.proof
def test_a_host_that_wakes_up_as_its_maintenance_begins_is_not_switched_on(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    _maintain(manager, host, hours(2), hours(4))
    care = windows.Windows(manager.core, 'this manager')
    keeping.until(NOON + hours(2) - minutes(1))
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    with _unswitched(keeping):
        manager.clock.advance(minutes(1))
        care.carry_on(manager.clock())
        keeping.until(NOON + hours(4) - minutes(1))
        assert keeping.states() == {host.id: sleep.WAKING}
    manager.clock.advance(minutes(1))
    care.carry_on(manager.clock())
    keeping.step()
    # It is not too late for it, because its time begins after the maintenance.
    assert keeping.states() == {host.id: sleep.AWAKE}
    assert keeping.compute(host).enabled


def test_a_host_whose_waking_a_maintenance_holds_up_is_woken_by_hand(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    _maintain(manager, host, hours(2), hours(4))
    keeping.until(NOON + hours(2) - minutes(1))
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    manager.clock.advance(minutes(1))
    keeping.step()
    assert keeping.states() == {host.id: sleep.WAKING}
    manager.clock.advance(minutes(1))
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    keeping.step()
    assert keeping.states() == {host.id: sleep.AWAKE}


@pytest.mark.proof
def test_a_host_that_falls_asleep_as_its_maintenance_begins_is_not_switched_off(manager, keeping):
    [host] = manager.enrol(1)
    _maintain(manager, host, hours(2), hours(4))
    care = windows.Windows(manager.core, 'this manager')
    manager.clock.advance(minutes(90))
    keeping.broken.add(host.name)
    manager.client.set_power(builders.an_admin(), 'host', host.id, False)
    keeping.step()
    assert keeping.states() == {host.id: sleep.FALLING}
    manager.clock.advance(minutes(30))
    care.carry_on(manager.clock())
    keeping.broken.clear()
    with _unswitched(keeping):
        keeping.until(NOON + hours(4) - minutes(1))
    assert keeping.states() == {host.id: sleep.FALLING}
    manager.clock.advance(minutes(1))
    care.carry_on(manager.clock())
    keeping.step()
    assert keeping.states() == {host.id: sleep.ASLEEP}


@pytest.mark.proof
def test_a_lease_right_after_a_maintenance_wakes_its_host_when_that_is_over(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    _maintain(manager, host, hours(2), hours(4))
    lease = manager.book(start=NOON + hours(4), end=NOON + hours(6))
    care = windows.Windows(manager.core, 'this manager')
    manager.clock.now = NOON + hours(2)
    care.carry_on(manager.clock())
    with _unswitched(keeping):
        keeping.until(NOON + hours(4) - minutes(1))
    manager.clock.advance(minutes(1))
    care.carry_on(manager.clock())
    keeping.until(NOON + hours(4) + minutes(3))
    assert keeping.states() == {host.id: sleep.AWAKE}
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert keeping.compute(host).enabled


@pytest.mark.proof
def test_a_lease_that_could_not_make_way_for_a_maintenance_wakes_its_host_in_it(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    lease = manager.book(start=NOON + hours(2) + minutes(5), end=NOON + hours(3))
    keeping.until(NOON + hours(2) - minutes(30))
    _maintain(manager, host, hours(2), hours(4))
    care = windows.Windows(manager.core, 'this manager')
    keeping.lying.add(host.name)
    keeping.until(NOON + hours(2) - minutes(1))
    assert keeping.states() == {host.id: sleep.WAKING}
    keeping.lying.clear()
    manager.clock.advance(minutes(1))
    care.carry_on(manager.clock())
    with _unswitched(keeping):
        keeping.until(NOON + hours(2) + minutes(4))
    assert keeping.states() == {host.id: sleep.WAKING}
    keeping.until(NOON + hours(2) + minutes(8))
    assert keeping.states() == {host.id: sleep.AWAKE}
    assert manager.lease(lease).state == lifecycle.ACTIVE


@pytest.mark.proof
def test_the_end_of_a_window_keeps_hosts_of_another_one_closed(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    for end in (hours(3), hours(4)):
        _maintain(manager, host, hours(2), end)
    care = windows.Windows(manager.core, 'this manager')
    keeping.until(NOON + hours(2) - minutes(1))
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    with _unswitched(keeping):
        for moment in (hours(2), hours(3)):
            manager.clock.now = NOON + moment
            care.carry_on(manager.clock())
            keeping.step(2)
    manager.clock.now = NOON + hours(4)
    care.carry_on(manager.clock())
    keeping.step()
    assert keeping.states() == {host.id: sleep.AWAKE}


@pytest.fixture
def held_up(manager, keeping):
    """A host that began to wake up a minute before two windows, which both last two hours."""
    [host] = manager.enrol(1)
    keeping.all_asleep()
    for _ in range(2):
        _maintain(manager, host, hours(2), hours(4))
    keeping.until(NOON + hours(2) - minutes(1))
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    manager.clock.advance(minutes(1))
    return host


def _boots_yet(keeping, host):
    """Return whether a host that does not come up at once is given time for it."""
    keeping.lying.add(host.name)
    keeping.step()
    return keeping.states() == {host.id: sleep.WAKING}


@pytest.mark.proof
def test_a_host_gets_its_whole_wake_time_after_two_windows_that_end_at_once(
        manager, keeping, held_up):
    for moment in (hours(2), hours(4)):
        manager.clock.now = NOON + moment
        for name in ('this manager', 'other manager'):
            windows.Windows(manager.core, name).carry_on(manager.clock())
    assert _boots_yet(keeping, held_up)


@pytest.mark.proof
def test_a_host_gets_its_whole_wake_time_after_a_window_without_managers(manager, keeping, held_up):
    manager.clock.now = NOON + hours(4)
    assert _boots_yet(keeping, held_up)


@pytest.mark.proof
def test_a_host_gets_its_whole_wake_time_after_a_nested_window(manager, keeping):
    [host] = manager.enrol(1)
    keeping.all_asleep()
    for start, end in ((hours(2), hours(6)), (hours(3), hours(5))):
        _maintain(manager, host, start, end)
    care = windows.Windows(manager.core, 'this manager')
    keeping.until(NOON + hours(2))
    care.carry_on(manager.clock())
    keeping.until(NOON + hours(3) - minutes(1))
    keeping.lying.add(host.name)
    manager.client.set_power(builders.an_admin(), 'host', host.id, True)
    manager.clock.advance(minutes(1))
    care.carry_on(manager.clock())
    keeping.until(NOON + hours(5) - minutes(1))
    assert keeping.states() == {host.id: sleep.WAKING}
    manager.clock.now = NOON + hours(5)
    care.carry_on(manager.clock())
    assert _boots_yet(keeping, host)


def test_a_host_in_the_queue_of_switches_is_not_switched_when_its_window_has_begun(
        conf, manager, keeping):
    conf.set_override('at_once', 1, group='energy')
    first, second = manager.enrol(2)
    keeping.all_asleep()
    _maintain(manager, second, hours(2), hours(4))
    keeping.until(NOON + hours(2) - minutes(1))
    for each in (first, second):
        manager.client.set_power(builders.an_admin(), 'host', each.id, True)
    keeping.slowness = minutes(2)
    keeping.switched.clear()
    keeping.step()
    assert keeping.switched == [first.name]


def test_a_host_that_is_free_in_a_maintenance_stays_awake_in_it(manager, keeping):
    [host] = manager.enrol(1)
    lease = manager.book(end=NOON + hours(5))
    manager.run_until(NOON + hours(1))
    _maintain(manager, host, hours(2), hours(4))
    manager.run_until(NOON + hours(2) + minutes(10))
    manager.delete(lease)
    manager.run_until(NOON + hours(2) + minutes(11))
    keeping.step()
    assert not keeping.states()
