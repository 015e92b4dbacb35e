# SPDX-License-Identifier: Apache-2.0
"""The use of limits, compared with a walk through all minutes."""
import datetime
import random

import numpy as np
import pytest
from support import builders
from support import limit_cases as cases

from climate.domain.limits import holdings
from climate.domain.limits import rules
from climate.domain.limits import usage

NOW = builders.NOON
DAY = datetime.timedelta(days=1)


def of(limit, *held):
    return usage.of(limit, holdings.Request(NOW, others=held))


@pytest.mark.parametrize('seed', range(20))
def test_the_use_is_the_greatest_of_all_minutes(seed):
    draw = random.Random(seed)
    held = [cases.random_holding(draw, str(number)) for number in range(draw.randint(1, 5))]
    for limit in (
            cases.limit('resources', 2), cases.limit(
                'resource_hours', 9, window=datetime.timedelta(hours=draw.randint(1, 40)),
                hours=draw.choice([None, cases.WORKING_HOURS]))):
        _, amounts, counts = cases.over_time(limit, holdings.Request(NOW, others=tuple(held)))
        if limit.window is None:
            expected = amounts[-cases.FIRST:].max()
        else:
            length = limit.window // cases.MINUTE
            # Place n has the window that ends after the minute n.
            sums = np.convolve(amounts * counts, np.ones(length, dtype=np.int64))
            expected = sums[-cases.FIRST - 1:].max() / cases.HOURS
        assert float(of(limit, *held).used) == pytest.approx(expected)


def test_resources_are_used_until_fewer_are_held_even_if_the_leases_change():
    held = [cases.holding('a', cases.held(-5, 3, 2)), cases.holding('b', cases.held(1, 2, 3)),
            cases.holding('c', cases.held(2, 4, 3))]
    use = of(cases.limit('resources', 6), *held)
    assert (use.used, use.until) == (5, builders.at(3))


def test_hours_that_do_not_count_are_not_waited_for():
    # Only from 08:00 to 18:00 on a working day; NOON is a Wednesday.
    limit = cases.limit('resource_hours', 40, window=DAY, hours=cases.WORKING_HOURS)
    # From 20:00 of the day before until 10:00: only two hours count, and these end last.
    use = of(limit, cases.holding('a', cases.held(-16, -2), kind=holdings.Kind.OVER))
    assert (use.used, use.until) == (2, builders.at(-4) + DAY)


def test_hours_of_a_period_that_is_over_do_not_count():
    limit = cases.limit('resource_hours', 20, period=rules.Period.MONTH, zone=datetime.UTC)
    use = of(limit, cases.holding('a', cases.held(-20, -8), kind=holdings.Kind.OVER))
    assert use.used == 4
