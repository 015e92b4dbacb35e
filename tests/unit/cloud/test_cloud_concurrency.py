# SPDX-License-Identifier: Apache-2.0
"""The number of concurrent calls follows the response times of a service."""
import pytest

from climate.cloud import concurrency

GET, ADD = 'GET', 'POST add_host'


def answer(made, seconds, count=200):
    for _ in range(count):
        made.answered(GET, seconds)


@pytest.fixture
def usual():
    """An AdaptiveLimit of at most twenty calls, for a service that was quick until now."""
    made = concurrency.AdaptiveLimit(20)
    answer(made, 0.05)
    return made


def test_a_service_with_usual_response_times_gets_all_calls(usual):
    assert usual.limit == 20


def test_a_service_that_slows_down_gets_fewer_calls_until_it_recovers(usual):
    answer(usual, 0.5, 40)
    assert usual.limit < 8
    answer(usual, 0.05)
    assert usual.limit == 20


def test_slightly_longer_responses_do_not_change_the_limit(usual):
    answer(usual, 0.06)
    assert usual.limit == 20


def test_a_kind_of_call_that_is_always_slow_does_not_lower_the_limit(usual):
    for _ in range(200):
        usual.answered(GET, 0.05)
        usual.answered(ADD, 0.8)
    assert usual.limit == 20


def test_the_limit_is_at_least_one(usual):
    for _ in range(50):
        usual.refused()
    assert usual.limit == 1
    answer(usual, 500, 30)
    assert usual.limit >= 1
    for _ in range(50):
        usual.refused()
    answer(usual, 0.05)
    assert usual.limit == 20


def test_the_number_of_kinds_is_limited():
    made = concurrency.AdaptiveLimit(20)
    for number in range(5000):
        made.answered(f'GET {number}', 0.05)
    assert len(made.kinds) <= 1000
    assert made.limit == 20


@pytest.mark.parametrize('most', [1, 2])
def test_a_small_limit_is_kept(most):
    made = concurrency.AdaptiveLimit(most)
    answer(made, 0.05)
    assert made.limit == most


@pytest.mark.parametrize('capacity', [1, 4, 12])
def test_the_limit_approaches_the_capacity_of_the_service(capacity):
    """Its answers take longer in proportion to the calls beyond its capacity."""
    made = concurrency.AdaptiveLimit(100)
    for calls in (1, 1, 1, capacity):
        for _ in range(100):
            made.answered(GET, 0.1 * max(1, calls / capacity))
    for _ in range(300):
        made.answered(GET, 0.1 * max(1, made.limit / capacity))
    assert capacity <= made.limit <= 4 * capacity + 8
