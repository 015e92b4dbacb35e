# SPDX-License-Identifier: Apache-2.0
"""The choice of the method of forecasts, by the weeks to learn from, never by those to predict.

``TRACE=FILE python -m benchmarks.forecast_choice``. The last four weeks of the trace, which
``benchmarks.forecast`` predicts, are cut off. Of what is left, each midnight of the last four weeks
with a whole week after it is an origin. The candidate with the least error, relative to that of the
naive method, a day and a week ahead on average, was taken.
"""
import numpy as np

from benchmarks import forecast
from benchmarks import replay
from climate.forecasts import base
from climate.forecasts import holt_winters
from climate.forecasts import seasonal_naive

ORIGINS = 22
_MEDIANS = ({base.DAY: days, base.WEEK: 4} for days in (7, 14, 21, 28))
_LEVELS = (0.002, 0.01, 0.05), (0.01, 0.02), (0.005, 0.01, 0.02), (0.01,)
_SEASONAL = (0.05, 0.15, 0.3), (0.02, 0.05, 0.15), (0.05, 0.15)


def main():
    """Print the candidates, the best first."""
    known = forecast.Known(replay.jobs())
    known.series = known.series[:-forecast.TEST_DAYS['bench'] * base.DAY]
    last = len(known.series) // base.DAY - forecast.AHEAD_DAYS
    origins = [day * base.DAY for day in range(last - ORIGINS + 1, last + 1)]
    naive = _errors(seasonal_naive.SeasonalNaive(), known, origins)
    found = []
    for candidate in candidates():
        errors = _errors(candidate, known, origins)
        less = 100 * (1 - errors / naive)
        found.append((less.mean(), *less, *errors, candidate))
    for mean, day, week, day_error, week_error, each in sorted(found, key=lambda row: -row[0]):
        print(f'{mean:5.2f} % less than naive ({day:.1f} % a day ahead: {day_error:.2f}; '
              f'{week:.1f} % a week ahead: {week_error:.2f}): levels {each.levels}, seasons '
              f'{each.seasonal}, medians of {each.medians[base.DAY]} days and '
              f'{each.medians[base.WEEK]} weeks')


def candidates():
    """Yield the Methods to compare."""
    for medians in _MEDIANS:
        for levels in _LEVELS:
            for seasonal in _SEASONAL:
                found = holt_winters.HoltWinters()
                found.levels, found.seasonal, found.medians = levels, seasonal, medians
                yield found


def _errors(method, known, origins):
    """Return the mean absolute errors (a day ahead, a week ahead)."""
    rows = forecast.played(method, known, origins)
    return np.array([rows[1, rows[0] < hours].mean()
                     for hours in (base.DAY, forecast.AHEAD_DAYS * base.DAY)])


if __name__ == '__main__':
    main()
