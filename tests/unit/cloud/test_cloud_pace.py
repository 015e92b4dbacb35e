# SPDX-License-Identifier: Apache-2.0
"""The number of calls at the same time follows the answers of a service."""
import pytest

from climate.cloud import pace

GET, ADD = 'GET', 'POST add_host'


def answer(made, seconds, count=200):
    for _ in range(count):
        made.answered(GET, seconds)


@pytest.fixture
def usual():
    """A Pace of at most twenty calls, for a service that was quick until now."""
    made = pace.Pace(20)
    answer(made, 0.05)
    return made


def test_a_service_that_is_as_quick_as_usual_gets_all(usual):
    assert usual.limit == 20


def test_a_service_that_slows_down_gets_fewer_and_when_it_is_quick_again_all(usual):
    answer(usual, 0.5, 40)
    assert usual.limit < 8
    answer(usual, 0.05)
    assert usual.limit == 20


def test_a_little_slower_changes_nothing(usual):
    answer(usual, 0.06)
    assert usual.limit == 20


def test_what_is_slow_by_nature_is_not_slow(usual):
    for _ in range(200):
        usual.answered(GET, 0.05)
        usual.answered(ADD, 0.8)
    assert usual.limit == 20


def test_however_slow_it_is_there_is_one_at_least(usual):
    for _ in range(50):
        usual.refused()
    assert usual.limit == 1
    answer(usual, 500, 30)
    assert usual.limit >= 1
    for _ in range(50):
        usual.refused()
    answer(usual, 0.05)
    assert usual.limit == 20


def test_kinds_without_end_take_no_memory_without_end():
    made = pace.Pace(20)
    for number in range(5000):
        made.answered(f'GET {number}', 0.05)
    assert len(made.kinds) <= 1000
    assert made.limit == 20


@pytest.mark.parametrize('most', [1, 2])
def test_a_small_number_stays_what_it_is(most):
    made = pace.Pace(most)
    answer(made, 0.05)
    assert made.limit == most


@pytest.mark.parametrize('capacity', [1, 4, 12])
def test_a_service_that_answers_so_many_at_once_gets_about_as_many(capacity):
    """Its answers take longer in proportion to the calls beyond its capacity."""
    made = pace.Pace(100)
    for calls in (1, 1, 1, capacity):
        for _ in range(100):
            made.answered(GET, 0.1 * max(1, calls / capacity))
    for _ in range(300):
        made.answered(GET, 0.1 * max(1, made.limit / capacity))
    assert capacity <= made.limit <= 4 * capacity + 8
