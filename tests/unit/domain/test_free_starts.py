# SPDX-License-Identifier: Apache-2.0
"""Times when the same resources are free for long enough, proved minute by minute."""
import datetime

import hypothesis
from hypothesis import strategies as st

from climate.domain import free_starts
from climate.domain import interval

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)
TICK = interval.RESOLUTION
LAST = 24


def at(number):
    return MIDNIGHT + number * TICK


def span(first, last):
    return interval.Interval(at(first), at(last))


taken = st.lists(st.tuples(st.integers(-3, LAST), st.integers(1, 9)).map(
    lambda each: span(each[0], sum(each))), max_size=5)
worlds = st.lists(taken, max_size=5).map(lambda lists: dict(enumerate(lists)))
windows = st.tuples(st.integers(0, 6), st.integers(8, LAST)).map(lambda each: span(*each))


def free_by_counting(world, start, length):
    """The resources that are free during `length` ticks."""
    wanted = span(start, start + length)
    return [key for key, spans in world.items() if not any(each.overlaps(wanted) for each in spans)]


def starts_in(window, length):
    """All numbers at which a span of ticks may begin in a window."""
    first, last = ((each - MIDNIGHT) // TICK for each in (window.start, window.end))
    return range(first, last - length + 1)


@hypothesis.given(worlds, windows, st.integers(1, 8))
def test_a_moment_serves_the_resources_that_are_free_from_then_on(world, window, length):
    found = free_starts.FreeStarts(world, length * TICK, window)
    for start in starts_in(window, length):
        assert found.free(at(start)) == free_by_counting(world, start, length)


@hypothesis.given(worlds, windows, st.integers(1, 8), st.integers(1, 4), st.integers(0, LAST))
def test_the_next_moment_with_enough_is_the_first_there_is(world, window, length, count, after):
    found = free_starts.FreeStarts(world, length * TICK, window)
    starts = [start for start in starts_in(window, length) if start >= after
              and len(free_by_counting(world, start, length)) >= count]
    first = max(at(after), window.start)
    assert found.next(count, first) == (at(starts[0]) if starts else None)
    if starts:
        last = found.until(count, at(starts[0]))
        number = (last - MIDNIGHT) // TICK
        assert set(range(starts[0], number + 1)) <= set(starts)
        assert number + 1 not in starts


@hypothesis.given(worlds, windows, st.integers(1, 8), st.integers(1, 3), st.integers(0, 3),
                  st.integers(1, 6))
def test_openings_are_true_in_order_and_miss_nothing_that_is_sooner_or_more(
        world, window, length, least, more, limit):
    found = free_starts.FreeStarts(world, length * TICK, window)
    openings = free_starts.openings(found, least, least + more, window.start, limit)
    counts = {at(start): min(len(free_by_counting(world, start, length)), least + more)
              for start in starts_in(window, length)}
    good = [moment for moment, count in counts.items() if count >= least]
    assert len(openings) <= limit
    assert bool(openings) == bool(good)
    if not openings:
        return
    assert openings[0].start == good[0]
    if limit > 1:
        assert max(each.count for each in openings) == max(counts.values())
    assert sorted({each.start for each in openings}) == [each.start for each in openings]
    for each in openings:
        assert counts[each.start] == each.count
        assert all(counts[moment] >= each.count for moment in counts
                   if each.start <= moment <= each.last)
    # A higher limit returns the same openings, or others that lie between them.
    assert len(free_starts.openings(found, least, least + more, window.start, limit + 1)) >= len(
        openings)


def test_the_ones_with_most_come_last_and_follow_each_other():
    # Three hosts: one is free at once, two from 4 on, all three from 8 to 12 and from 20 on.
    world = {1: [span(12, 20)], 2: [span(0, 4)], 3: [span(0, 8)]}
    found = free_starts.FreeStarts(world, 2 * TICK, span(0, LAST))
    assert free_starts.openings(found, 1, 3, at(0), 5) == [
        free_starts.StartRange(at(0), at(LAST - 2), 1),
        free_starts.StartRange(at(4), at(LAST - 2), 2),
        free_starts.StartRange(at(8), at(10), 3),
        free_starts.StartRange(at(20), at(LAST - 2), 3)]
    assert [each.count for each in free_starts.openings(found, 1, 3, at(0), 2)] == [1, 3]
    assert [each.start for each in free_starts.openings(found, 3, 3, at(0), 1)] == [at(8)]
    assert free_starts.openings(found, 4, 4, at(0), 5) == []
