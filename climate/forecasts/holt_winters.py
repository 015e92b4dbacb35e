# SPDX-License-Identifier: Apache-2.0
"""The method of Holt and Winters, by statsmodels, averaged with the median of the last seasons.

statsmodels would fit the smoothing to the next hour alone. Plans need days ahead, where slower
smoothing is better. So there is a model for a season of a day and one for a season of a week, each
the mean of several smoothings. A single unusual day moves a smoothed season, but hardly a median;
the mean of both has a smaller error than either. ``benchmarks.forecast_choice`` shows how the
numbers were chosen.
"""
import itertools

import numpy as np
from statsmodels.tsa import holtwinters

from climate.forecasts import base

# The first seasons only set the level and the season.
_FIRST = 2


class HoltWinters(base.Method):
    """Smooths the level and the season of a day, and of a week, with several weights.

    :cvar levels: the weights of the latest hour in the level.
    :cvar seasonal: the weights of the latest season.
    :cvar medians: {hours of a season: number of its last ones in the median}.
    """

    least_hours = 14 * base.DAY
    levels = (0.01, 0.02)
    seasonal = (0.02, 0.05, 0.15)
    medians = {base.DAY: 14, base.WEEK: 4}

    def models(self, series):
        return [_Mean([_Mean([_Smoothed(series, period, *weights) for weights in
                              itertools.product(self.levels, self.seasonal)]),
                       _Median(series, period, count)])
                for period, count in self.medians.items() if len(series) >= _FIRST * period]


class _Mean(base.Model):
    def __init__(self, models):
        self._models = models

    def day(self, origin, ahead):
        return np.mean([model.day(origin, ahead) for model in self._models], axis=0)


class _Median(base.Model):
    def __init__(self, series, period, count):
        self._series, self._period, self._count = series, period, count

    def day(self, origin, ahead):
        count = min(self._count, origin // self._period)
        known = self._series[origin - count * self._period:origin]
        hours = ahead * base.DAY + np.arange(base.DAY)
        return np.median(known.reshape(count, self._period), axis=0)[hours % self._period]


class _Smoothed(base.Model):
    """The levels and seasons after each hour.

    Each depends on earlier hours only, so one pass serves all origins.
    """

    def __init__(self, series, period, level_weight, season_weight):
        first = series[:_FIRST * period]
        level = first.mean()
        model = holtwinters.ExponentialSmoothing(
            series, seasonal='add', seasonal_periods=period, initialization_method='known',
            initial_level=level,
            initial_seasonal=first.reshape(_FIRST, period).mean(axis=0) - level)
        # statsmodels takes the logarithm of the error, which is 0 for a series without changes.
        with np.errstate(divide='ignore'):
            fitted = model.fit(smoothing_level=level_weight, smoothing_seasonal=season_weight,
                               optimized=False)
        self._period = period
        self._levels, self._seasons = np.asarray(fitted.level), np.asarray(fitted.season)

    def day(self, origin, ahead):
        hours = ahead * base.DAY + np.arange(base.DAY)
        seasons = self._seasons[origin - self._period + hours % self._period]
        return (self._levels[origin - 1] + seasons).clip(0)
