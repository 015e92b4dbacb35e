# SPDX-License-Identifier: Apache-2.0
"""What can be had where all of it cannot: for a shorter time, fewer, or later."""
import dataclasses
import datetime

from climate.domain import availability

_MINUTE = datetime.timedelta(minutes=1)
_SECOND = datetime.timedelta(seconds=1)


def shorter(search, duration):
    """The Alternative that lasts longest of those that fit, to the minute; None without any."""
    unit = _MINUTE if duration > _MINUTE else _SECOND
    best = _greatest((duration - datetime.timedelta.resolution) // unit,
                     lambda count: search.first(search.demands, count * unit))
    if best is None:
        return None
    count, start = best
    return _alternative('shorter', start, count * unit, search.demands)


def fewer(search, duration):
    """The Alternative with the most of those that fit; None where there is none.

    Of several reservations each gets less in the same measure.
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
    """The first Alternative in another window, which `search` has; None where there is none."""
    start = search.first(search.demands, duration)
    return None if start is None else _alternative('later', start, duration, search.demands)


def _greatest(most, found):
    """(count, what was found) of the greatest count, up to `most`, of which something is found.

    Where nothing is found of a count, nothing is of a greater one.
    """
    least, best = 1, None
    while least <= most:
        middle = (least + most) // 2
        result = found(middle)
        if result is None:
            most = middle - 1
        else:
            least, best = middle + 1, (middle, result)
    return best


def _alternative(kind, start, duration, demands):
    return availability.Alternative(kind=kind, start=start, end=start + duration,
                                    counts=tuple(each.at_least for each in demands))
