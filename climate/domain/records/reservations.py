# SPDX-License-Identifier: Apache-2.0
"""The records of reservations."""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import lifecycle
from climate.domain import sub_leases

Moment = datetime.datetime


# The metadata of fields that ``rpc.wire`` does not send to other processes.
_STAYS = {'stays': True}


class Secrets(dict[str, Any]):
    """The secret fields of a request, {name: value}. Neither a log nor a traceback shows them."""

    def __repr__(self) -> str:
        return '***'

    __str__ = __repr__


#: The key in a binding for the objects that a plugin created before the start of the lease.
#: Responses leave this key out.
STAGED = 'staged'
#: The key in a binding for the ids of the leases that had the reservation before transfers. Servers
#: may have been booted with these ids. Responses leave this key out.
FORMER_LEASES = 'former_leases'
#: The keys in a binding that responses leave out.
HIDDEN_IN_BINDING = (STAGED, FORMER_LEASES, sub_leases.PARENT)


@dataclasses.dataclass(frozen=True)
class Reservation:
    """A reservation of a lease.

    `binding` has the ids of the objects in the cloud that were created for the reservation.
    `allocated` is {key of a need of the plugin: resource ids}, with an id once for each copy.
    `leased_id` is the id of the target, which is the object in the cloud that is leased, such as a
    server; None: there is no target, or it is not known yet. `label` names the reservation within
    its lease. It starts after the reservations whose labels are in `depends_on`, and ends before
    them. `secrets` has the fields of the request that the plugin declares secret. It is empty
    unless the reservation is new or changed. `started_at` is when it became active for the first
    time; None: it never did, or its incomplete start was undone.
    """

    id: str
    lease_id: str
    resource_type: str
    request: Mapping[str, Any]
    binding: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    state: str = lifecycle.RESERVATION_PENDING
    missing_resources: bool = False
    resources_changed: bool = False
    leased_id: str | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    label: str | None = None
    depends_on: tuple[str, ...] = ()
    started_at: Moment | None = None
    allocated: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    secrets: Secrets = dataclasses.field(default_factory=Secrets, repr=False, metadata=_STAYS)

    @property
    def resource_ids(self) -> tuple[int, ...]:
        """Return the sorted resource ids of all needs, with an id once for each copy."""
        return tuple(sorted(key for ids in self.allocated.values() for key in ids))


@dataclasses.dataclass(frozen=True)
class ReservationRequest:
    """A request for one resource type.

    `id` is the id of the reservation to change; None: a new one. See Reservation for `label` and
    `depends_on`; None: not set by the caller. A `label` of '' removes the label. Only the request
    of an offer has its secret fields in `secrets`; other requests have them in `request`.
    """

    resource_type: str | None
    request: Mapping[str, Any]
    id: str | None = None
    label: str | None = None
    depends_on: tuple[str, ...] | None = None
    secrets: Secrets = dataclasses.field(default_factory=Secrets, repr=False, metadata=_STAYS)


@dataclasses.dataclass(frozen=True)
class EarlyCreation:
    """The record of objects in the cloud that a plugin creates before the lease is stored.

    `offer_id` is the offer that the lease takes. While `closing`, the objects are being deleted.
    """

    id: str
    reservation_id: str
    resource_type: str
    offer_id: str | None
    created_at: Moment
    closing: bool = False
