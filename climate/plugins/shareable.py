# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract by which other projects use the resources of a lease."""
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate.domain import losses
from climate.domain import records
from climate.plugins import cloud as clouds


class Shareable:
    """The methods of a plugin for the shares of a lease. All are repeatable.

    The parameters are those of `start`. ``lease.shares`` has the open and the withdrawn shares, and
    ``domain.shares`` decides which projects may boot servers. `start` of such a type must open new
    objects for these projects, too, and `end` must close them. The defaults are for types whose
    resources only the owner can use.
    """

    #: Whether some reservations of the type can be used by other projects.
    has_guests: ClassVar[bool] = False

    @classmethod
    def takes_guests(cls, request: dict[str, Any]) -> bool:
        """Return whether other projects can use a reservation with this request. Pure."""
        return cls.has_guests

    def share(self, cloud: clouds.LeaseCloud, lease: records.Lease,
              reservation: records.Reservation,
              resources: Mapping[str, tuple[records.Resource, ...]]) -> None:
        """Open a reservation to the guests of its lease, and close it to former guests."""

    def guest_servers(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                      reservation: records.Reservation,
                      resources: Mapping[str, tuple[records.Resource, ...]],
                      project_id: str) -> Sequence[losses.Loss]:
        """Return the servers of another project on a running reservation. Changes nothing.

        :raises StillBusy: not all servers are known.
        """
        return ()

    def clear_guest(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                    reservation: records.Reservation,
                    resources: Mapping[str, tuple[records.Resource, ...]],
                    project_id: str, deletes: bool) -> None:
        """Stop or delete the servers of another project, whose share was withdrawn.

        :param deletes: whether the servers are deleted; else they are stopped.
        :raises StillBusy: some servers are not stopped or deleted yet.
        """
