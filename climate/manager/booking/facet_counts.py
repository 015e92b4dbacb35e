# SPDX-License-Identifier: Apache-2.0
"""Count the resources of a pool by the values of their properties, for choices in criteria."""
import dataclasses
import datetime

import numpy as np

from climate import errors
from climate.db import allocations
from climate.domain import facets
from climate.domain import lease_times
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import booking
from climate.manager.booking import candidates
from climate.manager.booking import criteria
from climate.manager.booking import offer_expiry
from climate.manager.booking import start_times
from climate.manager.booking import wish_lists
from climate.plugins import base

_DEFAULT_SECONDS = 3600


class FacetCounts:
    """Answers queries for the facets of a pool."""

    def __init__(self, core):
        self._core = core

    def find(self, context, query):
        """Return the FacetAnswer to a ``facets.FacetQuery``.

        A resource counts as free exactly if a new lease could get it for the whole span.

        :raises UnknownPool: there is no such pool.
        :raises BadDate: the start is in the past.
        :raises BadRequest: the span, the criteria or the reservation are wrong; the error names the
            field.
        """
        pool, now = self._core.registry.pool(query.pool), self._core.clock()
        span, need = _span(query, now), self._need(context, query)
        offer_expiry.expire(self._core, now)
        terms = booking.Booking(self._core).terms((), span, now)
        with self._core.database.reader() as connection, start_times.SEARCH_SLOTS:
            criteria.check_names(self._core, connection, need, query.hidden)
            kinds = criteria.readable_kinds(connection, pool)
            enrolled = {
                key: resource for key, resource in allocations.reservable_resources(
                    connection, pool.name).items() if terms.may_have(resource)}
            rows = criteria.values_of(self._core, connection, pool.name, enrolled,
                                      {*kinds, *requirement.names(need.requirement)})
            free = self._free(connection, need, terms)
        matching, matching_free, found = facets.counted(need.requirement, rows, free, kinds)
        return facets.FacetAnswer(span.start, span.end, len(enrolled), matching, matching_free,
                                  found)

    def _need(self, context, query):
        """Return the Need for one copy, with all criteria of a FacetQuery.

        :raises BadField: the reservation needs no resource of the pool.
        """
        wanted = requirement.parse(query.criteria)
        if query.reservation is None:
            return base.Need('', query.pool, selection.Demand(selection.WHOLE, 1, 1), wanted)
        for need in wish_lists.needs_of_request(self._core, context, query.reservation):
            if need.pool == query.pool:
                return dataclasses.replace(need, requirement=requirement.conjunction(
                    need.requirement, wanted))
        raise errors.BadField(field='reservation', reason=(
            f'{query.reservation.resource_type} needs no resource of the pool {query.pool}.'))

    def _free(self, connection, need, terms):
        """Return the ids of the resources on which one copy fits, whatever the criteria."""
        anything = dataclasses.replace(need, requirement=requirement.NOTHING)
        if need.demand.amount is selection.WHOLE:
            return set(candidates.unused(self._core, connection, anything, terms).ids.tolist())
        found = candidates.shared(self._core, connection, anything, terms)
        copies, _ = found.free_copies(need.demand.amount, terms.span)
        return set(found.ids[np.flatnonzero(copies)].tolist())


def _span(query, now):
    """Return the Interval of a FacetQuery.

    :raises BadDate: the start is in the past.
    :raises BadField: the end is not after the start.
    """
    start = now if query.start is None else query.start
    lease_times.refuse_past(start, now, 'start')
    start = max(start, now)
    end = query.end or lease_times.plus(start, query.duration_seconds or _DEFAULT_SECONDS)
    return lease_times.window(start, end, datetime.timedelta.max)
