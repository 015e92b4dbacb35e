# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract for objects that must exist when a request is answered."""
from collections.abc import Mapping
from typing import Any

from climate.domain import records
from climate.plugins import cloud as clouds


class CreatesEarly:
    """The methods that create objects in the cloud before a request is answered.

    They are for objects whose ids clients need from the answer, such as a server group that they
    name when they boot. The methods of this class create nothing.

    The client waits for these methods, so `start` must create all that can wait until then.
    """

    def creates_early(self, request: dict[str, Any]) -> bool:
        """Return True if `create_early` is to be called for a resolved request. Pure."""
        return False

    def create_early(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                     reservation: records.Reservation,
                     before: records.Reservation | None = None) -> dict[str, Any]:
        """Create the objects that the answer must name; return the binding, as a dict.

        Called as soon as the lease has its trust, before it is booked; also if the lease gets its
        resources later. `start` gets the binding with the reservation, and creates missing objects
        again. `cloud` is as in `start`, without an attempt.

        :param before: the Reservation that this one replaces, if its request changes; objects
            for both stay as they are. None for a new reservation.
        """
        return {}

    def delete_early(self, cloud: clouds.Cloud, reservation_id: str,
                     binding: Mapping[str, Any] | None = None) -> None:
        """Delete the objects of `create_early`; not found is success. Repeatable.

        :param binding: the result of `create_early`: only its objects are deleted. None if it was
            lost: all objects that were created early for the reservation are deleted.
        """

    def was_started(self, reservation: records.Reservation) -> bool:
        """Return True for a reservation that got a binding from `start`. Pure."""
        return bool(reservation.binding)
