# SPDX-License-Identifier: Apache-2.0
"""Races: several actions on one lease, and two managers on one event, at the same time."""
import acts
import pytest
from support import builders
from support import cloud_points
from support import crashing

from climate import errors
from climate.db import resources
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def test_a_delete_while_a_start_runs_waits_for_it_and_undoes_it(manager):
    manager.enrol(2)
    lease = manager.book()
    cloud_points.once_at(manager.cloud, 'nova.add_host', lambda: manager.delete(lease))
    manager.run()
    assert manager.lease(lease).deleted_at is not None
    assert acts.is_clean(manager, 2)


def test_hosts_of_a_lease_that_is_deleted_while_it_starts_are_held_until_they_are_back(manager):
    manager.enrol(1)
    lease = manager.book()
    second = acts.Second(manager)
    second.claim()
    cloud_points.once_at(manager.cloud, 'nova.add_host', lambda: manager.delete(lease))
    second.finish()
    assert acts.aggregate(manager, lease).hosts == ('compute-1',)
    assert len(acts.holders(manager)) == 1
    manager.run()
    assert acts.is_clean(manager, 1)


@pytest.mark.parametrize('reservation', [builders.hosts(), builders.instances()],
                         ids=['hosts', 'instances'])
def test_a_start_that_was_claimed_before_a_delete_makes_nothing(manager, reservation, caplog):
    manager.enrol(1)
    lease = manager.book(reservation)
    second = acts.Second(manager)
    second.claim()
    manager.delete(lease)
    second.finish()
    assert 'Unexpected' not in caplog.text
    assert acts.aggregate(manager, lease) is None
    manager.run_until(NOON + minutes(1))
    assert manager.lease(lease).deleted_at is not None
    assert acts.is_clean(manager, 1)


def test_a_delete_while_a_start_that_fails_runs_undoes_what_was_done(manager):
    manager.enrol(2)
    lease = manager.book()
    cloud_points.once_at(manager.cloud, 'nova.add_host', lambda: manager.delete(lease))
    manager.cloud.fail('nova.remove_host', 1, acts.NO)
    manager.run_until(NOON + minutes(2))
    assert manager.lease(lease).deleted_at is not None
    assert acts.is_clean(manager, 2)


def test_a_deleted_lease_is_not_started_any_more(manager):
    manager.enrol(1)
    lease = manager.book()
    manager.cloud.fail('nova.add_host', 1, acts.NO)
    manager.run()
    manager.delete(lease)
    manager.cloud.fail('nova.aggregates', 1, acts.NO)
    manager.run_until(NOON + hours(2))
    assert acts.history(manager, lease).count('start_lease') == 0
    assert manager.lease(lease).deleted_at is not None
    assert acts.is_clean(manager, 1)


def test_changes_while_something_is_done_to_a_lease_are_refused(manager):
    manager.enrol(2)
    lease = manager.book(end=NOON + hours(3))
    other = acts.Second(manager)
    assert other.claim() == 1
    with pytest.raises(errors.BadTransition, match='STARTING'):
        manager.change(lease, end=NOON + hours(4))
    assert manager.change(lease, name='renamed').name == 'renamed'
    other.finish()
    lease = manager.lease(lease)
    assert (lease.state, lease.name) == (lifecycle.ACTIVE, 'renamed')


def test_an_end_that_moved_just_before_it_was_claimed_does_not_happen(manager, meddling):
    manager.enrol(1)
    lease = manager.active()
    other = acts.Second(manager, meddling)
    manager.clock.now = NOON + hours(1) - minutes(0.001)

    def prolong():
        manager.change(lease, end=NOON + hours(5))
        manager.clock.now = NOON + hours(1)
    meddling.before_writer = prolong
    other.event_loop.tick(NOON + hours(1))
    other.finish()
    assert manager.lease(lease).state == lifecycle.ACTIVE
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(2))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(6))


@pytest.mark.parametrize('deed', ['property', 'reservable'])
def test_a_host_that_changes_just_before_it_is_booked_is_not_taken(manager, other, deed):
    first, second = manager.enrol(2, rack='7')

    def meddle():
        if deed == 'property':
            manager.client.update_resource(builders.an_admin(), 'host', first.id, {'rack': '8'})
            return
        with manager.database.writer() as connection:
            resources.change(connection, first.id, NOON, reservable=False)
    other.database.before_writer = meddle
    lease = other.book(builders.hosts(1, criteria='["==", "$rack", "7"]'))
    assert lease.reservations[0].resource_ids == (second.id,)


def test_two_managers_never_carry_out_an_event_twice(manager):
    manager.enrol(4)
    leases = [manager.book(end=NOON + hours(2)) for _ in range(3)]
    one, two = acts.Second(manager, owner='one'), acts.Second(manager, owner='two')
    assert (one.claim(), two.claim()) == (3, 0)
    one.finish()
    assert (one.claim(), two.claim()) == (0, 0)
    manager.clock.advance(hours(1))
    assert (two.claim(), one.claim()) == (3, 0)
    two.finish()
    for lease in leases:
        assert acts.history(manager, lease) == ['create', 'start_lease', 'before_end_lease']


def test_an_event_that_was_done_just_before_it_was_claimed_is_not_done_again(manager, meddling):
    manager.enrol(2)
    lease = manager.active(end=NOON + hours(3))
    manager.change_reservation(lease, min=2, max=2)
    late = acts.Second(manager, owner='late')
    late.claim()
    manager.clock.advance(minutes(2))  # Its claim has run out, and nobody has noticed.
    meddling.before_writer = late.finish
    other = acts.Second(manager, meddling, owner='other')
    other.claim()
    other.finish()
    assert acts.history(manager, lease).count('update_lease') == 1


def test_a_start_that_a_dead_manager_left_is_not_made_for_a_deleted_lease(manager):
    manager.enrol(1)
    lease = manager.book(end=NOON + hours(3))
    acts.Second(manager, owner='dead').claim()
    manager.clock.advance(minutes(2))
    assert not manager.delete(lease)
    manager.run_until(NOON + minutes(5))
    assert manager.lease(lease).deleted_at is not None
    assert 'start_lease' not in acts.history(manager, lease)
    assert acts.is_clean(manager, 1)


def test_an_overtaken_start_occupies_nothing_of_a_lease_that_ended_early(manager):
    lease, frozen = acts.claimed_start(manager, owner='frozen')
    manager.clock.advance(minutes(2))
    manager.run()
    manager.change(lease, end_now=True)
    manager.run()
    assert acts.is_clean(manager, 1)
    before = acts.everything(manager)
    frozen.finish()
    assert acts.everything(manager) == before
    assert acts.is_clean(manager, 1)


def test_two_managers_do_the_events_of_one_lease_one_after_the_other(manager, meddling):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(3))
    slow = acts.Second(manager, meddling, owner='slow')
    manager.clock.now = NOON + hours(2)
    manager.change(lease, notify_at=(NOON + hours(2),))
    quick = acts.Second(manager, owner='quick')
    meddling.before_writer = quick.claim
    slow.claim()
    assert len(quick.submitted) == 1
    assert slow.submitted == []
    assert 'notify' not in acts.history(manager, lease)
    quick.finish()
    assert slow.claim() == 0
    assert acts.history(manager, lease)[-2:] == ['before_end_lease', 'notify']


def test_a_claim_of_a_dead_manager_is_taken_over(manager):
    lease, _ = acts.claimed_start(manager, owner='dead')
    manager.run()
    assert manager.lease(lease).task == 'start'
    manager.clock.advance(minutes(1))
    manager.expect(lease, lifecycle.ACTIVE)


def test_an_overtaken_manager_writes_nothing(manager):
    manager.enrol(1)
    lease = manager.book()
    frozen = acts.Second(manager, owner='frozen')
    frozen.claim()
    manager.clock.advance(minutes(2))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(3))
    before = acts.everything(manager)
    frozen.finish()
    assert acts.everything(manager) == before
    assert acts.is_clean(manager, 1)


def test_an_overtaken_manager_does_not_disturb_the_one_that_took_over(manager):
    lease, frozen = acts.claimed_start(manager, owner='frozen', hosts=3)
    manager.clock.advance(minutes(2))
    manager.run()
    held, inside = acts.holders(manager), acts.aggregate(manager, lease).hosts
    frozen.finish()
    assert acts.holders(manager) == held
    assert acts.aggregate(manager, lease).hosts == inside
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_a_claim_that_is_prolonged_is_not_taken_over(manager):
    lease, slow = acts.claimed_start(manager, owner='slow')
    for _ in range(6):
        manager.clock.advance(minutes(0.5))
        slow.event_loop.prolong()
        assert manager.event_loop.tick(manager.clock()) == 0
    slow.finish()
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert acts.history(manager, lease) == ['create', 'start_lease']


def test_a_prolonged_claim_that_was_lost_stays_lost(manager):
    lease, slow = acts.claimed_start(manager, owner='slow')
    manager.clock.advance(minutes(2))
    manager.run()
    slow.event_loop.prolong()
    assert manager.lease(lease).task is None
    assert slow.event_loop.running == 1
    slow.finish()
    assert slow.event_loop.running == 0
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_an_end_waits_for_the_before_end_that_runs(manager):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(3))
    manager.clock.now = NOON + hours(2)
    other = acts.Second(manager)
    assert other.claim() == 1
    manager.change(lease, end_now=True)
    assert manager.event_loop.tick(manager.clock()) == 0
    other.finish()
    manager.expect(lease, lifecycle.TERMINATED)
    assert acts.is_clean(manager, 1)


def test_a_before_end_that_was_moved_while_it_ran_happens_again(manager):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(3))
    manager.clock.now = NOON + hours(2)
    other = acts.Second(manager)
    other.claim()
    manager.change(lease, end=NOON + hours(6))
    other.finish()
    event = manager.lease(lease).event('before_end_lease')
    assert (event.status, event.at) == (lifecycle.EVENT_UNDONE, NOON + hours(5))
    manager.run_until(NOON + hours(5))
    assert manager.lease(lease).event('before_end_lease').status == lifecycle.EVENT_DONE


@pytest.mark.parametrize('finish', ['end', 'delete'])
def test_a_start_that_a_crash_cut_short_is_undone_even_when_its_time_is_over(manager, finish):
    manager.enrol(2)
    lease = manager.book()
    crashing.dies_after(manager.cloud, 'nova.remove_host', manager.run)
    assert len(acts.freepool(manager)) == 1
    if finish == 'delete':
        assert not manager.delete(lease)
    again = builders.Manager(manager.core.conf, manager.database, manager.clock, manager.cloud)
    again.clock.advance(hours(5))
    again.run_until(NOON + hours(6))
    lease = manager.lease(lease)
    assert lease.state == lifecycle.TERMINATED
    assert (lease.deleted_at is not None) == (finish == 'delete')
    assert acts.is_clean(manager, 2)


def test_two_changes_of_the_same_lease_at_once_do_not_mix(manager, other):
    manager.enrol(4)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    [reservation] = lease.reservations
    other.database.before_writer = lambda: manager.change(lease, end=NOON + hours(5))
    with pytest.raises(errors.BadTransition):
        other.change(lease, reservations=acts.asked(reservation, min=2, max=2))
    lease = manager.lease(lease)
    assert lease.end == NOON + hours(5)
    assert len(lease.reservations[0].resource_ids) == 1


def test_a_rename_while_a_lease_ends_is_kept(manager):
    manager.enrol(1)
    lease = manager.active()
    cloud_points.once_at(manager.cloud, 'nova.delete_aggregate',
                         lambda: manager.change(lease, name='renamed'))
    manager.run_until(NOON + hours(2))
    lease = manager.lease(lease)
    assert (lease.name, lease.state) == ('renamed', lifecycle.TERMINATED)


def test_enrolling_one_host_twice_at_once_gives_one(manager):
    tried = []

    def twin():
        tried.append(manager.client.create_resource(builders.an_admin(), 'host', 'compute-1', {}))
    cloud_points.once_at(manager.cloud, 'nova.add_host', twin)
    with pytest.raises(errors.ResourceKnown):
        manager.client.create_resource(builders.an_admin(), 'host', 'compute-1', {})
    assert len(tried) == 1
    assert len(manager.client.list_resources(builders.an_admin(), 'host')) == 1
    assert acts.freepool(manager) == ('compute-1',)


def test_a_host_that_is_being_withdrawn_cannot_be_booked(manager):
    [host] = manager.enrol(1)
    refused = []

    def book():
        with pytest.raises(errors.NotEnough):
            manager.book()
        refused.append(True)
    cloud_points.once_at(manager.cloud, 'nova.servers_on', book)
    manager.client.delete_resource(builders.an_admin(), 'host', host.id)
    assert refused
    assert manager.client.list_resources(builders.an_admin(), 'host') == []


def test_a_host_that_is_booked_while_it_is_being_withdrawn_stays(manager, other):
    [host] = manager.enrol(1)
    other.database.before_writer = lambda: manager.book()
    with pytest.raises(errors.ResourceInUse):
        other.client.delete_resource(builders.an_admin(), 'host', host.id)
    manager.run()
    assert len(acts.holders(manager)) == 1


def test_a_withdrawal_that_failed_leaves_the_host_as_it_was(manager):
    [host] = manager.enrol(1)
    manager.cloud.fail('placement.empty_child', 1, acts.NO)
    with pytest.raises(errors.CloudError):
        manager.client.delete_resource(builders.an_admin(), 'host', host.id)
    lease = manager.active()
    assert lease.reservations[0].resource_ids == (host.id,)
    assert acts.aggregate(manager, lease).hosts == ('compute-1',)


def test_a_host_that_is_taken_into_use_and_leased_while_it_is_being_withdrawn_stays(manager):
    [host] = manager.enrol(1)
    leases = []

    def use():
        acts.enable(manager, host)
        leases.append(manager.book())
    cloud_points.once_at(manager.cloud, 'nova.remove_host', use)
    with pytest.raises(errors.ResourceInUse):
        manager.client.delete_resource(builders.an_admin(), 'host', host.id)
    assert acts.freepool(manager) == ('compute-1',)
    manager.run()
    assert acts.aggregate(manager, leases[0]).hosts == ('compute-1',)


def test_a_host_that_is_half_withdrawn_is_not_leased_with_what_came_to_it(manager):
    [host] = manager.enrol(1)
    cloud_points.once_at(manager.cloud, 'placement.empty_child',
                         lambda: manager.cloud.boot('other', 'vm', host='compute-1'))
    manager.cloud.fail('placement.empty_child', 1, acts.NO)
    with pytest.raises(errors.CloudError):
        manager.client.delete_resource(builders.an_admin(), 'host', host.id)
    [server] = manager.cloud.servers()
    with pytest.raises(errors.NotEnough):
        manager.book()
    with pytest.raises(errors.ResourceInUse):
        acts.enable(manager, host)
    manager.cloud.delete_server(server.id)
    acts.enable(manager, host)
    assert acts.freepool(manager) == ('compute-1',)
    manager.active()


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_lease_that_lost_its_host_to_a_quicker_one_says_so(manager, other):
    manager.enrol(1)
    other.database.before_writer = lambda: manager.book()
    with pytest.raises(errors.NotEnough):
        other.book()
    assert len(acts.trusts(manager)) == 1
    assert len(manager.client.list_leases(builders.an_admin(), records.LeaseQuery())) == 1
