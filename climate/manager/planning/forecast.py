# SPDX-License-Identifier: Apache-2.0
"""The use case of forecasts: the number of resources of a pool that will be in demand each hour.

A forecast learns from the past demand, which ``pool_demand`` counts.
"""
import datetime

import numpy as np

from climate import forecasts
from climate.db import allocations
from climate.db import booking_columns
from climate.domain import forecast
from climate.domain import interval
from climate.domain import lease_times
from climate.domain import requirement
from climate.domain import selection
from climate.forecasts import rolling
from climate.manager.booking import criteria
from climate.manager.planning import pool_demand
from climate.plugins import base

_HOUR = datetime.timedelta(hours=1)
_AHEAD = datetime.timedelta(days=7)
_LONGEST = datetime.timedelta(days=28)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class Forecasts:
    """Answers queries for forecasts.

    :param turns: the ``plan_turns.PlanTurns`` that all plans of a manager share.
    """

    def __init__(self, core, turns):
        self._core, self._turns = core, turns

    def find(self, query):
        """Return the ``forecast.ForecastAnswer`` to a ``forecast.ForecastQuery``.

        :raises UnknownPool: no pool has that name.
        :raises BadField: the end is in the past, or too far away.
        :raises BadRequest: the criteria are malformed, or name an unknown property.
        :raises PlansBusy: too many plans are being computed.
        """
        now = self._core.clock()
        self._core.registry.pool(query.pool)
        start = _whole_hour(now)
        end = (start + _AHEAD if query.end is None
               else lease_times.window(now, query.end, _LONGEST).end)
        need = base.Need('', query.pool, selection.Demand(selection.WHOLE, 1, 1),
                         requirement.parse(query.criteria))
        with self._turns.taken(), self._core.database.reader() as connection:
            criteria.check_names(self._core, connection, need)
            return self._answer(connection, need, start, end)

    def _answer(self, connection, need, start, end):
        conf = self._core.conf.forecast
        pool = pool_demand.PoolDemand(self._core, connection, need)
        capacity = len(pool.matching & allocations.reservable_resources(
            connection, need.pool).keys())
        earliest = start - datetime.timedelta(days=conf.history_days)
        learned_from = min(start, max(earliest, _whole_hour(pool.since or start)))
        series, refused = pool.past(_edges(learned_from, start))
        allocated = pool.allocated(_edges(start, end))
        name, method = forecasts.load(conf.method, len(series))
        columns = rolling.forecast(method, series, len(allocated))
        hours = forecast.with_missing(tuple(
            _hour(start + number * _HOUR, columns, allocated, number)
            for number in range(len(allocated))), capacity)
        return forecast.ForecastAnswer(
            pool=need.pool, method=name, learned_from=learned_from, capacity=capacity,
            hours=hours, past_error=columns.past_error, refused=refused,
            short_at=forecast.first_above(hours, 'expected', capacity),
            may_be_short_at=forecast.first_above(hours, 'high80', capacity))


def _hour(start, columns, allocated, number):
    """Return a forecast.Hour. Its values are at least the present allocations."""
    least = float(allocated[number])
    bands = {name: None if getattr(columns, name) is None
             else max(least, float(getattr(columns, name)[number]))
             for name in ('low80', 'high80', 'low95', 'high95')}
    return forecast.Hour(start, max(least, float(columns.expected[number])), least, **bands)


def _edges(start, end):
    """Return the starts of the hours and the end of the last one, in microseconds."""
    hours = -(-(end - start) // _HOUR)
    first = booking_columns.microseconds(start)
    return first + np.arange(hours + 1, dtype=np.int64) * (_HOUR // interval.RESOLUTION)


def _whole_hour(moment):
    """Return the beginning of the hour of a moment."""
    return moment - (moment - _EPOCH) % _HOUR
