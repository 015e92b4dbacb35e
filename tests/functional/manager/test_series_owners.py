# SPDX-License-Identifier: Apache-2.0
"""Series: changes by others than the owner or of one lease alone, and the limits of requests."""
import dataclasses
import itertools

import pytest
from support import builders
from test_series_manager import a_request
from test_series_manager import BOOKED
from test_series_manager import DAY
from test_series_manager import FAILED
from test_series_manager import HOUR
from test_series_manager import hours
from test_series_manager import MEMBER
from test_series_manager import NOON
from test_series_manager import World

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.domain.series import series_records
from climate.manager.limits import books as limit_books
from climate.manager.series import cancel
from climate.manager.series import create


@pytest.fixture
def world(manager):
    return World(manager)


def change_as(world, caller, series, **changes):
    return world.manager.client.update_series(
        caller, series.id, series_records.SeriesChanges('all', **changes))


@pytest.mark.parametrize('caller', [
    builders.an_admin(), builders.a_member('mia')], ids=['administrator', 'another member'])
def test_a_lease_belongs_to_the_owner_of_the_series_whoever_changes_the_series(world, caller):
    world.occupy(1)
    series = world.create()
    assert world.statuses(series) == [BOOKED, FAILED, BOOKED]
    change_as(world, caller, series, time='16:00:00')

    assert world.statuses(series) == [BOOKED] * 3
    assert {(row.user_id, row.project_id) for row in world.leases(series)} == {
        (MEMBER.user_id, MEMBER.project_id)}


def test_a_preview_of_a_change_by_an_administrator_counts_the_limits_of_the_owner(world):
    obstacle = world.occupy(1)
    series = world.create()
    world.manager.delete(obstacle)
    limit_books.LimitBooks(world.manager.core).create(builders.an_admin(), None, {'limits': [
        {'name': 'rule', 'measure': 'open_leases', 'most': 2}]})
    preview = world.manager.client.preview_series_update(
        builders.an_admin(), series.id, series_records.SeriesChanges('all', time='16:00:00'))

    assert [each.fits for each in preview.occurrences] == [True, False, True]
    assert 'at most 2 open leases' in preview.occurrences[1].owner_problem


def test_a_series_is_not_split_beyond_the_limit_of_series(world, conf):
    conf.set_override('per_project', 1, group='series')
    series = world.create()
    with pytest.raises(errors.TooManySeries):
        world.change(series, 'following', 2, time='16:00:00')
    assert len(world.leases(series)) == 3


def alone(world, series):
    """Return the lease of the second occurrence."""
    return world.manager.client.get_lease(MEMBER, series.occurrences[1].lease_id)


def test_a_change_of_one_occurrence_keeps_what_its_owner_changed_before(manager):
    world = World(manager, 2)
    series = world.create()
    lease = alone(world, series)
    manager.client.update_lease(MEMBER, lease.id, records.LeaseChanges(
        name='mine', end=lease.end + hours(1), reservations=(records.ReservationRequest(
            None, {'min': 2, 'max': 2}, id=lease.reservations[0].id),)))
    world.change(series, 'this', 2, time='17:00:00')

    changed = alone(world, series)
    assert (changed.name, changed.start, changed.end) == (
        'mine', NOON + hours(5) + DAY, NOON + hours(7) + DAY)
    assert len(changed.reservations[0].resource_ids) == 2


def test_a_running_lease_is_extended_as_an_occurrence(world):
    series = world.create()
    world.manager.run_until(NOON + hours(2.5) + DAY)
    world.change(series, 'this', 2, seconds=2 * HOUR)

    assert alone(world, series).end == NOON + hours(4) + DAY


def test_a_series_shows_the_times_of_a_lease_that_was_moved_alone(world):
    series = world.create()
    world.change(series, 'this', 2, time='17:00:00')

    moved = world.get(series).occurrences[1]
    assert (moved.start, moved.end) == (NOON + hours(5) + DAY, NOON + hours(6) + DAY)


def test_a_cancelled_series_keeps_a_lease_that_was_moved_alone_and_runs(world):
    series = world.create()
    world.change(series, 'this', 3, time='08:00:00')
    world.manager.run_until(NOON - hours(3.5) + 2 * DAY)
    world.cancel(series)

    assert [row.state for row in world.leases(series)][-1] == lifecycle.ACTIVE


def slow(world):
    """Return a core on whose clock each look takes 14 of the 30 seconds of a request."""
    return dataclasses.replace(world.manager.core, monotonic=itertools.count(0, 14).__next__)


def test_a_preview_that_takes_too_long_is_refused(world):
    with pytest.raises(errors.BadField, match=r'only \d of 3 occurrences could be'):
        create.CreateSeries(slow(world)).preview(MEMBER, a_request())


def test_a_request_that_takes_too_long_leaves_the_rest_to_the_periodic_task(world):
    series = world.create()
    cancel.CancelSeries(slow(world)).cancel(MEMBER, series.id, 'all')
    assert len(world.leases(series)) == 1

    world.step()
    assert world.leases(series) == []


def test_a_preview_shows_members_only_rounded_times_of_other_leases(world):
    world.occupy(1, HOUR - 67)
    preview = world.manager.client.preview_series(
        MEMBER, a_request(start=f'{NOON:%Y-%m-%d}T14:30:00'))

    assert preview.occurrences[1].nearest == NOON + hours(3) + DAY
