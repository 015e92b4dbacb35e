# SPDX-License-Identifier: Apache-2.0
"""The error of forecasts: row 17 of the table.

``TRACE=FILE python -m benchmarks.forecast``. FILE is in the Standard Workload Format; without it
jobs of the same shape are made up. All but the last four weeks are learned. Then each midnight of
these weeks, the next seven days are forecast by hour, from what was known until then. What is
already allocated at that moment, until the known ends of the jobs that run, is the least that is
expected. The error is the mean of the absolute errors; the coverage is the part of the hours that
were in the band. The naive method, with which all are compared, repeats the last week.
"""
import sys
import time

import numpy as np

from benchmarks import replay
from benchmarks import report
from climate import forecasts
from climate.forecasts import base
from climate.forecasts import rolling
from climate.manager.planning import resource_hours

TEST_DAYS = {'short': 1, 'bench': 28, 'long': 28}
AHEAD_DAYS = 7
GOAL_LESS = 15
BAND = 70, 90
_HOUR_US = 3600 * 10 ** 6


def figures(form):
    """Yield the Figures of each installed method."""
    jobs = replay.jobs()
    known = Known(jobs)
    days = len(known.series) // base.DAY
    origins = [day * base.DAY for day in range(days - TEST_DAYS[form], days)]
    naive = None
    for name in reversed(forecasts.PREFERRED):
        method_name, method = forecasts.load(name, len(known.series))
        if method_name != name:
            continue
        began = time.perf_counter()
        rows = played(method, known, origins)
        taken = (time.perf_counter() - began) / len(origins)
        naive = rows if naive is None else naive
        yield from _judged(name, rows, naive)
        yield report.Figure(17, f'{name}: a forecast of a week', taken, 's')


class Known:
    """The hosts in use in each hour, and what was allocated ahead at an hour."""

    def __init__(self, jobs):
        hours = max(job.end for job in jobs) // 3600 // base.DAY * base.DAY
        self._columns = [np.array(each) for each in (
            [job.start * 10 ** 6 for job in jobs], [job.end * 10 ** 6 for job in jobs],
            [float(job.hosts) for job in jobs])]
        self.series = resource_hours.hours(_edges(0, hours), *self._columns).clip(0)

    def allocated(self, origin, count):
        """The hosts of the jobs that run at an hour, in each of the next hours."""
        starts, ends, hosts = self._columns
        now = origin * _HOUR_US
        runs = (starts < now) & (ends > now)
        return resource_hours.hours(_edges(origin, origin + count), starts[runs], ends[runs],
                                    hosts[runs]).clip(0)


def played(method, known, origins):
    """Rows (hour ahead, absolute error, in the 80 % band, in the 95 % band) of all origins."""
    rows = []
    for origin in origins:
        truth = known.series[origin:origin + AHEAD_DAYS * base.DAY]
        floor = known.allocated(origin, len(truth))
        found = rolling.forecast(method, known.series[:origin], len(truth))
        bands = [np.maximum(each, floor) for each in (
            found.low80, found.high80, found.low95, found.high95)]
        expected = np.maximum(found.expected, floor)
        rows.append(np.stack([
            np.arange(len(truth)), np.abs(expected - truth),
            (bands[0] - 1e-6 <= truth) & (truth <= bands[1] + 1e-6),
            (bands[2] - 1e-6 <= truth) & (truth <= bands[3] + 1e-6)]))
    return np.concatenate(rows, axis=1)


def _judged(name, rows, naive):
    for words, hours in (('a day ahead', base.DAY), ('a week ahead', AHEAD_DAYS * base.DAY)):
        mine, others = (each[:, each[0] < hours] for each in (rows, naive))
        error, reference = mine[1].mean(), others[1].mean()
        yield report.Figure(17, f'{name}, {words}: mean error', error, 'hosts')
        if rows is not naive:
            yield report.Figure(17, f'{name}, {words}: less error than naive',
                                100 * (1 - error / reference), '%', goal=GOAL_LESS, more=True)
        for place, percent in ((2, 80), (3, 95)):
            goal = {'goal': BAND[0], 'more': True} if percent == 80 else {}
            yield report.Figure(17, f'{name}, {words}: hours in the {percent} % band',
                                100 * mine[place].mean(), '%', **goal)


def _edges(first, last):
    return np.arange(first, last + 1, dtype=np.int64) * _HOUR_US


if __name__ == '__main__':
    sys.exit(report.main(figures))
