# SPDX-License-Identifier: Apache-2.0
"""Busy and free spans, proved hour by hour."""
import datetime
import itertools

import hypothesis
from hypothesis import strategies as st

from climate.domain import calendar
from climate.domain import interval

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)
LAST_HOUR = 40


def hour(number):
    return MIDNIGHT + datetime.timedelta(hours=number)


def span(first, last):
    return interval.Interval(hour(first), hour(last))


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


def test_a_window_without_bookings_is_free():
    assert calendar.free([], span(0, 9)) == [span(0, 9)]
    assert calendar.busy([], span(0, 9)) == []
