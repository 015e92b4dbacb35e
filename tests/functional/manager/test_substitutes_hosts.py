# SPDX-License-Identifier: Apache-2.0
"""A host that cannot be used when its lease starts: a substitute, or an error that names it."""
import acts
import pytest
from support import builders
from support import thinning

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
LATER = {'start': NOON + hours(1), 'end': NOON + hours(9)}


def _disabled_in_climate(manager, host, back=False):
    (acts.enable if back else acts.disable)(manager, host)


def _disabled_in_nova(manager, host, back=False):
    manager.cloud.mark_host(host.name, enabled=back, reason=None if back else 'a disk is ill')


def _down(manager, host, back=False):
    manager.cloud.mark_host(host.name, up=back)


#: How a host breaks, and what its lease says of it.
WAYS = [(_disabled_in_climate, 'compute-1; and'),
        (_disabled_in_nova, 'compute-1 (its service is disabled in Nova: a disk is ill); and'),
        (_down, 'compute-1 (its service is down); and')]
SIZED = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 1, 'affinity': None}
REQUESTS = [builders.hosts, lambda: records.ReservationRequest('virtual:instance', SIZED)]


@pytest.mark.parametrize('request_of', REQUESTS)
@pytest.mark.parametrize(('spoil', '_words'), WAYS)
def test_a_substitute_is_taken_where_there_is_one(manager, spoil, _words, request_of):
    first, second = manager.enrol(2)
    lease = manager.book(request_of(), **LATER)
    assert lease.reservations[0].resource_ids == (first.id,)
    spoil(manager, first)
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1))
    assert lease.reservations[0].resource_ids == (second.id,)
    assert acts.aggregate(manager, lease).hosts == (second.name,)
    assert 'substitute' in acts.history(manager, lease)


@pytest.mark.parametrize('request_of', thinning.few(REQUESTS, 1))
@pytest.mark.parametrize(('spoil', 'words'), WAYS)
def test_without_one_the_error_names_the_host_and_it_is_healed_when_it_is_back(
        manager, spoil, words, request_of):
    [host] = manager.enrol(1)
    lease = manager.book(request_of(), **LATER)
    spoil(manager, host)
    broken = manager.expect(lease, lifecycle.ERROR, NOON + hours(1) + minutes(10))
    assert f'Out of use: {words} there is no substitute.' in broken.reason
    assert broken.event(event_kinds.START).status == lifecycle.EVENT_ERROR
    spoil(manager, host, back=True)
    manager.run_until(NOON + hours(1) + minutes(12))
    healed = manager.lease(lease)
    assert (healed.state, healed.reason) == (lifecycle.ACTIVE, None)
    [line] = [each for each in acts.told(manager, lease) if each.what == 'healed']
    assert words in line.why
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(9))
    assert acts.is_clean(manager, 1)


@pytest.mark.parametrize(('spoil', 'words'), WAYS[1:])
def test_no_substitute_is_a_host_that_cannot_be_used_either(manager, spoil, words):
    hosts = manager.enrol(3)
    lease = manager.book(**LATER)
    for host in hosts[:2]:
        spoil(manager, host)
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1))
    assert manager.lease(lease).reservations[0].resource_ids == (hosts[2].id,)


def test_the_broken_host_alone_is_replaced(manager):
    first, second, third = manager.enrol(3)
    lease = manager.book(builders.hosts(2), **LATER)
    _down(manager, first)
    manager.run_until(NOON + hours(1))
    assert manager.lease(lease).reservations[0].resource_ids == (second.id, third.id)


def test_a_host_that_nova_does_not_know_any_more_is_named(manager):
    [host] = manager.enrol(1)
    lease = manager.book(**LATER)
    manager.cloud.remove_host(host.name)
    manager.run_until(NOON + hours(1) + minutes(10))
    assert 'compute-1 (Nova does not know its service)' in manager.lease(lease).reason


@pytest.mark.parametrize('spoil', [_disabled_in_nova, _down])
def test_a_running_reservation_keeps_its_host_in_any_state(manager, spoil):
    first, _ = manager.enrol(2)
    lease = manager.active(end=NOON + hours(9))
    spoil(manager, first)
    manager.change(lease, end=NOON + hours(8))
    manager.run()
    assert manager.lease(lease).reservations[0].resource_ids == (first.id,)


def test_a_start_that_cannot_look_is_tried_again(manager):
    first, second = manager.enrol(2)
    lease = manager.book(**LATER)
    _down(manager, first)
    manager.cloud.fail('nova.services', 1, errors.CloudUnreachable(service='Nova', reason='no'))
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + minutes(1))
    assert manager.lease(lease).reservations[0].resource_ids == (second.id,)


@pytest.mark.usefixtures('rare_polls')
def test_a_host_that_an_earlier_try_handed_over_is_held_until_it_is_back(manager):
    first, second = manager.enrol(2)
    lease = manager.book(**LATER)
    manager.cloud.fail('nova.remove_host', 1, acts.NO)
    manager.run_until(NOON + hours(1))
    assert acts.aggregate(manager, lease).hosts == (first.name,)
    manager.cloud.silence_cell(first.name)
    manager.run_until(NOON + hours(1) + minutes(5))
    assert manager.lease(lease).reservations[0].resource_ids == (second.id,)
    assert acts.aggregate(manager, lease).hosts == (first.name, second.name)
    [held] = [each for each in manager.client.list_resources(builders.an_admin(), 'host')
              if each.id == first.id]
    assert held.held_by == lease.reservations[0].id
    manager.cloud.silence_cell()
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + minutes(15))
    assert acts.aggregate(manager, lease).hosts == (second.name,)
    assert acts.freepool(manager) == (first.name,)
    manager.run_until(NOON + hours(9))
    assert acts.is_clean(manager, 2)


@pytest.mark.proof
def test_a_host_that_an_earlier_try_handed_over_goes_back_with_the_end(manager):
    first, second = manager.enrol(2)
    lease = manager.book(**LATER)
    manager.cloud.fail('nova.remove_host', 1, acts.NO)
    manager.run_until(NOON + hours(1))
    manager.cloud.silence_cell(first.name)
    manager.run_until(NOON + hours(1) + minutes(5))
    assert acts.aggregate(manager, lease).hosts == (first.name, second.name)
    manager.delete(lease)
    manager.run_until(NOON + hours(1) + minutes(6))
    assert acts.aggregate(manager, lease).hosts == (first.name, second.name)
    manager.cloud.silence_cell()
    manager.run_until(NOON + hours(1) + minutes(8))
    assert acts.freepool(manager) == (first.name, second.name)
    assert acts.is_clean(manager, 2)
