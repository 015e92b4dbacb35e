# SPDX-License-Identifier: Apache-2.0
"""Leases that wait cost little: workers of their own, a cheap look, and a limit per project."""
import random

import acts
import builders
import pytest

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.booking import booking
from climate.manager.events import loop

NOON, hours, seconds = builders.NOON, builders.hours, builders.seconds


def instances(amount=1, vcpus=1, **more):
    return records.ReservationRequest('virtual:instance', {
        'vcpus': vcpus, 'memory_mb': 512, 'disk_gb': 1, 'amount': amount, 'affinity': None, **more})


def waiting(manager, *reservations, **options):
    manager.clock.advance(seconds(1))
    lease = acts.sought(manager, 'wait', *reservations, **options)
    assert lease.state == lifecycle.ACQUIRING
    return lease


@pytest.fixture
def full(manager):
    """A lease that has all hosts, and the lease that is first in the queue."""
    manager.enrol(4)
    running = acts.active(manager, builders.hosts(4), end=NOON + hours(99))
    first = waiting(manager, builders.hosts(4))
    manager.run()
    return running, first


def test_starts_are_claimed_while_tries_occupy_all_their_workers(manager, full):
    for name, group in (('workers', 'manager'), ('workers', 'acquire')):
        manager.core.conf.set_override(name, 1, group=group)
    started = manager.create(builders.a_lease(acts.dummy(), start=NOON + hours(1),
                                              end=NOON + hours(2)))
    others = [waiting(manager) for _ in range(3)]
    manager.clock.now = NOON + hours(1)
    slow = acts.Second(manager, owner='slow')
    # One try, and the start, though the tries were due long before.
    assert (slow.claim(), slow.claim(), slow.event_loop.free_slots) == (2, 0, 0)
    assert slow.event_loop.next_moment() is None
    slow.finish()
    manager.run()
    assert manager.lease(started).state == lifecycle.ACTIVE
    assert {manager.lease(each).state for each in others} == {lifecycle.ACQUIRING}


def test_a_try_that_cannot_succeed_costs_no_more_for_a_hundred_reservations(manager, full):
    def cost(lease):
        manager.run()
        tries = manager.lease(lease).event(event_kinds.ACQUIRE).claim_no
        with builders.statements() as found:
            manager.run_until(manager.lease(lease).event(event_kinds.ACQUIRE).due_at)
        assert manager.lease(lease).event(event_kinds.ACQUIRE).claim_no == tries + 1
        return sum('resources' in each and 'allocations' in each for each in found)
    one = waiting(manager, instances())
    manager.clock.advance(seconds(7))
    many = waiting(manager, *[instances()] * 40, *[instances(vcpus=2)] * 40,
                   *[builders.hosts()] * 1)
    assert cost(many) == cost(one)
    assert 'free for all of the time' in manager.lease(many).reason


def test_what_fits_is_never_taken_for_too_much(manager):
    luck = random.Random(7)
    manager.enrol(4)
    tried = refused = 0
    for _ in range(40):
        fitting = [instances(luck.choice((1, 3, 9)), luck.choice((1, 5, 11)))
                   if luck.random() < 0.6 else builders.hosts(luck.choice((1, 2)))
                   for _ in range(luck.randrange(1, 5))]
        try:
            lease = acts.sought(manager, 'wait', *fitting, hours=luck.choice((1, 5)))
        except errors.NotEnough:
            # Not even all hosts are enough for it.
            continue
        tried += 1
        refused += _is_refused(manager, lease)
        manager.clock.advance(builders.minutes(luck.choice((1, 20, 90))))
        manager.run()
    assert 3 < refused < tried - 3


def _is_refused(manager, lease):
    """Whether the cheap look refuses a lease; then a plan refuses it too."""
    room = booking.Booking(manager.core)
    lease = manager.lease(lease)
    wishes, now = room.wishes_of_all(lease), manager.clock()
    with manager.database.reader() as connection:
        short = room.shortage(connection, wishes, lease.interval_from(now), now)
    if short is not None:
        with pytest.raises(errors.NotEnough):
            room.plan(wishes, lease.interval_from(now), now)
    return short is not None


def test_a_project_has_only_so_many_leases_in_the_queue(manager, full):
    manager.core.conf.set_override('waiting_per_project', 2, group='acquire')
    second = waiting(manager)
    with pytest.raises(errors.TooManyWaiting) as refused:
        waiting(manager)
    assert 'has 2 leases in the wait queue, the maximum is 2' in refused.value.message
    with pytest.raises(errors.TooManyWaiting):
        acts.sought(manager, 'retries')
    waiting(manager, caller=builders.a_member('eve', 'other'))
    acts.delete(manager, second)
    manager.run()
    waiting(manager)
    # One that need not wait is no matter of the queue.
    acts.active(manager, acts.dummy(), end=manager.clock() + hours(1))


def test_the_limit_holds_for_requests_at_the_same_time(manager, full):
    manager.core.conf.set_override('waiting_per_project', 2, group='acquire')
    meddling = acts.Meddling(manager.database.engine.url)
    slow = builders.Manager(manager.core.conf, meddling, manager.clock, manager.cloud)
    meddling.before_writer = lambda: waiting(manager)
    with pytest.raises(errors.TooManyWaiting):
        waiting(slow)
    meddling.dispose()


def test_tries_that_have_used_up_their_budget_rest_for_as_long_as_it_takes():
    passed = [100.0]
    budget = loop.Budget(0.5, lambda: passed[0])
    budget.use(2)
    assert budget.rest_seconds() == 0
    budget.use(2)
    assert budget.rest_seconds() == 3
    passed[0] += 2
    assert budget.rest_seconds() == 1
    passed[0] += 1000
    budget.use(1)
    # Time that passed without tries saves nothing up.
    assert budget.rest_seconds() == 0
    budget.use(2)
    assert budget.rest_seconds() == 1


def test_starts_are_claimed_while_tries_rest(manager, full):
    manager.core.conf.set_override('processor_share', 0.01, group='acquire')
    lease = waiting(manager)
    started = manager.create(builders.a_lease(acts.dummy(), start=NOON + hours(1),
                                              end=NOON + hours(2)))
    manager.clock.now = NOON + hours(1)
    tired = acts.Second(manager, owner='tired')
    tired.event_loop._budget.use(1)
    assert tired.event_loop.rest_seconds == 95
    # What is next is no try.
    assert (tired.claim(), tired.event_loop.next_moment() > manager.clock()) == (1, True)
    tired.finish()
    assert manager.lease(started).state == lifecycle.ACTIVE
    tired.seconds += 96
    assert tired.claim() > 0
    tired.finish()
    assert manager.lease(lease).state == lifecycle.ACQUIRING
