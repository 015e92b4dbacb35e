# SPDX-License-Identifier: Apache-2.0
"""Pauses between tries that fail: doubled each time, up to a longest one."""

# No power of two that is larger could still be the shorter one.
_MOST_DOUBLINGS = 40


def doubled(first_seconds: float, longest_seconds: float, attempts: int) -> float:
    """The seconds after so many failed attempts: the first pause after one."""
    return min(first_seconds * 2 ** min(max(attempts - 1, 0), _MOST_DOUBLINGS), longest_seconds)
