# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract by which a lease gives a part of its resources to sub-leases."""
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate.domain import records
from climate.plugins import cloud as clouds


class SubLeasable:
    """The methods of a plugin for sub-leases. The defaults are for types without sub-leases.

    A sub-lease is an ordinary lease with `lease.parent`. Its resources stay with their parent in
    the cloud, too: they are never returned to the pool by `end`, but to the parent.
    """

    #: Whether whole resources of the type can be given to sub-leases.
    has_sub_leases: ClassVar[bool] = False

    def sub_lease_request(self, count: int) -> dict[str, Any]:
        """Return the request of a reservation for a number of sub-leased resources. Pure."""
        raise NotImplementedError

    def in_use(self, cloud: clouds.LeaseCloud, resources: Mapping[str, tuple[
            records.Resource, ...]]) -> frozenset[int]:
        """Return the ids of the resources on which servers are. Reads only."""
        return frozenset()
