# SPDX-License-Identifier: Apache-2.0
"""The start and end of a lease: the rules by which moments in requests are read or refused."""
from collections.abc import Iterable
import datetime

from climate import errors
from climate import moments
from climate.domain import interval
from climate.domain import lease_actions
from climate.domain import records

#: The shortest and the longest step by which a lease is extended, in seconds.
SHORTEST_STEP, LONGEST_STEP = 600, 366 * 86400


def minute_of(now: datetime.datetime) -> datetime.datetime:
    """Return the beginning of the current minute."""
    return now.replace(second=0, microsecond=0)


def of_request(request: records.LeaseRequest, now: datetime.datetime) -> interval.Interval:
    """Return the Interval of a LeaseRequest.

    A start may be up to a minute in the past, because some callers count in whole minutes.

    :raises BadDate: the start, or the end, is in the past.
    :raises BadPeriod: the end is not after the start.
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

    :raises BadField: the start changes, but the lease has started.
    :raises BadDate: a new moment is in the past.
    :raises BadPeriod: the end is not after the start.
    """
    start = _new_start(changes, lease, now)
    end = lease.end
    if changes.end_now:
        if start >= now:
            raise lease_actions.not_begun(start)
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
    """Return the time of the before_end event: `minutes` before the end, but not before the start.

    :param minutes: 0: there is no such event, and the result is None.
    """
    return max(start, end - datetime.timedelta(minutes=minutes)) if minutes else None


def before_end_of_request(request: records.LeaseRequest, span: interval.Interval,
                          minutes: int) -> datetime.datetime | None:
    """Return the time of the before_end event of a new lease; None: there is no such event.

    :raises BadDate: the moment in the request is not between start and end.
    """
    if request.before_end is None:
        return before_end_of(span.start, span.end, minutes)
    return _between(request.before_end, span)


def before_end_of_changes(changes: records.LeaseChanges, lease: records.Lease,
                          span: interval.Interval) -> datetime.datetime | None:
    """Return the time of the before_end event of a changed lease; None: there is no such event.

    If the request has no new moment, the event keeps its distance from the end.

    :raises BadDate: the moment in the request is not between start and end.
    """
    if changes.before_end is not None:
        return _between(changes.before_end, span)
    if lease.before_end is None:
        return None
    return max(span.start, span.end - (lease.end - lease.before_end))


def step_of_changes(changes: records.LeaseChanges, lease: records.Lease,
                    end: datetime.datetime) -> int | None:
    """Return the step of a changed lease in seconds; None: it is not extended in steps.

    If the request has no new step, an earlier end ends the steps, because the owner chose it.

    :param end: the end of the lease after the change.
    """
    if changes.while_free_seconds is not None:
        return changes.while_free_seconds or None
    return None if end < lease.end else lease.while_free_seconds


def refuse_bad_step(seconds: int | None) -> None:
    """Refuse a step that is too short or too long; None: the lease has no steps.

    :raises BadField: the step is refused.
    """
    if seconds is not None and not SHORTEST_STEP <= seconds <= LONGEST_STEP:
        raise errors.BadField(field='while_free', reason=(
            f'a step of {seconds} seconds is not possible: choose {SHORTEST_STEP} seconds to '
            f'{LONGEST_STEP // 86400} days.'))


def before_end_within_step(chosen: datetime.datetime | None, usual: datetime.datetime | None,
                           end: datetime.datetime, seconds: int | None
                           ) -> datetime.datetime | None:
    """Return the time of the before_end event of a lease that may have steps.

    The lease is extended one step before its end. An earlier before_end event would happen again at
    each step.

    :param chosen: the moment in the request; None: it has none.
    :param usual: the moment that the event has without steps; None: there is no such event.
    :param seconds: the step; None: the lease has no steps.
    :raises BadField: the moment in the request is more than a step before the end.
    """
    if seconds is None or usual is None:
        return usual
    earliest = end - datetime.timedelta(seconds=seconds)
    if chosen is not None and chosen < earliest:
        raise errors.BadField(field='before_end', reason=(
            f'{chosen:%Y-%m-%d %H:%M} UTC is more than a step (while_free: {seconds} seconds) '
            'before the end, so it would be repeated at each step: choose a later before_end, or a '
            'longer step.'))
    return max(usual, earliest)


def refuse_notices_outside(notices: Iterable[datetime.datetime], span: interval.Interval,
                           now: datetime.datetime) -> None:
    """Refuse moments of notifications that are in the past, or after the end of the lease.

    :raises BadDate: a moment is refused.
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
        raise lease_actions.begun(lease.start)
    refuse_past(start, now, 'start')
    return start


def plus(moment: datetime.datetime, seconds: float) -> datetime.datetime:
    """Return the moment this many seconds later.

    :raises BadField: the moment is outside ``moments.YEARS``.
    """
    years = moments.YEARS
    try:
        later = moment + datetime.timedelta(seconds=seconds)
    except OverflowError:
        later = None
    if later is None or later.year not in years:
        raise errors.BadField(field='duration', reason=(
            f'it goes beyond the years {years[0]} to {years[-1]}: ask for a shorter one.'))
    return later


def refuse_past(moment: datetime.datetime, now: datetime.datetime, field: str) -> None:
    """Refuse a moment before the current minute.

    :raises BadDate: the moment is refused; the error has the name of the field.
    """
    if moment < minute_of(now):
        raise errors.BadDate(
            f'{field}: {moment:%Y-%m-%d %H:%M} UTC lies in the past; it is '
            f'{now:%Y-%m-%d %H:%M:%S} UTC now.', value=moment.isoformat(), field=field)


def window(start: datetime.datetime, end: datetime.datetime, longest: datetime.timedelta,
           field: str = 'end') -> interval.Interval:
    """Return the Interval between the two moments of a query.

    :raises BadField: the end is not after the start, or more than `longest` after it.
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
