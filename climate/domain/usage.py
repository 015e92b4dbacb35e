# SPDX-License-Identifier: Apache-2.0
"""How much of one resource is in use over time."""
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
    """The bookings that overlap `interval`, in the order given."""
    return [booking for booking in bookings if booking[0].overlaps(interval)]


def peak(bookings: Iterable[Booking], interval: interval.Interval) -> dict[str, int]:
    """The most that is in use of each class at any one moment of `interval`.

    :param bookings: pairs (Interval, {class name: units}), in any order.
    :returns: {class name: units}; a class that nobody uses is absent. The classes may have their
        peaks at different moments.
    """
    return _peak(touching(bookings, interval))


def copies_free(capacity: Units, bookings: Iterable[Booking], amount: Units,
                interval: interval.Interval) -> int:
    """How many times `amount` still fits into `capacity` during `interval`.

    :param capacity: {class name: units}; an absent class has none.
    :param bookings: pairs (Interval, {class name: units}), in any order.
    :param amount: {class name: units}; a class with 0 units asks for nothing.
    :returns: 0 or more, also where more is booked than there is.
    :raises ValueError: an amount of nothing, which would fit without end.
    """
    return copies_beside(capacity, touching(bookings, interval), amount)


def copies_beside(capacity: Units, held: list[Booking], amount: Units) -> int:
    """As `copies_free`, where every one of the bookings `held` touches one same interval."""
    in_use = _peak(held)
    copies = [(capacity.get(name, 0) - in_use.get(name, 0)) // units
              for name, units in amount.items() if units > 0]
    if not copies:
        raise ValueError('An amount needs at least one unit of some class.')
    return max(0, min(copies))


def overdrawn(capacity: Units, bookings: Sequence[Booking]) -> list[int]:
    """The places in `bookings` of those that take part where more is booked than there is.

    :param capacity: {class name: units}; an absent class has none.
    """
    found = []
    for place, (span, units) in enumerate(bookings):
        in_use = peak(bookings, span)
        if any(count and in_use[name] > capacity.get(name, 0) for name, count in units.items()):
            found.append(place)
    return found


def _peak(held: list[Booking]) -> dict[str, int]:
    """The peaks of bookings that all touch one interval.

    Those of them that meet each other meet inside that interval, so nothing needs to be clipped.
    """
    in_use: dict[str, int] = {}
    most: dict[str, int] = {}
    by_end = sorted(held, key=_end)
    over = 0
    for span, units in sorted(held, key=_start):
        # What ends at the moment at which this starts is given back before this takes.
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
