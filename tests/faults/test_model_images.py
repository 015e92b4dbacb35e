# SPDX-License-Identifier: Apache-2.0
"""The rule of images fails after each action that breaks it."""
import collections

import model_images
import model_records
import pytest
import sqlalchemy as sa
from support import builders

from climate.db import tables

NOON, minutes = builders.NOON, builders.minutes


class Eyes:
    """One lease with one server that needs an image, and a Judge of it."""

    def __init__(self, manager, **options):
        self.manager = manager
        manager.enrol(1)
        self.lease = manager.book(
            builders.hosts(1, before_end='snapshot', **options), end=NOON + builders.hours(4))
        manager.run()
        [reservation] = manager.lease(self.lease).reservations
        self.server = manager.cloud.boot('demo', 'vm', {'reservation': reservation.id})
        self._booted_for = {self.server.id: reservation.id}
        self.tally = collections.Counter()
        witness = model_images.Witness(manager.cloud, manager.clock)
        manager.cloud.faults.on_point = witness.reach
        self._judge = model_images.Judge(witness, manager.database, minutes(60), self.tally)
        self.look()

    def look(self, **options):
        self._judge.look(model_records.read(self.manager.database), self.manager.clock(),
                         self._booted_for, **options)

    def image(self):
        """Make an image, as Climate does."""
        self.manager.cloud.as_service().servers.create_image(self.server.id, 'an image', 'a key')
        self.manager.clock.advance(minutes(1))

    def delete(self):
        """Delete the server, as Climate does."""
        self.manager.cloud.as_service().nova.delete_server(self.server.id)

    def refused(self, words, **options):
        with pytest.raises(AssertionError, match=words):
            self.look(**options)


@pytest.fixture
def eyes(manager):
    return Eyes(manager)


@pytest.fixture
def careless(manager):
    """Eyes on a lease that deletes servers without an image."""
    return Eyes(manager, on_image_failure='delete')


def test_a_lease_that_ends_by_itself_is_all_right(eyes):
    eyes.manager.run_until(NOON + builders.hours(5))
    eyes.look()
    assert eyes.tally == {'servers imaged': 1}


def test_a_server_that_goes_without_an_image_is_seen(eyes):
    eyes.delete()
    eyes.refused('without an image')


def test_a_server_that_goes_before_its_image_is_active_is_seen(eyes, conf):
    conf.set_override('image_seconds', 60, group='simulated')
    eyes.manager.clock.now = NOON + builders.hours(3)
    eyes.manager.cloud.as_service().servers.create_image(eyes.server.id, 'an image', 'a key')
    eyes.delete()
    eyes.refused('without an image')


def test_an_image_of_an_earlier_end_is_seen(eyes):
    eyes.manager.run_until(NOON + builders.hours(3) + minutes(1))
    eyes.manager.change(eyes.lease, end=NOON + builders.hours(30))
    eyes.look()
    eyes.manager.clock.advance(minutes(5))
    eyes.delete()
    eyes.refused('without an image since')


def test_an_image_made_while_the_lease_ran_undisturbed_is_seen(eyes):
    eyes.image()
    eyes.look()
    eyes.delete()
    eyes.refused('without an image since')
    eyes.look(strict=False)


def test_the_deleter_of_a_server_is_known(eyes):
    eyes.manager.cloud.delete_server(eyes.server.id)
    eyes.refused('nobody deleted it')


def test_users_may_delete_their_servers(eyes):
    eyes.manager.cloud.delete_server(eyes.server.id)
    eyes.look(excused={eyes.server.id})


def test_a_loss_of_which_nothing_is_told_is_seen(careless):
    careless.delete()
    careless.refused('history does not say so')


def test_a_loss_before_the_time_for_images_is_over_is_seen(careless):
    _tell(careless)
    careless.delete()
    careless.refused('too early')


@pytest.mark.proof
def test_a_loss_that_was_asked_for_and_told_is_all_right(careless):
    careless.manager.cloud.spoil_images(careless.server.id, 'refused')
    careless.manager.run_until(NOON + builders.hours(6))
    careless.look()
    assert careless.tally == {'servers lost as asked for': 1}


@pytest.mark.proof
def test_a_server_that_was_never_built_may_go_when_the_time_for_images_is_over(eyes):
    eyes.manager.cloud.mark_server(eyes.server.id, 'BUILD')
    eyes.manager.run_until(NOON + builders.hours(6))
    eyes.look()
    assert eyes.tally == {'servers never built': 1}


def test_a_server_that_is_still_being_built_is_not_to_go_before(eyes):
    eyes.manager.cloud.mark_server(eyes.server.id, 'BUILD')
    eyes.delete()
    eyes.refused('too early')


def test_a_server_that_is_built_while_the_call_waits_is_not_excused(eyes, conf):
    conf.set_override('delete_seconds', 5, group='simulated')
    cloud, reach = eyes.manager.cloud, eyes.manager.cloud.faults.on_point

    def wait(name, when):
        reach(name, when)
        if (name, when) == ('nova.delete_server', 'before'):
            cloud.mark_server(eyes.server.id, 'ACTIVE')

    cloud.mark_server(eyes.server.id, 'BUILD')
    cloud.faults.on_point = wait
    eyes.manager.clock.now = NOON + builders.hours(6)
    eyes.delete()
    eyes.refused('without an image since')


def _tell(eyes):
    with eyes.manager.database.writer() as connection:
        connection.execute(sa.insert(tables.HISTORY).values(
            lease_id=eyes.lease.id, at=NOON, who='climate', what='warning',
            why=f'Server vm ({eyes.server.id}) is deleted without an image: why not.'))
