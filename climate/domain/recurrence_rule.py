# SPDX-License-Identifier: Apache-2.0
"""Recurrence rules (RRULE of RFC 5545): their parts, and the starts that they describe."""
import collections.abc
import contextlib
import datetime
import itertools
import re

from dateutil import rrule

#: The time over which a new rule is checked. It has all combinations of leap years and weekdays.
CHECKED = datetime.timedelta(days=28 * 366)

_LONGEST = 500
_MOST = 1000
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
_HOURS = ('BYHOUR', 'BYMINUTE', 'BYSECOND')
_ENDS = ('COUNT', 'UNTIL')

Parts = collections.abc.Mapping[str, str]


class BadRuleError(ValueError):
    """A rule cannot be used. The text is a clause that says why."""


def parts_of(rule: str) -> dict[str, str]:
    """Return the parts of a rule, {name: value}.

    :raises BadRuleError: the text is no rule, or has a frequency or an interval that cannot be
        used.
    """
    if len(rule) > _LONGEST:
        raise BadRuleError(f'it has more than {_LONGEST} characters')
    parts: dict[str, str] = {}
    for part in rule.upper().removeprefix('RRULE:').split(';'):
        name, equals, text = part.strip().partition('=')
        if not (equals and re.fullmatch(r'[A-Z0-9,+-]+', text, re.ASCII)) or name in parts:
            raise BadRuleError(f'"{part[:40]}" is not a part of a rule')
        parts[name] = text
    if parts.get('FREQ') not in _FREQUENCIES:
        raise BadRuleError(f'FREQ must be one of {", ".join(_FREQUENCIES)}')
    # With an interval of 0, the search for occurrences would never end.
    _number('INTERVAL', parts.get('INTERVAL', '1'))
    return parts


def refuse_malformed(parts: Parts, noun: str) -> None:
    """Refuse a new rule with unknown or meaningless parts.

    :param noun: the noun for what the rule repeats, such as "window".
    :raises BadRuleError: the text says why.
    """
    for name, text in parts.items():
        if name in _HOURS:
            raise BadRuleError(
                f'each {noun} begins at the time of day of the start: leave {name} out')
        if name in _PARTS:
            _check(name, text, parts)
        elif name not in ('FREQ', 'INTERVAL', *_ENDS):
            raise BadRuleError(f'"{name[:40]}={text[:40]}" is not a part of a rule')


def count_of(parts: Parts) -> int | None:
    """Return the number of occurrences that a rule states, or None.

    :raises BadRuleError: the number cannot be used, or the rule also has UNTIL.
    """
    if 'COUNT' not in parts:
        return None
    if 'UNTIL' in parts:
        raise BadRuleError('it has COUNT and UNTIL: give one of them')
    return _number('COUNT', parts['COUNT'])


def until_of(parts: Parts) -> datetime.date | datetime.datetime | None:
    """Return the UNTIL of a rule: a date, a moment in UTC, a local time without a zone, or None.

    :raises BadRuleError: the value is none of these.
    """
    text = parts.get('UNTIL')
    if text is None:
        return None
    with contextlib.suppress(ValueError, OverflowError):
        if re.fullmatch(r'\d{8}', text, re.ASCII):
            return datetime.datetime.strptime(text, '%Y%m%d').date()
        if re.fullmatch(r'\d{8}T\d{6}Z?', text, re.ASCII):
            local = datetime.datetime.strptime(text.removesuffix('Z'), '%Y%m%dT%H%M%S')
            return local.replace(tzinfo=datetime.UTC) if text.endswith('Z') else local
    raise BadRuleError('UNTIL must be a date such as 20300501, which is included, or a moment such '
                       'as 20300501T080000Z')


def starts(parts: Parts, first: datetime.datetime, count: int | None,
           end: datetime.datetime | None,
           until: datetime.datetime) -> collections.abc.Iterator[datetime.datetime]:
    """Yield the starts that a rule describes up to `until`, and one more if the rule has it.

    :param first: the start of the rule; with or without a zone, as `end` and `until`.
    :param count: the number of starts that the rule has; None: no limit.
    :param end: the last moment at which the rule may have a start, or None.
    :raises BadRuleError: the rule has a value that cannot be used.
    """
    # Without a bound, the search would not end for a rule that has no further occurrence.
    bound = until + CHECKED if until.year < datetime.MAXYEAR - 30 else until
    base = ';'.join(f'{name}={text}' for name, text in parts.items() if name not in _ENDS)
    try:
        occurrences = rrule.rrulestr(base, dtstart=first).replace(
            until=bound if end is None else min(bound, end))
        for start in itertools.islice(occurrences, count):
            yield start
            if start > until:
                return
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise BadRuleError(f'"{base[:80]}" is not a rule ({str(error)[:100]})') from error


def _check(name: str, text: str, parts: Parts) -> None:
    """Refuse a part of a rule that has no meaning because of its value or of the frequency."""
    pattern, bounds, frequencies = _PARTS[name]
    if parts['FREQ'] not in frequencies:
        raise BadRuleError(f'{name} has no meaning with FREQ={parts["FREQ"]}')
    if name == 'BYSETPOS' and not any(other.startswith('BY') for other in parts.keys() - {name}):
        raise BadRuleError('BYSETPOS needs another part that begins with BY')
    for value in text.split(','):
        number = re.sub('[A-Z+-]', '', value)
        if not re.fullmatch(pattern, value, re.ASCII) or (
                number and bounds and not bounds[0] <= int(number) <= bounds[1]):
            raise BadRuleError(f'"{name}={text[:40]}" is not a rule: "{value[:40]}" is not a value '
                               f'of {name}')
        if number and name == 'BYDAY' and (
                parts['FREQ'] not in ('MONTHLY', 'YEARLY') or 'BYWEEKNO' in parts):
            raise BadRuleError(f'"{value[:40]}" has no meaning here: a number before a weekday '
                               'counts the weekdays of a month or a year')


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _MOST):
        raise BadRuleError(f'{name} must be a number from 1 to {_MOST}')
    return int(text)
