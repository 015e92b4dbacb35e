# SPDX-License-Identifier: Apache-2.0
"""The forecast of a series: the best model for each day ahead, with bands from its past errors.

The past is replayed: each day of the last weeks is forecast from what was known before it. The
errors say which model is the best for the first day, the second day, and so on, and how wide the
bands are. Adaptive conformal inference sets the width: if too few of the past hours were in a
band, it is widened.
"""
import dataclasses

import numpy as np

from climate.forecasts import base

# The number of past days that choose the model and make the bands.
_WINDOW_DAYS = 28
# Errors before this are ignored: the models have just begun.
_BEGINNING_HOURS = 14 * base.DAY
# The number of past days that bands need.
_FEWEST_DAYS = 3
# How quickly the width of the bands follows the share of hours that were in them.
_STEP = 0.2
_NARROWEST, _WIDEST = 0.3, 1.0


@dataclasses.dataclass(frozen=True)
class Forecast:
    """The expected values of the next hours, with two bands each.

    :ivar expected: an array; `low80`, `high80`, `low95`, `high95` are as long. The bands are None
        if the past is too short for them.
    :ivar past_error: the mean absolute error of a day ahead in the last weeks; None: not known.
    """

    expected: np.ndarray
    low80: np.ndarray | None
    high80: np.ndarray | None
    low95: np.ndarray | None
    high95: np.ndarray | None
    past_error: float | None


def forecast(method, series, hours):
    """Return the Forecast of the `hours` after a series.

    :param method: a ``base.Method``.
    :param series: an array with one number for each hour.
    """
    past = Past(method, series)
    days = [past.ahead(len(series), ahead) for ahead in range(-(-hours // base.DAY))]
    expected = np.concatenate([values for values, _ in days])[:hours]
    bands = [None] * 4
    if all(widths is not None for _, widths in days):
        bands = []
        for place in range(2):
            width = np.repeat([widths[place] for _, widths in days], base.DAY)[:hours]
            bands += [(expected - width).clip(0), expected + width]
    return Forecast(expected, *bands, past.error(len(series)))


class Past:
    """The past of a series, replayed with all models of a method.

    :param method: a ``base.Method``.
    :param series: an array with one number for each hour.
    """

    def __init__(self, method, series):
        self._series = series
        self._models = method.models(series)
        self._errors = {}

    def ahead(self, origin, ahead):
        """Return the expected values of 24 hours, known from the hours before `origin`.

        :param ahead: 0 for the first 24 hours from `origin` on, 1 for the next 24.
        :returns: (expected, half of the widths of the 80 % and of the 95 % band, or None).
        """
        number, errors = self._best(origin, ahead)
        return self._models[number].day(origin, ahead), _widths(errors, ahead)

    def error(self, origin):
        """Return the mean absolute error of a day ahead in the last weeks; None if unknown."""
        _, errors = self._best(origin, 0)
        return float(np.mean(errors[-_WINDOW_DAYS:])) if errors else None

    def _best(self, origin, ahead):
        """Return (number of the best model, its absolute errors on each past day)."""
        past = [self._past_errors(number, origin, ahead) for number in range(len(self._models))]
        best = min(range(len(past)), key=lambda number: (
            np.mean(past[number][-_WINDOW_DAYS:]) if past[number] else 0.0))
        return best, past[best]

    def _past_errors(self, number, origin, ahead):
        """Return the absolute errors of 24 hours each, of the days known at `origin`, in order."""
        # Whole days before the origin, so that the days of all origins at one hour are the same.
        latest = origin - (ahead + 1) * base.DAY
        earliest = max(latest - 2 * _WINDOW_DAYS * base.DAY, _BEGINNING_HOURS)
        first = latest - (latest - earliest) // base.DAY * base.DAY
        return [self._error(number, start, ahead)
                for start in range(first, latest + 1, base.DAY)]

    def _error(self, number, start, ahead):
        key = number, start, ahead
        if key not in self._errors:
            begin = start + ahead * base.DAY
            self._errors[key] = np.abs(self._series[begin:begin + base.DAY]
                                       - self._models[number].day(start, ahead))
        return self._errors[key]


def _widths(errors, ahead):
    """Return half the widths of the 80 % and of the 95 % band, or None.

    :param errors: the absolute errors of past days, of 24 hours each, in order.
    :param ahead: the number of further days before an error is known.
    """
    if len(errors) < _FEWEST_DAYS:
        return None
    return tuple(float(np.quantile(np.concatenate(errors[-_WINDOW_DAYS:]),
                                   _level(errors, ahead, share)))
                 for share in (0.8, 0.95))


def _level(errors, ahead, share):
    """Return the quantile of past errors that would have covered a `share` of the hours."""
    level = share
    for place in range(_FEWEST_DAYS + ahead, len(errors)):
        known = np.concatenate(errors[max(0, place - ahead - _WINDOW_DAYS):place - ahead])
        inside = np.mean(errors[place] <= np.quantile(known, level))
        level = min(max(level + _STEP * (share - inside), _NARROWEST), _WIDEST)
    return level
