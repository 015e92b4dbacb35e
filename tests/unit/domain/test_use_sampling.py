# SPDX-License-Identifier: Apache-2.0
"""Use and its samples: slots of time, shares, sums."""
import datetime

import hypothesis
from hypothesis import strategies as st
import pytest

from climate.domain import use_sampling

NOON = datetime.datetime(2030, 5, 1, 12, 0, tzinfo=datetime.UTC)
MINUTES = st.integers(1, 60)


@hypothesis.given(minutes=MINUTES)
def test_the_slots_of_an_hour_are_that_hour(minutes):
    slots = {use_sampling.slot_of(NOON + datetime.timedelta(seconds=second), minutes)
             for second in range(0, 3600, 20)}
    assert sum(each.seconds for each in slots) == 3600
    assert {each.hour for each in slots} == {NOON}


@hypothesis.given(minutes=MINUTES, seconds=st.integers(0, 86399))
def test_a_moment_is_in_its_slot(minutes, seconds):
    now = NOON + datetime.timedelta(seconds=seconds)
    slot = use_sampling.slot_of(now, minutes)
    assert slot.begin <= now < slot.begin + datetime.timedelta(seconds=slot.seconds)


@pytest.mark.parametrize('used, whole, expected', [
    (0, 16, use_sampling.IDLE), (4, 16, use_sampling.Use(0.25, True)),
    (40, 16, use_sampling.Use(1.0, True)), (1, 0, use_sampling.Use(1.0, True)),
    (0, 0, use_sampling.IDLE)])
def test_a_share_is_between_none_and_all(used, whole, expected):
    assert use_sampling.of_share(used, whole) == expected


@hypothesis.given(st.lists(st.builds(use_sampling.of_share, st.integers(0, 20), st.integers(0, 16)),
                           max_size=8))
def test_idle_and_used_time_never_exceed_the_sampled_time(looks):
    slot = use_sampling.slot_of(NOON, 10)
    total = sum((use_sampling.sampled(each, slot) for each in looks), use_sampling.NO_SAMPLE)
    assert total.seconds == 600 * len(looks)
    assert 0 <= total.idle_seconds <= total.seconds
    assert 0 <= total.used_seconds <= total.seconds - total.idle_seconds + 1e-6
