# SPDX-License-Identifier: Apache-2.0
"""The number of bytes that requests occupy in the database."""
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import json

from climate.domain import records

# The rows that each reservation and each event of a lease have beside the request.
_RESERVATION_BYTES = 1024
_EVENT_BYTES = 256

Request = records.Reservation | records.ReservationRequest


def of_lease(lease: records.Lease) -> int:
    """Return the bytes of the requests and events of a lease whose reservations have `secrets`."""
    notices = lease.acquisition.notify_at if lease.acquisition is not None else ()
    return of_requests(lease.reservations) + of_events(len(lease.events) + len(notices))


def of_events(count: int) -> int:
    """Return the bytes of some events of a lease."""
    return _EVENT_BYTES * count


def of_requests(requests: Iterable[Request]) -> int:
    """Return the bytes of the requests of reservations that have their `secrets`."""
    return sum(_RESERVATION_BYTES + len(json.dumps(
        [dict(each.request), dict(each.secrets), each.depends_on])) for each in requests)


def growth(before: Sequence[Request], after: Iterable[Request],
           notify_at: Collection[datetime.datetime]) -> int:
    """Return the bytes that a change of requests and new notifications add; it can be negative.

    Each changed reservation counts as one event, because a change leaves rows even if the request
    does not get longer.
    """
    return (of_requests(after) - of_requests(before)
            + of_events(len(before) + len(notify_at)))
