# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract for idle leases: how to measure and to reclaim them."""
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
from typing import Any

from climate.domain import records
from climate.domain import use_sampling


@dataclasses.dataclass(frozen=True)
class MeasuredPart:
    """The part of a running reservation on one resource.

    :ivar resource: the Resource; None if the reservation has no resource of a pool.
    :ivar copies: the number of copies of the demand on this resource.
    """

    reservation: records.Reservation
    project_id: str
    resource: records.Resource | None
    copies: int

    @property
    def key(self) -> use_sampling.Key:
        """The key of the samples of this part."""
        return self.reservation.id, (
            use_sampling.NO_RESOURCE if self.resource is None else self.resource.id)


class Measured:
    """The methods of types that can measure the use of their reservations.

    The defaults are for types that cannot; their leases are never idle.
    """

    #: True if `use` measures anything.
    measures_use = False

    def use(self, cloud: Any,
            parts: list[MeasuredPart]) -> dict[use_sampling.Key, use_sampling.Use]:
        """Return {key of a MeasuredPart: its Use} at this moment. Reads only.

        Lists whole collections instead of reading single objects, because each call is made only
        once for all types. Leave a part out if its use is not known; it does not count as idle.

        :param cloud: the cloud as Climate itself uses it.
        :param parts: all MeasuredParts of the running reservations of the type.
        """
        return {}

    #: True if idle reservations can be reclaimed with the following methods.
    reclaims = False

    def reclaims_one(self, reservation: records.Reservation) -> bool:
        """Return whether this reservation can be reclaimed. Pure."""
        return self.reclaims

    def close(self, cloud: Any, lease: records.Lease, reservation: records.Reservation) -> None:
        """Close the reservation to new servers of the project. Repeatable."""
        raise NotImplementedError

    def reopen(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
               resources: Mapping[str, tuple[records.Resource, ...]]) -> None:
        """Undo `close` and `give_up`: the reservation has these resources again. Repeatable."""
        raise NotImplementedError

    def occupied(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
                 resources: Mapping[str, tuple[records.Resource, ...]]) -> frozenset[int]:
        """Return the ids of the resources that have a server, even a stopped one. Reads only.

        If a server that is being placed may arrive on any of the resources, all ids are returned.
        Called after `close`, so the other resources are empty and stay empty.

        :raises StillBusy: the servers of some resources are not known now.
        """
        return frozenset()

    def least(self, request: Mapping[str, Any]) -> int | None:
        """Return the number of resources that a reclaim must leave; None: all of them. Pure."""
        return None

    def lessened(self, request: Mapping[str, Any], count: int) -> dict[str, Any]:
        """Return the request for at most `count` resources. Pure."""
        raise NotImplementedError

    def give_up(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
                resources: Collection[records.Resource]) -> None:
        """Return these whole resources to their pool. Called after `close`. Repeatable.

        :raises StillBusy: one of them is in use.
        """
        raise NotImplementedError
