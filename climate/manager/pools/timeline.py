# SPDX-License-Identifier: Apache-2.0
"""The timeline of a pool for a picture: its resources, and who has them when."""
from climate import errors
from climate.db import absences
from climate.db import resource_properties
from climate.db import resources
from climate.db import timeline_rows
from climate.domain import requirement
from climate.domain import selection
from climate.domain import timeline
from climate.domain import usage_figures
from climate.manager.booking import criteria
from climate.plugins import base


class Timelines:
    """Answers queries for timelines. It only reads."""

    def __init__(self, core):
        self._core = core

    def find(self, query):
        """Return the Timeline that answers a ``timeline.Query``.

        :raises UnknownPool: there is no such pool.
        :raises BadRequest: the criteria are malformed, or name an unknown property.
        :raises BadField: there are too many bars.
        """
        self._core.registry.pool(query.pool)
        now = self._core.clock()
        with self._core.database.reader() as connection:
            lanes = self._lanes(connection, query)
            leases = timeline_rows.leases(connection, query.pool, query.start, query.end,
                                          query.project_id)
            bars = timeline.merged(_bars(connection, query, {each.id for each in lanes}, leases),
                                   query.resolution)
        shown = [leases[key] for key in dict.fromkeys(
            bar.lease_id for bar in bars if bar.lease_id is not None)]
        return timeline.Timeline(query.start, query.end, now, tuple(lanes), tuple(shown),
                                 **timeline.columns(
            bars, _places(lanes), _places(shown), usage_figures.second(query.start)))

    def _lanes(self, connection, query):
        """Return the Lanes of the resources that meet the criteria of a query."""
        need = base.Need('', query.pool, selection.Demand(selection.WHOLE, 1, 1),
                         requirement.parse(query.criteria))
        criteria.check_names(self._core, connection, need, query.hidden)
        found = {each.id: each for each in resources.find(connection, query.pool)}
        _public, private = resource_properties.names(connection, query.pool)
        return [_lane(found[key], private)
                for key in criteria.matching(self._core, connection, need, found)]


def _lane(resource, private):
    return timeline.Lane(resource.id, resource.name, resource.reservable, {
        name: text for name, text in resource.properties.items() if name not in private})


def _bars(connection, query, ids, leases):
    """Return the Bars of some resources, by resource and start.

    :param leases: {lease id: Shown} of the leases that may be named.
    :raises BadField: there are too many.
    """
    rows = timeline_rows.allocated(connection, query.pool, query.start, query.end,
                                   timeline.MOST_BARS + 1)
    if len(rows) > timeline.MOST_BARS:
        raise errors.BadField(field='end', reason=(
            f'there are more than {timeline.MOST_BARS} allocations in this span: ask for a shorter '
            'one.'))
    second = usage_figures.second
    bars = [timeline.Bar(row.resource_id, second(row.start), second(row.end),
                         *_kind(row.lease_id, leases)) for row in rows if row.resource_id in ids]
    for resource_id, spans in absences.touching(connection, query.start, query.end).items():
        bars += [timeline.Bar(resource_id, second(start), second(end or query.end), kind)
                 for kind, start, end in spans if resource_id in ids]
    return sorted(bars, key=lambda bar: (bar.resource_id, bar.start))


def _kind(lease_id, leases):
    """Return (kind of a bar, lease id or None)."""
    if lease_id is None:
        return timeline.OFFER, None
    return (timeline.LEASE, lease_id) if lease_id in leases else (timeline.TAKEN, None)


def _places(items):
    return {each.id: place for place, each in enumerate(items)}
