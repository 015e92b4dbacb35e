# SPDX-License-Identifier: Apache-2.0
"""Parsing and formatting of moments and durations, for people and for the service."""
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import contextvars
import datetime
import typing

from climate import moments
from climate.client import errors
from climate.client import moment_parsing
from climate.client import time_zones

MOMENT_HELP = moment_parsing.MOMENT_HELP
SPAN_HELP = moments.DURATION_HELP

_UNITS = {'d': 86400, 'h': 3600, 'm': 60, 's': 1}

Moment = str | datetime.datetime
Span = str | int | datetime.timedelta

_user_zone: contextvars.ContextVar[time_zones.Zone] = contextvars.ContextVar(
    'user_zone', default=datetime.UTC)


def understand(text: str, zone: time_zones.Zone, after: datetime.datetime | None = None
               ) -> moment_parsing.Understood:
    """Understand a moment as people write it in a zone, at the time of this machine.

    :param after: see ``moment_parsing.understand``.
    :raises BadValue: `text` is not a time; the message has the way out.
    """
    try:
        return moment_parsing.understand(text, utcnow(), zone, after)
    except moments.NotUnderstoodError as error:
        raise errors.BadValue(f'"{text[:80]}" is not a time: {error}.') from None


def utcnow() -> datetime.datetime:
    """Return the time of this machine, aware, in UTC. Only commands and defaults call it."""
    return datetime.datetime.now(datetime.UTC)


def span(text: Span) -> datetime.timedelta:
    """Parse a duration, which must be longer than zero.

    :raises BadValue: `text` is not a duration; the message has an example.
    """
    if isinstance(text, datetime.timedelta):
        seconds = int(text.total_seconds())
    elif isinstance(text, int):
        seconds = text
    else:
        try:
            seconds = moments.seconds(text)
        except ValueError as error:
            raise _bad_span(text, str(error)) from None
    if seconds <= 0:
        raise _bad_span(text, f'write {SPAN_HELP}')
    try:
        return datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise errors.BadValue(f'"{text}" is longer than any duration can be.') from None


def moment(text: Moment, now: datetime.datetime) -> datetime.datetime:
    """Parse a moment; "now" and "+2h" count from `now`.

    :returns: an aware datetime in UTC.
    :raises BadValue: `text` is not a time; the message has examples.
    """
    if isinstance(text, datetime.datetime):
        return moments.in_utc(text)
    try:
        return moments.moment(text, now)
    except ValueError:
        raise _bad_moment(text) from None


def on_the_wire(text: Moment, now: datetime.datetime) -> str:
    """Convert a moment to what is sent: ISO text, or "now" or "+7200s" for the service's clock.

    :param now: only to check that the moment is in the calendar.
    """
    if isinstance(text, datetime.datetime):
        return iso(text)
    try:
        return moments.on_the_wire(text, now)
    except ValueError:
        raise _bad_moment(text) from None


def wire(**given: Moment | None) -> dict[str, typing.Any]:
    """Convert moments by name to what is sent, as `on_the_wire` does; None is left out."""
    now = utcnow()
    return {name: on_the_wire(value, now) for name, value in given.items() if value is not None}


iso = moments.iso


@contextlib.contextmanager
def shown_in(zone: time_zones.Zone) -> Iterator[None]:
    """Set the zone in which `for_people` formats times; without it, in UTC."""
    token = _user_zone.set(zone)
    try:
        yield
    finally:
        _user_zone.reset(token)


user_zone = _user_zone.get


def for_people(text: str | None) -> str:
    """Format a received time for people: 2030-05-01 08:00 UTC; '' for None."""
    if not text:
        return ''
    try:
        return time_zones.words(moment(text, utcnow()), _user_zone.get())
    except (errors.BadValue, OverflowError):
        return text


def in_words(length: datetime.timedelta) -> str:
    """Format a duration in its two largest units: "1d 3h", "5m 10s", "0s"."""
    seconds = max(0, int(length.total_seconds()))
    parts = []
    for unit in 'dhms':
        count, seconds = divmod(seconds, _UNITS[unit])
        if count:
            parts.append(f'{count}{unit}')
        elif parts:
            break
    return ' '.join(parts[:2]) or '0s'


def remaining(lease: Mapping[str, typing.Any], now: datetime.datetime) -> str:
    """Return the time to the start or the end of a lease: "starts in 2h", "1d 3h left".

    A lease that is over "never began" if the service says that it has no ``started_at``.
    """
    start, end = moment(lease['start'], now), moment(lease['end'], now)
    ended_at = lease.get('ended_at')
    has_begun = lease.get('started_at', start) is not None
    if ended_at or now >= end:
        if not has_begun:
            return 'never began'
        since = moment(ended_at, now) if ended_at else end
        return f'ended {in_words(now - since)} ago'
    if now < start:
        return f'starts in {in_words(start - now)}'
    if not has_begun:
        return f'due {in_words(now - start)} ago'
    return f'{in_words(end - now)} left'


def _bad_moment(text: Moment) -> errors.BadValue:
    return errors.BadValue(f'"{text}" is not a time: write now, +2h, "2030-5-1 08:00" in UTC, or '
                           '2030-05-01T08:00:00Z.')


def _bad_span(text: Span, way_out: str) -> errors.BadValue:
    return errors.BadValue(f'"{str(text)[:80]}" is not a duration: {way_out}.')
