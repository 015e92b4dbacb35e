# SPDX-License-Identifier: Apache-2.0
"""Availability in the future agrees with what a lease would get, moment by moment."""
import dataclasses
import random
import uuid

import acts
import pytest
from support import builders

from climate import errors
from climate.db import resources
from climate.domain import availability
from climate.domain import interval
from climate.domain import records
from climate.manager.booking import availability_finder
from climate.manager.booking import booking
from climate.manager.booking import start_times
from climate.manager.leases import draft

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
QUARTER = minutes(15)
# The time for which an answer stays valid: resources in use now are not offered before.
HELD_UNTIL = NOON + minutes(1 + 2) + interval.RESOLUTION


def room(amount, affinity=None, vcpus=16):
    return records.ReservationRequest('virtual:instance', {
        'vcpus': vcpus, 'memory_mb': 1024, 'disk_gb': 10, 'amount': amount, 'affinity': affinity})


def ask(manager, *reservations, duration=None, find=None, **more):
    """The Answer for some reservations, for two hours where nothing else is said.

    :param find: what finds it; by default the manager.
    """
    seconds = int((duration or hours(2)).total_seconds())
    return (find or manager.client.find_availability)(
        builders.a_member(), availability.AvailabilityQuery(reservations, seconds, **more))


def lease_at(manager, reservations, start, duration, dry=True):
    """Ask for a lease at that time; with `dry` for what it would be."""
    return manager.book(
        *reservations, start=None if start <= manager.clock() else start, end=start + duration,
        dry_run=dry)


class World:
    """A manager with four hosts and leases of all kinds at quarters of an hour."""

    def __init__(self, manager, seed):
        self.manager, self.made = manager, random.Random(seed)
        hosts = manager.enrol(4, rack='7')
        for _ in range(12):
            # Many are refused: only a full cloud is hard to read.
            start = NOON + self.made.randrange(40) * QUARTER
            kind = self.made.choice([builders.hosts(self.made.randint(1, 2)),
                                     room(self.made.randint(1, 4), self.made.choice(
                                         [True, False, None]))])
            try:
                manager.book(
                    kind, start=max(start, NOON), end=start + self.made.randint(1, 16) * QUARTER)
            except errors.NotEnough:
                continue
        manager.book(builders.hosts(1, 2), end=NOON + hours(1))
        manager.run()
        with manager.database.writer() as connection:
            if seed % 3 == 0:
                resources.change(connection, hosts[1].id, NOON, lent_to='somebody')
            if seed % 4 == 0:
                # Its lease is over and the cloud has not given it back.
                resources.change(connection, hosts[2].id, NOON, held_by='somebody')

    def counts(self, reservations, duration, window):
        """{moment: how many copies the first of them gets} of all moments that could differ."""
        drafted = draft.Drafts(self.manager.core).draft(
            builders.a_member(), str(uuid.uuid4()), builders.a_lease(
                *reservations, duration_seconds=int(duration.total_seconds())), NOON)
        mine = drafted.lease.reservations[0].id
        planner = booking.Booking(self.manager.core, availability_finder._LEEWAY)
        steps = int((window.duration - duration) / QUARTER)
        moments = sorted({window.start + step * QUARTER for step in range(steps + 1)}
                         | {max(HELD_UNTIL, window.start)})
        found = {}
        for moment in moments:
            try:
                chosen = planner.plan(
                    drafted.wishes, interval.Interval(moment, moment + duration), NOON)
            except errors.NotEnough:
                found[moment] = 0
            else:
                found[moment] = sum(each.copies for each in chosen if each.reservation_id == mine)
        return found


QUERIES = [
    [builders.hosts(1)], [builders.hosts(3)], [builders.hosts(1, 4)],
    [builders.hosts(2, 3, ['>=', '$vcpus', 32])], [room(2, True, 32)], [room(3, False)],
    [room(6)], [builders.hosts(2), builders.hosts(1)],
    [builders.hosts(1), room(3), room(1, vcpus=24)],
]


@pytest.mark.parametrize('seed', [
    0, *(pytest.param(each, marks=pytest.mark.proof) for each in (1, 2))])
def test_the_openings_are_those_that_one_finds_by_planning_at_every_moment(
        conf, database, clock, seed):
    conf.set_override('cleaning_minutes', seed % 2 * 30, group='manager')
    world = World(builders.Manager(conf, database, clock), seed)
    window = interval.Interval(NOON, NOON + hours(11))
    for reservations in QUERIES:
        duration = world.made.randint(3, 14) * QUARTER
        answer = ask(world.manager, *reservations, duration=duration, latest=window.end, limit=20)
        counts = world.counts(reservations, duration, window)
        good = [moment for moment, count in counts.items() if count]
        assert answer.complete
        assert bool(answer.openings) == bool(good), (seed, reservations)
        if not good:
            continue
        assert answer.openings[0].start == good[0], (seed, reservations)
        assert max(each.shares[0].count for each in answer.openings) == max(counts.values())
        for each in answer.openings:
            assert each.shares[0].count == counts[each.start]
            assert each.end - each.start == duration
            assert each.end <= window.end
            assert all(counts[moment] >= counts[each.start] for moment in counts
                       if each.start <= moment <= each.last_start)
            for start in (each.start, each.last_start):
                lease_at(world.manager, reservations, start, duration)


@pytest.mark.parametrize('seed', range(2))
def test_the_finder_returns_the_earliest_slot(
        conf, database, clock, seed):
    manager = builders.Manager(conf, database, clock)
    World(manager, seed)
    found = set()
    for reservations in (
            [builders.hosts(3)], [builders.hosts(5)], [room(40)], [room(9)], [room(3, True, 24)],
            [builders.hosts(2), builders.hosts(2)]):
        answer = ask(manager, *reservations, duration=hours(11), latest=NOON + hours(18))
        if answer.openings:
            continue
        for each in answer.alternatives:
            found.add(each.kind)
            changed = [_counted(asked, count)
                       for asked, count in zip(reservations, each.counts, strict=True)]
            lease_at(manager, changed, each.start, each.end - each.start)
            again = ask(manager, *changed, duration=each.end - each.start, latest=max(
                each.end, NOON + hours(18)))
            assert again.openings[0].start == each.start
            if each.kind == 'shorter' and len(reservations) == 1:
                assert not ask(manager, *reservations, latest=NOON + hours(18),
                               duration=each.end - each.start + minutes(1)).openings
            if each.kind == 'fewer' and len(reservations) == 1:
                more = [_counted(reservations[0], each.counts[0] + 1)]
                assert not ask(manager, *more, duration=hours(11),
                               latest=NOON + hours(18)).openings
    assert found == {'shorter', 'fewer', 'later'}


def _counted(asked, count):
    """A ReservationRequest with another count."""
    names = ('min', 'max') if asked.resource_type == 'physical:host' else ('amount',)
    return dataclasses.replace(asked, request={**asked.request, **dict.fromkeys(names, count)})


def test_the_finder_describes_hosts_without_private_properties(manager):
    manager.enrol(2, rack='7', serial='secret')
    manager.client.update_property(builders.an_admin(), 'host', 'serial', True)
    [share] = ask(manager, builders.hosts(2)).openings[0].shares
    assert share == availability.ReservationShare('physical:host', 2, (
        availability.ResourceGroup(
            1, {'rack': '7', 'vcpus': 16, 'memory_mb': 65536, 'local_gb': 500}, ('compute-1',)),
        availability.ResourceGroup(
            1, {'rack': '7', 'vcpus': 32, 'memory_mb': 131072, 'local_gb': 1000}, ('compute-2',))))


def test_the_finder_counts_the_hosts_left_after_each_criterion(manager):
    manager.enrol(6)
    answer = ask(manager, builders.hosts(3, criteria=[
        'and', ['>=', '$vcpus', 32], ['<', '$vcpus', 64]]))
    [considered] = answer.considered
    assert considered == availability.Considered(
        'physical:host', 'host', wanted=3, enrolled=6, matching=2, free=2, free_at_earliest=2,
        criteria=(
            availability.Criterion('vcpus >= 32', 4, 4),
            availability.Criterion('vcpus < 64', 4, 2)))
    assert considered.sentence == (
        'physical:host: 6 hosts are enrolled, 4 with vcpus >= 32, 2 of them with vcpus < 64; '
        '3 wanted, at the best time 2 fit.')
    assert [(each.kind, each.counts) for each in answer.alternatives] == [('fewer', (2,))]


def test_free_hosts_beyond_the_demand_are_counted_at_the_earliest_moment(manager):
    manager.enrol(6)
    manager.book(builders.hosts(2))
    [considered] = ask(manager, builders.hosts(1)).considered
    assert (considered.free, considered.free_at_earliest) == (1, 4)


@pytest.mark.parametrize(('affinity', 'free'), [(None, 15 + 32), (True, 32), (False, 2)])
def test_free_room_for_instances_is_counted_beyond_what_is_wanted(manager, affinity, free):
    # Hosts for 16, 32 and 64 instances; the last is leased, and a part of the first.
    manager.enrol(3)
    manager.book(builders.hosts(1, criteria=['==', '$vcpus', 64]))
    manager.book(room(1, vcpus=4))
    [considered] = ask(manager, room(2, affinity, vcpus=4)).considered
    assert considered.free_at_earliest == free


def test_a_search_writes_nothing(manager):
    manager.enrol(2)
    manager.active()
    before = acts.everything(manager)
    ask(manager, builders.hosts(1, 2))
    ask(manager, builders.hosts(9))
    assert acts.everything(manager) == before


def test_a_reservation_that_needs_nothing_is_possible_at_any_time(manager):
    answer = ask(manager, acts.dummy())
    [opening] = answer.openings
    assert (opening.start, opening.last_start) == (NOON, NOON + hours(24 * 30))
    assert opening.shares == (availability.ReservationShare('virtual:dummy', 0),)


@pytest.mark.parametrize(('more', 'field'), [
    ({'earliest': NOON - hours(1)}, 'earliest'), ({'latest': NOON + hours(1)}, 'duration'),
    ({'latest': NOON - hours(1)}, 'duration'), ({'latest': NOON + hours(24 * 400)}, 'latest'),
    ({'earliest': NOON.replace(year=9998)}, 'latest'),
    ({'latest': NOON.replace(year=9998)}, 'latest'),
    ({'duration': hours(24 * 36000), 'earliest': NOON.replace(year=9990)}, 'duration')])
def test_a_window_that_cannot_be_meant_is_refused_by_name(manager, more, field):
    manager.enrol(1)
    with pytest.raises(errors.BadRequest) as caught:
        ask(manager, builders.hosts(1), **more)
    assert caught.value.kwargs['field'] == field


def test_a_search_of_very_long_spans_ends(manager):
    manager.enrol(1)
    manager.active()
    answer = ask(manager, builders.hosts(1), duration=hours(24 * 36000))
    assert answer.openings[0].start == NOON + hours(1)
    assert not ask(manager, builders.hosts(2), duration=hours(24 * 36000)).openings


class Parts:
    """Parts of a window at which is looked first.

    :ivar taken: of how many parts each search took a look, the whole window being the last.
    """

    def __init__(self, *ahead):
        self._ahead, self.taken = ahead, []

    def growing(self, *arguments):
        """Yield StartSearches as ``start_times.growing``, in these parts."""
        self.taken.append(0)
        for each in start_times.growing(*arguments, ahead=self._ahead):
            self.taken[-1] += 1
            yield each


@pytest.mark.parametrize('seed', [
    0, *(pytest.param(each, marks=pytest.mark.proof) for each in (1, 2))])
def test_looking_at_the_first_days_first_changes_no_answer(conf, database, clock, seed):
    world = World(builders.Manager(conf, database, clock), seed)
    core = world.manager.core
    # No first part, or one and another.
    whole, parts = Parts(), Parts(hours(8), hours(18))
    finders = [availability_finder.AvailabilityFinder(core, draft.Drafts(core).draft, each.growing)
               for each in (whole, parts)]
    for reservations in QUERIES:
        for limit in (1, 2, 3):
            asked = {'duration': world.made.randint(1, 8) * QUARTER, 'limit': limit,
                     'earliest': NOON + minutes(world.made.randrange(600)),
                     'latest': NOON + hours(40)}
            answers = [ask(world.manager, *reservations, find=each.find, **asked)
                       for each in finders]
            assert answers[0] == answers[1], (seed, reservations, asked)
    assert set(whole.taken) == {1}
    assert {1, 3} <= set(parts.taken)
