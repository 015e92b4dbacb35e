# SPDX-License-Identifier: Apache-2.0
"""How many calls a service gets at the same time: fewer while its answers slow down.

The rule is that of ``Gradient2Limit`` in Netflix's concurrency-limits: the number follows the ratio
of the usual time of an answer to the present one. Here each kind of call has a usual time of its
own, because a service answers some in a tenth of the time of others.
"""
import threading

# An answer may take so many times longer than usual before there are fewer calls.
_TOLERANCE = 1.5
# The most that one answer takes from the number; and what is always added, so that a number that
# was too low rises again.
_STEEPEST, _ROOM = 0.5, 2
# How much one answer changes the number, the present ratio, and (at least) the usual time.
_WEIGHT, _NOW, _USUAL = 0.2, 0.1, 1 / 600
# Addresses have names in them that users choose, so that there is no end of kinds.
_MOST_KINDS = 1000


class Pace:
    """The number of calls to one service at the same time, which follows its answers.

    :param most: the greatest number, with which it begins.
    """

    def __init__(self, most):
        self._most = most
        self._limit = float(most)
        self._ratio = 1.0
        # {kind: (how many answers, their usual seconds)}.
        self._usual = {}
        self._lock = threading.Lock()

    @property
    def limit(self):
        """The number of calls that may be under way now, at least 1."""
        return int(self._limit)

    @property
    def kinds(self):
        """The kinds of calls that have been answered so far, at most 1,000."""
        return frozenset(self._usual)

    def answered(self, kind, seconds):
        """Note that a call of this kind was answered after so many seconds."""
        with self._lock:
            if len(self._usual) >= _MOST_KINDS:
                self._usual.clear()
            count, usual = self._usual.get(kind, (0, 0))
            usual += (seconds - usual) * max(1 / (count + 1), _USUAL)
            self._usual[kind] = count + 1, usual
            self._ratio += (seconds / max(usual, 1e-6) - self._ratio) * _NOW
            self._follow(min(max(_TOLERANCE / max(self._ratio, 1e-6), _STEEPEST), 1))

    def refused(self):
        """Note that the service refused a call because it is too busy."""
        with self._lock:
            self._limit = max(1, self._limit * _STEEPEST)

    def _follow(self, gradient):
        wanted = self._limit * gradient + _ROOM
        self._limit = min(max(self._limit + (wanted - self._limit) * _WEIGHT, 1), self._most)
