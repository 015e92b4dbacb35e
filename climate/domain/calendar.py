# SPDX-License-Identifier: Apache-2.0
"""When resources are busy or free, as merged spans of time."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
from typing import TypeVar

from climate.domain import interval

Moment = datetime.datetime
Id = TypeVar('Id')


def busy(bookings: Iterable[interval.Interval],
         window: interval.Interval) -> list[interval.Interval]:
    """The spans of `window` in which there is any booking, in order.

    Bookings that overlap or touch make one span; what lies outside of the window is cut off.
    """
    spans: list[tuple[Moment, Moment]] = []
    for booking in sorted(bookings, key=lambda booking: booking.start):
        start, end = max(booking.start, window.start), min(booking.end, window.end)
        if start >= end:
            continue
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    return [interval.Interval(start, end) for start, end in spans]


def free(bookings: Iterable[interval.Interval],
         window: interval.Interval) -> list[interval.Interval]:
    """The spans of `window` in which there is no booking, in order; they never touch."""
    edges = [window.start]
    for span in busy(bookings, window):
        edges += [span.start, span.end]
    edges.append(window.end)
    return [interval.Interval(start, end)
            for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]


def earliest(count: int, duration: datetime.timedelta, not_before: Moment,
             bookings_by_resource: Mapping[Id, Sequence[interval.Interval]],
             until: Moment | None = None) -> tuple[Moment, tuple[Id, ...]] | None:
    """The first moment at which `count` resources are free, the same ones for all of `duration`.

    :param bookings_by_resource: {id: spans in which it is taken}, the spans in any order; an
        empty sequence for a resource that is always free.
    :param until: the moment by which the time must be over; None: it may be any time.
    :returns: (start, ids), exactly `count` ids in the order of the mapping; None where there is
        no such moment, which without `until` is only where there are too few resources.
    :raises ValueError: a negative count, or a duration that is not positive.
    """
    if count < 0 or duration <= datetime.timedelta(0):
        raise ValueError('A count of 0 or more and a positive duration are needed.')
    if count == 0 and (until is None or until - not_before >= duration):
        return not_before, ()
    ids = list(bookings_by_resource)
    opens: list[tuple[Moment, int]] = []
    closes: list[tuple[Moment, int]] = []
    for place, resource_id in enumerate(ids):
        for first, last in _starts(bookings_by_resource[resource_id], duration, not_before, until):
            opens.append((first, place))
            if last is not None:
                closes.append((last, place))
    opens.sort(key=_moment)
    closes.sort(key=_moment)
    open_places: set[int] = set()
    closed = 0
    for moment, place in opens:
        # The last start that a gap serves still belongs to it, so one that closes now is open.
        while closed < len(closes) and closes[closed][0] < moment:
            open_places.discard(closes[closed][1])
            closed += 1
        open_places.add(place)
        if len(open_places) == count:
            return moment, tuple(ids[found] for found in sorted(open_places))
    return None


def _moment(edge: tuple[Moment, int]) -> Moment:
    return edge[0]


def _starts(bookings: Iterable[interval.Interval], duration: datetime.timedelta,
            not_before: Moment, until: Moment | None) -> list[tuple[Moment, Moment | None]]:
    """Pairs (first, last) between which one resource can be given for `duration`, both included.

    A last of None: there is no end to it.
    """
    ranges: list[tuple[Moment, Moment | None]] = []
    begin = not_before
    for booking in sorted(bookings, key=lambda booking: booking.start):
        if until is not None and booking.start >= until:
            break
        if booking.start - begin >= duration:
            ranges.append((begin, booking.start - duration))
        begin = max(begin, booking.end)
    if until is None:
        ranges.append((begin, None))
    elif until - begin >= duration:
        ranges.append((begin, until - duration))
    return ranges
