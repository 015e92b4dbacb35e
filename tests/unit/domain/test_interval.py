# SPDX-License-Identifier: Apache-2.0
"""Spans of time, proved against the set of hours in them."""
import datetime

import hypothesis
from hypothesis import strategies as st
import pytest

from climate.domain import interval

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)


def hour(number):
    return MIDNIGHT + datetime.timedelta(hours=number)


def span(first, last):
    return interval.Interval(hour(first), hour(last))


spans_of_hours = st.tuples(st.integers(0, 20), st.integers(1, 10)).map(
    lambda pair: (pair[0], pair[0] + pair[1]))


def test_a_lease_that_ends_at_noon_leaves_noon_free():
    assert not span(8, 12).overlaps(span(12, 14))
    assert not span(12, 14).overlaps(span(8, 12))


@hypothesis.given(spans_of_hours, spans_of_hours)
def test_two_spans_overlap_exactly_when_they_share_an_hour(one, other):
    shared = set(range(*one)) & set(range(*other))
    assert span(*one).overlaps(span(*other)) == bool(shared)


def test_an_empty_span_is_refused():
    with pytest.raises(ValueError):
        span(8, 8)


def test_a_span_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError):
        span(9, 8)


def test_a_moment_without_a_zone_is_refused():
    with pytest.raises(ValueError):
        interval.Interval(hour(8).replace(tzinfo=None), hour(9).replace(tzinfo=None))


def test_the_duration_is_from_start_to_end():
    assert span(8, 12).duration == datetime.timedelta(hours=4)


def test_a_widened_span_has_the_margin_on_both_sides():
    assert span(8, 12).widened(datetime.timedelta(hours=1)) == span(7, 13)


def test_spans_are_ordered_by_their_start_first():
    assert sorted([span(9, 10), span(8, 12), span(8, 9)]) == [span(8, 9), span(8, 12), span(9, 10)]
