# SPDX-License-Identifier: Apache-2.0
"""The windows of a maintenance that recurs by a rule (RRULE of RFC 5545)."""
import datetime
import itertools
import re

from dateutil import rrule

from climate import errors
from climate.domain import interval

_LONGEST = 500
_MOST = 1000
_EXAMPLE = 'write such as "FREQ=WEEKLY;BYDAY=SU" or "FREQ=MONTHLY;COUNT=6"'
_DAY = datetime.timedelta(days=1)
# A new rule is checked for this time, which has all combinations of leap years and weekdays.
_CHECKED = datetime.timedelta(days=28 * 366)
_CHECKED_WINDOWS = 400
_FREQUENCIES = ('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY')
_WEEKDAY = '(?:MO|TU|WE|TH|FR|SA|SU)'
# {part: (pattern of a value, bounds of its number without the sign, frequencies that RFC 5545
# allows)}. dateutil ignores or misunderstands other values.
_PARTS = {
    'BYMONTH': (r'\d+', (1, 12), _FREQUENCIES),
    'BYMONTHDAY': (r'[+-]?\d+', (1, 31), ('DAILY', 'MONTHLY', 'YEARLY')),
    'BYYEARDAY': (r'[+-]?\d+', (1, 366), ('YEARLY',)),
    'BYWEEKNO': (r'[+-]?\d+', (1, 53), ('YEARLY',)),
    'BYSETPOS': (r'[+-]?\d+', (1, 366), _FREQUENCIES),
    'BYDAY': (f'([+-]?\\d+)?{_WEEKDAY}', (1, 53), _FREQUENCIES),
    'WKST': (_WEEKDAY, None, _FREQUENCIES),
}
_CHOOSE_DAYS = {'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYDAY'}
_HOURS = ('BYHOUR', 'BYMINUTE', 'BYSECOND')


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
    parts = _parts(rule)
    if after is None:
        _refuse_new(parts, first)
    count, end = _count(parts), _end(parts)
    intervals, is_last = [], True
    for start, following in itertools.pairwise([*_starts(parts, first, count, end, until), None]):
        if start > until:
            is_last = False
        elif after is None or start > after:
            stop = start + first.duration
            intervals.append(interval.Interval(start, stop if following is None else min(
                stop, following)))
    if after is None and len(intervals) > _MOST:
        raise _refused(f'it has more than {_MOST} windows until {until:%Y-%m-%d}')
    return intervals, is_last and (count is not None or end is not None)


def _starts(parts, first, count, end, until):
    """Yield the starts of windows up to `until`, and one more if the rule has it.

    :param end: the last moment at which a window may start, or None.
    """
    # Without a bound, the search would not end for a rule that has no further occurrence.
    bound = until + _CHECKED if until.year < datetime.MAXYEAR - 30 else until
    base = ';'.join(f'{name}={text}' for name, text in parts.items()
                    if name not in ('COUNT', 'UNTIL'))
    try:
        occurrences = rrule.rrulestr(base, dtstart=first.start).replace(
            until=bound if end is None else min(bound, end))
        for start in itertools.islice(occurrences, count):
            yield start
            if start > until:
                return
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise _refused(f'"{base[:80]}" is not a rule ({str(error)[:100]})') from error


def _refuse_new(parts, first):
    """Refuse a new rule that is malformed or that people would misunderstand.

    :raises BadField: the error says why, and what to write.
    """
    for name, text in parts.items():
        if name in _HOURS:
            raise _refused(f'each window begins at the time of day of the start: leave {name} out')
        if name in _PARTS:
            _check(name, text, parts)
        elif name not in ('FREQ', 'COUNT', 'UNTIL', 'INTERVAL'):
            raise _refused(f'"{name[:40]}={text[:40]}" is not a part of a rule')
    end = _end(parts)
    if end is not None and end < first.start:
        raise _refused(f'UNTIL is before the start, {first.start:%Y-%m-%d %H:%M} UTC')
    if not _CHOOSE_DAYS & parts.keys() and (
            (parts['FREQ'] == 'MONTHLY' and first.start.day > 28)
            or (parts['FREQ'] == 'YEARLY' and (first.start.month, first.start.day) == (2, 29))):
        raise _refused(
            f'it starts on day {first.start.day}, which not every month has: add BYMONTHDAY=-1 for '
            f'the last day of each month, BYMONTHDAY={first.start.day} for the months that have '
            'that day, or start on another day')
    starts = list(itertools.islice(
        _starts(parts, first, _count(parts), end, first.start + _CHECKED), _CHECKED_WINDOWS))
    if not starts or starts[0] != first.start:
        raise _refused('the start must be its first occurrence')
    pairs = list(itertools.pairwise(starts))
    if pairs and all(start + first.duration > following for start, following in pairs):
        start, following = pairs[0]
        raise _refused(
            f'its windows overlap: one lasts until {start + first.duration:%Y-%m-%d %H:%M} UTC '
            f'and the next starts at {following:%Y-%m-%d %H:%M} UTC')


def _parts(rule):
    if len(rule) > _LONGEST:
        raise _refused(f'it has more than {_LONGEST} characters')
    parts = {}
    for part in rule.upper().removeprefix('RRULE:').split(';'):
        name, equals, text = part.strip().partition('=')
        if not (equals and re.fullmatch(r'[A-Z0-9,+-]+', text, re.ASCII)) or name in parts:
            raise _refused(f'"{part[:40]}" is not a part of a rule')
        parts[name] = text
    if parts.get('FREQ') not in _FREQUENCIES:
        raise _refused(f'FREQ must be one of {", ".join(_FREQUENCIES)}')
    # With an interval of 0, the search for occurrences would never end.
    _number('INTERVAL', parts.get('INTERVAL', '1'))
    return parts


def _check(name, text, parts):
    """Refuse a part of a rule that has no meaning because of its value or of the frequency."""
    pattern, bounds, frequencies = _PARTS[name]
    if parts['FREQ'] not in frequencies:
        raise _refused(f'{name} has no meaning with FREQ={parts["FREQ"]}')
    if name == 'BYSETPOS' and not any(other.startswith('BY') for other in parts.keys() - {name}):
        raise _refused('BYSETPOS needs another part that begins with BY')
    for value in text.split(','):
        number = re.sub('[A-Z+-]', '', value)
        if not re.fullmatch(pattern, value, re.ASCII) or (
                number and not bounds[0] <= int(number) <= bounds[1]):
            raise _refused(f'"{name}={text[:40]}" is not a rule: "{value[:40]}" is not a value of '
                           f'{name}')
        if number and name == 'BYDAY' and (
                parts['FREQ'] not in ('MONTHLY', 'YEARLY') or 'BYWEEKNO' in parts):
            raise _refused(f'"{value[:40]}" has no meaning here: a number before a weekday counts '
                           'the weekdays of a month or a year')


def _count(parts):
    if 'COUNT' not in parts:
        return None
    if 'UNTIL' in parts:
        raise _refused('it has COUNT and UNTIL: give one of them')
    return _number('COUNT', parts['COUNT'])


def _number(name, text):
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _MOST):
        raise _refused(f'{name} must be a number from 1 to {_MOST}')
    return int(text)


def _end(parts):
    """Return the last time at which a window may start; None if there is no end."""
    text = parts.get('UNTIL')
    if text is None:
        return None
    try:
        if re.fullmatch(r'\d{8}', text, re.ASCII):
            # Windows may start until the end of that day.
            return datetime.datetime.strptime(text, '%Y%m%d').replace(
                tzinfo=datetime.UTC) + _DAY - interval.RESOLUTION
        if re.fullmatch(r'\d{8}T\d{6}Z', text, re.ASCII):
            return datetime.datetime.strptime(text, '%Y%m%dT%H%M%SZ').replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError):
        pass
    raise _refused('UNTIL must be a date such as 20300501, which is included, or a moment such as '
                   '20300501T080000Z')


def _refused(why):
    return errors.BadField(field='rrule', reason=f'{why}; {_EXAMPLE}.')
