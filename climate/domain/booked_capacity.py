# SPDX-License-Identifier: Apache-2.0
"""The booked and the free capacity of one resource over time."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TypeVar

from climate.domain import interval

Units = Mapping[str, int]
Booking = tuple[interval.Interval, Units]
Held = TypeVar('Held')


def touching(bookings: Iterable[tuple[interval.Interval, Held]],
             interval: interval.Interval) -> list[tuple[interval.Interval, Held]]:
    """Return the bookings that overlap `interval`."""
    return [booking for booking in bookings if booking[0].overlaps(interval)]


def peak(bookings: Iterable[Booking], interval: interval.Interval) -> dict[str, int]:
    """Return the peak usage of each class during `interval`.

    :param bookings: pairs (Interval, {class name: units}), in any order.
    :returns: {class name: units}, without unused classes. The classes may have their peaks at
        different moments.
    """
    return _peak(touching(bookings, interval))


def copies_beside(capacity: Units, held: list[Booking], amount: Units) -> int:
    """Return how many more copies of `amount` fit into `capacity` during an interval.

    :param capacity: {class name: units}; an absent class has none.
    :param held: the bookings that overlap the interval, as `touching` returns them.
    :param amount: {class name: units}; a class with 0 units is ignored.
    :returns: 0 or more, even if the resource is overbooked.
    :raises ValueError: the amount has no units at all.
    """
    in_use = _peak(held)
    copies = [(capacity.get(name, 0) - in_use.get(name, 0)) // units
              for name, units in amount.items() if units > 0]
    if not copies:
        raise ValueError('An amount needs at least one unit of some class.')
    return max(0, min(copies))


def overdrawn(capacity: Units, bookings: Sequence[Booking]) -> list[int]:
    """Return the indexes of the bookings that overlap an overbooked moment.

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

    Bookings that overlap each other also overlap inside this interval, so clipping is not needed.
    """
    in_use: dict[str, int] = {}
    most: dict[str, int] = {}
    by_end = sorted(held, key=lambda booking: booking[0].end)
    ended = 0
    for span, units in sorted(held, key=lambda booking: booking[0].start):
        # Bookings that end at this start are released first.
        while by_end[ended][0].end <= span.start:
            for name, count in by_end[ended][1].items():
                in_use[name] -= count
            ended += 1
        for name, count in units.items():
            in_use[name] = now = in_use.get(name, 0) + count
            if now > most.get(name, 0):
                most[name] = now
    return most
