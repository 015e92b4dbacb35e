# SPDX-License-Identifier: Apache-2.0
"""Nova fails while a running lease is changed: the lease goes on, and the change is retried."""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
NO = errors.CloudUnreachable(service='Nova', reason='no answer')
SIZED = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 1, 'affinity': None}
#: What is leased, a call that fails, how it grows, and how it shrinks again.
WAYS = [
    (builders.hosts, 'nova.aggregates', {'min': 2, 'max': 2}),
    (lambda: records.ReservationRequest('virtual:instance', SIZED), 'placement.ensure_class',
     {'amount': 3}),
]


@pytest.fixture(autouse=True)
def no_outages(conf):
    """A service that is down counts as one that refuses."""
    conf.set_override('outage_seconds', 0, group='manager')


@pytest.fixture(params=WAYS, ids=['hosts', 'instances'])
def changed(manager, request):
    """A running lease whose change was given up, and the call that still fails."""
    request_of, call, more = request.param
    manager.enrol(3)
    lease = manager.active(request_of(), end=NOON + hours(9))
    manager.cloud.fail(call, 99, NO)
    manager.change_reservation(lease, **more)
    manager.run()
    return manager.lease(lease), call


def _usable(manager, lease):
    return manager.client.reservation_hosts(builders.an_admin(), lease.reservations[0].id,
                                            lease.project_id)


def test_running_reservations_stay_usable_while_a_change_fails(manager, changed):
    lease, _ = changed
    for moment in (0, 1, 2, 3, 5):
        manager.run_until(NOON + minutes(moment))
        found = _usable(manager, lease)
        assert found.usable, found.reason
        assert 'compute-1' in found.hosts
    assert manager.lease(lease).state == lifecycle.ERROR
    assert 'no answer' in manager.lease(lease).reason


def test_a_failed_change_is_retried_when_nova_answers_again(manager, changed):
    lease, call = changed
    manager.run_until(NOON + minutes(5))
    assert manager.lease(lease).event(event_kinds.UPDATE).status == lifecycle.EVENT_ERROR
    manager.cloud.fail(call, 0, None)
    manager.run_until(NOON + minutes(7))
    healed = manager.lease(lease)
    assert (healed.state, healed.task, healed.reason) == (lifecycle.ACTIVE, None, None)
    assert healed.event(event_kinds.UPDATE).status == lifecycle.EVENT_DONE
    assert acts.history(manager, lease).count('healed') == 1
    assert acts.news(manager).count('lease.event.start_lease') == 1
    assert _usable(manager, lease).usable
    if healed.reservations[0].resource_type == 'physical:host':
        assert acts.aggregate(manager, lease).hosts == ('compute-1', 'compute-2')
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(9))
    assert acts.is_clean(manager, 3)


def test_an_outage_of_a_minute_leaves_no_error(manager, changed):
    lease, call = changed
    manager.run_until(NOON + minutes(1))
    manager.cloud.fail(call, 0, None)
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(2))
    assert lease.reservations[0].state == lifecycle.RESERVATION_ACTIVE


def test_a_lease_whose_change_was_healed_can_be_changed_and_healed_again(manager, changed):
    lease, call = changed
    for round_ in (0, 1):
        manager.expect(lease, lifecycle.ERROR, NOON + hours(round_) + minutes(5))
        manager.cloud.fail(call, 0, None)
        manager.expect(lease, lifecycle.ACTIVE, NOON + hours(round_) + minutes(7))
        if not round_:
            manager.run_until(NOON + hours(1))
            manager.cloud.fail(call, 99, NO)
            less = {'min': 1, 'max': 1} if call == 'nova.aggregates' else {'amount': 2}
            manager.change_reservation(lease, **less)


def test_a_lease_can_be_ended_and_deleted_while_its_change_is_retried(manager, changed):
    lease, call = changed
    manager.run_until(NOON + minutes(5))
    manager.change(lease, end=NOON + minutes(6))
    manager.cloud.fail(call, 0, None)
    manager.expect(lease, lifecycle.TERMINATED, NOON + minutes(10))
    assert acts.is_clean(manager, 3)


def test_a_change_that_nobody_began_before_the_end_is_left_to_the_end(manager):
    """The new host is out of use by then, and no substitute can be booked."""
    manager.enrol(3)
    lease = manager.active(end=NOON + hours(4))
    manager.change_reservation(lease, min=2, max=2)
    added = next(each for each in manager.client.list_resources(builders.an_admin(), 'host')
                 if each.held_by is None
                 and each.id in manager.lease(lease).reservations[0].resource_ids)
    acts.disable(manager, added)
    manager.clock.now = NOON + hours(4) + minutes(1)
    manager.run()
    ended = manager.lease(lease)
    assert (ended.state, ended.reason) == (
        lifecycle.TERMINATED, 'It could not be changed before its end.')
    acts.enable(manager, added)
    assert acts.is_clean(manager, 3)


def test_a_lease_whose_deletion_fails_is_not_usable(manager):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(9))
    manager.cloud.fail('nova.aggregates', 99, acts.NO)
    manager.delete(lease)
    for moment in (0, 1, 5):
        manager.run_until(NOON + minutes(moment))
        assert not _usable(manager, lease).usable
    assert manager.lease(lease).state == lifecycle.ERROR
