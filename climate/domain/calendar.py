# SPDX-License-Identifier: Apache-2.0
"""When resources are busy or free, as merged spans of time."""
from collections.abc import Iterable
import datetime

from climate.domain import interval

Moment = datetime.datetime


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
