# SPDX-License-Identifier: Apache-2.0
"""Leases on a host that is not well get another one before their start."""
import acts
import pytest
from support import builders

from climate.db import journal
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.health import checks
from climate.manager.leases import health_moves
from climate.manager.notifications import fan_out

NOON, hours = builders.NOON, builders.hours
ADMIN = builders.an_admin()
SIZED = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': None}


def _spoil(manager, *hosts, reason='a fan is broken'):
    for host in hosts:
        manager.client.set_out_of_order(ADMIN, 'host', host.id, reason)


def _heal(manager):
    checks.HealthChecks(manager.core, 'this manager').check(manager.clock())
    return health_moves.HealthMoves(manager.core).move_soon(manager.clock())


def _lease(manager, request=None, start=2, length=2):
    return manager.book(
        request or builders.hosts(1), start=NOON + hours(start), end=NOON + hours(start + length))


def _has(manager, lease):
    return set(manager.lease(lease).reservations[0].resource_ids)


def _told(manager, kind):
    fan_out.fan_out(manager.core, manager.clock())
    with manager.database.writer() as connection:
        sent = journal.unsent(connection, 'a test', manager.clock(), manager.clock(), 100)
    return [payload for _, name, payload in sent if name == f'lease.{kind}']


@pytest.mark.parametrize('request_of', [
    lambda: builders.hosts(1), lambda: records.ReservationRequest('virtual:instance', SIZED)])
def test_a_lease_moves_before_its_start_and_its_owner_is_told(manager, request_of):
    first, second = manager.enrol(2)
    lease = _lease(manager, request_of())
    assert _has(manager, lease) == {first.id}
    _spoil(manager, first)
    assert _heal(manager) == [lease.id]
    assert _has(manager, lease) == {second.id}
    assert 'moved' in acts.history(manager, lease)
    [said] = _told(manager, 'moved')
    assert said['lease_id'] == lease.id
    assert _heal(manager) == []
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(2))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(5))


def test_the_lease_that_starts_first_gets_the_last_host(manager):
    hosts = manager.enrol(3)
    later, sooner = _lease(manager, start=4, length=6), _lease(manager, start=2, length=6)
    broken = _has(manager, later) | _has(manager, sooner)
    _spoil(manager, *(each for each in hosts if each.id in broken))
    assert _heal(manager) == [sooner.id]
    assert _has(manager, sooner) == {each.id for each in hosts} - broken


def test_a_lease_beyond_the_horizon_stays(manager):
    first, _ = manager.enrol(2)
    lease = _lease(manager, start=30)
    _spoil(manager, first)
    assert _heal(manager) == []
    assert _has(manager, lease) == {first.id}
    manager.clock.advance(hours(7))
    assert _heal(manager) == [lease.id]


def test_its_owner_is_told_once_and_at_once_if_nothing_fits(manager):
    [host] = manager.enrol(1)
    lease = _lease(manager)
    _spoil(manager, host)
    for _ in range(3):
        assert _heal(manager) == []
        manager.clock.advance(builders.minutes(1))
    assert acts.history(manager, lease).count('resource_sick') == 1
    [said] = _told(manager, 'resource_sick')
    assert 'cannot be used' in said['reason']
    assert host.name not in said['reason']
    # Healthy again, and broken once more: the owner is notified again.
    _spoil(manager, host, reason='')
    manager.clock.advance(builders.minutes(1))
    _spoil(manager, host)
    _heal(manager)
    assert acts.history(manager, lease).count('resource_sick') == 2
    _spoil(manager, host, reason='')
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(2))


def test_a_host_that_was_left_is_kept_free(manager):
    first, _ = manager.enrol(2)
    _lease(manager)
    _spoil(manager, first)
    _heal(manager)
    free = manager.client.pool_calendar(ADMIN, 'host', None, None, 10)
    assert max(each.free for each in free if each.start < NOON + hours(24)) == 1


def test_a_host_out_of_use_is_left_too(manager):
    first, second = manager.enrol(2)
    lease = _lease(manager)
    acts.disable(manager, first)
    assert _heal(manager) == [lease.id]
    assert _has(manager, lease) == {second.id}


def test_a_running_lease_is_not_moved(manager):
    first, _ = manager.enrol(2)
    lease = manager.book(builders.hosts(1), end=NOON + hours(2))
    manager.run()
    _spoil(manager, first)
    assert _heal(manager) == []
    assert _has(manager, lease) == {first.id}


def test_two_managers_move_a_lease_once(conf, database, clock, manager):
    first, *_ = manager.enrol(3)
    lease = _lease(manager)
    _spoil(manager, first)
    other = builders.Manager(conf, database, clock, cloud=manager.cloud)
    both = [health_moves.HealthMoves(each.core) for each in (manager, other)]
    assert [bool(each.move_soon(NOON)) for each in both] == [True, False]
    assert acts.history(manager, lease).count('moved') == 1
    assert len(_has(manager, lease)) == 1


def test_the_broken_one_of_several_hosts_is_replaced(manager):
    hosts = manager.enrol(4)
    lease = _lease(manager, builders.hosts(3))
    had = _has(manager, lease)
    broken = next(each for each in hosts if each.id in had)
    _spoil(manager, broken)
    _heal(manager)
    assert _has(manager, lease) == {each.id for each in hosts} - {broken.id}
