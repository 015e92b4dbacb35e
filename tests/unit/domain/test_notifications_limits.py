# SPDX-License-Identifier: Apache-2.0
"""The notification of a project that has nearly reached a limit."""
import hypothesis
from hypothesis import strategies

from climate.domain import notifications


def test_a_project_is_told_at_the_mark_and_again_only_after_it_had_clearly_less():
    told, when = set(), []
    for used in (79, 80, 81, 79, 80, 100, 71, 80, 70, 80, 69, 79, 80, 80):
        new, over = notifications.limit_crossings({'p': used}, told, 100, 80)
        told = (told | set(new)) - set(over)
        if new:
            when.append(used)
    assert when == [80, 80]


def test_a_project_that_has_nothing_any_more_is_forgotten():
    assert notifications.limit_crossings({}, {'p'}, 100, 80) == ([], ['p'])


def test_a_limit_of_one_is_told_when_it_is_used_up():
    assert notifications.limit_crossings({'p': 1}, set(), 1, 80) == (['p'], [])


@hypothesis.given(most=strategies.integers(1, 300), percent=strategies.integers(1, 100),
                  steps=strategies.lists(strategies.integers(0, 400), max_size=30))
def test_nobody_is_told_twice_without_having_had_at_least_a_little_less(most, percent, steps):
    told, low = set(), 0
    for used in steps:
        low = min(low, used)
        new, over = notifications.limit_crossings({'p': used}, told, most, percent)
        assert not (set(new) & set(over))
        if new:
            assert used * 100 >= most * percent > low * 100
            low = used
        told = (told | set(new)) - set(over)
