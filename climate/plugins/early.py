# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract for objects that must exist when a request is answered."""
from collections.abc import Mapping
from typing import Any

from climate.domain import records
from climate.plugins import cloud as clouds


class CreatesEarly:
    """The methods that create objects in the cloud before a request is answered.

    Use them only for objects whose ids clients need from the response, such as a server group that
    clients name when they boot servers. The client waits meanwhile, so `start` creates all other
    objects. The defaults in this class create nothing.
    """

    def creates_early(self, request: dict[str, Any]) -> bool:
        """Return True if `create_early` is to be called for a resolved request. Pure."""
        return False

    def create_early(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                     reservation: records.Reservation,
                     before: records.Reservation | None = None) -> dict[str, Any]:
        """Create the objects that the response must name; return the binding, as a dict.

        Called before the lease is booked, even if the lease gets its resources later. `start` gets
        the binding with the reservation, and recreates missing objects. `cloud` has no attempt; its
        `as_user` may act with the token of the request, because the lease may have no trust.

        :param before: the present Reservation, if a change of its request is being answered. An
            object that both versions need is not created again. None for a new reservation.
        """
        return {}

    def delete_early(self, cloud: clouds.Cloud, reservation_id: str,
                     binding: Mapping[str, Any] | None = None) -> None:
        """Delete the objects of `create_early`; not found is success. Repeatable.

        :param binding: the result of `create_early`; only its objects are deleted. None if the
            result was lost; then all early objects of the reservation are deleted.
        """

    def was_started(self, reservation: records.Reservation) -> bool:
        """Return True if the binding of the reservation comes from `start`. Pure."""
        return bool(reservation.binding)
