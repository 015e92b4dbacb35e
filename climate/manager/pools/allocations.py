# SPDX-License-Identifier: Apache-2.0
"""The allocations of the resources of a pool, for administrators."""
import collections
import dataclasses

from climate.db import allocation_lists
from climate.db import resources
from climate.manager import owner_names


class AllocationLists:
    """The use cases of allocations."""

    def __init__(self, core):
        self._core = core

    def find(self, query, resource_id=None):
        """Return the allocations that match a query, of all resources of a pool or of one.

        :returns: [(resource id, [Allocation, ordered by start])].
        :raises ResourceNotFound: the pool has no resource with that id.
        """
        self._core.registry.pool(query.pool)
        now, part = self._core.clock(), allocation_lists.WHOLE_LIST
        with self._core.database.reader() as connection:
            if resource_id is None:
                ids = resources.ids(connection, query.pool)
            else:
                ids = [resources.get(connection, query.pool, resource_id).id]
                part = allocation_lists.ListPart(ids)
            return _by_resource(ids, _found(connection, query, now, part))

    def page(self, query, limit, marker=None):
        """Return a page of at most `limit` resources and at most `limit` allocations.

        :param marker: the marker that this method returned with the previous page.
        :returns: ([(resource id, [Allocation, ordered by start])], the marker for the next page or
            None). A resource with many allocations continues in the next page.
        """
        self._core.registry.pool(query.pool)
        now = self._core.clock()
        continues = marker is not None and len(marker) > 1
        with self._core.database.reader() as connection:
            # Ids are integers, so the resource that continues is the first one after its id - 1.
            after = None if marker is None else marker[0] - continues
            ids = resources.ids(connection, query.pool, after, limit + 1)
            allocations = _found(connection, query, now, allocation_lists.ListPart(
                ids[:limit], marker if continues else None, limit + 1))
        next_marker = [ids[limit - 1]] if len(ids) > limit else None
        ids = ids[:limit]
        if len(allocations) > limit:
            beyond, allocations = allocations[limit], allocations[:limit]
            last = allocations[-1]
            ids = [key for key in ids if key <= last.resource_id]
            same = beyond.resource_id == last.resource_id
            next_marker = allocation_lists.place(last) if same else [last.resource_id]
        return _by_resource(ids, allocations), next_marker


def _found(connection, query, now, part):
    """Return the Allocations of a part of a list, with the names of the owners of their leases."""
    allocations = allocation_lists.find(connection, query, now, part)
    labels = owner_names.named(connection, [allocation.lease for allocation in allocations])
    return [dataclasses.replace(allocation, lease=label)
            for allocation, label in zip(allocations, labels, strict=True)]


def _by_resource(ids, allocations):
    """Return [(resource id, [Allocation])] for all `ids`, in their order."""
    allocations_of = collections.defaultdict(list)
    for allocation in allocations:
        allocations_of[allocation.resource_id].append(allocation)
    return [(key, allocations_of[key]) for key in ids]
