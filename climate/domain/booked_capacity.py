# SPDX-License-Identifier: Apache-2.0
"""The usage of one resource over time."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
from typing import TypeVar

from climate.domain import interval

Units = Mapping[str, int]
Booking = tuple[interval.Interval, Units]
Held = TypeVar('Held')


def touching(bookings: Iterable[tuple[interval.Interval, Held]],
             interval: interval.Interval) -> list[tuple[interval.Interval, Held]]:
    """Return the bookings that overlap `interval`, in the order given."""
    return [booking for booking in bookings if booking[0].overlaps(interval)]


def peak(bookings: Iterable[Booking], interval: interval.Interval) -> dict[str, int]:
    """Return the peak usage of each class during `interval`.

    :param bookings: pairs (Interval, {class name: units}), in any order.
    :returns: {class name: units}, without unused classes. The classes may have their peaks at
        different moments.
    """
    return _peak(touching(bookings, interval))


def copies_free(capacity: Units, bookings: Iterable[Booking], amount: Units,
                interval: interval.Interval) -> int:
    """Return how many more copies of `amount` fit into `capacity` during `interval`.

    :param capacity: {class name: units}; an absent class has none.
    :param bookings: pairs (Interval, {class name: units}), in any order.
    :param amount: {class name: units}; a class with 0 units is ignored.
    :returns: 0 or more, even if the resource is overbooked.
    :raises ValueError: the amount has no units at all.
    """
    return copies_beside(capacity, touching(bookings, interval), amount)


def copies_beside(capacity: Units, held: list[Booking], amount: Units) -> int:
    """Return how many more copies of `amount` fit beside the bookings `held`.

    All of these bookings must touch one interval. See `copies_free` for the parameters.
    """
    in_use = _peak(held)
    copies = [(capacity.get(name, 0) - in_use.get(name, 0)) // units
              for name, units in amount.items() if units > 0]
    if not copies:
        raise ValueError('An amount needs at least one unit of some class.')
    return max(0, min(copies))


def overdrawn(capacity: Units, bookings: Sequence[Booking]) -> list[int]:
    """Return the indexes in `bookings` of those that overlap an overbooked moment.

    :param capacity: {class name: units}; an absent class has none.
    """
    overbooked = []
    for index, (span, units) in enumerate(bookings):
        in_use = peak(bookings, span)
        if any(count and in_use[name] > capacity.get(name, 0) for name, count in units.items()):
            overbooked.append(index)
    return overbooked


def _peak(held: list[Booking]) -> dict[str, int]:
    """Return the peaks of bookings that all touch one interval.

    Bookings that overlap each other also overlap inside that interval, so clipping is not needed.
    """
    in_use: dict[str, int] = {}
    most: dict[str, int] = {}
    by_end = sorted(held, key=_end)
    over = 0
    for span, units in sorted(held, key=_start):
        # A booking that ends when this one starts is released first.
        while by_end[over][0].end <= span.start:
            for name, count in by_end[over][1].items():
                in_use[name] -= count
            over += 1
        for name, count in units.items():
            in_use[name] = now = in_use.get(name, 0) + count
            if now > most.get(name, 0):
                most[name] = now
    return most


def _start(booking: Booking) -> datetime.datetime:
    return booking[0].start


def _end(booking: Booking) -> datetime.datetime:
    return booking[0].end
