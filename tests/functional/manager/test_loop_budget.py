# SPDX-License-Identifier: Apache-2.0
"""Starts and ends are claimed while waiting leases use up the budget of tries."""
import acts
import pytest
from support import builders

from climate.domain import lifecycle

NOON, hours, seconds = builders.NOON, builders.hours, builders.seconds


def waiting(manager):
    manager.clock.advance(seconds(1))
    lease = acts.sought(manager, 'wait')
    assert lease.state == lifecycle.ACQUIRING
    return lease


@pytest.fixture
def full(manager):
    """A lease that is to start in an hour, while all hosts are taken and one lease waits."""
    manager.enrol(4)
    manager.active(builders.hosts(4), end=NOON + hours(99))
    acts.sought(manager, 'wait', builders.hosts(4))
    manager.run()
    return manager.book(acts.dummy(), start=NOON + hours(1), end=NOON + hours(2))


def test_starts_are_claimed_while_tries_occupy_all_their_workers(manager, full):
    for name, group in (('workers', 'manager'), ('workers', 'acquire')):
        manager.core.conf.set_override(name, 1, group=group)
    others = [waiting(manager) for _ in range(3)]
    manager.clock.now = NOON + hours(1)
    slow = acts.Second(manager, owner='slow')
    # One try, and the start, though the tries were due long before.
    assert (slow.claim(), slow.claim(), slow.event_loop.free_slots) == (2, 0, 0)
    # What is made ahead has a worker yet, and nothing is due for it until these claims end.
    assert slow.event_loop.next_moment() == NOON + hours(1) + builders.seconds(30)
    slow.finish()
    manager.expect(full, lifecycle.ACTIVE)
    assert {manager.lease(each).state for each in others} == {lifecycle.ACQUIRING}


def test_starts_are_claimed_while_tries_rest(manager, full):
    manager.core.conf.set_override('processor_share', 0.01, group='acquire')
    lease = waiting(manager)
    manager.clock.now = NOON + hours(1)
    tired = acts.Second(manager, owner='tired')
    tired.event_loop._budget.use(0.5)
    assert tired.event_loop.rest_seconds == 45
    # What is next is no try.
    assert (tired.claim(), tired.event_loop.next_moment() > manager.clock()) == (1, True)
    tired.finish()
    assert manager.lease(full).state == lifecycle.ACTIVE
    tired.seconds += 46
    assert tired.claim() > 0
    tired.finish()
    assert manager.lease(lease).state == lifecycle.ACQUIRING
