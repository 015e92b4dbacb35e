# SPDX-License-Identifier: Apache-2.0
"""The windows of a maintenance that recurs by a rule (RRULE of RFC 5545)."""
import datetime
import itertools

from climate import errors
from climate.domain import interval
from climate.domain import recurrence_rule

_MOST = 1000
_EXAMPLE = 'write such as "FREQ=WEEKLY;BYDAY=SU" or "FREQ=MONTHLY;COUNT=6"'
_DAY = datetime.timedelta(days=1)
_CHECKED_WINDOWS = 400
_CHOOSE_DAYS = {'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYDAY'}


def windows(rule, first, after, until):
    """Return (the Intervals of the windows that start in a span of time, whether none follows).

    A window that would overlap the next one ends when the next one starts. For example, a monthly
    window of 30 days is shorter in February.

    :param rule: an RRULE; None if the first window is the only one.
    :param first: the Interval of the first window. All windows have its length.
    :param after: the windows start after this time; None for a new rule, whose first window is
        included.
    :param until: the windows start no later than this time.
    :raises BadField: the rule cannot be used; the error says why.
    """
    if rule is None:
        return [first] if after is None else [], True
    try:
        return _windows(recurrence_rule.parts_of(rule), first, after, until)
    except recurrence_rule.BadRuleError as error:
        raise errors.BadField(field='rrule', reason=f'{error}; {_EXAMPLE}.') from error


def _windows(parts, first, after, until):
    """Return the result of `windows` for the parts of a rule.

    :raises BadRuleError: the rule cannot be used.
    """
    if after is None:
        _refuse_new(parts, first)
    count, end = recurrence_rule.count_of(parts), _end(parts)
    intervals, is_last = [], True
    starts = recurrence_rule.starts(parts, first.start, count, end, until)
    for start, following in itertools.pairwise([*starts, None]):
        if start > until:
            is_last = False
        elif after is None or start > after:
            stop = start + first.duration
            intervals.append(interval.Interval(start, stop if following is None else min(
                stop, following)))
    if after is None and len(intervals) > _MOST:
        raise recurrence_rule.BadRuleError(
            f'it has more than {_MOST} windows until {until:%Y-%m-%d}')
    return intervals, is_last and (count is not None or end is not None)


def _refuse_new(parts, first):
    """Refuse a new rule that is malformed or that people would misunderstand.

    :raises BadRuleError: the text says why, and what to write.
    """
    recurrence_rule.refuse_malformed(parts, 'window')
    end = _end(parts)
    if end is not None and end < first.start:
        raise recurrence_rule.BadRuleError(
            f'UNTIL is before the start, {first.start:%Y-%m-%d %H:%M} UTC')
    if not _CHOOSE_DAYS & parts.keys() and (
            (parts['FREQ'] == 'MONTHLY' and first.start.day > 28)
            or (parts['FREQ'] == 'YEARLY' and (first.start.month, first.start.day) == (2, 29))):
        raise recurrence_rule.BadRuleError(
            f'it starts on day {first.start.day}, which not every month has: add BYMONTHDAY=-1 for '
            f'the last day of each month, BYMONTHDAY={first.start.day} for the months that have '
            'that day, or start on another day')
    starts = list(itertools.islice(recurrence_rule.starts(
        parts, first.start, recurrence_rule.count_of(parts), end,
        first.start + recurrence_rule.CHECKED), _CHECKED_WINDOWS))
    if not starts or starts[0] != first.start:
        raise recurrence_rule.BadRuleError('the start must be its first occurrence')
    pairs = list(itertools.pairwise(starts))
    if pairs and all(start + first.duration > following for start, following in pairs):
        start, following = pairs[0]
        raise recurrence_rule.BadRuleError(
            f'its windows overlap: one lasts until {start + first.duration:%Y-%m-%d %H:%M} UTC '
            f'and the next starts at {following:%Y-%m-%d %H:%M} UTC')


def _end(parts):
    """Return the last time at which a window may start; None if there is no end.

    :raises BadRuleError: UNTIL has no zone, or cannot be read.
    """
    until = recurrence_rule.until_of(parts)
    if until is None:
        return None
    if not isinstance(until, datetime.datetime):
        # Windows may start until the end of that day.
        return datetime.datetime.combine(until, datetime.time(), datetime.UTC) + (
            _DAY - interval.RESOLUTION)
    if until.tzinfo is None:
        raise recurrence_rule.BadRuleError(
            'UNTIL must be a date such as 20300501, which is included, or a moment such as '
            '20300501T080000Z')
    return until
