# SPDX-License-Identifier: Apache-2.0
"""Series in the manager: what is booked, tried again, changed and cancelled."""
import datetime
import uuid

import acts
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain.series import series_records
from climate.manager.series import create
from climate.manager.series import horizon

NOON, at, hours = builders.NOON, builders.at, builders.hours
DAY = datetime.timedelta(days=1)
HOUR = 3600
BOOKED, FAILED, PLANNED, OFF = (series_records.BOOKED, series_records.FAILED,
                                series_records.PLANNED, series_records.OFF)
MEMBER = builders.a_member()


def a_request(*reservations, **more):
    """A SeriesRequest for three days, one host from 14:00 to 15:00 in UTC each."""
    return series_records.SeriesRequest(**{
        'name': 'lab', 'reservations': reservations or (builders.hosts(),),
        'start': f'{NOON:%Y-%m-%d}T14:00:00', 'seconds': HOUR, 'repeat': 'every day for 3 times',
        'time_zone': 'UTC', **more})


@pytest.fixture
def world(manager):
    return World(manager)


class World:
    """A manager with some hosts, and its series."""

    def __init__(self, manager, count=1):
        self.manager = manager
        manager.enrol(count)
        self.horizon = horizon.Horizon(manager.core)

    def create(self, *reservations, caller=MEMBER, **more):
        return self.manager.client.create_series(
            caller, str(uuid.uuid4()), a_request(*reservations, **more))

    def get(self, series):
        return self.manager.client.get_series(MEMBER, series.id)

    def step(self, moment=None):
        """Run the periodic task, at a moment or now."""
        if moment is not None:
            self.manager.run_until(moment)
        self.horizon.step(self.manager.clock())

    def statuses(self, series):
        return [each.status for each in self.get(series).occurrences]

    def leases(self, series):
        """Return the leases of a series that are not deleted, by start."""
        with self.manager.database.reader() as connection:
            return connection.execute(
                sa.select(tables.LEASES).where(tables.LEASES.c.series_id == series.id,
                                               tables.LEASES.c.deleted_at.is_(None))
                .order_by(tables.LEASES.c.start)).all()

    def change(self, series, scope='all', number=None, **more):
        return self.manager.client.update_series(MEMBER, series.id, series_records.SeriesChanges(
            scope, number, **more))

    def cancel(self, series, scope='all', number=None):
        self.manager.client.cancel_series(MEMBER, series.id, scope, number)

    def occupy(self, day, seconds=HOUR):
        """Lease the only host at the time of an occurrence."""
        start = NOON + hours(2) + day * DAY
        return self.manager.book(start=start, end=start + datetime.timedelta(seconds=seconds))


def open_leases(manager):
    """Return the rows of all leases that are not deleted, by start."""
    with manager.database.reader() as connection:
        return connection.execute(sa.select(tables.LEASES).where(
            tables.LEASES.c.deleted_at.is_(None)).order_by(tables.LEASES.c.start)).all()


def test_a_series_books_its_occurrences_as_ordinary_leases(world):
    series = world.create()

    leases = world.leases(series)
    assert [lease.start for lease in leases] == [NOON + hours(2) + day * DAY for day in range(3)]
    assert {lease.state for lease in leases} == {lifecycle.PENDING}
    assert [each.lease_id for each in series.occurrences] == [lease.id for lease in leases]
    assert (series.status, world.statuses(series)) == (series_records.ACTIVE, [BOOKED] * 3)


def test_a_repeated_request_creates_one_series(world):
    key = str(uuid.uuid4())
    first, second = (world.manager.client.create_series(MEMBER, key, a_request())
                     for _ in range(2))

    assert first == second
    assert len(world.leases(first)) == 3


def keyed(world, text='k', caller=MEMBER, **more):
    return world.create(idempotency_key='key', request_hash=text, caller=caller, **more)


def test_a_key_makes_one_series_however_often_it_is_sent(world):
    first, second = (keyed(world) for _ in range(2))
    assert first == second
    with pytest.raises(errors.KeyReused):
        keyed(world, 'another body')
    other = keyed(world, caller=builders.a_member(project='other'))
    assert other.id != first.id


def test_a_copy_of_a_request_that_goes_on_is_sent_again_later(world, monkeypatch):
    def work_and_repeat(*args):
        with pytest.raises(errors.SeriesInProgress):
            keyed(world)
        return work(*args)
    work = horizon.Horizon.work
    monkeypatch.setattr(horizon.Horizon, 'work', work_and_repeat)
    series = keyed(world)
    assert keyed(world).id == series.id


@pytest.mark.parametrize('mode', series_records.MODES)
def test_copies_of_a_request_at_the_same_time_make_one_series_and_one_trust(
        world, monkeypatch, mode):
    def plan_and_repeat(*args):
        monkeypatch.undo()
        keyed(world, mode=mode)
        return plan(*args)
    plan = create.CreateSeries._planned
    monkeypatch.setattr(create.CreateSeries, '_planned', plan_and_repeat)
    series = keyed(world, mode=mode)
    assert keyed(world).id == series.id
    assert len(world.leases(series)) == 3
    trusts = world.manager.cloud.as_service().keystone.trusts()
    assert len(trusts) == 1


def test_the_key_of_a_request_that_failed_can_be_used_again(world, monkeypatch):
    def fail(*args):
        raise errors.DatabaseUnreachable(retry_after=5)
    monkeypatch.setattr(horizon.Horizon, 'work', fail)
    with pytest.raises(errors.DatabaseUnreachable):
        keyed(world)
    monkeypatch.undo()
    assert len(world.leases(keyed(world, 'another body'))) == 3


def test_occurrences_beyond_the_horizon_are_booked_when_they_come_into_it(world, conf):
    conf.set_override('horizon_days', 2, group='series')
    series = world.create(repeat='every day for 5 times')
    assert len(world.leases(series)) == 2

    world.step(NOON + hours(1))
    assert len(world.leases(series)) == 2
    world.step(NOON + hours(2))
    assert len(world.leases(series)) == 3
    world.step(NOON + hours(2) + 3 * DAY)
    assert [each.number for each in world.get(series).occurrences] == [1, 2, 3, 4, 5]
    assert world.get(series).extend_at is None


def test_occurrences_that_fit_are_booked_and_the_others_reported(world):
    world.occupy(1)
    series = world.create()

    assert world.statuses(series) == [BOOKED, FAILED, BOOKED]
    assert 'Only 0 of 1 hosts are free' in world.get(series).occurrences[1].owner_problem
    assert acts.news(world.manager).count('series.occurrence_failed') == 1


def test_a_failed_occurrence_is_booked_as_soon_as_resources_are_released(world):
    obstacle = world.occupy(1)
    series = world.create()
    world.step()
    assert world.statuses(series) == [BOOKED, FAILED, BOOKED]

    world.manager.delete(obstacle)
    world.step()
    assert world.statuses(series) == [BOOKED] * 3
    assert world.get(series).occurrences[1].problem is None


def test_a_failed_occurrence_is_tried_again_after_a_pause_and_reported_once(world, conf):
    world.occupy(1)
    series = world.create()
    conf.set_override('retry_minutes', 30, group='series')
    for minutes in (16, 31, 62):
        world.step(NOON + builders.minutes(minutes))

    assert world.statuses(series) == [BOOKED, FAILED, BOOKED]
    assert acts.news(world.manager).count('series.occurrence_failed') == 1


def test_an_occurrence_that_never_fits_is_skipped_at_its_start(world):
    world.occupy(1)
    series = world.create()
    world.step(NOON + hours(3) + DAY)

    assert world.statuses(series)[1] == series_records.SKIPPED


def test_all_or_nothing_books_nothing_if_one_occurrence_does_not_fit(world):
    world.occupy(1)
    with pytest.raises(errors.SeriesConflict) as caught:
        world.create(mode=series_records.ALL_OR_NOTHING)

    [refused] = caught.value.kwargs['occurrences']
    assert (refused['number'], refused['nearest']) == (
        2, (NOON + hours(3) + DAY).isoformat())
    assert len(acts.everything(world.manager)['leases']) == 1
    assert not acts.trusts(world.manager)


def test_all_or_nothing_withdraws_its_leases_if_a_race_takes_resources(world, meddling, other):
    def before_the_second_lease():
        with world.manager.database.reader() as connection:
            made = connection.execute(sa.select(sa.func.count()).where(
                tables.LEASES.c.series_id.is_not(None))).scalar()
        if made:
            world.occupy(1)
        else:
            meddling.before_writer = before_the_second_lease
    meddling.before_writer = before_the_second_lease
    with pytest.raises(errors.SeriesConflict):
        other.client.create_series(MEMBER, str(uuid.uuid4()), a_request(
            mode=series_records.ALL_OR_NOTHING))

    assert [lease.series_id for lease in open_leases(world.manager)] == [None]
    assert world.manager.client.list_series(MEMBER, series_records.SeriesQuery()) == []
    world.step()
    assert not acts.trusts(world.manager)


def test_a_preview_lists_each_occurrence_and_writes_nothing(world):
    world.occupy(1)
    before = acts.everything(world.manager)
    preview = world.manager.client.preview_series(MEMBER, a_request())

    assert [each.fits for each in preview.occurrences] == [True, False, True]
    assert preview.occurrences[0].resources == (('compute-1',),)
    assert preview.occurrences[1].nearest == NOON + hours(3) + DAY
    assert 'Only 0 of 1 hosts are free' in preview.occurrences[1].owner_problem
    assert acts.everything(world.manager) == before


def test_a_series_in_the_past_is_refused(world):
    with pytest.raises(errors.BadDate, match='in the past'):
        world.create(start=f'{NOON:%Y-%m-%d}T10:00:00')


def test_a_wrong_request_is_refused_before_anything_is_written(world):
    with pytest.raises(errors.BadField, match='max'):
        world.create(builders.hosts(2, 1))
    assert not acts.trusts(world.manager)


def test_a_project_cannot_make_more_series_than_allowed(world, conf):
    conf.set_override('per_project', 1, group='series')
    world.create(repeat='every day for 1 times')
    with pytest.raises(errors.TooManySeries):
        world.create(start=f'{NOON:%Y-%m-%d}T18:00:00')


@pytest.mark.parametrize(('same', 'second'), [(True, FAILED), (False, BOOKED)])
def test_all_leases_get_the_resources_of_the_first_if_asked(manager, same, second):
    world = World(manager, 2)
    taken = world.occupy(1)
    series = world.create(same_resources=same)

    used = {row.resource_id for row in _allocations(world, series)}
    assert world.statuses(series) == [BOOKED, second, BOOKED]
    assert taken.reservations[0].resource_ids[0] in used
    assert len(used) == (1 if same else 2)


def _allocations(world, series):
    with world.manager.database.reader() as connection:
        return connection.execute(
            sa.select(tables.ALLOCATIONS.c.resource_id, tables.ALLOCATIONS.c.start)
            .join(tables.RESERVATIONS,
                  tables.RESERVATIONS.c.id == tables.ALLOCATIONS.c.reservation_id)
            .join(tables.LEASES, tables.LEASES.c.id == tables.RESERVATIONS.c.lease_id)
            .where(tables.LEASES.c.series_id.is_not_distinct_from(series and series.id))).all()


def test_leases_share_the_trust_of_their_series_which_goes_with_the_last(world):
    series = world.create(repeat='every day for 2 times')
    [trust] = acts.trusts(world.manager)
    assert {lease.trust_id for lease in world.leases(series)} == {trust.id}

    world.step(NOON + hours(4))
    assert acts.trusts(world.manager)
    world.step(NOON + hours(4) + DAY)
    world.step()
    assert world.get(series).status == series_records.ENDED
    assert not acts.trusts(world.manager)


def test_a_change_of_all_moves_every_future_lease(world):
    series = world.create()
    world.manager.run_until(NOON + hours(2.5))
    changed = world.change(series, time='16:00:00', seconds=2 * HOUR, name='new')

    rows = world.leases(series)
    assert [(row.name, row.start, row.end) for row in rows[1:]] == [
        ('new', NOON + hours(4) + day * DAY, NOON + hours(6) + day * DAY) for day in (1, 2)]
    assert (rows[0].name, rows[0].start) == ('lab', NOON + hours(2))
    assert changed.seconds == 2 * HOUR


def test_a_lease_that_was_changed_alone_stays_as_it_is(world):
    series = world.create()
    alone = series.occurrences[1]
    world.manager.client.update_lease(MEMBER, alone.lease_id, builders.records.LeaseChanges(
        end=alone.end + hours(1)))
    world.change(series, time='16:00:00')

    assert [row.start.hour for row in world.leases(series)] == [16, 14, 16]
    assert [each.changed for each in world.get(series).occurrences] == [False, True, False]


def test_a_change_of_one_occurrence_leaves_the_others(world):
    series = world.create()
    world.change(series, 'this', 2, time='17:00:00')

    assert [row.start.hour for row in world.leases(series)] == [14, 17, 14]
    assert [each.changed for each in world.get(series).occurrences] == [False, True, False]


def test_a_change_of_the_following_splits_the_series(world):
    series = world.create()
    following = world.change(series, 'following', 2, time='16:00:00', name='later')

    assert [row.start.hour for row in world.leases(series)] == [14]
    assert [row.start.hour for row in world.leases(following)] == [16, 16]
    assert (world.get(series).rule, following.rule) == ('FREQ=DAILY;COUNT=1', 'FREQ=DAILY;COUNT=2')
    world.step(NOON + hours(4))
    assert world.get(series).status == series_records.ENDED
    assert len(acts.trusts(world.manager)) == 1


def test_a_refused_change_of_a_lease_is_shown_and_reported(world):
    series = world.create()
    world.manager.book(start=NOON + hours(4) + DAY, end=NOON + hours(5) + DAY)
    changed = world.change(series, time='16:00:00')

    assert [row.start.hour for row in world.leases(series)] == [16, 14, 16]
    assert 'Only 0 of 1 hosts are free' in changed.occurrences[1].owner_problem
    assert acts.news(world.manager).count('series.occurrence_failed') == 1


def test_a_change_in_the_mode_all_or_nothing_is_refused_whole(world):
    series = world.create(mode=series_records.ALL_OR_NOTHING)
    world.manager.book(start=NOON + hours(4) + DAY, end=NOON + hours(5) + DAY)
    with pytest.raises(errors.SeriesConflict):
        world.change(series, time='16:00:00')

    assert {row.start.hour for row in world.leases(series)} == {14}


def test_a_change_of_the_request_reaches_each_lease(manager):
    world = World(manager, 3)
    series = world.create()
    world.change(series, reservations=(builders.hosts(2),))

    assert len(_allocations(world, series)) == 6


def test_a_change_with_other_types_is_refused(world):
    series = world.create()
    with pytest.raises(errors.BadField, match='same resource types'):
        world.change(series, reservations=(builders.instances(),))


def test_one_occurrence_is_cancelled_for_good(world, conf):
    conf.set_override('horizon_days', 2, group='series')
    series = world.create(repeat='every day for 5 times')
    world.cancel(series, 'this', 2)
    world.cancel(series, 'this', 4)
    for day in (1, 2, 3):
        world.step(NOON + hours(3) + day * DAY)

    assert world.statuses(series) == [BOOKED, OFF, BOOKED, OFF, BOOKED]
    assert [row.start.day for row in world.leases(series)] == [
        (NOON + day * DAY).day for day in (0, 2, 4)]


def test_the_following_occurrences_are_cancelled(world):
    series = world.create()
    world.cancel(series, 'following', 2)

    assert len(world.leases(series)) == 1
    assert world.get(series).rule == 'FREQ=DAILY;COUNT=1'
    assert world.statuses(series) == [BOOKED, OFF, OFF]


def test_a_cancelled_series_keeps_only_its_running_lease(world):
    series = world.create()
    world.manager.run_until(NOON + hours(2.5))
    world.cancel(series)

    [running] = world.leases(series)
    assert running.state == lifecycle.ACTIVE
    assert world.get(series).status == series_records.CANCELLED
    with pytest.raises(errors.SeriesOver):
        world.change(series, time='16:00:00')


def test_an_occurrence_whose_lease_was_deleted_is_cancelled(world):
    series = world.create()
    world.manager.client.delete_lease(MEMBER, series.occurrences[0].lease_id)
    world.step()

    assert world.statuses(series) == [OFF, BOOKED, BOOKED]


def test_an_unknown_occurrence_is_refused(world):
    series = world.create()
    with pytest.raises(errors.OccurrenceNotFound, match='the numbers 1 to 3'):
        world.cancel(series, 'following', 4)


def test_an_occurrence_fails_if_the_owner_is_gone(world, conf):
    conf.set_override('horizon_days', 2, group='series')
    series = world.create(repeat='every day for 5 times')
    for trust in acts.trusts(world.manager):
        world.manager.cloud.as_service().keystone.delete_trust(trust.id)
    world.step(NOON + hours(2))

    assert world.statuses(series)[2] == FAILED
