# SPDX-License-Identifier: Apache-2.0
"""Demand times a factor: the number of leases follows it, evenly."""
import math

import hypothesis
from hypothesis import strategies as st

from climate.domain import what_if


@hypothesis.given(st.integers(0, 200), st.floats(0.1, 10))
def test_the_total_is_the_number_times_the_factor_and_it_is_spread_evenly(number, factor):
    counts = [count for _, count in what_if.scaled(range(number), factor)]
    assert sum(counts) == math.floor(number * factor + 1e-9)
    assert all(count in (math.floor(factor), math.ceil(factor), math.floor(factor + 1e-6))
               for count in counts)


def test_a_factor_of_one_changes_nothing():
    assert list(what_if.scaled('abc', 1.0)) == [('a', 1), ('b', 1), ('c', 1)]
