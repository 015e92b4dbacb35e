# SPDX-License-Identifier: Apache-2.0
"""A member's word keeps a resource from the member's own lease, and from nobody else."""
import contextlib
import random

import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import thinning

from climate import errors
from climate.db import resources
from climate.db import tables
from climate.domain import health
from climate.domain import records
from climate.manager.health import checks
from climate.manager.pools import refresh

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN, MALLORY = builders.an_admin(), builders.a_member('mallory', 'evil')


def _shared(amount=1):
    return builders.instances(amount, affinity=None)


def _running(manager, caller, request, length=8):
    lease = manager.create(builders.a_lease(request, end=manager.clock() + hours(length)), caller)
    manager.run()
    return manager.lease(lease)


def _swap(manager, caller, lease, resource, **more):
    after = manager.client.swap_resource(caller, lease.id, str(resource), **more)
    manager.run()
    return set(after.reservations[0].resource_ids)


def _lease_of(manager, caller, host):
    """Create a running lease that has a host, and may have others in its place."""
    lease = _running(manager, caller, builders.hosts(1, criteria=acts.named(host)))
    manager.change(lease, reservations=acts.asked(lease.reservations[0], resource_properties=''))
    manager.run()
    return lease


def _report(manager, host, user, project):
    """Lease a host, swap it, and end the lease."""
    caller = builders.a_member(user, project)
    lease = _lease_of(manager, caller, host)
    _swap(manager, caller, lease, host.id)
    manager.client.delete_lease(caller, lease.id)
    manager.run()


def _verdict(manager, host):
    return manager.client.get_resource(ADMIN, 'host', host.id).verdict


def _judge(manager):
    """Do what follows from the health of resources, as each manager does periodically."""
    checks.HealthChecks(manager.core, 'this manager').check(manager.clock())
    refresh.Refresher(manager.core, 'this manager').refresh(manager.clock())


def _free(manager):
    """All that decides what others may have of the hosts: health, capacity, what is booked."""
    booked = tables.ALLOCATIONS.c
    with manager.database.reader() as connection:
        rows = connection.execute(
            sa.select(booked.resource_id, booked.reservation_id, booked.copies)
            .where(booked.end > manager.clock(), booked.released_at.is_(None))).all()
    return ([(each.id, dict(each.capacity), each.reservable, each.held_by, each.verdict.state)
             for each in manager.client.list_resources(ADMIN, 'host')], sorted(map(tuple, rows)),
            sorted(acts.freepool(manager)))


def _act(manager, rng, mine):
    """Make a request of the member, whichever; it may be refused."""
    kind = rng.choice(('host', 'host', 'shared', 'swap', 'swap', 'swap', 'swap', 'grow', 'delete'))
    if kind in ('host', 'shared') or not mine:
        request = builders.hosts(1, 2) if kind == 'host' else _shared(rng.choice((1, 3)))
        mine.append(_running(manager, MALLORY, request))
        return
    lease = rng.choice(mine)
    [reservation] = manager.lease(lease).reservations
    if kind == 'swap':
        _swap(manager, MALLORY, lease, rng.choice(reservation.resource_ids))
    elif kind == 'grow':
        changed = ({'max': 3} if reservation.resource_type == 'physical:host' else {'amount': 4})
        manager.client.update_lease(MALLORY, lease.id, records.LeaseChanges(
            reservations=acts.asked(reservation, **changed)))
    else:
        mine.remove(lease)
        manager.client.delete_lease(MALLORY, lease.id)
    manager.run()


@pytest.mark.proof
@pytest.mark.parametrize('seed', thinning.few(range(6), 2))
def test_requests_of_one_member_leave_all_that_was_free_to_others(conf, manager, seed):
    conf.set_override('swaps_per_project', 1000, group='health')
    manager.enrol(8)
    others = [_running(manager, None, request, 48) for request in (builders.hosts(1), _shared(3))]
    before, rng, mine = _free(manager), random.Random(seed), []
    for _ in range(20):
        with contextlib.suppress(errors.Conflict):
            _act(manager, rng, mine)
        manager.clock.advance(minutes(1))
    _judge(manager)
    assert not any(manager.lease(each).degraded for each in others)
    for lease in mine:
        manager.client.delete_lease(MALLORY, lease.id)
    manager.run_until(manager.clock() + minutes(10))
    _judge(manager)
    assert _free(manager) == before
    assert not any(manager.lease(each).degraded for each in others)
    with manager.database.reader() as connection:
        assert connection.execute(sa.select(tables.SWAP_REPORTS)).all()


def test_new_leases_do_not_evade_the_limit_of_a_project(conf, manager):
    conf.set_override('swaps_per_project', 3, group='health')
    hosts = manager.enrol(3)
    for host in hosts:
        _report(manager, host, 'mallory', 'evil')
        manager.clock.advance(hours(1))
    with pytest.raises(errors.TooManySwaps, match='Ask your operator'):
        _report(manager, hosts[0], 'malte', 'evil')
    _report(manager, hosts[1], 'bob', 'good')
    manager.run_until(NOON + hours(24))
    _report(manager, hosts[0], 'malte', 'evil')


def test_a_lease_does_not_get_a_resource_that_it_reported_until_the_report_ends(manager):
    first, second = manager.enrol(2)
    lease = _running(manager, None, builders.hosts(1, 2), 60)
    lease = manager.change(lease, reservations=acts.asked(lease.reservations[0], max=1))
    manager.run()
    [has] = manager.lease(lease).reservations[0].resource_ids
    other = ({first.id, second.id} - {has}).pop()
    assert _swap(manager, builders.a_member(), lease, has) == {other}
    with pytest.raises(errors.NotEnough):
        _swap(manager, builders.a_member(), lease, other)
    grown = acts.asked(manager.lease(lease).reservations[0], min=2, max=2)
    with pytest.raises(errors.NotEnough):
        manager.change(lease, reservations=grown)
    manager.change(lease, end=lease.end + hours(1))
    manager.run()
    manager.clock.advance(hours(24))
    manager.change(lease, reservations=grown)
    manager.run()
    assert len(manager.lease(lease).reservations[0].resource_ids) == 2


@pytest.mark.parametrize(('reporters', 'quarantined'), [
    ([('ann', 'one'), ('bob', 'two')], True),
    ([('ann', 'one'), ('bob', 'one')], False),
    ([('ann', 'one'), ('ann', 'two')], False),
    ([('ann', 'one'), ('ann', 'one'), ('ann', 'one')], False),
])
def test_reports_of_several_projects_and_users_lead_to_a_quarantine(manager, reporters,
                                                                    quarantined):
    host, _ = manager.enrol(2)
    for user, project in reporters:
        _report(manager, host, user, project)
    assert _verdict(manager, host).state == (
        health.QUARANTINED if quarantined else health.WELL)


def test_a_report_does_not_count_after_its_time_or_once_the_host_is_healthy(manager):
    host, _ = manager.enrol(2)
    _report(manager, host, 'ann', 'one')
    manager.clock.advance(hours(24))
    _report(manager, host, 'bob', 'two')
    assert _verdict(manager, host).state == health.WELL
    manager.client.set_out_of_order(ADMIN, 'host', host.id, '')
    _report(manager, host, 'cyd', 'three')
    assert _verdict(manager, host).state == health.WELL
    _report(manager, host, 'dan', 'four')
    assert _verdict(manager, host).state == health.QUARANTINED


def test_a_quarantine_degrades_no_lease_of_others(manager):
    host, _ = manager.enrol(2)
    other = _running(manager, None, _shared(1))
    assert other.reservations[0].resource_ids == (host.id,)
    for user, project in (('ann', 'one'), ('bob', 'two')):
        caller = builders.a_member(user, project)
        _swap(manager, caller, _running(manager, caller, _shared(1)), host.id)
    assert _verdict(manager, host).state == health.QUARANTINED
    _judge(manager)
    assert not manager.lease(other).degraded


@pytest.mark.parametrize('quarantine_minutes', [1440, 0])
def test_the_report_of_an_administrator_leads_to_a_quarantine_at_once(conf, manager,
                                                                      quarantine_minutes):
    conf.set_override('quarantine_minutes', quarantine_minutes, group='health')
    conf.set_override('swaps_per_project', 0, group='health')
    host, _ = manager.enrol(2)
    lease = _running(manager, None, builders.hosts(1))
    with pytest.raises(errors.TooManySwaps):
        _swap(manager, builders.a_member(), lease, host.id)
    _swap(manager, ADMIN, lease, host.id, by_admin=True)
    found = _verdict(manager, host)
    assert found.state == health.QUARANTINED
    assert found.until == (NOON + hours(24) if quarantine_minutes else None)
    with pytest.raises(errors.NotEnough):
        manager.book(builders.hosts(1), end=NOON + hours(4))
    manager.clock.advance(hours(24))
    if not quarantine_minutes:
        manager.client.set_out_of_order(ADMIN, 'host', host.id, '')
    _judge(manager)
    assert _verdict(manager, host).state == health.WELL
    assert manager.book(builders.hosts(1), start=manager.clock() + hours(1),
                        end=manager.clock() + hours(4))


def test_a_swap_of_a_host_that_monitoring_finds_sick_leads_to_a_quarantine(manager):
    host, _ = manager.enrol(2)
    lease = _running(manager, None, builders.hosts(1), 20)
    check = checks.HealthChecks(manager.core, 'this manager').check
    manager.cloud.mark_host(host.name, up=False)
    for _ in range(3):
        check(manager.clock())
        manager.clock.advance(minutes(1))
    assert _verdict(manager, host).state == health.SICK
    _swap(manager, builders.a_member(), lease, host.id)
    manager.cloud.mark_host(host.name, up=True)
    for _ in range(7):
        check(manager.clock())
        manager.clock.advance(minutes(1))
    assert _verdict(manager, host).state == health.QUARANTINED


def test_a_swap_of_a_host_that_is_lent_to_the_lease_counts(conf, manager):
    conf.set_override('swaps_per_project', 0, group='health')
    host, _ = manager.enrol(2)
    lease = _running(manager, None, builders.hosts(1))
    with manager.database.writer() as connection:
        resources.change(connection, host.id, NOON, reservable=False,
                         lent_to=lease.reservations[0].id)
    with pytest.raises(errors.TooManySwaps):
        _swap(manager, builders.a_member(), lease, host.id)


def test_the_api_says_whether_an_administrator_swaps(api, manager):
    first, _ = manager.enrol(2)
    lease = _running(manager, None, builders.hosts(1))
    assert api.post(f'/v1/leases/{lease.id}/swap', {'host': first.name},
                    version='1.1').status_int == 202
    manager.run()
    assert _verdict(manager, first).state == health.WELL
    manager.delete(lease)
    manager.run()
    lease = _lease_of(manager, None, first)
    assert api.post(f'/v1/leases/{lease.id}/swap', {'host': first.name}, version='1.1',
                    token=builders.ADMIN).status_int == 202
    assert _verdict(manager, first).state == health.QUARANTINED
