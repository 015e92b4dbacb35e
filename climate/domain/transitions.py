# SPDX-License-Identifier: Apache-2.0
"""Transitions of a lease: whether a task may begin, and the lease after an event.

The manager that claimed a lease knows its state and all changes, so it need not read the lease
again for notifications.
"""
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import status_words


def begin(lease_id: str, state: str, running: str | None, task: str) -> None:
    """Check that `task` may begin on a lease.

    :param state: the state of the lease.
    :param running: the task that runs on it now, or None.
    :raises BadTransition: another task runs, or the state does not allow the task.
    """
    other = running if running != task else None
    if other is not None or state not in lifecycle.TASKS[task].begins_in:
        raise errors.BadTransition(lease_id=lease_id, status=status_words.word_1_0(state, other),
                                   task=lifecycle.TASKS[task].verb)


def after_event(lease: records.Lease, event: records.Event, states: Mapping[str, str],
                bindings: Mapping[str, Mapping[str, Any]], closed: Collection[str],
                now: datetime.datetime) -> records.Lease:
    """Return the lease with changed reservations and events, and with its other fields.

    :param event: the claimed event that was carried out.
    :param states: {reservation id: its new state}.
    :param bindings: {reservation id: its new binding}.
    :param closed: the kinds of events that are closed.
    """
    return dataclasses.replace(
        lease,
        reservations=tuple(_reservation(reservation, states.get(reservation.id),
                                        bindings.get(reservation.id), now)
                           for reservation in lease.reservations),
        events=tuple(_event(event if other.id == event.id else other, event.id, closed, now)
                     for other in lease.events))


def _reservation(reservation: records.Reservation, state: str | None,
                 binding: Mapping[str, Any] | None,
                 now: datetime.datetime) -> records.Reservation:
    if state is None and binding is None:
        return reservation
    over = state == lifecycle.RESERVATION_DELETED
    started_at = reservation.started_at
    if started_at is None and state == lifecycle.RESERVATION_ACTIVE:
        started_at = now
    return dataclasses.replace(
        reservation, updated_at=now, state=state or reservation.state,
        leased_id=None if over else reservation.leased_id, started_at=started_at,
        binding=reservation.binding if binding is None else binding)


def _event(event: records.Event, done_id: str, closed: Collection[str],
           now: datetime.datetime) -> records.Event:
    if event.id == done_id:
        return dataclasses.replace(event, status=lifecycle.EVENT_DONE, claim_owner=None,
                                   claimed_until=None, updated_at=now)
    if event.kind in closed and event.status in lifecycle.EVENT_OPEN:
        return dataclasses.replace(event, status=lifecycle.EVENT_DONE, updated_at=now)
    return event
