# SPDX-License-Identifier: Apache-2.0
"""The seasonal naive method: each hour repeats the same hour of the week before."""
import numpy as np

from climate.forecasts import base


class SeasonalNaive(base.Method):
    """Repeats the last week; for a younger pool its last day, or its mean."""

    def models(self, series):
        return [_Repeated(series)]


class _Repeated(base.Model):
    def __init__(self, series):
        self._series = series

    def day(self, origin, ahead):
        known = self._series[:origin]
        season = base.WEEK if origin >= base.WEEK else base.DAY
        if origin < season:
            return np.full(base.DAY, known.mean() if origin else 0.0)
        hours = ahead * base.DAY + np.arange(base.DAY)
        return known[origin - season + hours % season]
