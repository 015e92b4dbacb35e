# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract for idle leases: their use, and their reclaim."""
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
from typing import Any

from climate.domain import records
from climate.domain import use_sampling


@dataclasses.dataclass(frozen=True)
class MeasuredPart:
    """A part of a running reservation: one of its resources.

    :ivar resource: the Resource; None: the reservation has no resource of a pool.
    :ivar copies: the number of requested copies there.
    """

    reservation: records.Reservation
    project_id: str
    resource: records.Resource | None
    copies: int

    @property
    def key(self) -> use_sampling.Key:
        """Return the key of its samples."""
        return self.reservation.id, (
            use_sampling.NO_RESOURCE if self.resource is None else self.resource.id)


class Measured:
    """The methods of types that can measure their use.

    The defaults are for types that cannot: their leases are never idle.
    """

    #: True if `use` measures anything.
    measures_use = False

    def use(self, cloud: Any,
            parts: list[MeasuredPart]) -> dict[use_sampling.Key, use_sampling.Use]:
        """Return {key of a MeasuredPart: its Use} at this moment. Reads only.

        It lists whole collections instead of single objects: each call is made once for all types.
        A part that is left out is unknown, which is not the same as idle.

        :param cloud: the cloud as Climate itself uses it.
        :param parts: all MeasuredParts of the running reservations of the type.
        """
        return {}

    #: True if idle reservations can be reclaimed, with the methods below.
    reclaims = False

    def reclaims_one(self, reservation: records.Reservation) -> bool:
        """Return whether this reservation can be reclaimed. Pure."""
        return self.reclaims

    def close(self, cloud: Any, lease: records.Lease, reservation: records.Reservation) -> None:
        """Close the reservation to new servers of the project. Repeatable."""
        raise NotImplementedError

    def reopen(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
               resources: Mapping[str, tuple[records.Resource, ...]]) -> None:
        """Undo `close`, and give the reservation these resources if `give_up` took some.

        Repeatable.
        """
        raise NotImplementedError

    def occupied(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
                 resources: Mapping[str, tuple[records.Resource, ...]]) -> frozenset[int]:
        """Return the ids of the resources with any server, even if it does not run.

        A server that is being placed counts: if it may arrive on any of them, all of them are
        returned. After `close`, no other resource has or gets a server. Reads only.

        :raises StillBusy: the cloud cannot answer for all of them now.
        """
        return frozenset()

    def least(self, request: Mapping[str, Any]) -> int | None:
        """Return the number of resources that a reservation keeps; None: all of them. Pure."""
        return None

    def lessened(self, request: Mapping[str, Any], count: int) -> dict[str, Any]:
        """Return the request for at most `count` resources. Pure."""
        raise NotImplementedError

    def give_up(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
                resources: Collection[records.Resource]) -> None:
        """Return some whole resources to their pool after `close`. Repeatable.

        :raises StillBusy: one of them is in use after all.
        """
        raise NotImplementedError
