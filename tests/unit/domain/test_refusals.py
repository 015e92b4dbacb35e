# SPDX-License-Identifier: Apache-2.0
"""The resources that a refused change requested beyond those of its lease."""
import datetime

import hypothesis
from hypothesis import strategies as st

from climate.domain import interval
from climate.domain import refusals

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
SPANS = st.tuples(st.integers(0, 20), st.integers(1, 20)).map(lambda each: interval.Interval(
    NOON + datetime.timedelta(hours=each[0]), NOON + datetime.timedelta(hours=sum(each))))


def _at(parts, hour):
    moment = NOON + datetime.timedelta(hours=hour)
    return sum(count for span, count in parts if span.start <= moment < span.end)


@hypothesis.given(SPANS, st.integers(0, 5), st.none() | SPANS, st.integers(0, 5))
def test_at_each_hour_the_unmet_copies_are_those_asked_for_less_those_it_has(
        span, copies, had_span, had):
    parts = refusals.unmet(span, copies, had_span, had)
    for hour in range(41):
        asked = _at([(span, copies)], hour)
        has = _at([(had_span, had)], hour) if had_span else 0
        assert _at(parts, hour) == (max(0, asked - has) if asked else 0)


def test_equal_requests_have_equal_hashes_and_others_have_not():
    assert refusals.request_hash('a', [NOON, {'b': 1, 'c': 2}]) == refusals.request_hash(
        'a', [NOON, {'c': 2, 'b': 1}])
    assert refusals.request_hash('a', [NOON]) != refusals.request_hash('b', [NOON])
