# SPDX-License-Identifier: Apache-2.0
"""The guard around every call of the real and the simulated cloud.

Before a call it limits how many run at once and checks that the caller may still act. After a call
it maps foreign errors to CloudError. An adapter needs no code for this: its session enters Turns
for each call, and the classes of its faces are `guarded`.
"""
import contextlib
import contextvars
import enum
import functools
import heapq
import itertools
import threading
import time

import prometheus_client
import tenacity

from climate import errors
from climate.cloud import pace


class Rank(enum.IntEnum):
    """Which calls get the next turn, if several wait for one."""

    FIRST = 0
    NORMAL = 1
    LAST = 2


#: The calls of the cloud by this process, by service and result. A read that was repeated at once
#: counts as one. "refused" is an answer that the same call would get again.
CALLS = prometheus_client.Counter(
    'climate_cloud_calls', 'Calls of the cloud by this process, by service and result',
    ['service', 'result'], registry=None)
ANSWERED, REFUSED, UNREACHABLE, TRUST_DEAD = 'answered', 'refused', 'unreachable', 'trust_dead'
# Other errors are part of normal work, such as a server that is not ready yet.
_FAILURES = {errors.CloudError: REFUSED, errors.CloudUnreachable: UNREACHABLE,
             errors.TrustDead: TRUST_DEAD}
# A read that failed after more seconds than this is not repeated at once: the service is down, and
# may need a minute for each answer, as Heat does without its engine.
_REPEAT_SECONDS = 5
# How often one that waits for its turn checks that it may still act.
_LOOK_SECONDS = 1
_CHECK = contextvars.ContextVar('check', default=None)
_RANK = contextvars.ContextVar('rank', default=Rank.NORMAL)
_DEADLINE = contextvars.ContextVar('deadline', default=None)


@contextlib.contextmanager
def before_each_call(check, rank=None):
    """Call `check()` before each call of the cloud in the block; the call raises its errors.

    A manager may be suspended between any two calls and lose its claim. Calls are made deep in
    plugins and adapters, so a context variable carries the check. It also covers the calls that
    ``parallel.each`` makes on other threads.

    :param check: None: there is no check.
    :param rank: the Rank of the calls; None: as outside of the block.
    """
    token, before = _CHECK.set(check), _RANK.set(_RANK.get() if rank is None else rank)
    try:
        yield
    finally:
        _CHECK.reset(token)
        _RANK.reset(before)


@contextlib.contextmanager
def answered_within(seconds):
    """Limit the time of all calls of the cloud in the block together; a call beyond it times out.

    Somebody waits for the block, and must not wait as long as a service that is down can take.

    :param seconds: 0: without limit.
    """
    token = _DEADLINE.set(time.monotonic() + seconds if seconds else None)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left(most=None):
    """Return the seconds that a call may take, at most `most`; 0: it is too late for one.

    :param most: None: without limit, also as the result.
    """
    deadline = _DEADLINE.get()
    if deadline is None:
        return most
    left = max(0.0, deadline - time.monotonic())
    return left if most is None else min(left, most)


def ask():
    """Run the check of the surrounding `before_each_call`, if there is one."""
    check = _CHECK.get()
    if check is not None:
        check()


class Turns:
    """The concurrency limit of one service; each call is made inside ``with turns:``.

    At most `most` calls run at once, so that thousands of due events do not flood a service; fewer
    if its answers slow down. Those that wait get their turns by Rank, then in the order in which
    they came.

    :ivar pace: the Pace; tell it of each answer.
    """

    def __init__(self, most, service='The cloud', look_seconds=_LOOK_SECONDS):
        self._service = service
        self._look_seconds = look_seconds
        self.pace = pace.Pace(most)
        self._lock = threading.Lock()
        self._running = 0
        self._waiting = []
        self._numbers = itertools.count()

    def __enter__(self):
        gate = threading.Event()
        waiting = (_RANK.get(), next(self._numbers), gate)
        with self._lock:
            heapq.heappush(self._waiting, waiting)
            self._let_in()
        try:
            while not gate.wait(seconds_left(self._look_seconds)):
                ask()
                if seconds_left() == 0:
                    raise errors.CloudUnreachable(
                        service=self._service, reason='too many calls of it wait for their turn.')
            ask()
        except BaseException:
            self._give_up(waiting)
            raise
        return self

    def _give_up(self, waiting):
        with self._lock:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                heapq.heapify(self._waiting)
            else:
                self._running -= 1
            self._let_in()

    def __exit__(self, *_error):
        self._leave()

    @property
    def waiting(self):
        """The number of calls that wait for their turn."""
        return len(self._waiting)

    def _leave(self):
        with self._lock:
            self._running -= 1
            self._let_in()

    def _let_in(self):
        while self._waiting and self._running < self.pace.limit:
            self._running += 1
            heapq.heappop(self._waiting)[-1].set()


@functools.cache
def guarded(kind, foreign, translate, attempts=1, repeat_seconds=_REPEAT_SECONDS):
    """Return a subclass of the Face `kind` whose interface methods raise no foreign errors.

    :param foreign: tuple of the error classes that `translate` maps.
    :param translate: callable(face, error) → the ClimateError to raise instead.
    :param attempts: how often a method that only reads is tried if the service does not answer.
    :param repeat_seconds: the time within which all but the last of these attempts must fail.
    """
    stop = tenacity.stop_any(tenacity.stop_after_attempt(attempts),
                             tenacity.stop_after_delay(repeat_seconds), _is_too_late)
    _add_series(kind.service)
    promised = {name for each in kind.__mro__ for name in getattr(each, '__abstractmethods__', ())}
    methods = {name: _guarded(getattr(kind, name), foreign, translate,
                              stop if only_reads(kind, name) else None)
               for name in sorted(promised)}
    return type(kind.__name__, (kind,), {'__module__': kind.__module__, **methods})


def _guarded(method, foreign, translate, stop):
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except foreign as error:
            raise translate(self, error) from error

    if stop is None:
        return _counting(wrapper)
    return _counting(tenacity.retry(
        retry=tenacity.retry_if_exception_type(errors.CloudUnreachable),
        stop=stop, wait=tenacity.wait_random_exponential(multiplier=0.1, max=1),
        reraise=True)(wrapper))


def _counting(method):
    """Return the method of a Face, which then counts its calls in CALLS."""
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        with counted(self.service):
            return method(self, *args, **kwargs)

    return wrapper


@contextlib.contextmanager
def counted(service):
    """Count the block as one call of a service in CALLS."""
    result = ANSWERED
    try:
        yield
    except errors.CloudError as error:
        result = _FAILURES.get(type(error), ANSWERED)
        if result != ANSWERED:
            # The login may have failed, and not the service that needed it.
            service = error.kwargs.get('service', service)
        raise
    finally:
        CALLS.labels(service, result).inc()


def _add_series(service):
    """Let the series of a service exist, so that an alert sees the first failure increase."""
    for result in (ANSWERED, *_FAILURES.values()):
        CALLS.labels(service, result)


def _is_too_late(_state):
    return seconds_left() == 0


def only_reads(kind, name):
    """Return whether the method of a class of Face is marked as one that changes nothing."""
    return any(getattr(vars(each).get(name), 'reads_only', False) for each in kind.__mro__)
