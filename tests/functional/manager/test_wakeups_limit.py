# SPDX-License-Identifier: Apache-2.0
"""The number of leases of a project in the wait queue is limited."""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle

NOON, hours, seconds = builders.NOON, builders.hours, builders.seconds


def waiting(manager, **options):
    manager.clock.advance(seconds(1))
    lease = acts.sought(manager, 'wait', **options)
    assert lease.state == lifecycle.ACQUIRING
    return lease


@pytest.fixture
def full(manager):
    """A lease that waits for four hosts, beside one that has them; two may wait."""
    manager.enrol(4)
    manager.active(builders.hosts(4), end=NOON + hours(99))
    manager.core.conf.set_override('waiting_per_project', 2, group='acquire')
    return waiting(manager)


def test_a_project_has_only_so_many_leases_in_the_queue(manager, full):
    second = waiting(manager)
    with pytest.raises(errors.TooManyWaiting) as refused:
        waiting(manager)
    assert 'has 2 leases in the wait queue, the maximum is 2' in refused.value.message
    with pytest.raises(errors.TooManyWaiting):
        acts.sought(manager, 'retries')
    waiting(manager, caller=builders.a_member('eve', 'other'))
    manager.delete(second)
    manager.run()
    waiting(manager)
    # One that need not wait is no matter of the queue.
    manager.active(acts.dummy(), end=manager.clock() + hours(1))


def test_the_limit_holds_for_requests_at_the_same_time(manager, other, full):
    other.database.before_writer = lambda: waiting(manager)
    with pytest.raises(errors.TooManyWaiting):
        waiting(other)
