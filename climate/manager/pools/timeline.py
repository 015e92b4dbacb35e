# SPDX-License-Identifier: Apache-2.0
"""The timeline of a pool: its resources, their allocations over time, and waiting leases."""
import dataclasses

from climate.db import resource_properties
from climate.db import resources
from climate.db import timeline_rows
from climate.domain import requirement
from climate.domain import selection
from climate.domain import texts
from climate.domain import timeline
from climate.domain import usage_figures
from climate.manager import owner_names
from climate.manager.booking import criteria
from climate.manager.pools import timeline_allocations
from climate.manager.pools import timeline_bars
from climate.plugins import base


class Timelines:
    """Answers queries for timelines."""

    def __init__(self, core, counts):
        """:param counts: the ChangeCounts."""
        self._core = core
        self._counts = counts

    def find(self, query):
        """Return the Timeline that answers a ``timeline.TimelineQuery``.

        :raises UnknownPool: there is no such pool.
        :raises BadRequest: the criteria are malformed, or name an unknown property.
        :raises BadField: there are too many bars.
        """
        self._core.registry.pool(query.pool)
        now = self._core.clock()
        with self._core.database.reader() as connection:
            change_count = self._counts.read(connection)
            shown = self._resources(connection, query)
            found = timeline_allocations.find(connection, query,
                                              [resource.id for resource in shown], now)
            bars = timeline_bars.merged(found.bars, query.resolution)
            numbers = timeline_bars.named(bars, query.resolution)
            ids = [found.lease_id(number) for number in numbers]
            known = timeline_rows.leases(connection, ids)
            leases = owner_names.named(connection, [known[key] for key in ids])
            waiting, has_more = self._waiting(connection, query)
        return timeline.Timeline(
            query.start, query.end, now, tuple(shown), tuple(leases),
            waiting=waiting, more_wait=has_more, changes=change_count, until=found.until,
            **timeline_bars.columns(bars, [resource.id for resource in shown], numbers,
                                    found.words, usage_figures.second(query.start)))

    def _waiting(self, connection, query):
        """Return (the first WaitingLeases of a pool, whether there are more)."""
        types = [name for name, plugin in self._core.registry.plugins.items()
                 if any(pool.name == query.pool for pool in plugin.pools)]
        rows = timeline_rows.waiting(connection, types, timeline.MOST_WAITING + 1)
        requests = timeline_rows.requests(connection, [row.id for row in rows])
        shown, position = [], 0
        for row in rows[:timeline.MOST_WAITING]:
            count = self._needed(requests[row.id], query.pool)
            if not count:
                continue
            position += not row.outside
            own = row.project_id == query.project_id
            waiting = timeline.WaitingLease(None if row.outside else position, row.created_at,
                                            row.type, count, own)
            if own or query.everybody:
                waiting = dataclasses.replace(
                    waiting, lease=timeline.ShownLease(
                        row.id, row.name, row.project_id, row.user_id),
                    reason=texts.stored(row.reason, row.owner_reason, row.id))
            shown.append(waiting)
        return tuple(shown), len(rows) > timeline.MOST_WAITING

    def _needed(self, requests, pool):
        """Return the minimum number of resources of a pool that reservations need."""
        plugins = self._core.registry.plugins
        return sum(need.demand.at_least for row in requests if row.resource_type in plugins
                   for need in plugins[row.resource_type].needs(row.request)
                   if need.pool == pool and not need.optional)

    def _resources(self, connection, query):
        """Return the TimelineResources that meet the criteria of a query."""
        need = base.Need('', query.pool, selection.Demand(selection.WHOLE, 1, 1),
                         requirement.parse(query.criteria))
        criteria.check_names(self._core, connection, need, query.hidden)
        enrolled = {resource.id: resource for resource in resources.find(connection, query.pool)}
        _public, private = resource_properties.names(connection, query.pool)
        return [_shown_resource(enrolled[key], private)
                for key in criteria.matching(self._core, connection, need, enrolled)]


def _shown_resource(resource, private):
    return timeline.TimelineResource(resource.id, resource.name, resource.reservable, {
        name: text for name, text in resource.properties.items() if name not in private})
