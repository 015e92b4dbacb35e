# SPDX-License-Identifier: Apache-2.0
"""What a lease is after one of its events was carried out, by what is written of that.

Whoever holds the claim of a lease knows it and writes what becomes of it, so it need not be read
again for the news of it.
"""
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import lifecycle
from climate.domain import records


def of_lease(lease: records.Lease, event: records.Event, states: Mapping[str, str],
             bindings: Mapping[str, Mapping[str, Any]], closed: Collection[str],
             now: datetime.datetime) -> records.Lease:
    """The lease with its reservations and events as they are then; its own fields stay.

    :param event: what was carried out, as it was claimed.
    :param states: {reservation id: its new state}.
    :param bindings: {reservation id: what the cloud made for it}.
    :param closed: the kinds of events of which there is nothing left to do.
    """
    return dataclasses.replace(
        lease,
        reservations=tuple(_reservation(each, states.get(each.id), bindings.get(each.id), now)
                           for each in lease.reservations),
        events=tuple(_event(event if each.id == event.id else each, event.id, closed, now)
                     for each in lease.events))


def _reservation(reservation: records.Reservation, state: str | None,
                 binding: Mapping[str, Any] | None,
                 now: datetime.datetime) -> records.Reservation:
    if state is None and binding is None:
        return reservation
    over = state == lifecycle.RESERVATION_DELETED
    return dataclasses.replace(
        reservation, updated_at=now, state=state or reservation.state,
        leased_id=None if over else reservation.leased_id,
        binding=reservation.binding if binding is None else binding)


def _event(event: records.Event, done_id: str, closed: Collection[str],
           now: datetime.datetime) -> records.Event:
    if event.id == done_id:
        return dataclasses.replace(event, status=lifecycle.EVENT_DONE, claim_owner=None,
                                   claimed_until=None, updated_at=now)
    if event.kind in closed and event.status in lifecycle.EVENT_OPEN:
        return dataclasses.replace(event, status=lifecycle.EVENT_DONE, updated_at=now)
    return event
