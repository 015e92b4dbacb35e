# SPDX-License-Identifier: Apache-2.0
"""The budget of processor time for tries."""
import pytest

from climate.manager.events import budget


@pytest.fixture
def passed():
    """The seconds that have passed, in a list of one."""
    return [100.0]


@pytest.fixture
def half(passed):
    """A Budget of half a processor."""
    return budget.Budget(0.5, lambda: passed[0])


def test_tries_that_have_used_up_their_budget_rest_for_as_long_as_it_takes(half, passed):
    half.use(2)
    assert half.rest_seconds() == 0
    half.use(2)
    assert half.rest_seconds() == 3
    passed[0] += 2
    assert half.rest_seconds() == 1


def test_time_without_tries_saves_nothing_up(half, passed):
    passed[0] += 1000
    half.use(1)
    assert half.rest_seconds() == 0
    half.use(2)
    assert half.rest_seconds() == 1


def test_a_rest_is_never_longer_than_a_minute(half, passed):
    half.use(1000)
    half.use(1000)
    assert half.rest_seconds() == 60
    passed[0] += 60
    assert half.rest_seconds() == 0
