# SPDX-License-Identifier: Apache-2.0
"""The clock tries waiting leases; tries that cannot succeed are postponed in one batch."""
import acts
import pytest
from support import builders

from climate.domain import event_kinds
from climate.domain import lifecycle

NOON, hours, minutes, seconds = builders.NOON, builders.hours, builders.minutes, builders.seconds


@pytest.fixture
def conf(conf):
    conf.set_override('hosts', 10, group='simulated')
    conf.set_override('hold_back_share', 0, group='acquire')
    conf.set_override('waiting_per_project', 0, group='acquire')
    return conf


@pytest.fixture
def spare(manager):
    """Hosts that are out of use; all others are taken, and one lease waits first for six hosts."""
    hosts = manager.enrol(10)
    for each in hosts[4:]:
        acts.disable(manager, each)
    manager.active(builders.hosts(4), end=NOON + hours(99))
    waiting(manager, 6)
    # All others came later. Leases of the same moment stand in the order of their ids.
    manager.clock.advance(seconds(1))
    return hosts[4:]


def waiting(manager, count=2, **options):
    lease = acts.sought(manager, 'wait', builders.hosts(count), **options)
    assert lease.state == lifecycle.ACQUIRING
    return lease


def tries(manager, lease):
    return manager.lease(lease).event(event_kinds.ACQUIRE).claim_no


def looks(manager, count):
    """Make leases wait; return the statements of a minute in which each is tried."""
    leases = [waiting(manager) for _ in range(count)]
    # Each has been tried, so its reason is the one that a try gives.
    manager.run_until(manager.clock() + minutes(3))
    before = [tries(manager, each) for each in leases]
    with builders.statements() as found:
        manager.run_until(manager.clock() + minutes(1))
    assert [tries(manager, each) for each in leases] == before
    assert all(manager.lease(each).acquisition.next_at > manager.clock() for each in leases)
    return found


@pytest.mark.proof
def test_a_hundred_looks_in_vain_cost_as_many_statements_as_one(manager, spare):
    alone = len(looks(manager, 1))
    assert len(looks(manager, 100)) == alone


@pytest.mark.proof
def test_a_release_costs_as_many_statements_however_many_wait_in_vain(manager, spare):
    costs = []
    for more, host in zip((1, 100), spare, strict=False):
        leases = [waiting(manager, 3) for _ in range(more)]
        manager.run_until(manager.clock() + minutes(3))
        with builders.statements() as found:
            acts.enable(manager, host)
            manager.run()
        costs.append(len(found))
        assert {manager.lease(each).state for each in leases} == {lifecycle.ACQUIRING}
    assert costs[1] <= costs[0]


def test_a_look_tells_what_has_changed_since(manager, spare):
    lease = waiting(manager)
    manager.run_until(manager.clock() + minutes(3))
    assert 'Only 0 of 2 hosts are free' in manager.lease(lease).reason
    acts.enable(manager, spare[0])
    manager.run_until(manager.clock() + minutes(2))
    assert 'Only 1 of 2 hosts are free' in manager.lease(lease).reason


def test_a_lease_whose_time_is_over_soon_is_given_up_in_time(manager, spare):
    lease = waiting(manager, not_after=NOON + minutes(5) + seconds(1))
    manager.expect(lease, lifecycle.ACQUIRING, NOON + minutes(5))
    manager.expect(lease, lifecycle.TIMEDOUT, NOON + minutes(5) + seconds(1))


def test_a_lease_that_is_woken_during_its_postponement_is_tried(manager, meddling, spare):
    lease = waiting(manager)
    manager.run_until(manager.clock() + minutes(3))
    manager.clock.now = manager.lease(lease).event(event_kinds.ACQUIRE).due_at
    other = acts.Second(manager, meddling)

    def release():
        for host in spare[:2]:
            acts.enable(manager, host)
        manager.run()
    meddling.before_writer = release
    other.claim()
    other.finish()
    manager.expect(lease, lifecycle.ACTIVE)
