# SPDX-License-Identifier: Apache-2.0
"""The estimated number of bytes that requests occupy in the database."""
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import json

from climate.domain import records

# The size of the rows of each reservation and each event, without the request.
_RESERVATION_BYTES = 1024
_EVENT_BYTES = 256

Request = records.Reservation | records.ReservationRequest


def of_lease(lease: records.Lease) -> int:
    """Return the bytes of the requests, with their secrets, and of the events of a lease."""
    notices = lease.acquisition.notify_at if lease.acquisition is not None else ()
    return of_requests(lease.reservations) + of_events(len(lease.events) + len(notices))


def of_events(count: int) -> int:
    """Return the bytes of a number of events of a lease."""
    return _EVENT_BYTES * count


def of_requests(requests: Iterable[Request]) -> int:
    """Return the bytes of requests, with their secrets."""
    return sum(_RESERVATION_BYTES + len(json.dumps(
        [dict(request.request), dict(request.secrets), request.depends_on]))
        for request in requests)


def growth(before: Sequence[Request], after: Iterable[Request],
           notify_at: Collection[datetime.datetime]) -> int:
    """Return the bytes that a change of requests and new notifications add; it can be negative.

    Each changed reservation counts as one event, because a change adds rows to the database even if
    the request does not get longer.
    """
    return (of_requests(after) - of_requests(before)
            + of_events(len(before) + len(notify_at)))
