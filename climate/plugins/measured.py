# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract for idle leases: what is used, and how it is taken back."""
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
from typing import Any

from climate.domain import records
from climate.domain import use_sampling


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a running reservation: one of its resources.

    :ivar resource: the Resource; None: the reservation has no resource of a pool.
    :ivar copies: how many copies of what was asked for it has there.
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
    """The methods of types that know what is used of them.

    The defaults are for types that do not know it: their leases are never idle.
    """

    #: True if `use` tells something.
    measures_use = False

    def use(self, cloud: Any, parts: list[Part]) -> dict[use_sampling.Key, use_sampling.Use]:
        """Return {key of a Part: its Use} at this moment. Reads only.

        It lists whole collections instead of asking for each reservation: each call is made once
        for all types. A part that is left out is unknown, which is not the same as idle.

        :param cloud: the cloud as Climate itself uses it.
        :param parts: all Parts of the running reservations of the type.
        """
        return {}

    #: True if idle reservations can be taken back: the methods below are there.
    reclaims = False

    def reclaims_one(self, reservation: records.Reservation) -> bool:
        """Return whether this reservation can be taken back. Pure."""
        return self.reclaims

    def close(self, cloud: Any, lease: records.Lease, reservation: records.Reservation) -> None:
        """Let the project bring nothing new onto the reservation. Repeatable."""
        raise NotImplementedError

    def reopen(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
               resources: Mapping[str, tuple[records.Resource, ...]]) -> None:
        """Undo `close`, and give the reservation these resources if `give_up` took some.

        Repeatable.
        """
        raise NotImplementedError

    def occupied(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
                 resources: Mapping[str, tuple[records.Resource, ...]]) -> frozenset[int]:
        """Return the ids of the resources on which there is anything, even if it does not run.

        What is on its way counts: if it may come to any of them, all of them are returned. After
        `close`, nothing is there or comes there that was not returned. Reads only.

        :raises StillBusy: the cloud does not tell it of all of them now.
        """
        return frozenset()

    def least(self, request: Mapping[str, Any]) -> int | None:
        """Return how many resources a running reservation keeps; None: it cannot lose any. Pure."""
        return None

    def lessened(self, request: Mapping[str, Any], count: int) -> dict[str, Any]:
        """Return the request for at most `count` resources. Pure."""
        raise NotImplementedError

    def give_up(self, cloud: Any, lease: records.Lease, reservation: records.Reservation,
                resources: Collection[records.Resource]) -> None:
        """Return some whole resources to their pool after `close`. Repeatable.

        :raises StillBusy: there is something on one of them after all.
        """
        raise NotImplementedError
