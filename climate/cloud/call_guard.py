# SPDX-License-Identifier: Apache-2.0
"""The guard around every call of the real and the simulated cloud.

Before a call it checks that the caller may still act. After a call it counts the result and maps
foreign errors to CloudError. An adapter needs no code for this: its session enters a
``concurrency.CallQueue`` for each call, and the classes of its interfaces are `guarded`.
"""
import contextlib
import contextvars
import enum
import functools
import time

import prometheus_client
import tenacity

from climate import errors


class Rank(enum.IntEnum):
    """The order in which waiting calls start."""

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
_CHECK = contextvars.ContextVar('check', default=None)
_RANK = contextvars.ContextVar('rank', default=Rank.NORMAL)
_DEADLINE = contextvars.ContextVar('deadline', default=None)


@contextlib.contextmanager
def before_each_call(check, rank=None):
    """Call `check()` before each call of the cloud in the block; the call raises its errors.

    A manager may be suspended between any two calls and lose its claim. Calls are made deep in
    plugins and adapters, so a context variable carries the check. It also covers the calls that
    ``concurrency.call_all`` makes on other threads.

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

    The caller of the block must not wait as long as a service that is down can take.

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


def rank():
    """Return the Rank of the surrounding `before_each_call`."""
    return _RANK.get()


def check():
    """Run the check of the surrounding `before_each_call`, if there is one."""
    run = _CHECK.get()
    if run is not None:
        run()


@functools.cache
def guarded(kind, foreign, translate, attempts=1, repeat_seconds=_REPEAT_SECONDS):
    """Return a subclass of a ServiceInterface class whose methods raise no foreign errors.

    :param foreign: tuple of the error classes that `translate` maps.
    :param translate: callable(interface, error) → the ClimateError to raise instead.
    :param attempts: the number of attempts of a read-only method if the service does not answer.
    :param repeat_seconds: the time within which all but the last of these attempts must fail.
    """
    stop = tenacity.stop_any(
        tenacity.stop_after_attempt(attempts), tenacity.stop_after_delay(repeat_seconds),
        lambda _state: seconds_left() == 0)
    # The series of the service exist from now on, so that an alert sees the first failure increase.
    for result in (ANSWERED, *_FAILURES.values()):
        CALLS.labels(kind.service, result)
    names = {name for base in kind.__mro__ for name in getattr(base, '__abstractmethods__', ())}
    methods = {name: _guarded(getattr(kind, name), foreign, translate,
                              stop if only_reads(kind, name) else None)
               for name in sorted(names)}
    return type(kind.__name__, (kind,), {'__module__': kind.__module__, **methods})


def _guarded(method, foreign, translate, stop):
    @functools.wraps(method)
    def mapped(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except foreign as error:
            raise translate(self, error) from error

    if stop is not None:
        mapped = tenacity.retry(
            retry=tenacity.retry_if_exception_type(errors.CloudUnreachable),
            stop=stop, wait=tenacity.wait_random_exponential(multiplier=0.1, max=1),
            reraise=True)(mapped)

    @functools.wraps(method)
    def counting(self, *args, **kwargs):
        with counted(self.service):
            return mapped(self, *args, **kwargs)

    return counting


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


def only_reads(kind, name):
    """Return whether the method of a ServiceInterface class is marked as read-only."""
    return any(getattr(vars(base).get(name), 'reads_only', False) for base in kind.__mro__)
