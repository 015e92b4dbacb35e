# SPDX-License-Identifier: Apache-2.0
"""The forecast of a series: its models weighed by their past errors at each distance, with bands.

The past is replayed. Each model forecasts each day of the last weeks from what was known before
it. For each hour ahead, the errors give a weight to each model, and the forecast is the weighted
median of the models. The forecasts of the past days are made in the same way, and their errors
give the bands.
"""
import dataclasses

import numpy as np

from climate.forecasts import bands
from climate.forecasts import base

# The number of past days that are replayed, and the days after which an error counts half.
_PAST_DAYS = 56
_HALF_DAYS = 14.0
# Errors in the first two weeks are ignored if there are two later weeks: the models have just
# begun. A shorter history uses its second half.
_BEGINNING_HOURS = 14 * base.DAY
# A model with twice the error of another one has 4096 times less weight.
_POWER = 12
# Other models must be better than a simple one by this factor to get the same weight.
_PREFERENCE = 1.1
# After the first day, which has more errors, those of neighbouring hours ahead are added up.
_NEIGHBOURS = 2
# The first day is replayed from every hour, so that the weights follow a jump within hours. Its
# bands use only the hours near the present hour of the day, because errors depend on that.
_NEAR = 2
_TINY = 1e-9


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
    if not len(series):
        return Forecast(np.zeros(hours), None, None, None, None, None)
    models = method.models(series)
    days = [_Day(models, series, day) for day in range(-(-hours // base.DAY))]
    expected = np.concatenate([day.expected for day in days])[:hours]
    found = [None] * 4
    if all(day.widths is not None for day in days):
        found = []
        for widths in zip(*(day.widths for day in days), strict=True):
            # No error can be larger than the span of a series that keeps to its past values.
            width = np.concatenate(widths)[:hours].clip(max=np.ptp(series))
            found += [(expected - width).clip(0), expected + width]
    return Forecast(expected, *found, days[0].past_error)


class _Day:
    """The forecast of one day ahead.

    :ivar expected: 24 values.
    :ivar widths: half of the widths of both bands, 24 each; None: the past is too short.
    :ivar past_error: the mean absolute error of the last weeks; None: not known.
    """

    def __init__(self, models, series, day):
        now, ahead = len(series), day * base.DAY + np.arange(base.DAY)[np.newaxis]
        self._penalties = np.array([1.0 if model.simple else _PREFERENCE for model in models])
        origins = _origins(now, day)
        column = np.append(origins, now)[:, np.newaxis]
        values = np.stack([model.values(column, ahead) for model in models])
        past = values[:, :-1].reshape(len(models), *origins.shape, base.DAY)
        hours = origins[..., np.newaxis] + ahead
        truth = np.where(hours < now, series[np.minimum(hours, now - 1)], np.nan)
        # An error is known after a day more than the distance, or two if the day is replayed from
        # every hour.
        delay = day + 1 + (origins.shape[1] > 1)
        weights = self._weights(np.abs(past - truth), delay, _NEIGHBOURS if day else 0)
        self.expected = _weighted_median(values[:, -1], weights[:, -1])
        near = [0] if day else [*range(_NEAR + 1), *range(-_NEAR, 0)]
        combined = _weighted_median(past[:, :, near], weights[:, :-1, np.newaxis])
        errors = np.abs(combined - truth[:, near])
        self.widths = bands.widths(errors, delay)
        self.past_error = float(np.nanmean(errors)) if np.isfinite(errors).any() else None

    def _weights(self, errors, delay, neighbours):
        """Return the weights of the models at the origins of each past day, and now.

        :param errors: the absolute errors by model, day, origin of the day, and hour; NaN: unknown.
        """
        usable = np.isfinite(errors)
        sums = bands.faded(np.where(usable, errors, 0.0).sum(axis=2), delay, _HALF_DAYS)
        counts = bands.faded(usable.sum(axis=2).astype(float), delay, _HALF_DAYS)
        sums, counts = (_with_neighbours(columns, neighbours) for columns in (sums, counts))
        means = np.where(counts > 0, (sums + _TINY) / np.maximum(counts, _TINY), np.inf)
        means = means * self._penalties[:, np.newaxis, np.newaxis]
        best = means.min(axis=0)
        ratios = np.where(np.isfinite(best), means / np.where(np.isfinite(best), best, 1.0), 1.0)
        return ratios ** -_POWER


def _origins(now, day):
    """Return the origins to replay: a row for each past day, in order.

    A row has the hour of now, and for the first day ahead the 23 hours after it, too.
    """
    first = _BEGINNING_HOURS if now >= 2 * _BEGINNING_HOURS else max(1, now // 2)
    count = min(_PAST_DAYS + day, (now - first) // base.DAY)
    days = now - np.arange(count, 0, -1)[:, np.newaxis] * base.DAY
    return days + np.arange(1 if day else base.DAY)


def _with_neighbours(columns, count):
    """Return the sums of each last column and of `count` neighbours on each side."""
    padded = np.pad(columns, [(0, 0)] * (columns.ndim - 1) + [(count, count)])
    return sum(padded[..., place:place + columns.shape[-1]] for place in range(2 * count + 1))


def _weighted_median(values, weights):
    """Return the weighted medians along the first axis. Values that are NaN have no weight."""
    weights = np.where(np.isnan(values), 0.0, weights)
    order = np.argsort(values, axis=0)
    sums = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    place = (sums >= sums[-1] / 2).argmax(axis=0)[np.newaxis]
    return np.take_along_axis(np.take_along_axis(values, order, axis=0), place, axis=0)[0]
