# SPDX-License-Identifier: Apache-2.0
"""The search for the latest end of a lease."""
import datetime

import hypothesis
from hypothesis import strategies
import pytest
from support import builders

from climate.domain import latest_end

NOON = builders.NOON


@hypothesis.given(strategies.integers(0, 400 * 86400), strategies.integers(1, 400 * 86400))
def test_the_search_finds_the_last_second_that_fits(last, length):
    known, refused = NOON, NOON + datetime.timedelta(seconds=last + length)
    limit = NOON + datetime.timedelta(seconds=last)
    assert latest_end.last_fit(lambda moment: moment <= limit, known, refused) == limit


def test_the_result_is_a_full_second_that_requests_can_name():
    known = NOON + datetime.timedelta(seconds=5.25)
    limit = NOON + datetime.timedelta(seconds=99.75)
    found = latest_end.last_fit(lambda moment: moment <= limit, known, limit + latest_end.AHEAD)
    assert found == NOON + datetime.timedelta(seconds=99)
    assert latest_end.last_fit(lambda moment: False, known, limit) == known


@pytest.mark.parametrize(('end', 'expected'), [
    (NOON, NOON + latest_end.AHEAD),
    (NOON.replace(year=9998, month=6), NOON.replace(year=9998, month=12, day=31, hour=0)),
    (NOON.replace(year=9998, month=12, day=31), None)])
def test_the_search_stops_before_the_end_of_the_calendar(end, expected):
    assert latest_end.horizon(end) == expected


def test_the_search_asks_seldom():
    asked = []
    latest_end.last_fit(lambda moment: asked.append(moment), NOON, NOON + latest_end.AHEAD)
    assert len(asked) <= 25
