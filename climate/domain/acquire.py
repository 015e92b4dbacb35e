# SPDX-License-Identifier: Apache-2.0
"""The types of acquisition of a lease."""
import datetime

IMMEDIATE = 'immediate'
SCHEDULED = 'scheduled'
RETRIES = 'retries'
BEST_EFFORT = 'best-effort'
WAIT = 'wait'

#: {type: the fields that a request of this type may have}.
FIELDS = {
    IMMEDIATE: (),
    SCHEDULED: (),
    RETRIES: ('retries', 'retry_pause_seconds'),
    BEST_EFFORT: ('timeout_seconds', 'strategy'),
    WAIT: ('not_after', 'priority'),
}
#: The types whose leases may get their resources after the response to the request.
LASTING = (RETRIES, BEST_EFFORT, WAIT)
#: The types whose leases wait in the queue until other leases release resources.
QUEUED = (RETRIES, WAIT)


def type_of(start: datetime.datetime, now: datetime.datetime) -> str:
    """Return the type of a lease whose request does not name one."""
    return IMMEDIATE if start <= now else SCHEDULED
