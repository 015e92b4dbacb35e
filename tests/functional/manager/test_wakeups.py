# SPDX-License-Identifier: Apache-2.0
"""Leases in the wait queue: order, hold-back, and giving up."""
import dataclasses

import acts
import pytest
from support import builders
from support import cloud_points

from climate import errors
from climate.db import allocations
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.audit import comparison as auditor
from climate.manager.audit import repairs
from climate.manager.pools import withdrawal

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def waiting(manager, count=1, caller=None, **fields):
    """A lease that waits for hosts, a second after the one before it."""
    manager.clock.advance(builders.seconds(1))
    return acts.sought(manager, 'wait', builders.hosts(count), caller=caller, **fields)


def states(manager, leases):
    return [manager.lease(each).state for each in leases]


def held(manager, lease):
    """Return the number of hosts that are allocated to a lease."""
    return len(manager.lease(lease).reservations[0].resource_ids)


@pytest.fixture
def full(manager):
    """Four leases of a host each, that have all there are."""
    manager.enrol(4)
    return [manager.active(end=NOON + hours(9)) for _ in range(4)]


def test_the_first_in_line_gets_what_is_freed_and_is_told(manager, full):
    lines = [waiting(manager) for _ in range(3)]
    manager.run()
    acts.end(manager, full[0])
    assert states(manager, lines) == [lifecycle.ACTIVE, lifecycle.ACQUIRING, lifecycle.ACQUIRING]
    acts.end(manager, full[1])
    assert states(manager, lines) == [lifecycle.ACTIVE, lifecycle.ACTIVE, lifecycle.ACQUIRING]
    assert acts.news(manager).count('lease.acquired') == 2


def test_one_that_does_not_fit_lets_the_next_one_have_what_is_not_held_back(manager, full):
    large, small = waiting(manager, 4), waiting(manager, 1)
    manager.run()
    acts.end(manager, full[0])
    assert (held(manager, large), held(manager, small)) == (1, 0)
    manager.change(full[1], end_now=True)
    acts.end(manager, full[2])
    assert states(manager, [large, small]) == [lifecycle.ACQUIRING, lifecycle.ACTIVE]
    assert held(manager, large) == 2
    assert 'Held back for it meanwhile: 2 hosts.' in manager.lease(large).reason


def test_resources_held_back_at_once_are_in_the_first_entry_of_the_attempt(manager):
    manager.enrol(4)
    manager.active(builders.hosts(2), end=NOON + hours(9))
    large = waiting(manager, 4)
    manager.run()
    [entry] = [each for each in acts.told(manager, large) if each.what == 'attempt']
    assert entry.why == entry.owner_why == manager.lease(large).reason
    assert entry.why.endswith(' Held back for it meanwhile: 1 host.')


def test_resources_held_back_later_have_their_own_entry(manager, full):
    large = waiting(manager, 4)
    manager.run()
    manager.clock.advance(minutes(5))
    acts.end(manager, full[0])
    first, *_, last = [each for each in acts.told(manager, large) if each.what == 'attempt']
    assert 'Held back' not in first.why
    assert last.why.endswith(' Held back for it meanwhile: 1 host.')
    assert last.at > first.at


def test_parts_of_hosts_held_back_are_counted_as_instances(manager):
    [host] = manager.enrol(1)
    half = {'vcpus': 1, 'memory_mb': host.capacity['MEMORY_MB'] // 2, 'disk_gb': 1}

    def halves(amount):
        return records.ReservationRequest('virtual:instance', {**half, 'amount': amount})
    manager.book(halves(1), end=NOON + hours(9))
    manager.clock.advance(builders.seconds(1))
    large = acts.sought(manager, 'wait', halves(2))
    manager.run()
    assert ' Held back for it meanwhile: 1 server with 1 VCPU, ' in manager.lease(large).reason


@pytest.mark.proof
def test_more_is_held_back_after_a_release_and_not_after_another_look(manager):
    manager.enrol(8)
    full = [manager.active(builders.hosts(count), end=NOON + hours(9))
            for count in (1, 1, 6)]
    large = waiting(manager, 8)
    manager.run()
    acts.end(manager, full[2])
    assert held(manager, large) == 3
    tries = manager.lease(large).event(event_kinds.ACQUIRE).claim_no
    manager.run_until(manager.clock() + minutes(30))
    assert manager.lease(large).event(event_kinds.ACQUIRE).claim_no > tries + 5
    assert held(manager, large) == 3
    # Half of the seven that are free or held then.
    acts.end(manager, full[1])
    assert held(manager, large) == 4


def test_no_other_lease_gets_resources_that_are_held_back(manager, full):
    large = waiting(manager, 4)
    acts.end(manager, full[0])
    assert held(manager, large) == 1
    with pytest.raises(errors.NotEnough):
        manager.book(end=manager.clock() + hours(1))


@pytest.mark.parametrize(('share', 'most'), [(0.5, 6), (0, None)])
def test_a_stream_of_small_requests_starves_a_large_one_only_where_nothing_is_held_back(
        conf, database, clock, share, most):
    conf.set_override('hold_back_share', share, group='acquire')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(4)
    full = [manager.active(end=NOON + hours(9)) for _ in range(4)]
    manager.clock.advance(minutes(1))
    large = waiting(manager, 4)
    manager.run()
    running, ended = list(full), 0
    while manager.lease(large).state == lifecycle.ACQUIRING and ended < 10:
        acts.end(manager, running.pop(0))
        ended += 1
        try:
            running.append(manager.book(end=manager.clock() + hours(9)))
            manager.run()
        except errors.NotEnough:
            pass
        manager.clock.advance(minutes(1))
    assert ended <= most if most else ended == 10


def test_a_higher_priority_goes_before_and_takes_what_was_held_back(manager, full):
    first = waiting(manager, 4)
    acts.end(manager, full[0])
    assert held(manager, first) == 1
    urgent = waiting(manager, 2, caller=builders.an_admin(), priority=10)
    manager.run()
    assert (held(manager, first), held(manager, urgent)) == (0, 1)
    acts.end(manager, full[1])
    assert states(manager, [first, urgent]) == [lifecycle.ACQUIRING, lifecycle.ACTIVE]


@pytest.mark.proof
def test_resources_of_a_lease_that_is_given_up_go_to_the_next(manager, full):
    large = waiting(manager, 4, not_after=NOON + minutes(10))
    small = waiting(manager, 1)
    acts.end(manager, full[0])
    assert states(manager, [large, small]) == [lifecycle.ACQUIRING, lifecycle.ACQUIRING]
    manager.run_until(NOON + minutes(10))
    assert states(manager, [large, small]) == [lifecycle.TIMEDOUT, lifecycle.ACTIVE]
    assert manager.lease(large).reason.startswith(
        'It did not get its resources by 2030-05-01 12:10:00 UTC. Waits in the queue: Only 1 of 4')
    assert manager.delete(large)


def test_resources_of_a_deleted_lease_go_to_the_next(manager, full):
    large, small = waiting(manager, 4), waiting(manager, 1)
    acts.end(manager, full[0])
    manager.delete(large)
    manager.run()
    assert states(manager, [small]) == [lifecycle.ACTIVE]


def test_a_new_request_does_not_overtake_one_that_is_to_be_tried(manager, full):
    first = waiting(manager)
    manager.run()
    manager.clock.advance(minutes(1))
    manager.change(full[0], end_now=True)
    # The host is free when its lease has been ended; nobody has tried since.
    other = acts.Second(manager)
    while other.claim() and not any(claim.event.kind == 'end_lease'
                                    for _, claim in other.submitted):
        other.finish()
    other.finish()
    late = waiting(manager)
    assert late.state == lifecycle.ACQUIRING
    manager.run()
    assert states(manager, [first, late]) == [lifecycle.ACTIVE, lifecycle.ACQUIRING]


def test_one_that_has_become_the_first_is_tried_at_once_and_has_its_share_held_back(manager, full):
    served, large = waiting(manager, 2), waiting(manager, 4)
    manager.run()
    for each in full[:3]:
        manager.change(each, end_now=True)
    manager.run()
    assert states(manager, [served, large]) == [lifecycle.ACTIVE, lifecycle.ACQUIRING]
    assert held(manager, large) == 1


def test_two_managers_serve_waiting_leases_in_order(manager, full):
    # A try of the type wait would be postponed, because it cannot succeed when it is claimed.
    lines = [waiting(manager), acts.sought(manager, 'retries')]
    manager.run()
    manager.clock.advance(minutes(5))
    second = acts.Second(manager)
    # Both are tried by the clock, the later one first.
    second.claim()
    [(work, claim)] = [(work, claim) for work, claim in second.submitted
                       if claim.lease.id == lines[1].id]
    with manager.database.writer() as connection:
        allocations.cut(connection, [full[0].reservations[0].id], manager.clock())
    work(claim)
    assert states(manager, lines) == [lifecycle.ACQUIRING, lifecycle.ACQUIRING]


@pytest.fixture
def wakes(manager):
    """Return a list that grows with each notification of the event loop, and a core with it."""
    found = []
    return found, dataclasses.replace(manager.core, notify=lambda: found.append(True))


def test_a_host_whose_withdrawal_failed_is_given_at_once(manager, wakes):
    [host] = manager.enrol(1)
    lease = None
    manager.cloud.fail('placement.empty_child', 1, acts.NO)

    def seek():
        nonlocal lease
        lease = waiting(manager)
        manager.expect(lease, lifecycle.ACQUIRING)
    cloud_points.once_at(manager.cloud, 'placement.empty_child', seek)
    with pytest.raises(errors.CloudError):
        withdrawal.Withdrawals(wakes[1]).withdraw('host', host.id)
    assert wakes[0]
    manager.run()
    assert states(manager, [lease]) == [lifecycle.ACTIVE]


def test_resources_released_by_a_repair_go_to_the_next_lease_at_once(manager, wakes):
    [host] = manager.enrol(1)
    with manager.database.writer() as connection:
        resources.hold(connection, [host.id], 'nobody')
    lease = waiting(manager)
    manager.run()
    assert states(manager, [lease]) == [lifecycle.ACQUIRING]
    drifts = auditor.Auditor(manager.core).compare()
    repairs.Repairs(wakes[1]).make(drifts)
    assert wakes[0]
    manager.run()
    assert states(manager, [lease]) == [lifecycle.ACTIVE]


def test_copies_of_instances_are_held_back_too_together_on_one_host(manager):
    def instances(amount, affinity=None):
        return builders.instances(amount, affinity)

    for number in range(2):
        manager.cloud.add_host(f'small-{number}', vcpus=2)
        manager.client.create_resource(builders.an_admin(), 'host', f'small-{number}', {})
    running = [manager.active(instances(2), end=NOON + hours(9)) for _ in range(8)]
    manager.clock.advance(minutes(1))
    large = acts.sought(manager, 'wait', instances(8, affinity=True))
    manager.run()
    for lease in running[3:5]:
        acts.end(manager, lease)
    ids = manager.lease(large).reservations[0].resource_ids
    assert len(set(ids)) == 1
    for lease in running[:3] + running[5:]:
        if manager.lease(large).state == lifecycle.ACQUIRING:
            acts.end(manager, lease)
    got = manager.lease(large)
    assert got.state == lifecycle.ACTIVE
    assert len(set(got.reservations[0].resource_ids)) == 1
