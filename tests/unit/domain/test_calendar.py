# SPDX-License-Identifier: Apache-2.0
"""Busy and free spans, and the earliest time that fits, proved hour by hour."""
import datetime
import itertools

import hypothesis
from hypothesis import strategies as st
import pytest

from climate.domain import calendar
from climate.domain import interval

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)
LAST_HOUR = 40


def hour(number):
    return MIDNIGHT + datetime.timedelta(hours=number)


def span(first, last):
    return interval.Interval(hour(first), hour(last))


def hours(number):
    return datetime.timedelta(hours=number)


spans_of_hours = st.tuples(st.integers(0, 20), st.integers(1, 8)).map(
    lambda pair: (pair[0], pair[0] + pair[1]))
plans = st.lists(spans_of_hours, max_size=6)


def taken_hours(plan):
    return {number for booking in plan for number in range(*booking)}


def hours_of(spans):
    return {number for number in range(LAST_HOUR)
            if any(part.start <= hour(number) < part.end for part in spans)}


@hypothesis.settings(deadline=None)
@hypothesis.given(plans, spans_of_hours)
def test_busy_and_free_share_the_hours_of_the_window(plan, window):
    bookings = [span(*booking) for booking in plan]
    inside, taken = set(range(*window)), taken_hours(plan)
    assert hours_of(calendar.busy(bookings, span(*window))) == inside & taken
    assert hours_of(calendar.free(bookings, span(*window))) == inside - taken


@hypothesis.settings(deadline=None)
@hypothesis.given(plans, spans_of_hours)
def test_spans_come_in_order_and_never_touch(plan, window):
    bookings = [span(*booking) for booking in plan]
    for spans in (calendar.busy(bookings, span(*window)), calendar.free(bookings, span(*window))):
        assert all(one.end < next_one.start
                   for one, next_one in itertools.pairwise(spans))


@hypothesis.settings(deadline=None, max_examples=200)
@hypothesis.given(st.dictionaries(st.integers(0, 5), plans, max_size=5), st.integers(1, 4),
                  st.integers(1, 9), st.integers(0, 30),
                  st.none() | st.integers(0, LAST_HOUR))
def test_the_earliest_start_is_the_first_hour_that_fits(plan, count, duration, not_before, until):
    def free_from(start):
        return tuple(resource_id for resource_id, bookings in plan.items()
                     if taken_hours(bookings).isdisjoint(range(start, start + duration)))

    last = LAST_HOUR if until is None else until - duration
    expected = next((start for start in range(not_before, last + 1)
                     if len(free_from(start)) >= count), None)
    found = calendar.earliest(
        count, hours(duration), hour(not_before),
        {resource_id: [span(*booking) for booking in bookings]
         for resource_id, bookings in plan.items()},
        None if until is None else hour(until))
    if expected is None:
        assert found is None
    else:
        start, ids = found
        assert start == hour(expected)
        assert len(ids) == count and set(ids) <= set(free_from(expected))


def test_the_same_resources_must_be_free_for_all_of_the_time():
    bookings = {'a': [span(2, 4)], 'b': [span(0, 2), span(6, 8)]}
    assert calendar.earliest(1, hours(3), hour(0), bookings) == (hour(2), ('b',))


def test_a_gap_of_just_the_right_length_is_found():
    assert calendar.earliest(1, hours(2), hour(0), {'a': [span(0, 4), span(6, 9)]}) == (
        hour(4), ('a',))


def test_two_gaps_that_share_one_single_start_serve_two():
    bookings = {'a': [span(6, 9)], 'b': [span(0, 4), span(6, 9)]}
    assert calendar.earliest(2, hours(2), hour(0), bookings) == (hour(4), ('a', 'b'))


def test_ids_come_in_the_order_of_the_caller():
    assert calendar.earliest(2, hours(1), hour(0), {'z': [], 'a': []}) == (hour(0), ('z', 'a'))


def test_too_few_resources_are_never_enough():
    assert calendar.earliest(2, hours(1), hour(0), {'a': []}) is None


def test_the_time_must_be_over_by_until():
    assert calendar.earliest(1, hours(2), hour(0), {'a': [span(0, 4)]}, until=hour(5)) is None


def test_none_at_all_are_free_at_once():
    assert calendar.earliest(0, hours(1), hour(3), {}) == (hour(3), ())
    assert calendar.earliest(0, hours(3), hour(3), {}, until=hour(5)) is None


@pytest.mark.parametrize('count, length', [(-1, 1), (1, 0), (1, -1)])
def test_a_count_or_duration_that_makes_no_sense_is_refused(count, length):
    with pytest.raises(ValueError):
        calendar.earliest(count, hours(length), hour(0), {})


def test_a_window_without_bookings_is_free():
    assert calendar.free([], span(0, 9)) == [span(0, 9)]
    assert calendar.busy([], span(0, 9)) == []
