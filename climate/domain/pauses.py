# SPDX-License-Identifier: Apache-2.0
"""Pauses between failed attempts, which double each time up to a maximum."""

# Limits the power of two; longer pauses exceed every maximum.
_MOST_DOUBLINGS = 40


def doubled(first_seconds: float, longest_seconds: float, attempts: int) -> float:
    """Return the seconds to wait after a number of failed attempts."""
    return min(first_seconds * 2.0 ** min(max(attempts - 1, 0), _MOST_DOUBLINGS), longest_seconds)
