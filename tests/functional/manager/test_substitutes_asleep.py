# SPDX-License-Identifier: Apache-2.0
"""Substitutes that sleep, or are about to: a lease starts on them once they are awake."""
import acts
import pytest
from support import builders

from climate.domain import lifecycle
from climate.domain import sleep
from climate.manager.health import checks

pytestmark = pytest.mark.usefixtures('sleeping_hosts')

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
LATER = {'start': NOON + minutes(10), 'end': NOON + hours(6)}


def _fall(manager, keeping, host):
    manager.client.set_power(builders.an_admin(), 'host', host.id, False)


def _sleep(manager, keeping, host):
    _fall(manager, keeping, host)
    keeping.keeper.carry_on()


def _sick(manager, host):
    """Mark a host as sick; it may work nevertheless."""
    manager.cloud.mark_host(host.name, up=False)
    health_checks = checks.HealthChecks(manager.core, 'this manager')
    for _ in range(6):
        health_checks.check(manager.clock.advance(minutes(1)))
    manager.cloud.mark_host(host.name, up=True)


def _stray(manager, host):
    """Force a server of others onto a host, so that Nova refuses to lease it."""
    manager.cloud.boot('others', 'stray', host=host.name, forced=True)


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('rest', [_fall, _sleep])
@pytest.mark.parametrize('spoil', [_sick, _stray])
def test_a_lease_waits_for_a_substitute_that_sleeps(manager, keeping, spoil, rest):
    first, second = manager.enrol(2)
    lease = manager.book(**LATER)
    assert lease.reservations[0].resource_ids == (first.id,)
    spoil(manager, first)
    rest(manager, keeping, second)
    manager.expect(lease, lifecycle.PENDING, LATER['start'])
    assert keeping.states()[second.id] == sleep.WAKING
    keeping.until(LATER['start'] + minutes(5))
    lease = manager.lease(lease)
    assert (lease.state, lease.reservations[0].resource_ids) == (lifecycle.ACTIVE, (second.id,))
    assert keeping.states()[second.id] == sleep.AWAKE
    assert keeping.compute(second).up
    assert acts.aggregate(manager, lease).hosts == (second.name,)


def test_a_host_that_a_lease_gets_while_it_falls_asleep_is_not_switched_off(manager, keeping):
    first, second = manager.enrol(2)
    lease = manager.active(end=NOON + hours(6))
    _fall(manager, keeping, second)
    manager.client.swap_resource(builders.a_member(), lease.id, str(first.id))
    keeping.keeper.carry_on()
    manager.run()
    lease = manager.lease(lease)
    assert (lease.state, lease.reservations[0].resource_ids) == (lifecycle.ACTIVE, (second.id,))
    assert (keeping.states()[second.id], keeping.switched) == (sleep.AWAKE, [])


@pytest.mark.usefixtures('rare_polls')
def test_a_start_that_waits_for_a_sleeping_host_does_not_search_better_ones(
        manager, keeping, caplog):
    first, second = manager.enrol(2)
    start = NOON + hours(30)
    lease = manager.book(builders.hosts(2), start=start, end=start + hours(6))
    _sleep(manager, keeping, second)
    _sick(manager, first)
    manager.clock.advance(start - manager.clock.now)
    for _ in range(5):
        manager.run()
        manager.clock.advance(builders.seconds(1))
    assert keeping.states()[second.id] == sleep.WAKING
    assert 'it starts with less' not in caplog.text
    keeping.until(start + minutes(5))
    lease = manager.lease(lease)
    assert (lease.state, lease.degraded) == (lifecycle.ACTIVE, True)
    assert caplog.text.count('it starts with less') == 1
