# SPDX-License-Identifier: Apache-2.0
"""Alternatives to a request that does not fit: a shorter, a smaller, or a later lease."""
import dataclasses
import datetime

from climate.domain import availability

_MINUTE = datetime.timedelta(minutes=1)
_SECOND = datetime.timedelta(seconds=1)


def shorter(search, duration):
    """Return the Alternative with the longest duration that fits, or None.

    The duration is a whole number of minutes, or of seconds if `duration` is at most one minute.
    """
    unit = _MINUTE if duration > _MINUTE else _SECOND
    best = _greatest((duration - datetime.timedelta.resolution) // unit,
                     lambda count: search.first(search.demands, count * unit))
    if best is None:
        return None
    count, start = best
    return _alternative('shorter', start, count * unit, search.demands)


def fewer(search, duration):
    """Return the Alternative with the most resources that fit, or None.

    All reservations are reduced by the same ratio.
    """
    most = max((each.at_least for each in search.demands), default=0)

    def scaled(count):
        return [dataclasses.replace(each, at_least=max(1, each.at_least * count // most))
                for each in search.demands]

    best = _greatest(most - 1, lambda count: search.first(scaled(count), duration))
    if best is None:
        return None
    count, start = best
    return _alternative('fewer', start, duration, scaled(count))


def later(search, duration):
    """Return the earliest Alternative in the window of `search`, or None."""
    start = search.first(search.demands, duration)
    return None if start is None else _alternative('later', start, duration, search.demands)


def _greatest(most, result_of):
    """Return (count, result) for the greatest count up to `most` that has a result, or None.

    :param result_of: result_of(count) returns a result or None. If a count has no result, greater
        counts must have none either.
    """
    least, best = 1, None
    while least <= most:
        middle = (least + most) // 2
        result = result_of(middle)
        if result is None:
            most = middle - 1
        else:
            least, best = middle + 1, (middle, result)
    return best


def _alternative(kind, start, duration, demands):
    return availability.Alternative(kind=kind, start=start, end=start + duration,
                                    counts=tuple(each.at_least for each in demands))
