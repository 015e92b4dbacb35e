# SPDX-License-Identifier: Apache-2.0
"""The demand for a pool in each hour: allocations, waiting leases and refused requests.

All of it counts for the time that was asked for. A lease that waited was asked for from the moment
at which it came into the queue.

A request may ask for any number of resources and be refused. So the waiting and refused requests of
each project count in each hour for at most as many resources as the pool has or had.
"""
import collections
import contextlib
import datetime

import numpy as np

from climate import errors
from climate.db import booking_columns
from climate.db import planning_rows
from climate.db import refusals
from climate.domain import interval
from climate.domain import records
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import criteria
from climate.manager.planning import resource_hours
from climate.plugins import base

# The number of different criteria of requests that are compared with the resources. Each costs a
# statement, and users may be refused with any number of them.
_MOST_COMPARED = 200


class PoolDemand:
    """The demand for the resources of a pool that meet the criteria of a need.

    Demand for a host that is out of service now, or was withdrawn, counts too.

    :ivar matching: the ids of the resources, those that were withdrawn included.
    :ivar since: the moment at which the first resource of the pool was enrolled, or None.
    """

    def __init__(self, core, connection, need):
        """Read the resources of the pool, those that were withdrawn included.

        :param need: a ``base.Need``.
        """
        self._core, self._connection, self._pool = core, connection, need.pool
        self._wanted = set(requirement.criteria(need.requirement))
        rows = planning_rows.enrolled(connection, need.pool)
        known = {row.id: records.Resource(row.id, need.pool, row.name, row.capacity)
                 for row in rows}
        self.since = min((row.created_at for row in rows), default=None)
        self.matching = frozenset(criteria.matching(core, connection, need, known))
        self._capacities = {key: each.capacity for key, each in known.items()}
        # The resources that a refused request could have got.
        self._enrolled = {row.id: known[row.id] for row in rows if row.withdrawn_at is None}
        self._parts = {}

    def past(self, edges):
        """Return (resource-hours in demand in each hour, the sum of those refused).

        :param edges: the beginnings of the hours and the end of the last one, in microseconds.
        """
        if len(edges) < 2:
            return np.zeros(0), 0.0
        span = _span(edges)
        # A lease that waited was asked for earlier than it got its resources.
        allocated = [(*_asked(row), share) for row, share in self._allocations(span)]
        refused, waiting = self._refused(span), self._waiting(span)
        unmet = sum((self._bounded(edges, refused[project] + waiting[project])
                     for project in {*refused, *waiting}), np.zeros(len(edges) - 1))
        return _by_hour(edges, allocated) + unmet, float(sum(
            self._bounded(edges, uses).sum() for uses in refused.values()))

    def _bounded(self, edges, uses):
        """Return the resource-hours of one project in each hour, at most those of the pool."""
        return _by_hour(edges, uses).clip(0, len(self._capacities))

    def allocated(self, edges):
        """Return the resource-hours that are allocated in each future hour."""
        return _by_hour(edges, [(row.start, row.end, share)
                                for row, share in self._allocations(_span(edges))])

    def _allocations(self, span):
        for row in planning_rows.demand(self._connection, self._pool, span):
            if not self._wanted or row.resource_id in self.matching:
                yield row, 1.0 if row.whole else resource_hours.share(
                    row.amount, row.copies, self._capacities[row.resource_id])

    def _waiting(self, span):
        """Return {project id: [(start, end, resources)]} that leases in the queue wait for."""
        leases = {row.id: row for row in planning_rows.waiting(self._connection)}
        uses = collections.defaultdict(list)
        for lease_id, rows in planning_rows.reservations(self._connection, leases).items():
            start, end = _waits(leases[lease_id])
            if end <= span.start:
                continue
            for need in self._needs(rows):
                amount = None if need.demand.amount is selection.WHOLE else need.demand.amount
                uses[leases[lease_id].project_id].append((
                    start, end, self._share(amount, need.demand.at_least)
                    * self._part(need.requirement)))
        return uses

    def _needs(self, rows):
        for row in rows:
            # A type may be disabled while its leases wait.
            if row.resource_type in self._core.registry.plugins:
                for need in self._core.registry.plugin(row.resource_type).needs(row.request):
                    if need.pool == self._pool and not need.optional:
                        yield need

    def _refused(self, span):
        """Return {project id: [(start, end, resources)]} that were refused."""
        uses = collections.defaultdict(list)
        for each in refusals.of_pool(self._connection, self._pool, span):
            uses[each.project_id].append((
                each.start, each.end, self._share(each.amount, each.copies)
                * self._part_of_recorded(each.criteria)))
        return uses

    def _share(self, amount, copies):
        """Return the average number of resources of this pool that copies of an amount take."""
        if amount is None or not self._capacities:
            return float(copies)
        return copies * float(np.mean([resource_hours.share(amount, 1, each)
                                       for each in self._capacities.values()]))

    def _part_of_recorded(self, recorded):
        """Return `_part` for recorded criteria; those of an old refusal are None."""
        if recorded is not None:
            # Another release may have known a word that this one does not.
            with contextlib.suppress(errors.MalformedRequirement):
                return self._part(requirement.parse(recorded))
        return 0.0 if self._wanted else 1.0

    def _part(self, request):
        """Return the part of a request with these criteria that is demand for our resources.

        It is 1 if the request has all our criteria. Otherwise it is the ratio of our resources
        among those that the request could get: a request for any host sometimes takes one of ours.
        After many different criteria, further ones count as requests for any resource.
        """
        if self._wanted <= set(requirement.criteria(request)):
            return 1.0
        if request not in self._parts:
            able = self._enrolled.keys()
            if len(self._parts) < _MOST_COMPARED:
                need = base.Need('', self._pool, selection.Demand(selection.WHOLE, 1, 1), request)
                able = criteria.matching(self._core, self._connection, need, self._enrolled)
            self._parts[request] = len(self.matching.intersection(able)) / max(1, len(able))
        return self._parts[request]


def _asked(row):
    """Return the (start, end) that the lease of an allocation was asked for."""
    if row.asked_at is None or row.asked_at >= row.start:
        return row.start, row.end
    if row.duration_seconds is None:
        return row.asked_at, row.end
    return row.asked_at, row.end - (row.start - row.asked_at)


def _waits(row):
    """Return the (start, end) that a lease in the queue was asked for."""
    if row.duration_seconds is None:
        return row.asked_at, row.end
    return row.asked_at, row.asked_at + datetime.timedelta(seconds=row.duration_seconds)


def _by_hour(edges, uses):
    if not uses:
        return np.zeros(len(edges) - 1)
    starts, ends, shares = zip(*uses, strict=True)
    return resource_hours.hours(edges, *(np.array(
        [booking_columns.microseconds(each) for each in moments], np.int64)
        for moments in (starts, ends)), np.array(shares, float)).clip(0)


def _span(edges):
    return interval.Interval(*(booking_columns.moment(int(edges[place])) for place in (0, -1)))
