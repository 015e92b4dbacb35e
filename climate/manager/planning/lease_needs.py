# SPDX-License-Identifier: Apache-2.0
"""The needs of leases for the resources of one pool, and the resources that meet their criteria."""
import dataclasses
import json

import numpy as np

from climate.domain import selection
from climate.manager.booking import criteria
from climate.manager.planning import pool_copy


class LeaseNeeds:
    """Finds the needs of leases. It evaluates equal requests and equal criteria only once.

    :param resources: {id: Resource} of the present pool.
    :param twins: {id of an added resource: id of the present resource that it equals}.
    :param ids: the sorted ids of the present and the added resources, an array.
    """

    def __init__(self, core, connection, pool, resources, twins, ids):
        self._core, self._connection, self._pool = core, connection, pool
        self._resources, self._twins, self._ids = resources, twins, ids
        self._needs, self._masks = {}, []

    def of(self, rows, has):
        """Return the MaskedDemands of a lease for this pool.

        :param rows: the rows of its reservations.
        :param has: {(reservation id, need key): {resource id: copies}} that the lease keeps if
            possible.
        :returns: [] if it needs nothing of the pool; None if its type is not enabled any more.
        """
        demands = []
        for row in rows:
            needs = self._needs_of(row)
            if needs is None:
                return None
            for need in needs:
                keep = has.get((row.id, need.key), {})
                if need.optional and not keep:
                    continue
                demand = dataclasses.replace(need.demand, keep=tuple(
                    selection.Pick(key, copies) for key, copies in keep.items()))
                demands.append(pool_copy.MaskedDemand(demand, self._mask(need)))
        return demands

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
        for evaluated, mask in self._masks:
            if evaluated == need.requirement:
                return mask
        matching = set(criteria.matching(self._core, self._connection, need, self._resources))
        mask = np.array([self._twins.get(key, key) in matching for key in self._ids.tolist()], bool)
        self._masks.append((need.requirement, mask))
        return mask
