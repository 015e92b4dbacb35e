# SPDX-License-Identifier: Apache-2.0
"""The method of Holt and Winters, by statsmodels, beside the simple guesses.

statsmodels would fit the smoothing to the next hour alone. Plans need days ahead, where slower
smoothing is better. So there is a season of a day and one of a week, each the mean of several
smoothings. A single unusual day moves a smoothed season, but hardly a median; the mean of both has
a smaller error than either. The weights were chosen on nine weeks of a trace.
"""
import itertools

import numpy as np
from statsmodels.tsa import holtwinters

from climate.forecasts import base
from climate.forecasts import guesses

# The first seasons only set the level and the season.
_FIRST = 2


class HoltWinters(base.Method):
    """Smooths the level and the season of a day, and of a week; and makes simple guesses.

    :cvar levels: the weights of the latest hour in the level.
    :cvar seasonal: the weights of the latest season.
    :cvar medians: {hours of a season: number of its last ones in the median}.
    """

    least_hours = 14 * base.DAY
    levels = (0.01, 0.02)
    seasonal = (0.02, 0.05, 0.15)
    medians = {base.DAY: 14, base.WEEK: 4}

    def models(self, series):
        seasons = [_Season(series, period, count, list(itertools.product(self.levels,
                                                                         self.seasonal)))
                   for period, count in self.medians.items() if len(series) >= _FIRST * period]
        return [*guesses.simple(series), *itertools.chain.from_iterable(
            (season, *guesses.corrections(series, season)) for season in seasons)]


class _Season(base.Model):
    """The mean of smoothed seasons and of the median of the last seasons.

    The levels and seasons after each hour depend on earlier hours only, so one pass serves all
    origins.

    :param weights: pairs (the weight of the latest hour, the weight of the latest season).
    """

    def __init__(self, series, period, count, weights):
        self.period = period
        smoothed = [_smoothed(series, period, *pair) for pair in weights]
        self._levels, self._seasons = np.mean(smoothed, axis=0)
        self._median = guesses.Season(series, period, count, np.nanmedian)

    def values(self, origins, ahead):
        seasons = self._seasons[np.maximum(origins - self.period, 0) + ahead % self.period]
        smoothed = (self._levels[origins - 1] + seasons).clip(0)
        found = (smoothed + self._median.values(origins, ahead)) / 2
        return np.where(origins < _FIRST * self.period, np.nan, found)


def _smoothed(series, period, level_weight, season_weight):
    """Return (the level, the season) after each hour."""
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
    return np.asarray(fitted.level), np.asarray(fitted.season)
