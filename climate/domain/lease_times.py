# SPDX-License-Identifier: Apache-2.0
"""The start and end of a lease: how a request is read, and which moments are refused."""
from collections.abc import Iterable
import datetime

from climate import errors
from climate import moments
from climate.domain import interval
from climate.domain import records


def minute_of(now: datetime.datetime) -> datetime.datetime:
    """Return the beginning of the current minute."""
    return now.replace(second=0, microsecond=0)


def of_request(request: records.LeaseRequest, now: datetime.datetime) -> interval.Interval:
    """Return the Interval that a LeaseRequest asks for.

    For a caller that counts in whole minutes "now" is the current minute, so a start may be up to
    a minute in the past.

    :raises BadDate: it starts in the past, or is over.
    :raises BadPeriod: it ends before it starts.
    """
    start, end = request.start, request.end
    if start is None and end is not None and request.duration_seconds is not None:
        start = plus(end, -request.duration_seconds)
    if start is None:
        start = minute_of(now) if request.whole_minutes else now
    if end is None:
        end = plus(start, request.duration_seconds or 0)
    refuse_past(start, now, 'start')
    if start < end <= now:
        raise errors.BadDate(
            f'end: {end:%Y-%m-%d %H:%M:%S} UTC is in the past; it is {now:%Y-%m-%d %H:%M:%S} '
            'UTC now.', value=end.isoformat(), field='end')
    return _interval(start, end)


def of_changes(changes: records.LeaseChanges, lease: records.Lease,
               now: datetime.datetime) -> interval.Interval:
    """Return the Interval of a lease after LeaseChanges.

    :raises BadField: the start is to change, but the lease has started.
    :raises BadDate: a moment lies in the past.
    :raises BadPeriod: it ends before it starts.
    """
    start = _new_start(changes, lease, now)
    end = lease.end
    if changes.end_now:
        if start > now:
            raise errors.BadPeriod(
                'End date must be later than start date. end: the lease has not started, so it '
                'cannot be ended; delete it instead.', start=start.isoformat(), end='now')
        end = now
    elif changes.end is not None and changes.end != lease.end:
        refuse_past(changes.end, now, 'end')
        # An end in the current minute means now, because some clients count in minutes.
        end = max(changes.end, now)
    elif changes.duration_seconds is not None:
        end = plus(start, changes.duration_seconds)
        refuse_past(end, now, 'duration')
    return _interval(start, end)


def before_end_of(start: datetime.datetime, end: datetime.datetime,
                  minutes: int) -> datetime.datetime | None:
    """Return when the before_end event happens: `minutes` before the end, but not before the start.

    :returns: None if `minutes` is 0: there is no such event.
    """
    if minutes == 0:
        return None
    return max(start, end - datetime.timedelta(minutes=minutes))


def before_end_of_request(request: records.LeaseRequest, span: interval.Interval,
                          minutes: int) -> datetime.datetime | None:
    """Return when the before_end event of a new lease happens; None: there is none.

    :raises BadDate: the moment given is not between start and end.
    """
    if request.before_end is None:
        return before_end_of(span.start, span.end, minutes)
    return _between(request.before_end, span)


def before_end_of_changes(changes: records.LeaseChanges, lease: records.Lease,
                          span: interval.Interval) -> datetime.datetime | None:
    """Return when the before_end event of a changed lease happens; it keeps its time to the end.

    :raises BadDate: the moment given is not between start and end.
    """
    if changes.before_end is not None:
        return _between(changes.before_end, span)
    if lease.before_end is None:
        return None
    return max(span.start, span.end - (lease.end - lease.before_end))


def refuse_notices_outside(notices: Iterable[datetime.datetime], span: interval.Interval,
                           now: datetime.datetime) -> None:
    """Refuse notices that cannot be sent.

    :raises BadDate: one lies in the past, or after the end of the lease.
    """
    for moment in notices:
        refuse_past(moment, now, 'events.time')
        if moment > span.end:
            raise errors.BadDate(
                f'events.time: {moment:%Y-%m-%d %H:%M} UTC lies after the end, '
                f'{span.end:%Y-%m-%d %H:%M} UTC.', value=moment.isoformat(), field='events.time')


def _new_start(changes: records.LeaseChanges, lease: records.Lease,
               now: datetime.datetime) -> datetime.datetime:
    start = now if changes.start_now else changes.start
    if start is None or start == lease.start or (
            changes.whole_minutes and start == minute_of(lease.start)):
        return lease.start
    if lease.start <= now:
        raise errors.BadField(field='start', reason=(
            f'the lease has started at {lease.start:%Y-%m-%d %H:%M} UTC; its start stays.'))
    refuse_past(start, now, 'start')
    return start


def plus(moment: datetime.datetime, seconds: float) -> datetime.datetime:
    """Return the moment this many seconds later.

    :raises BadField: no moment may be in that year.
    """
    years = moments.YEARS
    try:
        found = moment + datetime.timedelta(seconds=seconds)
    except OverflowError:
        found = None
    if found is None or found.year not in years:
        raise errors.BadField(field='duration', reason=(
            f'it goes beyond the years {years[0]} to {years[-1]}: ask for a shorter one.'))
    return found


def refuse_past(moment: datetime.datetime, now: datetime.datetime, field: str) -> None:
    """Refuse a moment before the current minute.

    :raises BadDate: it names the field.
    """
    if moment < minute_of(now):
        raise errors.BadDate(
            f'{field}: {moment:%Y-%m-%d %H:%M} UTC lies in the past; it is '
            f'{now:%Y-%m-%d %H:%M:%S} UTC now.', value=moment.isoformat(), field=field)


def window(start: datetime.datetime, end: datetime.datetime, longest: datetime.timedelta,
           field: str = 'end') -> interval.Interval:
    """Return the Interval of two moments that a query asks about.

    :raises BadField: the end is not after the start, or more than `longest` after it; the error
        names `field`.
    """
    if end <= start:
        raise errors.BadField(field=field, reason=(
            f'it must be after {start:%Y-%m-%d %H:%M:%S} UTC.'))
    if end - start > longest:
        raise errors.BadField(field=field, reason=(
            f'it may be at most {longest.days} days after {start:%Y-%m-%d %H:%M:%S} UTC.'))
    return interval.Interval(start, end)


def _between(moment: datetime.datetime, span: interval.Interval) -> datetime.datetime:
    if not span.start < moment < span.end:
        raise errors.BadDate(
            f'before_end: {moment:%Y-%m-%d %H:%M} UTC must lie between the start, '
            f'{span.start:%Y-%m-%d %H:%M} UTC, and the end, {span.end:%Y-%m-%d %H:%M} UTC.',
            value=moment.isoformat(), field='before_end')
    return moment


def _interval(start: datetime.datetime, end: datetime.datetime) -> interval.Interval:
    if end <= start:
        raise errors.BadPeriod(start=f'{start:%Y-%m-%d %H:%M:%S}', end=f'{end:%Y-%m-%d %H:%M:%S}')
    return interval.Interval(start, end)
