# SPDX-License-Identifier: Apache-2.0
"""The windows of a maintenance that recurs by a rule (RRULE of RFC 5545)."""
import datetime
import itertools

from dateutil import rrule

from climate import errors
from climate.domain import interval

_FREQUENCIES = ('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY')
_LONGEST = 500
_MOST = 1000
_EXAMPLE = 'write such as "FREQ=WEEKLY;BYDAY=SU" or "FREQ=MONTHLY;COUNT=6"'


def windows(rule, first, after, until):
    """Return (the Intervals of a rule that start in a span of time, whether none follows).

    :param rule: an RRULE; None: there is only the first window.
    :param first: the Interval of the first window, which all others are as long as.
    :param after: the moment after which they start; None: from the first one on.
    :param until: the moment up to which they start.
    :raises BadField: the rule cannot be used; the error says why.
    """
    if rule is None:
        return [first] if after is None else [], True
    parts = _parts(rule)
    count, end = _count(parts), _end(parts)
    bound = until if end is None else min(end, until)
    try:
        # The rule is bounded by a date, so that one without any occurrence comes to an end.
        base = ';'.join(f'{name}={text}' for name, text in parts.items()
                        if name not in ('COUNT', 'UNTIL'))
        found = rrule.rrulestr(base, dtstart=first.start).replace(until=max(bound, first.start))
        starts = list(itertools.islice(found, count if count is not None else None))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise _refused(f'"{rule[:80]}" is not a rule ({str(error)[:100]})') from error
    if not starts or starts[0] != first.start:
        raise _refused('the start must be its first occurrence')
    spans = [interval.Interval(each, each + first.duration) for each in starts]
    for before, each in itertools.pairwise(spans):
        if each.start < before.end:
            raise _refused(f'its windows overlap: one lasts until {before.end:%Y-%m-%d %H:%M} UTC '
                           f'and the next starts at {each.start:%Y-%m-%d %H:%M} UTC')
    if len(spans) > _MOST:
        raise _refused(f'it has more than {_MOST} windows until {until:%Y-%m-%d}')
    over = (count is not None and len(starts) >= count) or (end is not None and end <= until)
    return [each for each in spans if after is None or each.start > after], over


def _parts(rule):
    if len(rule) > _LONGEST:
        raise _refused(f'it has more than {_LONGEST} characters')
    parts = {}
    for each in rule.removeprefix('RRULE:').upper().split(';'):
        name, equals, text = each.strip().partition('=')
        if not (equals and name.isalpha() and text) or name in parts or name == 'DTSTART':
            raise _refused(f'"{each[:40]}" is no part of a rule')
        parts[name] = text
    if parts.get('FREQ') not in _FREQUENCIES:
        raise _refused(f'FREQ must be one of {", ".join(_FREQUENCIES)}')
    # With an interval of 0, the search for occurrences would never end.
    _number('INTERVAL', parts.get('INTERVAL', '1'))
    for name in ('BYHOUR', 'BYMINUTE', 'BYSECOND'):
        if name in parts:
            raise _refused(f'the time of day is that of the start, so leave {name} out')
    return parts


def _count(parts):
    if 'COUNT' not in parts:
        return None
    if 'UNTIL' in parts:
        raise _refused('it has COUNT and UNTIL: give one of them')
    return _number('COUNT', parts['COUNT'])


def _number(name, text):
    if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) <= _MOST):
        raise _refused(f'{name} must be a number from 1 to {_MOST}')
    return int(text)


def _end(parts):
    if 'UNTIL' not in parts:
        return None
    for form in ('%Y%m%dT%H%M%SZ', '%Y%m%d'):
        try:
            return datetime.datetime.strptime(parts['UNTIL'], form).replace(tzinfo=datetime.UTC)
        except ValueError:
            continue
    raise _refused('UNTIL must be a date such as 20300501 or a moment such as 20300501T080000Z')


def _refused(why):
    return errors.BadField(field='rrule', reason=f'{why}; {_EXAMPLE}.')
