# SPDX-License-Identifier: Apache-2.0
"""The needs of leases for the resources of one pool, and the resources that meet their criteria."""
import dataclasses
import json

import numpy as np

from climate.domain import selection
from climate.manager.booking import criteria
from climate.manager.planning import pool_copy


class LeaseNeeds:
    """Finds the needs of leases; equal requests and equal criteria are looked up once."""

    def __init__(self, core, connection, pool, resources, twins, ids):
        """Keep the pool; nothing is read yet.

        :param resources: {id: Resource} of those that exist.
        :param twins: {id of an added resource: id of the one that it is like}.
        :param ids: the sorted ids of both, an array.
        """
        self._core, self._connection, self._pool = core, connection, pool
        self._resources, self._twins, self._ids = resources, twins, ids
        self._rows, self._needs, self._masks = {}, {}, []

    def read(self, rows):
        """Keep the rows of reservations, as ``plans.reservations`` returns them."""
        self._rows = rows

    def of(self, lease_id, has):
        """Return the MaskedDemands of a lease for this pool.

        :param has: {(reservation id, need key): {resource id: copies}} that it keeps if possible.
        :returns: [] if it needs nothing of the pool; None if its type is not enabled any more.
        """
        asks = []
        for row in self._rows.get(lease_id, ()):
            needs = self._needs_of(row)
            if needs is None:
                return None
            for need in needs:
                keep = has.get((row.id, need.key), {})
                if need.optional and not keep:
                    continue
                demand = dataclasses.replace(need.demand, keep=tuple(
                    selection.Pick(key, copies) for key, copies in keep.items()))
                asks.append(pool_copy.MaskedDemand(demand, self._mask(need)))
        return asks

    def _needs_of(self, row):
        if row.resource_type not in self._core.registry.plugins:
            return None
        key = row.resource_type, json.dumps(row.request, sort_keys=True)
        if key not in self._needs:
            plugin = self._core.registry.plugin(row.resource_type)
            self._needs[key] = [need for need in plugin.needs(row.request)
                                if need.pool == self._pool]
        return self._needs[key]

    def _mask(self, need):
        for known, mask in self._masks:
            if known == need.requirement:
                return mask
        met = set(criteria.matching(self._core, self._connection, need, self._resources))
        mask = np.array([self._twins.get(key, key) in met for key in self._ids.tolist()], bool)
        self._masks.append((need.requirement, mask))
        return mask
