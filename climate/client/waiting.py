# SPDX-License-Identifier: Apache-2.0
"""Polling of a lease until it has a status."""
from collections.abc import Callable
from collections.abc import Collection
import itertools

from climate.client import errors
from climate.client import http
from climate.client import status_words

Report = Callable[[http.Record, float], None]

_PAUSES_SECONDS = (0.5, 1.0, 1.0, 2.0, 3.0)
_LONGEST_PAUSE_SECONDS = 5.0


def wait(poll: Callable[[], http.Record], statuses: Collection[str], *, timeout: float,
         clock: http.Clock, report: Report | None = None) -> http.Record | None:
    """Poll a lease until it has one of the wanted statuses.

    :param poll: gets the lease; polling goes on if it raises Unreachable or ServerError.
    :param timeout: seconds; 0: poll once.
    :returns: the lease; None if "deleted" was wanted and the lease is gone.
    :raises LeaseFailed: the lease cannot reach a wanted status any more.
    :raises WaitTimedOut: the time is over.
    """
    began = clock.monotonic()
    lease: http.Record | None = None
    pauses = itertools.chain(_PAUSES_SECONDS, itertools.repeat(_LONGEST_PAUSE_SECONDS))
    for pause_seconds in pauses:
        trouble: errors.ClientError | None = None
        try:
            lease = poll()
        except errors.NotFound:
            if status_words.DELETED in statuses:
                return None
            raise errors.LeaseFailed('The lease is gone: it was deleted.', lease) from None
        except (errors.Unreachable, errors.ServerError) as error:
            trouble = error
        waited = clock.monotonic() - began
        if lease is not None and trouble is None:
            if report is not None:
                report(lease, waited)
            if lease['status'] in statuses:
                return lease
            _check(lease, statuses)
        left = timeout - waited
        if left <= 0:
            raise _timed_out(lease, statuses, waited, trouble)
        clock.sleep(min(pause_seconds, left))
    raise AssertionError('not reached')


def _check(lease: http.Record, statuses: Collection[str]) -> None:
    """Check that the lease can still reach a wanted status.

    :raises LeaseFailed: it cannot.
    """
    status = lease['status']
    hopeless = status_words.FAILED
    if not {status_words.DELETED, 'terminated'} & set(statuses):
        hopeless = hopeless | status_words.OVER
    if status not in hopeless:
        return
    reason = f': {lease["status_reason"]}' if lease.get('status_reason') else '.'
    raise errors.LeaseFailed(
        f'Lease {lease["name"]} ({lease["id"]}) is {status} and will not become '
        f'{_either(statuses)}{reason}', lease)


def _timed_out(lease: http.Record | None, statuses: Collection[str], waited: float,
               trouble: errors.ClientError | None) -> errors.WaitTimedOut:
    if trouble is not None or lease is None:
        return errors.WaitTimedOut(
            f'The lease could not be read for {waited:.0f} s: {trouble}', lease)
    reason = f' ({lease["status_reason"]})' if lease.get('status_reason') else ''
    return errors.WaitTimedOut(
        f'Lease {lease["name"]} ({lease["id"]}) is still {lease["status"]}{reason} after '
        f'{waited:.0f} s, not yet {_either(statuses)}.', lease)


def _either(statuses: Collection[str]) -> str:
    return ' or '.join(sorted(statuses))
