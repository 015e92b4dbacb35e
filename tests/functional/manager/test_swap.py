# SPDX-License-Identifier: Apache-2.0
"""The owner of a running lease swaps a broken host for a good one and keeps the reservation."""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN, MEMBER = builders.an_admin(), builders.a_member()
SIZED = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': None}


def _running(manager, request=None, length=8):
    lease = manager.book(request or builders.hosts(1), end=NOON + hours(length))
    manager.run()
    return manager.lease(lease)


def _swap(manager, lease, resource, **more):
    return manager.client.swap_resource(MEMBER, lease.id, str(resource), **more)


def _has(manager, lease):
    return set(manager.lease(lease).reservations[0].resource_ids)


def _verdict(manager, key):
    return manager.client.get_resource(ADMIN, 'host', key).verdict


@pytest.mark.parametrize('called', ['compute-1', '1'])
def test_a_host_is_swapped_at_once_and_others_may_lease_it(manager, called):
    first, second = manager.enrol(2)
    lease = _running(manager)
    swapped = _swap(manager, lease, called)
    assert swapped.reservations[0].id == lease.reservations[0].id
    assert swapped.reservations[0].resource_ids == (second.id,)
    manager.run()
    assert acts.aggregate(manager, lease).hosts == (second.name,)
    assert first.name in acts.freepool(manager)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert _verdict(manager, first.id).state == health.WELL
    other = manager.book(builders.hosts(1), end=NOON + hours(4))
    assert _has(manager, other) == {first.id}


def test_a_server_on_the_old_host_is_deleted_and_the_others_stay(manager):
    manager.enrol(3)
    lease = _running(manager, builders.hosts(2))
    hint = {'reservation': lease.reservations[0].id}
    for name in ('one', 'two'):
        manager.cloud.boot('demo', name, hint)
    _swap(manager, lease, 'compute-1')
    manager.run_until(NOON + minutes(5))
    [left] = manager.cloud.servers()
    assert left.host != 'compute-1'
    assert _has(manager, lease) == {2, 3}
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_room_for_instances_is_swapped_too(manager):
    manager.enrol(2)
    lease = _running(manager, records.ReservationRequest('virtual:instance', SIZED))
    old = min(_has(manager, lease))
    _swap(manager, lease, old)
    manager.run()
    assert old not in _has(manager, lease)
    assert len(manager.lease(lease).reservations[0].resource_ids) == 2
    manager.run_until(NOON + hours(9))
    assert acts.is_clean(manager, 2)


def test_a_swap_without_a_free_host_changes_nothing(manager):
    [first] = manager.enrol(1)
    lease = _running(manager)
    with pytest.raises(errors.NotEnough):
        _swap(manager, lease, first.id)
    assert _verdict(manager, first.id).state == health.WELL
    assert _has(manager, lease) == {first.id}


def test_a_sick_host_is_not_given_for_a_broken_one(manager):
    first, second, third = manager.enrol(3)
    lease = _running(manager)
    manager.client.set_out_of_order(ADMIN, 'host', second.id, 'x')
    _swap(manager, lease, first.id)
    assert _has(manager, lease) == {third.id}


def test_a_host_that_another_lease_has_later_is_not_given(manager):
    first, _ = manager.enrol(2)
    lease = _running(manager)
    manager.book(builders.hosts(1), start=NOON + hours(4), end=NOON + hours(6))
    with pytest.raises(errors.NotEnough):
        _swap(manager, lease, first.id)


def test_a_swap_of_a_sick_host_is_never_refused_as_one_too_many(conf, manager):
    conf.set_override('swaps_per_project', 2, group='health')
    manager.enrol(5)
    lease = _running(manager)
    for _ in range(2):
        _swap(manager, lease, min(_has(manager, lease)))
        manager.run()
    [now] = _has(manager, lease)
    with pytest.raises(errors.TooManySwaps, match='after 2030-05-02 12:00 UTC'):
        _swap(manager, lease, now)
    manager.client.set_out_of_order(ADMIN, 'host', now, 'burnt')
    _swap(manager, lease, now)
    manager.run()
    assert now not in _has(manager, lease)


def test_a_refused_swap_names_the_way_out(manager):
    manager.enrol(2)
    lease = _running(manager)
    with pytest.raises(errors.BadField, match='no resource "compute-9"; it has those'):
        _swap(manager, lease, 'compute-9')
    with pytest.raises(errors.BadField, match='no reservation'):
        _swap(manager, lease, 1, reservation_id='x')
    later = manager.book(builders.hosts(1), start=NOON + hours(9), end=NOON + hours(10))
    with pytest.raises(errors.BadTransition, match='has not started'):
        _swap(manager, later, 1)
    manager.run_until(NOON + hours(8))
    with pytest.raises(errors.LeaseEnded):
        _swap(manager, lease, 1)


def test_a_swap_and_a_change_at_the_same_time_do_not_mix(manager):
    manager.enrol(3)
    lease = _running(manager)
    with acts.meddling(manager, lambda: _swap(manager, lease, 1)) as late, pytest.raises(
            errors.BadTransition, match='changed by another request'):
        late.change(lease, end=NOON + hours(20))
    assert len(_has(manager, lease)) == 1


def test_a_swap_is_a_route_for_members_of_the_project(api, manager):
    manager.enrol(2)
    lease = _running(manager)
    path = f'/v1/leases/{lease.id}/swap'
    assert api.post(path, {'host': '1'}, version='1.0').status_int == 404
    assert api.post(path, {'host': '1'}, token=builders.STRANGER,
                    version='1.1').status_int == 404
    assert api.post(path, {'host': '1'}, token='r:demo:reader', version='1.1').status_int == 403
    both = api.post(path, {'host': '1', 'resource': '1'}, version='1.1')
    assert (both.status_int, both.json['details']['field']) == (400, 'host')
    assert api.post(path, {'hosts': '1'}, version='1.1').status_int == 400
    answer = api.post(path, {'host': 'compute-1'}, version='1.1')
    assert answer.status_int == 202
    assert answer.json['lease']['reservations'][0]['resources'] == ['2']
