# SPDX-License-Identifier: Apache-2.0
"""The hours that resources slept, and the energy that this saved."""
import datetime

import hypothesis
from hypothesis import strategies as st
import pytest

from climate.domain import energy

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


@hypothesis.given(st.lists(st.integers(0, 30), unique=True, max_size=8), st.integers(0, 30),
                  st.integers(0, 30))
def test_the_hours_asleep_are_those_of_the_spans_within_the_question(moments, first, second):
    first, second = sorted((first, second))
    ordered = [*sorted(moments), None]
    pairs = list(zip(ordered[::2], ordered[1::2], strict=False))
    asleep = {hour for begin, end in pairs
              for hour in range(begin, 99 if end is None else end)}
    spans = [(NOON + begin * HOUR, None if end is None else NOON + end * HOUR)
             for begin, end in pairs]
    assert energy.hours(spans, NOON + first * HOUR, NOON + second * HOUR) == len(
        asleep.intersection(range(first, second)))


@pytest.mark.parametrize(('said', 'default', 'watts'), [
    ('250', 0, 250.0), ('1.5', 9, 1.5), (None, 100, 100.0), (None, 0, None), ('much', 100, None),
    ('nan', 100, None), ('inf', 0, None), ('-5', 0, None), ('1e9', 0, None), ('', 0, None)])
def test_the_power_is_a_property_or_not_known(said, default, watts):
    properties = {} if said is None else {'saved_watts': said}
    assert energy.watts(properties, 'saved_watts', default) == watts
