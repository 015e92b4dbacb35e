# SPDX-License-Identifier: Apache-2.0
"""Host clearing goes on after a kill at any point, and an audit finds what it left."""
import itertools
import os

import acts
import clearings
import pytest
from support import builders
from support import crashing

from climate.db import resources
from climate.domain import lifecycle
from climate.domain import records
from climate.domain.clearing import plans
from climate.manager.audit import comparison as auditing
from climate.manager.audit import repairs

# Of the fault points of a clearing, so that the processes are killed at one of so many.
STRIDE = int(os.environ.get('CLIMATE_TEST_STRIDE', '17'))


def _spread_again(manager, cloud):
    """Put the servers back to where they were at first."""
    manager.clock.advance(clearings.seconds(10))
    manager.core.conf.set_override('migrate_seconds', 0, group='simulated')
    for each in cloud.servers():
        if each.host != each.name[:2]:
            cloud.as_service().servers.migrate(each.id, each.name[:2])
            if each.status == 'SHUTOFF':
                cloud.as_service().servers.migrate(each.id)
    manager.core.conf.set_override('migrate_seconds', 2, group='simulated')


def _has_nothing_lent(manager):
    return (manager.client.list_resources(builders.an_admin(), 'host') == []
            and (acts.nova(manager).aggregate('freepool') is None or not acts.freepool(manager)))


def _statuses(cloud):
    return {each.id: each.status for each in cloud.servers()}


def _is_whole(manager, cloud, before):
    """Check that a clearing leaves nothing but the hosts of its lease."""
    assert clearings.disabled(cloud) == {}
    assert not [each for each in cloud.host_names() if cloud.as_service().computes.BARRED
                in cloud.as_service().placement.traits(each)]
    assert {each.task for each in cloud.servers()} == {None}
    assert _statuses(cloud) == before


def _has_two_for_itself(manager, cloud, lease):
    """The lease has two hosts, and no server of others is on them."""
    mine = acts.aggregate(manager, lease).hosts
    assert len(mine) == 2
    assert not set(mine) & {host for _, host in clearings.servers(cloud).values()}


@pytest.mark.parametrize('seconds_given', [pytest.param(600, marks=pytest.mark.proof), 3])
def test_a_hunt_that_is_killed_anywhere_is_carried_on_or_undone(
        manager, cloud, conf, seconds_given):
    conf.set_override('parallel_moves', 2, group='acquire')
    conf.set_override('migrate_seconds', 2, group='simulated')
    cloud.mark_server(clearings.by_name(cloud, 'c1-0').id, 'SHUTOFF')
    before = _statuses(cloud)
    number, was_killed = 1, True
    while was_killed:
        lease = manager.create(clearings.a_request(acquire=records.AcquireRequest(
            'best-effort', timeout_seconds=seconds_given)))
        was_killed = crashing.dies_at(
            cloud, number, lambda lease=lease: clearings.cleared(manager, lease))
        manager.clock.advance(clearings.seconds(60))
        lease = clearings.cleared(manager, lease)
        assert lease.state == (lifecycle.ACTIVE if seconds_given > 60 else lifecycle.TIMEDOUT), (
            number, lease.reason)
        _is_whole(manager, cloud, before)
        if lease.state == lifecycle.ACTIVE:
            _has_two_for_itself(manager, cloud, lease)
            manager.delete(lease)
        manager.run_until(manager.clock() + clearings.seconds(10))
        assert _has_nothing_lent(manager), number
        _spread_again(manager, cloud)
        number += STRIDE
    assert number > 30


@pytest.mark.parametrize('status', ['ACTIVE', pytest.param('SHUTOFF', marks=pytest.mark.proof)])
def test_a_hunt_whose_time_is_over_while_servers_move_is_undone_wherever_it_is_killed(
        manager, cloud, conf, status):
    conf.set_override('migrate_seconds', 8, group='simulated')
    for each in cloud.servers():
        cloud.mark_server(each.id, status)
    before = _statuses(cloud)
    number, was_killed = 1, True
    while was_killed:
        conf.set_override('migrate_seconds', 8, group='simulated')
        lease = manager.create(clearings.a_request(acquire=records.AcquireRequest(
            'best-effort', timeout_seconds=6)))
        was_killed = crashing.dies_at(
            cloud, number, lambda lease=lease: clearings.cleared(manager, lease))
        manager.clock.advance(clearings.seconds(60))
        lease = clearings.cleared(manager, lease)
        assert lease.state == lifecycle.TIMEDOUT, (number, lease.reason)
        _is_whole(manager, cloud, before)
        assert _has_nothing_lent(manager), number
        _spread_again(manager, cloud)
        number += STRIDE
    assert number > 30


def _stalled_at(manager, cloud, number, lease):
    """Another manager goes on with a clearing until it stalls after a call, and we finish it.

    Then it awakes. Whether it came to the call of that number.
    """
    other, count = acts.Second(manager), itertools.count(1)
    stalled = []

    def on_point(name, when):
        if when == 'after' and next(count) == number:
            cloud.faults.on_point = None
            manager.clock.advance(clearings.seconds(60))
            stalled.append(clearings.cleared(manager, lease))
            # Its claim is long over, by its own clock too.
            other.seconds += 1000
    cloud.faults.on_point = on_point
    while manager.lease(lease).state == lifecycle.ACQUIRING and not stalled:
        other.claim()
        other.finish()
        manager.clock.advance(clearings.seconds(1))
    cloud.faults.on_point = None
    return bool(stalled)


@pytest.mark.proof
def test_a_manager_that_stalls_in_a_hunt_and_awakes_does_no_harm(manager, cloud, conf):
    conf.set_override('migrate_seconds', 2, group='simulated')
    cloud.mark_server(clearings.by_name(cloud, 'c1-0').id, 'SHUTOFF')
    before = _statuses(cloud)
    number, has_stalled = 1, True
    while has_stalled:
        lease = manager.create(clearings.a_request())
        has_stalled = _stalled_at(manager, cloud, number, lease)
        lease = clearings.cleared(manager, lease)
        assert lease.state == lifecycle.ACTIVE, (number, lease.reason)
        _is_whole(manager, cloud, before)
        _has_two_for_itself(manager, cloud, lease)
        told = acts.history(manager, lease)
        assert (told.count('host ready'), told.count('acquired')) == (2, 1), number
        manager.delete(lease)
        manager.run_until(manager.clock() + clearings.seconds(10))
        assert _has_nothing_lent(manager), number
        _spread_again(manager, cloud)
        number += STRIDE
    assert number > 30


@pytest.mark.parametrize('reason', [
    pytest.param('a disk is broken', marks=pytest.mark.proof), None])
def test_a_host_that_an_administrator_disables_during_clearing_stays_disabled_after_any_crash(
        manager, cloud, conf, reason):
    conf.set_override('migrate_seconds', 2, group='simulated')
    before = _statuses(cloud)
    number, was_killed = 1, True
    while was_killed:
        lease = manager.create(clearings.a_request(1))
        [host] = plans.from_json(lease.acquisition.plan).hosts
        was_killed = crashing.dies_at(
            cloud, number, lambda lease=lease: clearings.cleared(manager, lease),
            before_death=lambda host=host: cloud.mark_host(host.name, enabled=False, reason=reason))
        if not was_killed:
            break
        manager.clock.advance(clearings.seconds(60))
        lease = clearings.cleared(manager, lease)
        if lease.state == lifecycle.ERROR:
            # It was the lease's already when it was disabled, and nothing can be started on it.
            assert f'{host.name} (its service is disabled in Nova' in lease.reason, number
        else:
            assert lease.state == lifecycle.ACTIVE, (number, lease.reason)
        assert clearings.disabled(cloud) == {host.name: reason}, number
        manager.delete(lease)
        manager.run_until(manager.clock() + clearings.seconds(10))
        assert clearings.disabled(cloud) == {host.name: reason}, number
        assert _has_nothing_lent(manager), number
        cloud.mark_host(host.name, enabled=True)
        _is_whole(manager, cloud, before)
        _spread_again(manager, cloud)
        number += STRIDE
    assert number > 15


def _drifts(manager):
    found = auditing.Auditor(manager.core).compare()
    return [(each.kind, each.what) for each in found], found


def test_an_audit_enables_a_service_that_is_disabled_for_no_lease(manager, cloud):
    lease = manager.create(clearings.a_request(1))
    computes = cloud.as_service().computes
    computes.disable('c1', plans.fence_of(lease.id))
    cloud.mark_host('c2', enabled=False, reason='a disk is broken')
    assert _drifts(manager)[0] == []
    computes.enable('c1', plans.fence_of(lease.id))
    lease = clearings.cleared(manager, lease)
    assert clearings.disabled(cloud) == {'c2': 'a disk is broken'}
    computes.disable('c4', plans.fence_of(lease.id))
    told, found = _drifts(manager)
    assert told == [('disabled', 'service of c4')]
    assert repairs.Repairs(manager.core).make(found) == {found[0]: None}
    assert clearings.disabled(cloud) == {'c2': 'a disk is broken'}
    assert _drifts(manager)[0] == []


def test_an_audit_gives_back_a_host_that_is_lent_to_nobody(manager, cloud):
    lease = clearings.cleared(manager, manager.create(clearings.a_request(1)))
    cloud.add_host('c5')
    host = manager.client.create_resource(builders.an_admin(), 'host', 'c5', {})
    with manager.database.writer() as connection:
        resources.change(connection, host.id, builders.NOON, lent_to=lease.reservations[0].id)
    assert _drifts(manager)[0] == []
    manager.delete(lease)
    manager.run()
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    host = manager.client.create_resource(builders.an_admin(), 'host', 'c5', {})
    with manager.database.writer() as connection:
        resources.change(connection, host.id, builders.NOON, lent_to=lease.reservations[0].id)
    told, found = _drifts(manager)
    assert told == [('lent', 'host c5')]
    assert repairs.Repairs(manager.core).make(found) == {found[0]: None}
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.freepool(manager) == ()
