# SPDX-License-Identifier: Apache-2.0
"""The bound of what is free refuses only what a plan refuses too; few statements read it."""
import random

import acts
import pytest
from support import builders

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.manager.booking import booking
from climate.manager.booking import wish_lists
from climate.manager.queue import wakeups

NOON, hours, minutes, seconds = builders.NOON, builders.hours, builders.minutes, builders.seconds
instances = builders.instances


def _try_again(manager, lease):
    """Advance the clock to the try of a lease; return the statements that read free resources."""
    event = manager.lease(lease).event(event_kinds.ACQUIRE)
    with builders.statements() as found:
        manager.run_until(event.due_at)
    assert manager.lease(lease).event(event_kinds.ACQUIRE).claim_no == event.claim_no + 1
    return [each for each in found if 'resources' in each and 'allocations' in each]


@pytest.mark.parametrize('reservations', [1, 100])
def test_a_try_that_cannot_succeed_reads_what_is_free_with_two_statements(manager, reservations):
    manager.enrol(4)
    manager.active(builders.hosts(4), end=NOON + hours(99))
    acts.sought(manager, 'wait', builders.hosts(4))
    manager.run()
    manager.clock.advance(seconds(7))
    # Its first try was due at the end of its request. The reason has changed since.
    lease = acts.sought(manager, 'retries', *[instances()] * reservations, retry_pause_seconds=11)
    manager.run()
    assert lease.state == lifecycle.ACQUIRING
    # One for the first starts of bookings, and one for the parts in use.
    assert len(_try_again(manager, lease)) == 2
    assert 'free for all of the time' in manager.lease(lease).reason


@pytest.mark.proof
def test_parts_that_are_in_use_leave_less_room(manager):
    """Two hosts have capacity for 192 of these servers; 136 run."""
    manager.enrol(2)
    manager.active(instances(136), end=NOON + hours(99))
    first = acts.sought(manager, 'wait', *[instances()] * 100)
    manager.run()
    # Half of the 56 places are held back for the first.
    manager.clock.advance(seconds(7))
    lease = acts.sought(manager, 'wait', *[instances()] * 100)
    manager.run()
    small = acts.sought(manager, 'wait', *[instances()] * 20)
    manager.run()
    assert [manager.lease(each).state for each in (first, lease, small)] == [
        lifecycle.ACQUIRING, lifecycle.ACQUIRING, lifecycle.ACTIVE]
    assert 'Only 28 of 100 places on hosts are free for all' in manager.lease(lease).reason
    # Its reason is written once more when there is less capacity.
    manager.run_until(manager.clock() + minutes(3))
    assert 'Only 8 of 100 places' in manager.lease(lease).reason
    before = manager.lease(lease).event(event_kinds.ACQUIRE).claim_no
    manager.run_until(manager.clock() + minutes(5))
    assert manager.lease(lease).event(event_kinds.ACQUIRE).claim_no == before


@pytest.mark.proof
@pytest.mark.parametrize('cleaning', [0, 10])
def test_the_bound_never_refuses_a_request_that_fits(manager, cleaning):
    luck = random.Random(7)
    manager.core.conf.set_override('cleaning_minutes', cleaning, group='manager')
    manager.enrol(4)
    tried = refused = 0
    for _ in range(30):
        fitting = [instances(luck.choice((1, 3, 9)), vcpus=luck.choice((1, 5, 11)))
                   if luck.random() < 0.6 else builders.hosts(luck.choice((1, 2)))
                   for _ in range(luck.randrange(1, 5))]
        try:
            lease = acts.sought(manager, 'wait', *fitting, hours=luck.choice((1, 5)))
        except errors.NotEnough:
            # Not even all hosts are enough for it.
            continue
        tried += 1
        refused += _is_refused(manager, lease)
        manager.clock.advance(minutes(luck.choice((1, 20, 90))))
        manager.run()
    assert 3 < refused < tried - 3


def _is_refused(manager, lease):
    """Return whether the bound refuses a lease; then a plan refuses it too."""
    lease = manager.lease(lease)
    now = manager.clock()
    span = lease.interval_from(now)
    own = [each.id for each in lease.reservations]
    with manager.database.reader() as connection:
        short = wakeups.CapacityBound(connection, manager.core.conf, now, own).shortage(
            lease.acquisition.least, span.end)
    if short is not None:
        with pytest.raises(errors.NotEnough):
            booking.Booking(manager.core).plan(
                wish_lists.of(manager.core.registry, lease.open_reservations), span, now)
    return short is not None
