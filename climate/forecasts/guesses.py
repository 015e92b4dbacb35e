# SPDX-License-Identifier: Apache-2.0
"""Models that need no library: simple guesses, and corrections of a model by its latest error."""
import numpy as np

from climate.forecasts import base


class Level(base.Model):
    """The mean of the last hours, for every hour ahead.

    :param hours: the number of hours; None means all known hours.
    """

    simple = True

    def __init__(self, series, hours=None):
        self._sums, self._hours = _sums(series), hours

    def values(self, origins, ahead):
        first = 0 if self._hours is None else np.maximum(origins - self._hours, 0)
        means = (self._sums[origins] - self._sums[first]) / (origins - first)
        return np.repeat(means, ahead.size, axis=1)


class Season(base.Model):
    """A season that repeats: for each hour, the middle of the same hour of the last seasons.

    :param period: the hours of a season.
    :param count: the number of seasons.
    :param middle: the function that combines them, which ignores NaN.
    """

    simple = True

    def __init__(self, series, period, count=1, middle=np.nanmean):
        self.period = period
        seasons = np.full((count, len(series)), np.nan)
        for number in range(min(count, -(-len(series) // period))):
            seasons[number, number * period:] = series[:len(series) - number * period]
        self._latest = middle(seasons, axis=0) if len(series) else seasons[0]

    def values(self, origins, ahead):
        hours = origins - self.period + ahead % self.period
        return np.where(hours < 0, np.nan, self._latest[hours.clip(0)])


class Corrected(base.Model):
    """A model plus its latest error, which fades with the distance.

    :param season: the Model to correct, with a `period`.
    :param hours: the number of last hours whose mean error is added, at most a period.
    :param fade_hours: the distance at which e (2.7) times less is added; None: it never fades.
    """

    def __init__(self, series, season, hours, fade_hours=None):
        self._sums, self._season = _sums(series), season
        self._hours, self._fade_hours = hours, fade_hours

    def values(self, origins, ahead):
        last = np.arange(self._season.period - self._hours, self._season.period)[np.newaxis]
        first = np.maximum(origins - self._hours, 0)
        truth = (self._sums[origins] - self._sums[first]) / (origins - first)
        error = truth - self._season.values(origins, last).mean(axis=1, keepdims=True)
        part = 1.0 if self._fade_hours is None else np.exp(-(ahead + 1) / self._fade_hours)
        return (self._season.values(origins, ahead) + error * part).clip(0)


class Reversion(base.Model):
    """The last value, which moves to the mean of all known hours with the distance.

    :param fade_hours: the distance at which the difference is e (2.7) times smaller.
    """

    def __init__(self, series, fade_hours):
        self._last, self._mean = Level(series, 1), Level(series)
        self._fade_hours = fade_hours

    def values(self, origins, ahead):
        part = np.exp(-(ahead + 1) / self._fade_hours)
        return (self._last.values(origins, ahead) * part
                + self._mean.values(origins, ahead) * (1 - part))


class Trend(base.Model):
    """The mean day of the last week plus the growth from the week before it."""

    def __init__(self, series):
        self._sums, self._day = _sums(series), Season(series, base.DAY, 7)

    def values(self, origins, ahead):
        sums = [self._sums[np.maximum(origins - weeks * base.WEEK, 0)] for weeks in range(3)]
        growth = (sums[0] - 2 * sums[1] + sums[2]) / base.WEEK ** 2
        found = (self._day.values(origins, ahead) + growth * (ahead + base.WEEK / 2)).clip(0)
        return np.where(origins < 2 * base.WEEK, np.nan, found)


def simple(series):
    """Return the Models that need no library."""
    days = Season(series, base.DAY, 7)
    weeks = Season(series, base.WEEK)
    return [
        *(Level(series, hours) for hours in (1, 3, base.DAY, base.WEEK, None)),
        Season(series, base.DAY), days, weeks, Season(series, base.WEEK, 4),
        *(Reversion(series, fade_hours) for fade_hours in (base.DAY, 4 * base.DAY)),
        Trend(series), *corrections(series, days), *corrections(series, weeks)]


def corrections(series, season):
    """Return the Models that correct a seasonal model by its latest error."""
    return [Corrected(series, season, 1, base.DAY / 2), Corrected(series, season, base.DAY)]


def _sums(series):
    """Return the sums of the first hours: no hour, one hour, two hours, and so on."""
    return np.concatenate([[0.0], np.cumsum(series)])
