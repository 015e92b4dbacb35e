# SPDX-License-Identifier: Apache-2.0
"""The lease object of REST 1.0, which responses and notifications on the bus share."""
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import moments
from climate.domain import event_kinds
from climate.domain import records

#: Returns the fields of its resource type that a Reservation has at REST 1.0.
OwnFields = Callable[[records.Reservation], Mapping[str, Any]]


def lease(found: records.Lease, status: str, own_fields: OwnFields) -> dict[str, Any]:
    """Return a Lease as clients of REST 1.0 read it.

    :param status: its status word at REST 1.0.
    """
    return {
        'id': found.id, 'name': found.name, 'user_id': found.user_id,
        'project_id': found.project_id, 'trust_id': found.trust_id, 'status': status,
        'degraded': found.degraded, 'start_date': moments.exactly(found.start),
        'end_date': moments.exactly(found.end), **stamps(found),
        'reservations': [_reservation(each, own_fields) for each in found.reservations],
        'events': [_event(each) for each in found.events if each.kind in event_kinds.SHOWN],
    }


def stamps(record: Any) -> dict[str, str | None]:
    """Return created_at and updated_at of a record as REST 1.0 shows them."""
    return {'created_at': moments.plainly(record.created_at),
            'updated_at': moments.plainly(record.updated_at)}


def _reservation(found: records.Reservation, own_fields: OwnFields) -> dict[str, Any]:
    return {
        # Clients expect an id here, also if the reservation leases no single resource.
        'resource_id': found.id,
        **own_fields(found),
        'id': found.id, 'lease_id': found.lease_id, 'resource_type': found.resource_type,
        'status': found.state, 'missing_resources': found.missing_resources,
        'resources_changed': found.resources_changed, **stamps(found),
    }


def _event(found: records.Event) -> dict[str, Any]:
    return {'id': found.id, 'lease_id': found.lease_id, 'event_type': found.kind,
            'time': moments.exactly(found.at), 'status': found.status, **stamps(found)}
