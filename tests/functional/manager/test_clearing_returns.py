# SPDX-License-Identifier: Apache-2.0
"""Hosts that were cleared for a best-effort lease and not needed are always returned."""
import acts
import clearings
import pytest
from support import builders
from support import crashing
from support import thinning

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain.clearing import plans


def _with_a_slow_leftover(manager, cloud):
    """A lease that clears hosts; its first is given up while a stopped server is leaving it."""
    conf = manager.core.conf
    conf.set_override('parallel_moves', 1, group='acquire')
    conf.set_override('migrate_seconds', 300, group='simulated')
    for each in cloud.servers():
        cloud.mark_server(each.id, 'SHUTOFF')
    lease = manager.create(clearings.a_request(1))
    while not any(each.task for each in cloud.servers()):
        manager.run()
        manager.clock.advance(clearings.seconds(1))
    conf.set_override('migrate_seconds', 0, group='simulated')
    [leaving] = [each for each in cloud.servers() if each.task]
    [staying] = [each for each in cloud.servers()
                 if each.host == leaving.host and each.id != leaving.id]
    cloud.mark_server(staying.id, 'SUSPENDED')
    return lease, leaving


@pytest.mark.proof
def test_a_lease_starts_although_a_host_that_it_gave_up_is_not_released_yet(manager, cloud):
    lease, leaving = _with_a_slow_leftover(manager, cloud)
    lease = clearings.acquired(manager, lease, within=60)
    assert leaving.host not in acts.aggregate(manager, lease).hosts
    [left] = [each for each in cloud.servers() if each.id == leaving.id]
    assert left.task == 'resize_migrating'
    assert clearings.states(lease)[leaving.host] == plans.DROPPED
    manager.run_until(manager.clock() + builders.minutes(10))
    [left] = [each for each in cloud.servers() if each.id == leaving.id]
    assert (left.status, left.host != leaving.host) == ('SHUTOFF', True)
    lease = manager.lease(lease)
    assert (lease.state, lease.reason) == (lifecycle.ACTIVE, None)
    assert clearings.states(lease)[leaving.host] == plans.RELEASED
    assert lease.event(event_kinds.GIVE_BACK).status == lifecycle.EVENT_DONE


@pytest.mark.parametrize('number', thinning.few([1, 4, 9, 14, 18], 3))
def test_remaining_hosts_are_returned_although_the_manager_is_killed_meanwhile(
        manager, cloud, number):
    lease, leaving = _with_a_slow_leftover(manager, cloud)
    lease = clearings.cleared(manager, lease, within=60)
    manager.clock.advance(builders.minutes(10))
    assert crashing.dies_at(cloud, number, manager.run) or number > 1
    manager.clock.advance(builders.minutes(1))
    manager.run_until(manager.clock() + builders.minutes(5))
    assert clearings.states(manager.lease(lease))[leaving.host] == plans.RELEASED
    assert clearings.servers(cloud)[leaving.name][0] == 'SHUTOFF'
    assert clearings.disabled(cloud) == {}


@pytest.mark.proof
def test_an_end_does_not_forget_what_is_left(manager, cloud):
    lease, leaving = _with_a_slow_leftover(manager, cloud)
    lease = clearings.cleared(manager, lease, within=60)
    manager.delete(lease)
    manager.run_until(manager.clock() + builders.minutes(10))
    assert manager.lease(lease).deleted_at is not None
    assert clearings.servers(cloud)[leaving.name][0] == 'SHUTOFF'
    assert manager.client.list_resources(builders.an_admin(), 'host') == []


def test_a_lent_host_that_a_lease_does_not_need_any_more_goes_back_before_its_end(
        manager, cloud):
    lease = clearings.cleared(manager, manager.create(clearings.a_request(2)))
    manager.change_reservation(lease, min=1, max=1)
    lease = manager.expect(lease, lifecycle.ACTIVE, manager.clock() + builders.seconds(30))
    [kept] = acts.aggregate(manager, lease).hosts
    assert [each.name for each in
            manager.client.list_resources(builders.an_admin(), 'host')] == [kept]
    assert acts.freepool(manager) == ()
    manager.change(lease, end_now=True)
    manager.run_until(manager.clock() + builders.seconds(30))
    assert manager.client.list_resources(builders.an_admin(), 'host') == []


@pytest.mark.parametrize('deleted', [True, False])
def test_a_return_that_was_given_up_is_tried_again_until_it_succeeds(manager, cloud, deleted):
    lease = clearings.cleared(manager, manager.create(clearings.a_request(1)))
    cloud.fail('nova.remove_hosts', 999, errors.CloudError(service='Nova', reason='no'))
    cloud.fail('placement.empty_child', 999, errors.CloudError(service='Placement', reason='no'))
    manager.run_until(lease.end + builders.minutes(10))
    lease = manager.lease(lease)
    given = lease.event(event_kinds.GIVE_BACK)
    assert given.attempts > 5 and given.status == lifecycle.EVENT_UNDONE, given
    cloud.fail('nova.remove_hosts', 0, None)
    cloud.fail('placement.empty_child', 0, None)
    if deleted:
        manager.delete(lease)
    manager.run_until(manager.clock() + builders.minutes(10))
    assert manager.client.list_resources(builders.an_admin(), 'host') == []


NO = errors.CloudError(service='Nova', reason='Host c1 says no')


def _with_a_service_that_stays_disabled(manager, cloud):
    """A clearing of half a minute; its host is enrolled, and the compute service stays disabled."""
    cloud.fail('nova.enable_service', 999, NO)
    lease = manager.create(clearings.a_request(1, acquire=clearings.HALF_A_MINUTE))
    while plans.ENROLLING not in clearings.states(manager.lease(lease)).values():
        manager.run()
        manager.clock.advance(clearings.seconds(1))
    cloud.fail('nova.enable_service', 0, None)
    return lease


def test_a_service_is_enabled_although_the_host_cannot_be_dismissed(manager, cloud):
    lease = _with_a_service_that_stays_disabled(manager, cloud)
    cloud.fail('placement.empty_child', 999, NO)
    manager.clock.advance(clearings.seconds(40))
    manager.run()
    assert clearings.disabled(cloud) == {}
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACQUIRING
    assert 'did not get its resources' in lease.reason
    assert 'could not be undone yet' in lease.reason
    assert 'c1' not in lease.reason
    assert (plans.NOT_UNDONE, NO.message) in [
        (line.what, line.why)
        for line in manager.client.lease_history(builders.an_admin(), lease.id)]
    cloud.fail('placement.empty_child', 0, None)
    lease = clearings.cleared(manager, lease)
    assert lease.state == lifecycle.TIMEDOUT
    assert 'undone' not in lease.reason
    assert manager.client.list_resources(builders.an_admin(), 'host') == []


def test_one_host_that_fails_does_not_keep_services_of_others_disabled(manager, cloud, conf):
    conf.set_override('migrate_seconds', 600, group='simulated')
    lease = manager.create(clearings.a_request(3, acquire=clearings.HALF_A_MINUTE))
    manager.run()
    assert len(clearings.disabled(cloud)) == 3
    cloud.fail('nova.enable_service', 1, NO)
    manager.clock.advance(clearings.seconds(40))
    manager.run()
    assert len(clearings.disabled(cloud)) == 1
    assert clearings.cleared(manager, lease).state == lifecycle.TIMEDOUT
    assert clearings.disabled(cloud) == {}


@pytest.mark.proof
def test_a_slow_return_of_hosts_is_reported(manager, cloud, conf):
    conf.set_override('migrate_seconds', 300, group='simulated')
    for each in cloud.servers():
        cloud.mark_server(each.id, 'SHUTOFF')
    lease = manager.create(clearings.a_request(2, acquire=clearings.HALF_A_MINUTE))
    lease = clearings.cleared(manager, lease, within=60)
    assert lease.state == lifecycle.ACQUIRING
    assert 'being undone: Nova: 2 hosts are being returned.' in lease.reason
    assert clearings.cleared(manager, lease, within=400).state == lifecycle.TIMEDOUT


@pytest.mark.proof
def test_a_host_that_is_returned_is_not_allocated_any_more(manager, cloud, conf):
    conf.set_override('migrate_seconds', 300, group='simulated')
    for each in cloud.servers():
        cloud.mark_server(each.id, 'SHUTOFF')
    for name in ('c1-0', 'c1-1'):
        cloud.delete_server(clearings.by_name(cloud, name).id)
    lease = manager.create(clearings.a_request(2, acquire=clearings.HALF_A_MINUTE))
    lease = clearings.cleared(manager, lease, within=20)
    [empty] = manager.client.list_resources(builders.an_admin(), 'host')
    assert (empty.name, lease.reservations[0].resource_ids) == ('c1', (empty.id,))
    # The servers of the other host are on their way yet, so the lease is not given up yet.
    lease = clearings.cleared(manager, lease, within=40)
    assert lease.state == lifecycle.ACQUIRING
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert lease.reservations[0].resource_ids == ()
