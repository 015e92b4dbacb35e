# SPDX-License-Identifier: Apache-2.0
"""The error of forecasts: row 17 of the table.

``TRACE=FILE python -m benchmarks.forecast``. FILE is in the Standard Workload Format; without it
jobs of the same shape are made up. Five made-up series follow. All but the last four weeks are
learned. Then, each few hours of these weeks, the next week is forecast from what was known until
then. What is already allocated at that moment, until the known ends of the jobs that run, is the
least that is expected.

For some distances, the figures compare the mean of the absolute errors with that of the best simple
guess, which is chosen afterwards. The hours in the bands are those of all these distances.
"""
import functools
import sys
import time

import numpy as np

from benchmarks import forecast_series
from benchmarks import replay
from benchmarks import report
from climate import forecasts
from climate.forecasts import base
from climate.forecasts import rolling
from climate.manager.planning import resource_hours

TEST_DAYS = 28
# The hours between two forecasts. They have no common factor with a day, so all hours come.
EVERY = {'short': 77, 'bench': 11, 'long': 5}
DISTANCES = 1, base.DAY, 3 * base.DAY, base.WEEK
MOST_WORSE = 1.05
GOAL_LESS = 15
# {percent: the share of hours that should be in the band}
BANDS = {80: (70, 90), 95: (90, 99)}
_HOUR_US = 3600 * 10 ** 6


def figures(form):
    """Yield the Figures of each series."""
    trace = Trace(replay.jobs())
    taken = []
    for name, series, floor in (
            ('trace', trace.series, trace.allocated),
            *((name, series, _nothing_allocated)
              for name, series in forecast_series.made().items())):
        origins = range(len(series) - TEST_DAYS * base.DAY, len(series), EVERY[form])
        began = time.process_time()
        played = Played(series, floor, origins)
        taken.append((time.process_time() - began) / len(origins))
        yield from _judged(name, played)
    yield report.Figure(17, 'processor time of a forecast of a week', float(np.median(taken)), 's')


def _nothing_allocated(origin, count):
    """Return the allocations of a made-up series, of which nothing is known ahead."""
    return np.zeros(count)


class Trace:
    """The hosts in use in each hour, and what was allocated ahead at an hour."""

    def __init__(self, jobs):
        hours = max(job.end for job in jobs) // 3600 // base.DAY * base.DAY
        self._columns = [np.array(column) for column in (
            [job.start * 10 ** 6 for job in jobs], [job.end * 10 ** 6 for job in jobs],
            [float(job.hosts) for job in jobs])]
        self.series = resource_hours.hours(_edges(0, hours), *self._columns).clip(0)

    def allocated(self, origin, count):
        """Return the hosts of the jobs that run at an hour, in each of the next hours."""
        starts, ends, hosts = self._columns
        now = origin * _HOUR_US
        runs = (starts < now) & (ends > now)
        return resource_hours.hours(_edges(origin, origin + count), starts[runs], ends[runs],
                                    hosts[runs]).clip(0)


class Played:
    """The forecasts of a series from some origins, and the guesses, by origin and DISTANCES.

    :ivar error: the absolute errors of the forecast; NaN: after the end of the series.
    :ivar guesses: {name: the absolute errors of a simple guess}.
    :ivar inside: {percent: whether the truth was in the band}; NaN: as in `error`.
    """

    def __init__(self, series, floor, origins):
        self._places = np.array(DISTANCES) - 1
        rows = [self._row(series, floor, origin) for origin in origins]
        self.error = np.array([row['error'] for row in rows])
        self.guesses = {name: np.array([row[name] for row in rows]) for name in GUESSES}
        self.inside = {percent: np.array([row[percent] for row in rows]) for percent in BANDS}

    def _row(self, series, floor, origin):
        past, places = series[:origin], self._places
        hours = origin + places
        truth = np.where(hours < len(series), series[hours.clip(max=len(series) - 1)], np.nan)
        least = floor(origin, places[-1] + 1)[places]
        found = rolling.forecast(forecasts.load('auto', origin)[1], past, places[-1] + 1)
        row = {name: np.abs(np.maximum(guess(past, places), least) - truth)
               for name, guess in GUESSES.items()}
        row['error'] = np.abs(np.maximum(found.expected[places], least) - truth)
        for percent in BANDS:
            low, high = (np.maximum(getattr(found, f'{side}{percent}')[places], least)
                         for side in ('low', 'high'))
            row[percent] = np.where(np.isnan(truth), np.nan,
                                    (low - 1e-6 <= truth) & (truth <= high + 1e-6))
        return row


def _same_hour(past, places, period, count):
    """Return the mean of the same hour of the last periods."""
    return past[len(past) - count * period:].reshape(count, period).mean(axis=0)[places % period]


GUESSES = {
    'last value': lambda past, places: np.full(len(places), past[-1]),
    'day': functools.partial(_same_hour, period=base.DAY, count=1),
    'week': functools.partial(_same_hour, period=base.WEEK, count=1),
    'seven days': functools.partial(_same_hour, period=base.DAY, count=7),
    'mean': lambda past, places: np.full(len(places), past.mean()),
}


def _judged(name, played):
    """Yield the Figures of a series."""
    for place, hours in enumerate(DISTANCES):
        error = float(np.nanmean(played.error[:, place]))
        guesses = {guess: float(np.nanmean(errors[:, place]))
                   for guess, errors in played.guesses.items()}
        best = min(guesses, key=guesses.get)
        yield report.Figure(17, f'{name}, {hours} h ahead: mean error', error, 'hosts')
        yield report.Figure(17, f'{name}, {hours} h ahead: error to that of "{best}"',
                            error / guesses[best], 'x', goal=MOST_WORSE)
        if name == 'trace' and hours == base.DAY:
            yield report.Figure(17, f'{name}, {hours} h ahead: less error than "week"',
                                100 * (1 - error / guesses['week']), '%', goal=GOAL_LESS, more=True)
    for percent, (least, most) in BANDS.items():
        share = 100 * float(np.nanmean(played.inside[percent]))
        yield report.Figure(17, f'{name}: hours in the {percent} % band, {least} to {most}', share,
                            '%', goal=most if share > most else least, more=share <= most)


def _edges(first, last):
    return np.arange(first, last + 1, dtype=np.int64) * _HOUR_US


if __name__ == '__main__':
    sys.exit(report.main(figures))
