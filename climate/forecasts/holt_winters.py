# SPDX-License-Identifier: Apache-2.0
"""The method of Holt and Winters, by statsmodels: a level and a season, both smoothed.

statsmodels would fit the smoothing to the next hour alone. A plan looks days ahead, where slower
smoothing is better. So there is a model for each of some smoothings, and the one with the least
error is used for each day ahead.
"""
import itertools

import numpy as np
from statsmodels.tsa import holtwinters

from climate.forecasts import base

_SEASONS = (base.DAY, base.WEEK)
_LEVELS = (0.002, 0.01, 0.05)
_SEASONAL = (0.05, 0.15, 0.3)
# The first days only set the season.
_FIRST_DAYS = 2


class HoltWinters(base.Method):
    """Smooths the level and the season of a day, or of a week, with several weights."""

    least_hours = 14 * base.DAY

    def models(self, series):
        return [_Smoothed(series, *weights)
                for weights in itertools.product(_SEASONS, _LEVELS, _SEASONAL)
                if len(series) >= _FIRST_DAYS * weights[0]]


class _Smoothed(base.Model):
    """The levels and seasons after each hour.

    Each follows from the hours before alone, so one pass serves all origins.
    """

    def __init__(self, series, season, level_weight, season_weight):
        first = series[:_FIRST_DAYS * season]
        level = first.mean()
        model = holtwinters.ExponentialSmoothing(
            series, seasonal='add', seasonal_periods=season, initialization_method='known',
            initial_level=level,
            initial_seasonal=first.reshape(_FIRST_DAYS, season).mean(axis=0) - level)
        # statsmodels takes the logarithm of the error, which is 0 for a series without changes.
        with np.errstate(divide='ignore'):
            found = model.fit(smoothing_level=level_weight, smoothing_seasonal=season_weight,
                              optimized=False)
        self._period = season
        self._levels, self._seasons = np.asarray(found.level), np.asarray(found.season)

    def day(self, origin, ahead):
        hours = ahead * base.DAY + np.arange(base.DAY)
        seasons = self._seasons[origin - self._period + hours % self._period]
        return (self._levels[origin - 1] + seasons).clip(0)
