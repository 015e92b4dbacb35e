# SPDX-License-Identifier: Apache-2.0
"""The seasonal naive method: each hour repeats the same hour of the week before."""
import numpy as np

from climate.forecasts import base
from climate.forecasts import guesses


class SeasonalNaive(base.Method):
    """Repeats the last week; for a younger pool its last day, or its mean."""

    def models(self, series):
        return [_Repeated(series)]


class _Repeated(base.Model):
    def __init__(self, series):
        self._guesses = (guesses.Season(series, base.WEEK), guesses.Season(series, base.DAY),
                         guesses.Level(series))

    def values(self, origins, ahead):
        week, day, mean = (guess.values(origins, ahead) for guess in self._guesses)
        return np.where(origins >= base.WEEK, week, np.where(origins >= base.DAY, day, mean))
