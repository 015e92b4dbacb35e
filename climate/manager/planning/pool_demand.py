# SPDX-License-Identifier: Apache-2.0
"""The demand for a pool in each hour: allocations, waiting leases and refused requests.

Demand counts at the time for which a request asked. For a lease that waited in the queue, this time
begins when it came into the queue, not when it got its resources.

A refused request may have asked for any number of resources. So in each hour, the waiting and
refused requests of a project count together for at most the number of resources that the pool has
or had.
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

# The number of different criteria whose matching resources are read. Each needs a query, and
# refused requests may have any number of different criteria.
_MOST_COMPARED = 200


class PoolDemand:
    """The demand for the resources of a pool that meet the criteria of a need.

    Demand for a host that is out of service now, or was withdrawn, counts too.

    :param need: a ``base.Need``.
    :ivar matching: the ids of the resources, including withdrawn ones.
    :ivar since: the moment at which the first resource of the pool was enrolled, or None.
    """

    def __init__(self, core, connection, need):
        self._core, self._connection, self._pool = core, connection, need.pool
        self._criteria = set(requirement.criteria(need.requirement))
        rows = planning_rows.enrolled(connection, need.pool)
        resources = {row.id: records.Resource(row.id, need.pool, row.name, row.capacity)
                     for row in rows}
        self.since = min((row.created_at for row in rows), default=None)
        self.matching = frozenset(criteria.matching(core, connection, need, resources))
        self._capacities = {key: resource.capacity for key, resource in resources.items()}
        # A refused request could have got one of these resources.
        self._enrolled = {row.id: resources[row.id] for row in rows if row.withdrawn_at is None}
        self._fractions = {}

    def past(self, edges):
        """Return (the resource-hours in demand in each hour, the sum of the refused ones).

        :param edges: the starts of the hours and the end of the last one, in microseconds.
        """
        if len(edges) < 2:
            return np.zeros(0), 0.0
        span = _span(edges)
        allocated = [(*_asked(row), share) for row, share in self._allocations(span)]
        refused, waiting = self._refused(span), self._waiting(span)
        unmet = sum((self._bounded(edges, refused[project] + waiting[project])
                     for project in {*refused, *waiting}), np.zeros(len(edges) - 1))
        return _by_hour(edges, allocated) + unmet, float(sum(
            self._bounded(edges, uses).sum() for uses in refused.values()))

    def _bounded(self, edges, uses):
        """Return the resource-hours of one project in each hour, limited to those of the pool."""
        return _by_hour(edges, uses).clip(0, len(self._capacities))

    def allocated(self, edges):
        """Return the resource-hours that are allocated in each future hour."""
        return _by_hour(edges, [(row.start, row.end, share)
                                for row, share in self._allocations(_span(edges))])

    def _allocations(self, span):
        for row in planning_rows.demand(self._connection, self._pool, span):
            if not self._criteria or row.resource_id in self.matching:
                yield row, 1.0 if row.whole else resource_hours.share(
                    row.amount, row.copies, self._capacities[row.resource_id])

    def _waiting(self, span):
        """Return the demand of leases in the queue, {project id: [(start, end, resources)]}."""
        leases = {row.id: row for row in planning_rows.waiting(self._connection)}
        uses = collections.defaultdict(list)
        for lease_id, rows in planning_rows.reservations(self._connection, leases).items():
            start, end = _asked_in_queue(leases[lease_id])
            if end <= span.start:
                continue
            for need in self._needs(rows):
                amount = None if need.demand.amount is selection.WHOLE else need.demand.amount
                uses[leases[lease_id].project_id].append((
                    start, end, self._share(amount, need.demand.at_least)
                    * self._fraction(need.requirement)))
        return uses

    def _needs(self, rows):
        for row in rows:
            # A type may be disabled while its leases wait.
            if row.resource_type in self._core.registry.plugins:
                for need in self._core.registry.plugin(row.resource_type).needs(row.request):
                    if need.pool == self._pool and not need.optional:
                        yield need

    def _refused(self, span):
        """Return the demand of refused requests, {project id: [(start, end, resources)]}."""
        uses = collections.defaultdict(list)
        for refusal in refusals.of_pool(self._connection, self._pool, span):
            uses[refusal.project_id].append((
                refusal.start, refusal.end, self._share(refusal.amount, refusal.copies)
                * self._fraction_of_refusal(refusal.criteria)))
        return uses

    def _share(self, amount, copies):
        """Return the average number of resources of this pool that copies of an amount take."""
        if amount is None or not self._capacities:
            return float(copies)
        return copies * float(np.mean([resource_hours.share(amount, 1, capacity)
                                       for capacity in self._capacities.values()]))

    def _fraction_of_refusal(self, recorded):
        """Return the `_fraction` of a refused request.

        :param recorded: the text of its criteria; None in an old refusal.
        """
        if recorded is not None:
            # Another release may have recorded criteria that this release cannot parse.
            with contextlib.suppress(errors.MalformedRequirement):
                return self._fraction(requirement.parse(recorded))
        return 0.0 if self._criteria else 1.0

    def _fraction(self, requested):
        """Return the fraction of a request that is demand for the matching resources.

        It is 1 if the request has all criteria of the need. Otherwise, it is the fraction of the
        matching resources among all that the request could get, because a request for any host
        sometimes gets a matching one. After `_MOST_COMPARED` different criteria, all others count
        as requests for any resource.

        :param requested: the parsed criteria of the request.
        """
        if self._criteria <= set(requirement.criteria(requested)):
            return 1.0
        if requested not in self._fractions:
            possible = self._enrolled.keys()
            if len(self._fractions) < _MOST_COMPARED:
                need = base.Need('', self._pool, selection.Demand(selection.WHOLE, 1, 1), requested)
                possible = criteria.matching(self._core, self._connection, need, self._enrolled)
            self._fractions[requested] = (
                len(self.matching.intersection(possible)) / max(1, len(possible)))
        return self._fractions[requested]


def _asked(row):
    """Return the (start, end) for which the lease of an allocation asked."""
    if row.asked_at is None or row.asked_at >= row.start:
        return row.start, row.end
    if row.duration_seconds is None:
        return row.asked_at, row.end
    return row.asked_at, row.end - (row.start - row.asked_at)


def _asked_in_queue(row):
    """Return the (start, end) for which a lease in the queue asked."""
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
