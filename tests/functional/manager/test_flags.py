# SPDX-License-Identifier: Apache-2.0
"""Leases that have less than their allocations: better hosts at the start, else flags."""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle

NOON, hours = builders.NOON, builders.hours
LATER = {'start': NOON + hours(1), 'end': NOON + hours(9)}


def _big():
    return builders.hosts(1, criteria='[">=", "$vcpus", "16"]')


def _sized(amount=3):
    return builders.instances(amount, vcpus=16)


def _flags(manager, lease):
    lease = manager.lease(lease)
    return lease.degraded, lease.reservations[0].missing_resources


@pytest.mark.parametrize('request_of', [_big, _sized])
def test_a_lease_starts_on_a_better_host_than_the_one_that_shrank(manager, poll_cloud, request_of):
    first, second = manager.enrol(2)
    lease = manager.book(request_of(), **LATER)
    assert set(manager.lease(lease).reservations[0].resource_ids) == {first.id}
    manager.cloud.change_host(first.name, vcpus=8)
    poll_cloud()
    lease = manager.expect(lease, lifecycle.ACTIVE, LATER['start'])
    assert set(lease.reservations[0].resource_ids) == {second.id}
    assert _flags(manager, lease) == (False, False)
    assert set(acts.holders(manager)) <= {second.id}


def test_two_reservations_start_on_better_hosts_than_those_that_shrank(manager, poll_cloud):
    hosts = manager.enrol(4)
    lease = manager.lease(manager.book(_big(), _big(), **LATER))
    used = {key for each in lease.reservations for key in each.resource_ids}
    for host in hosts:
        if host.id in used:
            _shrinks(manager, host)
    poll_cloud()
    manager.run_until(LATER['start'])
    lease = manager.lease(lease)
    assert (lease.state, lease.degraded) == (lifecycle.ACTIVE, False)
    assert used.isdisjoint(key for each in lease.reservations for key in each.resource_ids)


@pytest.mark.parametrize('request_of', [_big, _sized])
def test_a_lease_without_a_better_host_is_flagged_until_its_host_has_grown(
        manager, poll_cloud, request_of):
    [host] = manager.enrol(1)
    lease = manager.book(request_of(), **LATER)
    manager.cloud.change_host(host.name, vcpus=8)
    poll_cloud()
    manager.expect(lease, lifecycle.ACTIVE, LATER['start'])
    assert _flags(manager, lease) == (True, True)
    poll_cloud()
    assert _flags(manager, lease) == (True, True)
    manager.cloud.change_host(host.name, vcpus=16)
    poll_cloud()
    assert _flags(manager, lease) == (False, False)
    told = [each.what for each in acts.told(manager, lease)]
    assert told.count('degraded') == told.count('restored') == 1
    manager.run_until(LATER['end'])
    assert acts.is_clean(manager, 1)


def _shrinks(manager, host, back=False):
    manager.cloud.change_host(host.name, vcpus=16 if back else 8)


def _goes_down(manager, host, back=False):
    manager.cloud.mark_host(host.name, up=back)


@pytest.mark.parametrize('request_of', [_big, _sized])
@pytest.mark.parametrize('spoil', [_shrinks, _goes_down])
def test_the_flags_are_set_and_cleared_while_a_lease_runs(manager, poll_cloud, spoil, request_of):
    [host] = manager.enrol(1)
    lease = manager.active(request_of(), end=NOON + hours(9))
    poll_cloud()
    assert _flags(manager, lease) == (False, False)
    spoil(manager, host)
    poll_cloud()
    assert _flags(manager, lease) == (True, True)
    [line] = [each for each in acts.told(manager, lease) if each.what == 'degraded']
    assert host.name not in line.why
    generation = manager.lease(lease).generation
    poll_cloud()
    assert manager.lease(lease).generation == generation
    spoil(manager, host, back=True)
    poll_cloud()
    assert _flags(manager, lease) == (False, False)


@pytest.mark.parametrize('request_of', [_big, lambda: _sized(1)], ids=['host', 'instance'])
def test_a_running_lease_on_a_host_that_shrank_can_be_prolonged(manager, poll_cloud, request_of):
    first, _ = manager.enrol(2)
    lease = manager.active(request_of(), end=NOON + hours(1))
    _shrinks(manager, first)
    poll_cloud()
    assert _flags(manager, lease) == (True, True)
    manager.change(lease, end=NOON + hours(5))
    manager.run_until(NOON + hours(2))
    lease = manager.lease(lease)
    assert (lease.state, lease.task, lease.reason) == (lifecycle.ACTIVE, None, None)
    assert lease.reservations[0].resource_ids == (first.id,)
    assert _flags(manager, lease) == (True, True)
    manager.run_until(NOON + hours(5))
    assert acts.is_clean(manager, 2)


def test_a_lease_on_a_host_that_shrank_gets_no_time_that_others_have(manager, poll_cloud):
    first, _ = manager.enrol(2)
    lease = manager.active(_big(), end=NOON + hours(1))
    manager.book(builders.hosts(criteria=acts.named(first)),
                 start=NOON + hours(3), end=NOON + hours(4))
    _shrinks(manager, first)
    poll_cloud()
    with pytest.raises(errors.NotEnough, match='other leases have the resources then'):
        manager.change(lease, end=NOON + hours(5))
    manager.change(lease, end=NOON + hours(3))
    assert manager.lease(lease).end == NOON + hours(3)


def test_prolonged_servers_must_fit_on_the_host_that_shrank(manager, poll_cloud):
    """A host shrinks from 64 to 32 vCPUs, of which 32 are allocated to others later."""
    [host] = manager.enrol(1)
    lease = manager.active(_sized(1), end=NOON + hours(1))
    manager.book(_sized(1), _sized(1), start=NOON + hours(3), end=NOON + hours(4))
    _shrinks(manager, host)
    poll_cloud()
    with pytest.raises(errors.NotEnough):
        manager.change(lease, end=NOON + hours(5))
    manager.change(lease, end=NOON + hours(3))
    assert manager.lease(lease).end == NOON + hours(3)


def test_changed_criteria_apply_to_the_resources_of_a_running_lease(manager, poll_cloud):
    first, _ = manager.enrol(2)
    lease = manager.active(_big(), end=NOON + hours(1))
    _shrinks(manager, first)
    poll_cloud()
    with pytest.raises(errors.NotEnough):
        manager.change(lease, end=NOON + hours(5), reservations=acts.asked(
            manager.lease(lease).reservations[0], resource_properties='[">=", "$vcpus", "12"]'))


def test_the_flag_is_set_for_the_lacking_reservation_alone(manager, poll_cloud):
    first, _ = manager.enrol(2)
    lease = manager.active(builders.hosts(), builders.hosts(), end=NOON + hours(9))
    manager.cloud.remove_host(first.name)
    poll_cloud()
    lease = manager.lease(lease)
    assert lease.degraded
    assert [each.missing_resources for each in lease.reservations] == [True, False]
