# SPDX-License-Identifier: Apache-2.0
"""The pauses between the tries of an event."""
from climate.domain import retry_pauses


def test_pauses_are_doubled_up_to_the_longest_until_it_is_given_up():
    pause = retry_pauses.RetryPause(first_seconds=2, longest_seconds=10, attempts=5)
    assert [pause.after(attempts).total_seconds() for attempts in range(6)] == [
        2, 2, 4, 8, 10, 10]
    assert pause.after(6) is None


def test_a_pause_after_very_many_failures_is_the_longest():
    assert retry_pauses.RetryPause(1, 60, 100_000).after(99_999).total_seconds() == 60
