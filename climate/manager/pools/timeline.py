# SPDX-License-Identifier: Apache-2.0
"""The timeline of a pool: its resources, their allocations over time, and waiting leases."""
import dataclasses

from climate import errors
from climate.db import absences
from climate.db import resource_properties
from climate.db import resources
from climate.db import timeline_rows
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import requirement
from climate.domain import selection
from climate.domain import status_words
from climate.domain import texts
from climate.domain import timeline
from climate.domain import usage_figures
from climate.domain import utilisation
from climate.manager import owner_names
from climate.manager.booking import criteria
from climate.plugins import base

# {cause of an absence: kind of the bars that show it}
_CAUSES = {
    utilisation.OUT_OF_ORDER: timeline.OUT_OF_ORDER, utilisation.ASLEEP: timeline.ASLEEP,
    utilisation.SICK: timeline.OUT_OF_ORDER, utilisation.MAINTAINED: timeline.MAINTENANCE}
# The kind and the end of the absence during a maintenance that runs now.
_MAINTAINED_NOW = (utilisation.MAINTAINED, None)


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
            bars, until = _bars(connection, query, {resource.id for resource in shown}, now)
            bars = timeline.merged(bars, query.resolution)
            ids = timeline.named(bars, query.resolution)
            found = timeline_rows.leases(connection, ids)
            leases = owner_names.named(connection, [found[key] for key in ids])
            waiting, has_more = self._waiting(connection, query)
        lease_places = {key: place for place, key in enumerate(ids)}
        resource_places = {resource.id: place for place, resource in enumerate(shown)}
        return timeline.Timeline(
            query.start, query.end, now, tuple(shown), tuple(leases),
            waiting=waiting, more_wait=has_more, changes=change_count, until=until,
            **timeline.columns(bars, resource_places, lease_places,
                               usage_figures.second(query.start)))

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


def _bars(connection, query, ids, now):
    """Return the Bars of the resources `ids`, ordered by resource and start, and when they change.

    :returns: (the Bars, the first moment at which they differ although the database does not).
    :raises BadField: there are too many bars.
    """
    most = timeline.MOST_BARS + 1
    rows = timeline_rows.allocated_for(connection, query, most)
    gone = absences.with_causes(connection, query.start, query.end, query.pool,
                                most - len(rows))
    if len(rows) + sum(map(len, gone.values())) > timeline.MOST_BARS:
        raise errors.BadField(field='end', reason=(
            f'there are more than {timeline.MOST_BARS} allocations and absences in this span: ask '
            'for a shorter one.'))
    statuses = {}
    bars = [_bar(row, query, now, statuses) for row in rows if row.resource_id in ids
            and (row.lease_id is not None or not _is_absence(row, now))]
    planned = (timeline_rows.maintenance_ends(connection, query.pool, now)
               if _MAINTAINED_NOW in {span[::2] for spans in gone.values() for span in spans}
               else {})
    for resource_id, spans in gone.items():
        if resource_id in ids:
            bars += _absences(resource_id, spans, query, resource_id in planned)
    return (sorted(bars, key=lambda bar: (bar.resource_id, bar.start)),
            _until(rows, planned.values(), now))


def _until(rows, planned_ends, now):
    """Return the first moment after `now` at which the same rows are shown differently, or None.

    The status of a pending lease changes at its start. A maintenance has no planned end any more
    after it.
    """
    moments = [row.end if row.lease_start is None else row.lease_start for row in rows
               if row.window_id is not None or row.state == lifecycle.PENDING]
    return min((moment for moment in (*moments, *planned_ends) if moment > now), default=None)


def _absences(resource_id, spans, query, is_maintained):
    """Yield the Bars of the absences of a resource.

    :param spans: [(kind, start, end)]; end None: the absence continues.
    :param is_maintained: whether a maintenance window runs now. Its allocation has the planned end.
    """
    second = usage_figures.second
    for kind, start, end in spans:
        if not (is_maintained and (kind, end) == _MAINTAINED_NOW):
            yield timeline.Bar(resource_id, second(start), second(end or query.end), _CAUSES[kind],
                               open_ended=end is None)


def _is_absence(row, now):
    """Return whether an allocation marks an unhealthy resource or an overdue maintenance.

    The timeline shows these as absences.
    """
    return health.is_block(row.reservation_id) or (row.window_id is not None and row.end <= now)


def _bar(row, query, now, statuses):
    """Return the Bar of an allocation, which may hide the lease of another project.

    :param statuses: the known status words, by what they depend on; they are added here.
    """
    start, end = usage_figures.second(row.start), usage_figures.second(row.end)
    if row.lease_id is None:
        return timeline.Bar(row.resource_id, start, end, (
            timeline.OFFER if row.window_id is None else timeline.MAINTENANCE))
    if row.lease_start is None:
        # The lease is of another project, or it began or ended to exist during the reading.
        return timeline.Bar(row.resource_id, start, end, timeline.OTHERS)
    own = row.project_id == query.project_id
    kind = timeline.OWN if own else timeline.OTHERS
    # Only callers who see everything see a deleted lease.
    if not query.everybody and (not own or row.deleted_at is not None):
        return timeline.Bar(row.resource_id, start, end, kind)
    key = (row.state, row.task, row.lease_start <= now)
    if key not in statuses:
        statuses[key] = status_words.words(row.state, row.task, row.lease_start, now)[1]
    return timeline.Bar(row.resource_id, start, end, kind, statuses[key], row.lease_id)
