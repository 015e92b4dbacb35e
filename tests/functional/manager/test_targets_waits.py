# SPDX-License-Identifier: Apache-2.0
"""Leases that wait for their servers: what they say meanwhile, and what stays as it is."""
import pytest
from support import builders
import test_targets as story

from climate import errors
from climate.domain import lifecycle
from climate.domain import records

END = builders.at(3)
SENTENCE = 'waits for its server, at most until 2030-05-01 12:02:00 UTC.'


@pytest.fixture
def waiting(manager):
    """A lease whose server is still to be booted, after the first look for it."""
    manager.enrol(1)
    lease = story.leased(manager, story.to_come(), end=END)
    manager.run()
    return manager.lease(lease)


def test_a_waiting_lease_names_the_server_it_waits_for(manager, waiting):
    told = f'Reservation {story.only(waiting).id} {SENTENCE}'
    assert (waiting.task, waiting.reason, waiting.owner_reason) == ('start', told, told)
    [listed] = manager.client.list_leases(builders.a_member(), records.LeaseQuery())
    assert (listed.reason, listed.owner_reason) == (told, told)


def test_the_reason_is_gone_when_the_server_is_there(manager, waiting):
    server = story.boot(manager, waiting)
    manager.client.bind_reservation(
        builders.a_member(), story.only(waiting).id, server.id)
    assert manager.lease(waiting).reason is None
    story.run_for(manager)
    lease = manager.lease(waiting)
    assert (lease.state, lease.reason) == (lifecycle.ACTIVE, None)


def test_the_reservation_without_a_server_is_named_alone(manager):
    lease = story.leased(manager, story.to_come(), story.to_come(), end=END)
    manager.run()
    one, two = lease.reservations
    assert manager.lease(lease).reason == (
        f'Reservation {one.id} {SENTENCE} Reservation {two.id} {SENTENCE}')
    server = story.boot(manager, lease)
    manager.client.bind_reservation(builders.a_member(), one.id, server.id)
    assert manager.lease(lease).reason == f'Reservation {two.id} {SENTENCE}'


def test_a_lease_of_later_does_not_wait_yet(manager):
    manager.enrol(1)
    lease = story.leased(manager, story.to_come(), start=END, end=END + builders.hours(1))
    manager.run()
    assert manager.lease(lease).reason is None


def test_a_lease_that_is_being_deleted_waits_for_nothing(manager, waiting):
    manager.delete(waiting)
    assert manager.client.get_lease(builders.an_admin(), waiting.id).reason is None


def test_a_look_that_finds_nothing_new_changes_nothing_that_users_see(manager, waiting):
    looks = waiting.claim_no
    story.run_for(manager, 60)
    later = manager.lease(waiting)
    assert later.claim_no > looks + 3
    assert (later.generation, later.updated_at) == (waiting.generation, waiting.updated_at)


def test_a_change_is_refused_with_what_the_lease_waits_for(manager, waiting):
    with pytest.raises(errors.BadTransition) as caught:
        manager.change(waiting, end=END + builders.hours(1))
    assert caught.value.message == (
        f'Lease {waiting.id} is STARTING: it cannot be changed now. Reservation '
        f'{story.only(waiting).id} {SENTENCE} Try again when it is there, or delete the '
        'lease.')
    assert 'moment' not in caught.value.owner_message


def test_a_lease_that_is_told_to_wait_can_be_renamed_with_its_generation(manager, waiting):
    story.run_for(manager, 20)
    renamed = manager.change(waiting, name='renamed', generation=waiting.generation)
    assert renamed.name == 'renamed'
