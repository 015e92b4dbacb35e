# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract that tells how much of a running reservation is used."""
import dataclasses
from typing import Any

from climate.domain import records
from climate.domain import use


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
    def key(self) -> use.Key:
        """Return the key of its samples."""
        return self.reservation.id, (
            use.NO_RESOURCE if self.resource is None else self.resource.id)


class Measured:
    """The methods of types that know what is used of them.

    The defaults are for types that do not know it: their leases are never idle.
    """

    #: True if `use` tells something.
    measures_use = False

    def use(self, cloud: Any, parts: list[Part]) -> dict[use.Key, use.Use]:
        """Return {key of a Part: its Use} at this moment. Reads only.

        It lists whole collections instead of asking for each reservation: each call is made once
        for all types. A part that is left out is unknown, which is not the same as idle.

        :param cloud: the cloud as Climate itself uses it.
        :param parts: all Parts of the running reservations of the type.
        """
        return {}
