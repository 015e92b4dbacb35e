# SPDX-License-Identifier: Apache-2.0
"""Claims of several managers: taken in batches, lost while frozen, handed back at a stop."""
import acts
import pytest
from support import builders
from support import cloud_points

from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.manager import ownership
from climate.manager.events import actions
from climate.manager.leases import targets

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def statements(manager, deed):
    """Return the number of writing transactions of a deed."""
    count = []
    database = acts.Meddling(manager.database.engine.url)
    second = acts.Second(manager, database)
    original = database.writer

    def counted():
        count.append(1)
        return original()
    database.writer = counted
    deed(second)
    database.dispose()
    return len(count)


@pytest.mark.parametrize('leases', [1, 8])
def test_many_events_are_claimed_in_one_transaction(manager, leases):
    for _ in range(leases):
        manager.book(acts.dummy())
    claimed = []
    assert statements(manager, lambda second: claimed.append(second.claim())) == 1
    assert claimed == [leases]


@pytest.mark.parametrize('leases', [1, 8])
def test_a_heartbeat_is_one_transaction_however_much_runs(manager, leases):
    for _ in range(leases):
        manager.book(acts.dummy())

    def beat(second):
        second.claim()
        second.event_loop.prolong()
    assert statements(manager, beat) == 2


def test_no_more_is_claimed_than_there_are_workers(manager):
    manager.core.conf.set_override('workers', 3, group='manager')
    for _ in range(5):
        manager.book(acts.dummy())
    one, two = acts.Second(manager, owner='one'), acts.Second(manager, owner='two')
    assert (one.claim(), one.event_loop.free_slots, one.claim()) == (3, 0, 0)
    assert (two.claim(), two.event_loop.free_slots) == (2, 1)


def test_each_claim_raises_the_number_by_which_writes_are_known(manager):
    lease = manager.book(acts.dummy(), end=NOON + hours(3), notify_at=(NOON + minutes(1),))
    manager.run()
    assert manager.lease(lease).claim_no == 1
    generation = manager.lease(lease).generation
    manager.run_until(NOON + minutes(1))
    lease = manager.lease(lease)
    assert (lease.claim_no, lease.generation) == (2, generation)


def test_a_late_word_about_one_event_counts_no_more_when_another_is_carried_out(manager):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(3))
    manager.clock.now = NOON + hours(2)
    frozen = acts.Second(manager, owner='frozen')
    assert frozen.claim() == 1
    manager.change(lease, end_now=True)
    manager.clock.advance(minutes(2))
    # By now the end comes first, and the frozen manager's event is the other one that is due.
    other = acts.Second(manager, owner='other')
    assert other.claim() == 1
    before = acts.everything(manager)
    frozen.finish()
    assert acts.everything(manager) == before
    other.finish()
    manager.run()
    assert acts.is_clean(manager, 1)


def test_a_manager_that_was_frozen_calls_the_cloud_no_more(manager):
    lease, frozen = acts.claimed_start(manager, owner='frozen')
    frozen.seconds = 28
    made = cloud_points.calls(manager.cloud)
    frozen.finish()
    assert made == []
    assert manager.lease(lease).task == 'start'
    manager.clock.advance(minutes(1))
    manager.expect(lease, lifecycle.ACTIVE)


def test_a_manager_that_freezes_amid_its_work_stops_before_the_next_reservation(manager):
    lease, frozen = acts.claimed_start(
        manager, builders.hosts(1), builders.hosts(1), owner='frozen', hosts=2)

    def freeze():
        frozen.seconds = 60
    cloud_points.once_at(manager.cloud, 'nova.add_host', freeze)
    frozen.finish()
    assert [acts.aggregate(manager, lease, place) is not None for place in (0, 1)] == [True, False]
    assert manager.lease(lease).reservations[0].state == lifecycle.RESERVATION_PENDING
    manager.cloud.faults.on_point = None
    manager.clock.advance(minutes(1))
    lease = manager.expect(lease, lifecycle.ACTIVE)
    assert acts.history(manager, lease) == ['create', 'start_lease']


def test_a_manager_that_freezes_amid_a_reservation_makes_no_call_more(manager):
    manager.enrol(1)
    room = manager.book(builders.instances(), end=NOON + hours(3))
    frozen = acts.Second(manager, owner='frozen')
    frozen.claim()
    made = []

    def freeze(name, when):
        made.append(name)
        frozen.seconds = 60
    manager.cloud.faults.on_point = freeze
    frozen.finish()
    # Those are the two points of the one call that was made already.
    assert len(made) == 2 and len(set(made)) == 1
    manager.cloud.faults.on_point = None
    manager.clock.advance(minutes(1))
    manager.expect(room, lifecycle.ACTIVE)


def test_a_claim_that_is_prolonged_in_time_goes_on(manager):
    lease, slow = acts.claimed_start(manager, owner='slow')
    for seconds in (20, 40, 60):
        slow.seconds = seconds
        slow.event_loop.prolong()
    slow.finish()
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_a_heartbeat_tells_the_work_that_its_claim_was_lost(manager):
    manager.enrol(1)
    lease = manager.book(end=NOON + hours(3))
    lost, other = acts.Second(manager, owner='lost'), acts.Second(manager, owner='other')
    lost.claim()
    manager.clock.advance(minutes(2))
    other.claim()
    lost.event_loop.prolong()
    made = cloud_points.calls(manager.cloud)
    lost.finish()
    assert made == []
    other.finish()
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_an_unfinished_event_is_handed_back_at_a_stop(manager):
    lease, stopping = acts.claimed_start(
        manager, builders.hosts(1), builders.hosts(1), owner='stopping', hosts=2)
    cloud_points.once_at(manager.cloud, 'nova.add_host', stopping.event_loop.stop_running)
    stopping.finish()
    event = manager.lease(lease).event('start_lease')
    assert (event.status, event.claim_owner, event.attempts) == (lifecycle.EVENT_UNDONE, None, 0)
    assert stopping.event_loop.running == 0
    manager.cloud.faults.on_point = None
    manager.expect(lease, lifecycle.ACTIVE)


def test_an_event_that_another_manager_took_over_is_not_handed_back(manager):
    manager.enrol(1)
    manager.book(end=NOON + hours(3))
    frozen, other = acts.Second(manager, owner='frozen'), acts.Second(manager, owner='other')
    frozen.claim()
    manager.clock.advance(minutes(2))
    other.claim()
    before = acts.everything(manager)
    frozen.event_loop.stop_running()
    frozen.finish()
    assert acts.everything(manager) == before


def test_a_binding_of_an_overtaken_manager_is_not_written(manager):
    manager.enrol(1)
    lease = manager.book()
    frozen = acts.Second(manager, owner='frozen')
    frozen.claim()
    [(_, claim)] = frozen.submitted
    manager.clock.advance(minutes(2))
    acts.Second(manager, owner='other').claim()
    with pytest.raises(ownership.ClaimLost):
        targets.Targets(frozen.core)._write(claim.lease, {lease.reservations[0].id: 'a server'})
    assert manager.lease(lease).reservations[0].leased_id is None


def test_each_kind_of_event_is_carried_out_or_only_notifies(manager):
    notices = {kind.name for kind in event_kinds.KINDS.values() if kind.only_notifies}
    assert actions.Actions(manager.core).kinds == set(event_kinds.KINDS) - notices
