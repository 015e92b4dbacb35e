# SPDX-License-Identifier: Apache-2.0
"""Concurrent calls of the cloud, and limits of their number that follow the response times."""
from concurrent import futures
import contextvars
import heapq
import itertools
import threading

from climate import errors
from climate.cloud import call_guard

# Seconds between two checks of a waiting call that it may still be made.
_POLL_SECONDS = 1
# The number of calls falls when responses take this many times longer than usual.
_TOLERANCE = 1.5
# The largest reduction by one response, as a factor; and the constant increase, so that a limit
# that was too low rises again.
_STEEPEST, _INCREASE = 0.5, 2
# The weight of one response in the limit, in the present ratio, and (at least) in the usual time.
_WEIGHT, _NOW, _USUAL = 0.2, 0.1, 1 / 600
# Addresses contain names that users choose, so the number of kinds is unlimited.
_MOST_KINDS = 1000


class AdaptiveLimit:
    """The number of concurrent calls to one service: fewer while its responses slow down.

    The rule is that of ``Gradient2Limit`` in Netflix's concurrency-limits: the limit follows the
    ratio of the usual response time to the present one. Here each kind of call has its own usual
    time, because a service answers some kinds ten times as fast as others.

    :param most: the greatest limit, which is also the first.
    """

    def __init__(self, most):
        self._most = most
        self._limit = float(most)
        self._ratio = 1.0
        # {kind: (number of responses, their usual seconds)}.
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
        """Note the response time of a call of this kind."""
        with self._lock:
            if len(self._usual) >= _MOST_KINDS:
                self._usual.clear()
            count, usual = self._usual.get(kind, (0, 0))
            usual += (seconds - usual) * max(1 / (count + 1), _USUAL)
            self._usual[kind] = count + 1, usual
            self._ratio += (seconds / max(usual, 1e-6) - self._ratio) * _NOW
            gradient = min(max(_TOLERANCE / max(self._ratio, 1e-6), _STEEPEST), 1)
            target = self._limit * gradient + _INCREASE
            self._limit = min(max(self._limit + (target - self._limit) * _WEIGHT, 1), self._most)

    def refused(self):
        """Note that the service refused a call because it is too busy."""
        with self._lock:
            self._limit = max(1, self._limit * _STEEPEST)


class CallQueue:
    """The concurrency limit of one service; each call is made inside ``with queue:``.

    At most `most` calls run at once, so that thousands of due events do not flood a service; fewer
    if its responses slow down. Waiting calls start in the order of their Rank, then of their
    arrival.

    :ivar limit: the AdaptiveLimit; report each response to it.
    """

    def __init__(self, most, service='The cloud', poll_seconds=_POLL_SECONDS):
        self._service = service
        self._poll_seconds = poll_seconds
        self.limit = AdaptiveLimit(most)
        self._lock = threading.Lock()
        self._running = 0
        self._waiting = []
        self._numbers = itertools.count()

    def __enter__(self):
        started = threading.Event()
        place = (call_guard.rank(), next(self._numbers), started)
        with self._lock:
            heapq.heappush(self._waiting, place)
            self._start_next()
        try:
            while not started.wait(call_guard.seconds_left(self._poll_seconds)):
                call_guard.check()
                if call_guard.seconds_left() == 0:
                    raise errors.CloudUnreachable(
                        service=self._service, reason='too many calls of it wait for their turn.')
            call_guard.check()
        except BaseException:
            self._leave(place)
            raise
        return self

    def __exit__(self, *_error):
        with self._lock:
            self._running -= 1
            self._start_next()

    @property
    def waiting(self):
        """The number of calls that wait to start."""
        return len(self._waiting)

    def _leave(self, place):
        with self._lock:
            if place in self._waiting:
                self._waiting.remove(place)
                heapq.heapify(self._waiting)
            else:
                self._running -= 1
            self._start_next()

    def _start_next(self):
        while self._waiting and self._running < self.limit.limit:
            self._running += 1
            heapq.heappop(self._waiting)[-1].set()


def call_all(pool, function, items):
    """Call `function` for all items at once; return the results in the order of `items`.

    This returns, or raises the first error in the order of `items`, when all calls have finished.
    A single item is handled in the calling thread.

    :param pool: a concurrent.futures.Executor; `function` must not wait for it.
    """
    items = list(items)
    if len(items) < 2:
        return [function(item) for item in items]
    running = [pool.submit(contextvars.copy_context().run, function, item) for item in items]
    futures.wait(running)
    return [future.result() for future in running]
