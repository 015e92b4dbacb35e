# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract that lists the objects that an end or a change deletes."""
from collections.abc import Mapping
from collections.abc import Sequence

from climate.domain import losses
from climate.domain import records
from climate.plugins import cloud as clouds


class LosesObjects:
    """The methods that dry runs call to warn users.

    Each must find the objects with the code that deletes them, so that the warning is true. They
    only read: ``cloud.as_service()`` refuses every call that would change the cloud, and no other
    identity is available. The defaults are for types whose ends delete nothing.
    """

    def lost_at_end(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                    reservation: records.Reservation,
                    resources: Mapping[str, tuple[records.Resource, ...]]
                    ) -> Sequence[losses.Loss]:
        """Return the Losses if the reservation ended now; the parameters are those of `end`.

        :raises StillBusy: not all of the objects are known.
        """
        return ()

    def lost_by_change(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                       reservation: records.Reservation,
                       resources: Mapping[str, tuple[records.Resource, ...]]
                       ) -> Sequence[losses.Loss]:
        """Return the Losses of a change of the running reservation.

        The parameters are those of the `start` that carries out the change: `reservation` and
        `resources` are as they are after the change, and ``cloud.attempt.former`` has the whole
        resources that the reservation loses.

        :raises StillBusy: not all of the objects are known.
        """
        return ()
