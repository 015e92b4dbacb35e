# SPDX-License-Identifier: Apache-2.0
"""The use case of the forecast: how many resources of a pool will be wanted, hour by hour.

Demand is what was given, from the start that was asked for, and what was refused.
"""
import datetime

import numpy as np

from climate import errors
from climate.db import allocations
from climate.db import calendars
from climate.db import plans
from climate.db import refusals
from climate.domain import forecast
from climate.domain import interval
from climate.domain import requirement
from climate.domain import selection
from climate.forecasts import registry
from climate.forecasts import rolling
from climate.manager.booking import criteria
from climate.manager.booking import start_times
from climate.manager.planning import resource_hours
from climate.plugins import base

_HOUR = datetime.timedelta(hours=1)
_AHEAD = datetime.timedelta(days=7)
_LONGEST = datetime.timedelta(days=28)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class Forecasts:
    """Answers queries for forecasts. It only reads."""

    def __init__(self, core):
        self._core = core

    def find(self, query):
        """Return the ``forecast.Answer`` to a ``forecast.Query``.

        :raises UnknownPool: there is no such pool.
        :raises BadField: the end is not possible.
        :raises BadRequest: the criteria are malformed, or name an unknown property.
        """
        now = self._core.clock()
        self._core.registry.pool(query.pool)
        start = now - (now - _EPOCH) % _HOUR
        end = start + _AHEAD if query.end is None else _end(query.end, now)
        need = base.Need('', query.pool, selection.Demand(selection.WHOLE, 1, 1),
                         requirement.parse(query.criteria))
        with self._core.database.reader() as connection, start_times.TURNS:
            criteria.check_names(self._core, connection, need)
            return self._answer(connection, need, start, end)

    def _answer(self, connection, need, start, end):
        conf = self._core.conf.forecast
        known = allocations.reservable_resources(connection, need.pool)
        matching = criteria.matching(self._core, connection, need, known)
        picky = bool(requirement.names(need.requirement))
        pool = _Pool(connection, need.pool, set(matching) if picky else None)
        earliest = start - datetime.timedelta(days=conf.history_days)
        learned_from = min(start, max(earliest, pool.since(start)))
        past = _edges(learned_from, start)
        series, refused = pool.demand(past)
        coming = _edges(start, end)
        allocated = pool.allocated(coming)
        name, method = registry.load(conf.method, len(series))
        found = rolling.forecast(method, series, len(coming) - 1)
        hours = forecast.with_missing(tuple(
            _hour(start + place * _HOUR, found, allocated, place)
            for place in range(len(coming) - 1)), len(matching))
        return forecast.Answer(
            pool=need.pool, method=name, learned_from=learned_from, capacity=len(matching),
            hours=hours, past_error=found.past_error, refused=refused,
            short_at=forecast.first_above(hours, 'expected', len(matching)),
            may_be_short_at=forecast.first_above(hours, 'high80', len(matching)))


class _Pool:
    """The use of a pool, or of some of its resources, as read from the database.

    :param ids: only these resources; None: all.
    """

    def __init__(self, connection, pool, ids):
        self._connection, self._pool, self._ids = connection, pool, ids
        rows = plans.enrolled(connection, pool)
        self._capacities = {row.id: row.capacity for row in rows}
        self._since = min((row.created_at for row in rows), default=None)

    def since(self, start):
        """Return the whole hour in which the first resource was enrolled; `start` if none was."""
        since = start if self._since is None else self._since
        return since - (since - _EPOCH) % _HOUR

    def demand(self, edges):
        """Return (resource-hours that were wanted in each hour, sum of those refused).

        The criteria of refused requests are not recorded, so refusals count for a whole pool only.
        """
        span = interval.Interval(_moment(edges[0]), _moment(edges[-1])) if len(edges) > 1 else None
        if span is None:
            return np.zeros(0), 0.0
        # A lease that waited was asked for earlier than it got its resources.
        uses = [(*_asked(row), share) for row, share in self._rows(span)]
        lost = []
        if self._ids is None:
            lost = [(each.start, each.end, each.copies * self._share(each.amount))
                    for each in refusals.of_pool(self._connection, self._pool, span)]
        given, refused = _by_hour(edges, uses), _by_hour(edges, lost)
        return given + refused, float(refused.sum())

    def allocated(self, edges):
        """Return the resource-hours that are allocated in each hour to come."""
        span = interval.Interval(_moment(edges[0]), _moment(edges[-1]))
        return _by_hour(edges, [(row.start, row.end, share) for row, share in self._rows(span)])

    def _rows(self, span):
        for row in plans.demand(self._connection, self._pool, span):
            if self._ids is None or row.resource_id in self._ids:
                yield row, 1.0 if row.whole else resource_hours.share(
                    row.amount, row.copies, self._capacities[row.resource_id])

    def _share(self, amount):
        """Return the share of a resource of this pool, on average, that an amount takes."""
        if amount is None or not self._capacities:
            return 1.0
        return float(np.mean([resource_hours.share(amount, 1, each)
                              for each in self._capacities.values()]))


def _asked(row):
    """Return the (start, end) that the lease of an allocation was asked for."""
    if row.asked_at is None or row.asked_at >= row.start:
        return row.start, row.end
    if row.duration_seconds is None:
        return row.asked_at, row.end
    return row.asked_at, row.end - (row.start - row.asked_at)


def _by_hour(edges, uses):
    if not uses:
        return np.zeros(len(edges) - 1)
    starts, ends, shares = zip(*uses, strict=True)
    return resource_hours.hours(edges, *(np.array(
        [calendars.microseconds(each) for each in moments], np.int64)
        for moments in (starts, ends)), np.array(shares, float)).clip(0)


def _hour(start, found, allocated, place):
    """Return a forecast.Hour; nothing in it is below what is allocated already."""
    floor = float(allocated[place])
    bands = {name: None if column is None else max(floor, float(column[place]))
             for name, column in (('low80', found.low80), ('high80', found.high80),
                                  ('low95', found.low95), ('high95', found.high95))}
    return forecast.Hour(start, max(floor, float(found.expected[place])), floor, **bands)


def _edges(start, end):
    hours = -(-(end - start) // _HOUR)
    first = calendars.microseconds(start)
    return first + np.arange(hours + 1, dtype=np.int64) * (_HOUR // interval.RESOLUTION)


def _moment(count):
    return calendars.moment(int(count))


def _end(end, now):
    if end <= now:
        raise errors.BadField(field='end', reason=(
            f'it must be in the future; now it is {now:%Y-%m-%d %H:%M:%S} UTC.'))
    if end - now > _LONGEST:
        raise errors.BadField(field='end', reason=(
            f'a forecast has at most {_LONGEST.days} days.'))
    return end
