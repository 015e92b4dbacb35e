# SPDX-License-Identifier: Apache-2.0
"""Arrays give the same availability as the plain calendar and as a sum by hand."""
import datetime

import hypothesis
from hypothesis import strategies as st
import numpy as np

from climate.domain import booked_capacity
from climate.domain import free_starts
from climate.domain import interval
from climate.domain import selection
from climate.manager.booking import pool_bookings
from climate.manager.booking import start_ranges

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)
TICK = interval.RESOLUTION
LAST = 24
CAPACITY = {'vcpus': 4, 'gb': 5}


def at(number):
    return MIDNIGHT + number * TICK


def span(first, last):
    return interval.Interval(at(first), at(last))


spans = st.tuples(st.integers(-3, LAST), st.integers(1, 9)).map(
    lambda each: (each[0], sum(each)))
worlds = st.lists(st.lists(spans, max_size=5), max_size=5)
amounts = st.one_of(st.just(selection.WHOLE), st.fixed_dictionaries(
    {}, optional={'vcpus': st.integers(0, 3), 'gb': st.integers(0, 3)}))
wanted = st.fixed_dictionaries({'vcpus': st.integers(1, 3)}, optional={'gb': st.integers(0, 3)})
lengths = st.integers(1, 8)


def columns(world):
    """(places, starts, ends) of lists of (first, last), one for each place."""
    rows = [(place, *each) for place, taken in enumerate(world) for each in taken]
    return [np.array(each, np.int64) for each in zip(*rows, strict=True)] or [
        np.zeros(0, np.int64)] * 3


@hypothesis.given(worlds, lengths, st.integers(8, LAST), st.data())
def test_ranges_equal_the_plain_calendar(world, length, last, data):
    window = span(0, last)
    plain = free_starts.FreeStarts({place: [span(*each) for each in taken]
                                    for place, taken in enumerate(world)}, length * TICK, window)
    quick = start_ranges.Ranges(window, length * TICK, len(world), *columns(world))
    for start in range(last - length + 1):
        assert quick.free(at(start)).tolist() == plain.free(at(start))
        assert quick.count(at(start)) == plain.count(at(start))
    assert quick.most() == max(plain.count(at(start)) for start in range(last - length + 1))
    after, count = at(data.draw(st.integers(0, LAST))), data.draw(st.integers(1, 4))
    found = plain.next(count, after)
    assert quick.next(count, after) == found
    if found is not None:
        assert quick.until(count, found) == plain.until(count, found)
    least, more, limit = (data.draw(st.integers(1, 3)) for _ in range(3))
    assert (free_starts.openings(quick, least, least + more, at(0), limit)
            == free_starts.openings(plain, least, least + more, at(0), limit))


def free_by_adding(amount, taken, moment):
    """Return the number of free copies on a resource during one tick."""
    bookings = booked_capacity.touching(taken, interval.Interval(moment, moment + TICK))
    if any(booked is selection.WHOLE for _, booked in bookings):
        return 0
    return booked_capacity.copies_beside(CAPACITY, bookings, amount)


@hypothesis.given(st.lists(st.lists(st.tuples(spans, amounts, st.integers(1, 2)), max_size=5),
                           max_size=4), wanted)
def test_levels_are_the_free_resources_at_each_moment(world, amount):
    places, starts, ends = columns([[each for each, _, _ in taken] for taken in world])
    kinds = [(booked, 1 if booked is selection.WHOLE else copies)
             for taken in world for _, booked, copies in taken]
    taken = pool_bookings.Taken(places, starts, ends, np.arange(len(kinds)), kinds)
    found = start_ranges.Levels(amount, [CAPACITY] * len(world), taken)
    bookings = [[(span(*each), kind) for each, kind, copies in held for _ in range(copies)]
                for held in world]
    for end in (1, LAST // 2, LAST):
        assert found.throughout(end).tolist() == [
            min(free_by_adding(amount, booked, at(number)) for number in range(end))
            for booked in bookings]
    times, totals = found.totals()
    for number in range(LAST):
        assert totals[np.searchsorted(times, number, 'right') - 1] == sum(
            free_by_adding(amount, held, at(number)) for held in bookings)
    for level in range(1, 5):
        below = list(zip(*(each.tolist() for each in found.below(level)), strict=True))
        for place, held in enumerate(world):
            booked = [(span(*each), kind) for each, kind, copies in held for _ in range(copies)]
            for number in range(-3, LAST + 9):
                free = free_by_adding(amount, booked, at(number))
                few = any(place == each and first <= number < last for each, first, last in below)
                assert found.empty[place] < level or few == (free < level)
