# SPDX-License-Identifier: Apache-2.0
"""The records of reservations."""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import lifecycle

Moment = datetime.datetime


# The field stays in the process: ``rpc.wire`` leaves it out.
_STAYS = {'stays': True}


class Secrets(dict[str, Any]):
    """The secret fields of a request, {name: value}. Neither a log nor a traceback shows them."""

    def __repr__(self) -> str:
        return '***'

    __str__ = __repr__


#: The key of a binding under which a plugin records what it created before the start. No response
#: has it.
STAGED = 'staged'


@dataclasses.dataclass(frozen=True)
class Reservation:
    """A reservation of a lease: its `request`, and the `binding` that the cloud gave it.

    `allocated` is {need key: resource ids}, with an id once for each copy. `leased_id` is the id of
    its target, the object in the cloud that it leases (such as a server); None if it has no target
    or the target is not known yet. `label` names it among the reservations of its lease.
    It starts after the reservations whose labels are in `depends_on`, and ends before them.
    `secrets` has the fields of the request that its plugin calls secret; only a new or changed
    reservation has them.
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
    allocated: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    secrets: Secrets = dataclasses.field(default_factory=Secrets, repr=False, metadata=_STAYS)

    @property
    def resource_ids(self) -> tuple[int, ...]:
        """Return the sorted ids of the resources of all needs, each once for each copy."""
        return tuple(sorted(key for ids in self.allocated.values() for key in ids))


@dataclasses.dataclass(frozen=True)
class ReservationRequest:
    """A request for one resource type; `id` is that of the reservation to change, or None.

    `label` and `depends_on` are those of Reservation; None if the caller did not set them. A label
    of '' removes it. Only the request of an offer has its `secrets` apart.
    """

    resource_type: str | None
    request: Mapping[str, Any]
    id: str | None = None
    label: str | None = None
    depends_on: tuple[str, ...] | None = None
    secrets: Secrets = dataclasses.field(default_factory=Secrets, repr=False, metadata=_STAYS)


@dataclasses.dataclass(frozen=True)
class EarlyCreation:
    """The objects that are created in the cloud for a reservation during its request.

    `offer_id` is the offer that is being taken. While `closing`, the objects are being deleted.
    """

    id: str
    reservation_id: str
    resource_type: str
    offer_id: str | None
    created_at: Moment
    closing: bool = False
