# SPDX-License-Identifier: Apache-2.0
"""The use of a limit is the greatest from now on, and what is left is what can still be used."""
import dataclasses
import datetime
import random

import pytest
from support import builders
from support import limit_cases

from climate.domain.limits import holdings
from climate.domain.limits import measures
from climate.domain.limits import rules
from climate.domain.limits import usage

DAY = datetime.timedelta(days=1)


def owned(*others):
    return holdings.Request(builders.NOON, others=others)


def test_open_leases_are_counted_with_the_first_end():
    found = usage.of(limit_cases.limit('open_leases', 4), owned(
        limit_cases.holding('a', limit_cases.held(0, 5)),
        limit_cases.holding('b', limit_cases.held(0, 3)),
        limit_cases.holding('c', kind=holdings.Kind.WAITING),
        limit_cases.holding('d', limit_cases.held(0, 1), kind=holdings.Kind.OFFER),
        limit_cases.holding('e', limit_cases.held(-5, -1), kind=holdings.Kind.OVER)))
    assert (found.used, found.remaining, found.until) == (3, 1, builders.at(3))


def test_resources_are_counted_at_the_fullest_moment_from_now_on():
    found = usage.of(limit_cases.limit('resources', 5), owned(
        limit_cases.holding('a', limit_cases.held(-5, -1, 9), kind=holdings.Kind.OVER),
        limit_cases.holding('b', limit_cases.held(0, 4, 2)),
        limit_cases.holding('c', limit_cases.held(2, 3, 1))))
    assert (found.used, found.remaining) == (3, 2)
    assert found.span == (builders.at(2), builders.at(3)) and found.until == builders.at(3)


def test_the_share_of_a_pool_is_counted_in_units():
    limit = limit_cases.limit('pool_share', 50, pool='host')
    found = usage.of(limit, dataclasses.replace(
        owned(limit_cases.holding('a', limit_cases.held(0, 4, 2))),
        parts=(holdings.PoolPart('host', 6),)))
    assert (found.bound, found.used, found.remaining) == (3, 2, 1)


def test_hours_of_a_month_are_counted_until_its_end():
    limit = limit_cases.limit('resource_hours', 400, period=rules.Period.MONTH,
                              zone=datetime.UTC)
    found = usage.of(limit, owned(limit_cases.holding('a', limit_cases.held(-20, 10))))
    assert found.used == 22
    assert found.until == datetime.datetime(2030, 6, 1, tzinfo=datetime.UTC)


def test_hours_of_a_window_are_free_again_when_the_window_has_left_them():
    limit = limit_cases.limit('resource_hours', 40, window=DAY)
    found = usage.of(limit, owned(limit_cases.holding('a', limit_cases.held(-6, 6))))
    assert (found.used, found.remaining) == (12, 28)
    assert found.until == builders.at(18)


def test_a_limit_of_one_lease_has_no_use():
    found = usage.of(limit_cases.limit('lease_length', duration=DAY), owned())
    assert found.bound is None and found.remaining is None


@pytest.mark.parametrize('number', range(40))
def test_a_lease_in_the_fullest_window_may_use_what_is_left_and_no_more(number):
    draw = random.Random(number)
    limit = limit_cases.limit('resource_hours', draw.randint(200, 400),
                              window=draw.randint(4, 40) * limit_cases.HOUR)
    others = tuple(limit_cases.random_holding(draw, str(each)) for each in range(4))
    present = owned(*(dataclasses.replace(each, user_id='u') for each in others))
    found = usage.of(limit, present)
    _, end = found.span
    more = int(found.remaining * 3600)

    def breach(copies):
        # One copy for a second in the middle of the window.
        resource = dataclasses.replace(
            limit_cases.held(0, 1, copies), start=end - builders.seconds(1), end=end)
        return measures.breach(limit, dataclasses.replace(
            present, after=limit_cases.holding('new', resource)))
    if not more or found.span[1] <= builders.NOON:
        return
    assert breach(more) is None
    assert breach(more + 1) is not None
