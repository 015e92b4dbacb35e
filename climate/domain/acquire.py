# SPDX-License-Identifier: Apache-2.0
"""The ways in which a lease may be acquired, and when those that take time try again."""
import datetime

from climate.domain import pauses

IMMEDIATE = 'immediate'
SCHEDULED = 'scheduled'
RETRIES = 'retries'
BEST_EFFORT = 'best-effort'
WAIT = 'wait'

#: {type: the fields of a request that it has}.
FIELDS = {
    IMMEDIATE: (),
    SCHEDULED: (),
    RETRIES: ('retries', 'retry_pause_seconds'),
    BEST_EFFORT: ('timeout_seconds', 'strategy'),
    WAIT: ('not_after', 'priority'),
}
#: These go on trying after the request was answered.
LASTING = (RETRIES, BEST_EFFORT, WAIT)
#: Of these, the ones that stand in line for what others give back.
QUEUED = (RETRIES, WAIT)

# A pause is longer by up to this part of it, so that those who came together part.
_JITTER = 0.2


def type_of(start: datetime.datetime, now: datetime.datetime) -> str:
    """The type of a lease for which nobody named one."""
    return IMMEDIATE if start <= now else SCHEDULED


def pause(first_seconds: float, longest_seconds: float, attempts: int,
          luck: float) -> datetime.timedelta:
    """The pause after so many attempts: `first_seconds`, doubled each time up to the longest.

    :param luck: from 0 to 1, the part of the jitter that comes to it.
    """
    return datetime.timedelta(seconds=pauses.doubled(first_seconds, longest_seconds, attempts)
                              * (1 + _JITTER * luck))
