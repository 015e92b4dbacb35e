# SPDX-License-Identifier: Apache-2.0
"""Pauses between failed attempts. Each pause is twice the previous one, up to a maximum."""
import dataclasses
import datetime

# Limits the power of two. A longer pause would exceed any maximum.
_MOST_DOUBLINGS = 40
# The maximum random part of a pause, which spreads attempts that failed at the same time.
_JITTER = 0.2


@dataclasses.dataclass(frozen=True)
class RetryPause:
    """The pauses of one kind of work, from `first_seconds` up to `longest_seconds`.

    :ivar attempts: the number of failures after which the work is given up.
    """

    first_seconds: float
    longest_seconds: float
    attempts: int

    def after(self, attempts: int) -> datetime.timedelta | None:
        """Return the pause after a number of failed attempts; None: give up."""
        if attempts > self.attempts:
            return None
        return datetime.timedelta(seconds=doubled(
            self.first_seconds, self.longest_seconds, attempts))


def doubled(first_seconds: float, longest_seconds: float, attempts: int) -> float:
    """Return the seconds to wait after a number of failed attempts."""
    return min(first_seconds * 2.0 ** min(max(attempts - 1, 0), _MOST_DOUBLINGS), longest_seconds)


def with_jitter(first_seconds: float, longest_seconds: float, attempts: int,
                luck: float) -> datetime.timedelta:
    """Return the pause after a number of failed attempts, with a random part.

    :param longest_seconds: the maximum of the pause without the random part.
    :param luck: a random number from 0 to 1, the share of the maximum random part.
    """
    return datetime.timedelta(
        seconds=doubled(first_seconds, longest_seconds, attempts) * (1 + _JITTER * luck))
