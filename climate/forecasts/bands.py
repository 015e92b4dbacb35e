# SPDX-License-Identifier: Apache-2.0
"""The widths of the bands of forecasts, from the errors of past forecasts.

Each past error is divided by the usual error at its time. The bands are quantiles of these ratios,
times the usual error now (normalized conformal prediction). The usual error is the larger one of a
quick and a slow mean, so that bands become wide soon after a jump and narrow again slowly.
"""
import numpy as np

SHARES = 0.8, 0.95
# The days after which an error counts half in the quick and in the slow mean.
_QUICK_DAYS, _SLOW_DAYS = 2.0, 14.0
# The number of past days whose ratios are used, and the number that bands need.
_WINDOW_DAYS, _FEWEST_DAYS = 28, 3
# The usual error is at least this part of the mean error. Otherwise an error after days without any
# would make a ratio without limit.
_LEAST_PART = 0.25
_TINY = 1e-9


def faded(columns, delay, half_days):
    """Return the sums over the days that are known at each day, and now; older days count less.

    :param columns: an array whose next to last axis is the days.
    :param delay: the number of days after which the value of a day is known. The last days may be
        known in part; now uses them too.
    :param half_days: the number of days after which a value counts half.
    """
    count = columns.shape[-2]
    age = np.arange(count + 1)[:, np.newaxis] - np.arange(count)
    known = age >= delay
    known[-1] = True
    return np.where(known, 0.5 ** (age / half_days), 0.0) @ columns


def widths(errors, delay):
    """Return half of the widths of the bands of the SHARES, by hour; None: too few errors.

    :param errors: the absolute errors by day, origin of the day, and hour ahead; NaN: unknown.
    :param delay: the number of days after which the errors of a day are known.
    """
    if (np.isfinite(errors).any(axis=1).sum(axis=0) < _FEWEST_DAYS).any():
        return None
    usual = _usual(errors, delay)
    ratios = (errors / usual[:-1, np.newaxis])[-(_WINDOW_DAYS + delay):]
    # The errors of one day are alike, so the days are the sample whose quantile is estimated.
    levels = np.minimum(1.0, np.array(SHARES) * (1 + 1 / min(len(ratios), _WINDOW_DAYS)))
    return tuple(np.nanquantile(ratios.reshape(-1, errors.shape[-1]), levels, axis=0) * usual[-1])


def _usual(errors, delay):
    """Return the usual error at each day, and now, by hour."""
    known = np.isfinite(errors)
    sums = np.where(known, errors, 0.0).sum(axis=1)
    counts = known.sum(axis=1).astype(float)
    means = [faded(sums, delay, half) / np.maximum(faded(counts, delay, half), _TINY)
             for half in (_QUICK_DAYS, _SLOW_DAYS)]
    overall = sums.sum(axis=0) / counts.sum(axis=0)
    # The first days have no known errors before them.
    first = faded(counts, delay, _SLOW_DAYS) == 0
    usual = np.maximum(np.maximum(*means), _LEAST_PART * overall)
    return np.where(first, overall, usual) + _TINY
