# SPDX-License-Identifier: Apache-2.0
"""Instances whose host is out of use or still in use at the start get capacity elsewhere."""
import collections
import datetime

import acts
import pytest
from support import builders

from climate import errors
from climate.db import events
from climate.domain import event_kinds
from climate.domain import lifecycle

NOON, hours = builders.NOON, builders.hours
_sized, _flavored = builders.instances, builders.flavor_instances
LATER = {'start': NOON + hours(1), 'end': NOON + hours(2)}


@pytest.fixture
def enrol(manager):
    """Return callable(count): it enrols hosts with capacity for eight instances each."""
    def build(count):
        made = []
        for number in range(count):
            manager.cloud.add_host(f'small-{number}', vcpus=2)
            made.append(manager.client.create_resource(builders.an_admin(), 'host',
                                                       f'small-{number}', {}))
        return made
    return build


def _spread(lease, place=0):
    return dict(collections.Counter(lease.reservations[place].resource_ids))


@pytest.mark.parametrize('request_of', [_sized, _flavored])
def test_the_instances_of_the_broken_host_move(manager, enrol, request_of):
    first, second, third = enrol(3)
    lease = manager.book(request_of(12), **LATER)
    assert _spread(lease) == {first.id: 8, second.id: 4}
    acts.disable(manager, second)
    manager.run_until(NOON + hours(1))
    lease = manager.lease(lease)
    [reservation] = lease.reservations
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert _spread(lease) == {first.id: 8, third.id: 4}
    assert reservation.resources_changed
    booted = [manager.cloud.boot('demo', str(number), flavor=reservation.id).host
              for number in range(12)]
    assert collections.Counter(booted) == {'small-0': 8, 'small-2': 4}
    with pytest.raises(errors.Conflict):
        manager.cloud.boot('demo', 'one too many', flavor=reservation.id)


@pytest.mark.parametrize('joins', [True, False])
def test_moved_instances_join_others_if_the_host_has_capacity(manager, enrol, joins):
    first, second = enrol(2)
    other = manager.book(_sized(3), end=NOON + hours(9))
    lease = manager.book(_sized(6), **LATER)
    assert _spread(lease) == {first.id: 5, second.id: 1}
    acts.disable(manager, second)
    if joins:
        manager.delete(other)
    manager.run_until(NOON + hours(1))
    lease = manager.lease(lease)
    assert (lease.state == lifecycle.ACTIVE) == joins
    assert _spread(lease) == ({first.id: 6} if joins else {first.id: 5, second.id: 1})


def test_instances_apart_do_not_join_one_another(manager, enrol):
    first, second, third = enrol(3)
    lease = manager.book(_sized(2, False), **LATER)
    assert _spread(lease) == {first.id: 1, second.id: 1}
    acts.disable(manager, first)
    manager.run_until(NOON + hours(1))
    assert _spread(manager.lease(lease)) == {second.id: 1, third.id: 1}


def test_instances_together_all_move_to_one_host(manager, enrol):
    _first, second, third = enrol(3)
    manager.book(_sized(6), end=NOON + hours(2))
    lease = manager.book(_sized(4, True), **LATER)
    assert _spread(lease) == {second.id: 4}
    acts.disable(manager, second)
    manager.run_until(NOON + hours(1))
    assert _spread(manager.lease(lease)) == {third.id: 4}


@pytest.mark.proof
@pytest.mark.parametrize('affinity', [True, False, None])
def test_a_start_without_a_free_host_fails_and_names_the_host(manager, enrol, affinity):
    first, _second = enrol(2)
    lease = manager.book(_sized(2, affinity), **LATER)
    others = manager.book(_sized(6), end=NOON + hours(9))
    manager.book(_sized(8 if affinity is not False else 7), end=NOON + hours(9))
    manager.run()
    acts.disable(manager, first)
    lease = manager.expect(lease, lifecycle.ERROR, NOON + hours(1) + builders.minutes(10))
    assert 'small-0' in lease.reason and 'no substitute' in lease.reason
    assert manager.lease(others).state == lifecycle.ACTIVE


def test_a_host_that_is_back_in_use_before_the_tries_are_over_is_taken(manager, enrol):
    [host] = enrol(1)
    lease = manager.book(_sized(2), **LATER)
    acts.disable(manager, host)
    manager.expect(lease, lifecycle.PENDING, NOON + hours(1) + datetime.timedelta(seconds=3))
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, reservable=True)
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + builders.minutes(2))


@pytest.mark.parametrize('request_of', [_sized, _flavored, lambda: builders.hosts(1)])
def test_running_instances_stay_on_a_host_that_is_taken_out_of_use(manager, enrol, request_of):
    first, _ = enrol(2)
    lease = manager.active(request_of(), end=NOON + hours(2))
    acts.disable(manager, first)
    event = events.new(lease.id, event_kinds.UPDATE, NOON, NOON)
    with manager.database.writer() as connection:
        events.add(connection, [event])
    manager.run()
    assert manager.lease(lease).event(event_kinds.UPDATE).status == lifecycle.EVENT_DONE
    assert manager.lease(lease).reservations[0].resource_ids == (first.id,)
    assert acts.aggregate(manager, lease).hosts == ('small-0',)


def test_a_start_that_was_cut_short_on_a_host_goes_on_with_another(manager, enrol):
    first, second = enrol(2)
    before = manager.cloud.leftovers()
    lease = manager.book(_sized(2, True), **LATER)
    manager.cloud.fail('nova.allow_flavor', 1, acts.NO)
    manager.run_until(NOON + hours(1))
    acts.disable(manager, first)
    manager.run_until(NOON + hours(1) + builders.minutes(1))
    lease = manager.lease(lease)
    assert (lease.state, _spread(lease)) == (lifecycle.ACTIVE, {second.id: 2})
    assert acts.aggregate(manager, lease).hosts == ('small-1',)
    assert [name for name, _ in manager.cloud.leftovers()['inventories']] == ['climate_small-1']
    manager.run_until(NOON + hours(3))
    assert manager.cloud.leftovers() == before


@pytest.mark.usefixtures('polls_each_second')
def test_instances_whose_host_stays_held_get_room_elsewhere(manager, enrol):
    first, second = enrol(2)
    whole = manager.active(builders.hosts(1, criteria=acts.named(first)))
    lease = manager.book(_sized(2, True), **LATER)
    assert _spread(lease) == {first.id: 2}
    manager.cloud.fail('nova.delete_aggregate', 9, acts.NO)
    manager.run_until(NOON + hours(1))
    # It waits for a moment first.
    assert manager.lease(lease).state == lifecycle.PENDING
    manager.run_until(NOON + hours(1) + datetime.timedelta(seconds=3))
    lease = manager.lease(lease)
    assert (lease.state, _spread(lease)) == (lifecycle.ACTIVE, {second.id: 2})
    assert acts.holders(manager) == {first.id: whole.reservations[0].id}


def test_instances_whose_only_host_stays_held_wait_and_say_who_has_it(manager, enrol):
    [_host] = enrol(1)
    whole = manager.active(builders.hosts(1))
    lease = manager.book(_sized(2), **LATER)
    manager.cloud.fail('nova.delete_aggregate', 3, acts.NO)
    manager.expect(lease, lifecycle.PENDING, NOON + hours(1) + datetime.timedelta(seconds=5))
    assert whole.reservations[0].id in str(acts.holders(manager))
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + builders.minutes(1))


@pytest.mark.parametrize('request_of', [_sized, _flavored])
def test_a_host_is_not_leased_whole_before_the_room_on_it_is_given_back(
        manager, enrol, request_of):
    [host] = enrol(1)
    room = manager.active(request_of())
    lease = manager.book(**LATER)
    manager.cloud.fail('nova.forbid_flavor', 2, acts.NO)
    manager.expect(lease, lifecycle.PENDING, NOON + hours(1) + datetime.timedelta(seconds=5))
    assert not acts.holders(manager)
    manager.expect(room, lifecycle.TERMINATED, NOON + hours(1) + builders.minutes(1))
    assert acts.aggregate(manager, lease).hosts == (host.name,)


@pytest.mark.proof
def test_a_host_on_which_room_stays_is_replaced_by_one_without(manager, enrol):
    first, _second, third = enrol(3)
    manager.active(_sized(8), _sized(8))
    lease = manager.book(builders.hosts(1, criteria=acts.named(first)), **LATER)
    manager.cloud.fail('nova.forbid_flavor', 99, acts.NO)
    manager.expect(lease, lifecycle.PENDING, NOON + hours(1) + builders.minutes(1))
    other = manager.book(builders.hosts(1), end=NOON + hours(3))
    manager.run_until(NOON + hours(1) + builders.minutes(2))
    assert acts.holders(manager) == {third.id: other.reservations[0].id}


def test_room_that_shrinks_keeps_its_host_until_it_is_given_back(manager, enrol):
    first, second = enrol(2)
    room = manager.active(_sized(12), end=NOON + hours(2))
    assert _spread(room) == {first.id: 8, second.id: 4}
    manager.cloud.fail('nova.hypervisors', 2, acts.NO)
    manager.change_reservation(room, amount=8)
    with pytest.raises(errors.NotEnough):
        manager.book()
    manager.run_until(NOON + builders.minutes(1))
    lease = manager.book()
    manager.run()
    assert acts.aggregate(manager, lease).hosts == (second.name,)
    assert acts.aggregate(manager, room).hosts == (first.name,)


def test_a_host_that_room_lost_and_could_not_give_back_is_not_handed_over(manager, enrol):
    first, second = enrol(2)
    room = manager.active(_sized(12), end=NOON + hours(2))
    manager.cloud.fail('nova.hypervisors', 99, acts.NO)
    manager.change_reservation(room, amount=8)
    soon = NOON + builders.minutes(2)
    lease = manager.book(start=soon, end=NOON + hours(1))
    manager.expect(lease, lifecycle.PENDING, soon + datetime.timedelta(seconds=5))
    assert acts.aggregate(manager, room).hosts == (first.name, second.name)


def test_a_host_that_room_lost_at_its_end_is_kept_until_the_end_is_carried_out(manager, enrol):
    first, second = enrol(2)
    room = manager.active(_sized(12), end=NOON + hours(2))
    manager.change_reservation(room, amount=8)
    manager.cloud.fail('nova.forbid_flavor', 2, acts.NO)
    manager.clock.now = NOON + hours(2)
    manager.expect(room, lifecycle.ACTIVE)
    with pytest.raises(errors.NotEnough):
        manager.book(end=NOON + hours(4))
    assert acts.aggregate(manager, room).hosts == (first.name, second.name)
    manager.expect(room, lifecycle.TERMINATED, NOON + hours(2) + builders.minutes(1))
    manager.book(builders.hosts(2), end=NOON + hours(4))


def test_room_that_is_deleted_as_soon_as_it_starts_keeps_its_host_until_it_is_gone(
        manager, enrol):
    enrol(1)
    room = manager.active(_sized())
    manager.cloud.fail('nova.forbid_flavor', 2, acts.NO)
    manager.delete(room)
    with pytest.raises(errors.NotEnough):
        manager.book()
    manager.run_until(NOON + builders.minutes(1))
    assert manager.lease(room).deleted_at is not None
    manager.active()


def test_a_substitute_meets_the_criteria_too(manager, enrol):
    first, _second = enrol(2)
    lease = manager.book(_sized(
        1, resource_properties='["==", "$hypervisor_hostname", "small-0"]'), **LATER)
    acts.disable(manager, first)
    lease = manager.expect(lease, lifecycle.ERROR, NOON + hours(1) + builders.minutes(10))
    assert 'hypervisor_hostname == small-0' in lease.reason
