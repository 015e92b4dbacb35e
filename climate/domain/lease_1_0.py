# SPDX-License-Identifier: Apache-2.0
"""The lease object of REST 1.0, for responses and for notifications on the bus."""
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import moments
from climate.domain import event_kinds
from climate.domain import records

#: A function that returns the fields of a Reservation at REST 1.0 that its resource type adds.
OwnFields = Callable[[records.Reservation], Mapping[str, Any]]


def lease(lease: records.Lease, status: str, own_fields: OwnFields) -> dict[str, Any]:
    """Return a Lease as clients of REST 1.0 read it.

    :param status: the status word at REST 1.0.
    """
    return {
        'id': lease.id, 'name': lease.name, 'user_id': lease.user_id,
        'project_id': lease.project_id, 'trust_id': lease.trust_id, 'status': status,
        'degraded': lease.degraded, 'start_date': moments.exactly(lease.start),
        'end_date': moments.exactly(lease.end), **stamps(lease),
        'reservations': [_reservation(reservation, own_fields)
                         for reservation in lease.reservations],
        'events': [_event(event) for event in lease.events if event.kind in event_kinds.SHOWN],
    }


def stamps(record: Any) -> dict[str, str | None]:
    """Return created_at and updated_at of a record as REST 1.0 shows them."""
    return {'created_at': moments.plainly(record.created_at),
            'updated_at': moments.plainly(record.updated_at)}


def _reservation(reservation: records.Reservation, own_fields: OwnFields) -> dict[str, Any]:
    return {
        # Clients expect an id here, even if the reservation has no single resource.
        'resource_id': reservation.id,
        **own_fields(reservation),
        'id': reservation.id, 'lease_id': reservation.lease_id,
        'resource_type': reservation.resource_type, 'status': reservation.state,
        'missing_resources': reservation.missing_resources,
        'resources_changed': reservation.resources_changed, **stamps(reservation),
    }


def _event(event: records.Event) -> dict[str, Any]:
    return {'id': event.id, 'lease_id': event.lease_id, 'event_type': event.kind,
            'time': moments.exactly(event.at), 'status': event.status, **stamps(event)}
