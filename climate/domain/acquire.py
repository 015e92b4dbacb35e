# SPDX-License-Identifier: Apache-2.0
"""The types of acquisition of a lease, and the pauses between tries."""
import datetime

from climate.domain import pauses

IMMEDIATE = 'immediate'
SCHEDULED = 'scheduled'
RETRIES = 'retries'
BEST_EFFORT = 'best-effort'
WAIT = 'wait'

#: {type: the fields of its request}.
FIELDS = {
    IMMEDIATE: (),
    SCHEDULED: (),
    RETRIES: ('retries', 'retry_pause_seconds'),
    BEST_EFFORT: ('timeout_seconds', 'strategy'),
    WAIT: ('not_after', 'priority'),
}
#: The types that go on trying after the request was answered.
LASTING = (RETRIES, BEST_EFFORT, WAIT)
#: The types that wait in the queue for resources that others release.
QUEUED = (RETRIES, WAIT)

# Up to this share of a pause is added at random, to spread requests that came together.
_JITTER = 0.2


def type_of(start: datetime.datetime, now: datetime.datetime) -> str:
    """Return the type of a lease whose request does not name one."""
    return IMMEDIATE if start <= now else SCHEDULED


def pause(first_seconds: float, longest_seconds: float, attempts: int,
          luck: float) -> datetime.timedelta:
    """Return the pause after a number of attempts: `first_seconds`, doubled each time.

    :param longest_seconds: the limit of the pause, without jitter.
    :param luck: the share of the jitter to add, from 0 to 1.
    """
    return datetime.timedelta(seconds=pauses.doubled(first_seconds, longest_seconds, attempts)
                              * (1 + _JITTER * luck))
