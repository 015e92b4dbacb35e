# SPDX-License-Identifier: Apache-2.0
"""When a lease starts and ends: what a caller may say about it, and what it means."""
import datetime

from climate import errors
from climate.domain import agenda
from climate.domain import interval


def minute_of(now):
    """The moment at which the current minute began."""
    return now.replace(second=0, microsecond=0)


def of_request(request, now):
    """The Interval that a LeaseRequest asks for.

    REST 1.0 counts in minutes: there "now" is the minute that runs, and so a start may be up to
    a minute in the past.

    :raises BadDate: it starts in the past, or is over.
    :raises BadPeriod: it ends before it starts.
    """
    start, end = request.start, request.end
    if start is None and end is not None and request.duration_seconds is not None:
        start = plus(end, -request.duration_seconds)
    if start is None:
        start = minute_of(now) if request.lenient else now
    if end is None:
        end = plus(start, request.duration_seconds)
    refuse_past(start, now, 'start')
    if start < end <= now:
        raise errors.BadDate(
            f'end: {end:%Y-%m-%d %H:%M:%S} is over; it is {now:%Y-%m-%d %H:%M:%S} UTC now.',
            value=end.isoformat(), field='end')
    return _interval(start, end)


def of_changes(changes, lease, now):
    """The Interval of a lease after LeaseChanges.

    :raises BadField: it has started, so its start stays.
    :raises BadDate: a moment lies in the past.
    :raises BadPeriod: it ends before it starts.
    """
    start = _new_start(changes, lease, now)
    end = lease.end
    if changes.end_now:
        if start > now:
            raise errors.BadPeriod(
                'End date must be later than start date. The lease has not started, so it cannot '
                'be ended: delete it instead.', start=start.isoformat(), end='now')
        end = now
    elif changes.end is not None and changes.end != lease.end:
        refuse_past(changes.end, now, 'end')
        # An end in the minute that runs means now: clients that count in minutes say it so.
        end = max(changes.end, now)
    elif changes.duration_seconds is not None:
        end = plus(start, changes.duration_seconds)
        refuse_past(end, now, 'duration')
    return _interval(start, end)


def before_end_of_request(request, span, minutes):
    """When the end of a new lease is near; None when nobody wants to know.

    :raises BadDate: the moment given is not between start and end.
    """
    if request.before_end is None:
        return agenda.before_end_of(span.start, span.end, minutes)
    return _between(request.before_end, span)


def before_end_of_changes(changes, lease, span):
    """The same of a changed lease: it keeps its distance from the end.

    :raises BadDate: the moment given is not between start and end.
    """
    if changes.before_end is not None:
        return _between(changes.before_end, span)
    if lease.before_end is None:
        return None
    return max(span.start, span.end - (lease.end - lease.before_end))


def refuse_notices_outside(moments, span, now):
    """Nothing, where somebody can be told at all of the `moments`.

    :raises BadDate: one lies in the past, or after the end of the lease.
    """
    for moment in moments:
        refuse_past(moment, now, 'events.time')
        if moment > span.end:
            raise errors.BadDate(
                f'events.time: {moment:%Y-%m-%d %H:%M} lies after the end, '
                f'{span.end:%Y-%m-%d %H:%M}.', value=moment.isoformat(), field='events.time')


def _new_start(changes, lease, now):
    start = now if changes.start_now else changes.start
    if start is None or start == lease.start or (
            changes.lenient and start == minute_of(lease.start)):
        return lease.start
    if lease.start <= now:
        raise errors.BadField(field='start', reason=(
            f'the lease has started at {lease.start:%Y-%m-%d %H:%M} UTC; its start stays.'))
    refuse_past(start, now, 'start')
    return start


def plus(moment, seconds):
    """The moment so many seconds later.

    :raises BadField: no calendar goes so far.
    """
    try:
        return moment + datetime.timedelta(seconds=seconds)
    except OverflowError as error:
        raise errors.BadField(field='duration',
                              reason='it goes beyond the years 1 to 9999.') from error


def refuse_past(moment, now, field):
    """Nothing, where the moment lies in the minute that runs, or later.

    :raises BadDate: it names the field.
    """
    if moment < minute_of(now):
        raise errors.BadDate(
            f'{field}: {moment:%Y-%m-%d %H:%M} lies in the past; it is {now:%Y-%m-%d %H:%M:%S} UTC '
            'now.', value=moment.isoformat(), field=field)


def _between(moment, span):
    if not span.start < moment < span.end:
        raise errors.BadDate(
            f'before_end: {moment:%Y-%m-%d %H:%M} must lie between the start, '
            f'{span.start:%Y-%m-%d %H:%M}, and the end, {span.end:%Y-%m-%d %H:%M}.',
            value=moment.isoformat(), field='before_end')
    return moment


def _interval(start, end):
    if end <= start:
        raise errors.BadPeriod(start=f'{start:%Y-%m-%d %H:%M:%S}', end=f'{end:%Y-%m-%d %H:%M:%S}')
    return interval.Interval(start, end)
