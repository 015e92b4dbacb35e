# SPDX-License-Identifier: Apache-2.0
"""The moments and durations that people write: in requests, on the command line, in hints.

The service, the client and the pieces in Nova parse them here, so each accepts the same forms.
``climate.client.wall_clock`` adds moments that need a time zone, such as "tomorrow 9:00".
"""
import datetime
import fractions
import re

NOW = 'now'
#: The years that moments may be in. They leave space for arithmetic at both ends of the calendar,
#: and fit every database.
YEARS = range(1970, 9999)
DURATION_HELP = '90m, 2h, 1.5h, 1d12h, 1 hour 30 minutes, 1w, PT1H or seconds'

_LONGEST_TEXT = 200
_UNITS = {'w': 604800, 'd': 86400, 'h': 3600, 'm': 60, 's': 1}
_PART = (r'(half(?: an?)? |an? |\d+(?:\.\d+)? ?)'
         r'(w(?:eeks?|ks?)?|d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)'
         r'(?![a-z])')
_PARTS = re.compile(_PART, re.ASCII)
_SPAN = re.compile(rf'{_PART}(?:(?:,? and |, | )?{_PART})*', re.ASCII)
_NUMBER = r'\d+(?:\.\d+)?'
_ISO_SPAN = re.compile(
    rf'p(?!$)(?:({_NUMBER})w)?(?:({_NUMBER})d)?'
    rf'(?:t(?!$)(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?)?', re.ASCII)
# "1h30", as clocks show it: minutes after hours need no unit.
_MINUTES_AFTER = re.compile(r'(\d ?h) ?([0-5]\d)', re.ASCII)
_MONTHS = re.compile(r'\d ?(?:mo|mons?|months?|y|yrs?|years?)\b', re.ASCII)
# An M without letters around it, which may be minutes or months.
_LONE_M = re.compile(r'(?<![A-Za-z])M(?![A-Za-z])')
# What Python would read otherwise is refused: any character between date and time, even the sign of
# an offset ("2030-05-01+02:00" would be two o'clock), and a week without a day.
_ISO_MOMENT = re.compile(
    r'(?:\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3})(?:[Tt ]\d.*)?', re.ASCII)
_MOMENT = re.compile(
    r'(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|\s+)(\d{1,2}):(\d{1,2})(.*))?', re.ASCII)


class NotUnderstoodError(ValueError):
    """A text is no moment or duration; the message ends a sentence with what to write."""


class OutOfCalendarError(ValueError):
    """A moment is well formed, but before the first year or after the last."""


def is_now(text: object) -> bool:
    """Return whether a text means the moment at which it is read, however it is capitalized."""
    return isinstance(text, str) and text.strip().lower() == NOW


def is_relative(text: object) -> bool:
    """Return whether a text counts from now, such as "+2h"."""
    return isinstance(text, str) and text.strip().startswith('+')


def seconds(text: str) -> int:
    """Parse a duration: "90m", "1.5h", "1 day 12 hours", "1h30", "PT1H30M", or whole seconds.

    :returns: 0 or more.
    :raises NotUnderstoodError: `text` has another form, or people could read it in two ways: "3M"
        may be months, and a unit that is given twice may be a mistake.
    """
    words = ' '.join(text.lower().split())
    if len(words) > _LONGEST_TEXT:
        raise NotUnderstoodError(f'write {DURATION_HELP}')
    if words.isascii() and words.isdigit():
        return int(words)
    if words.startswith('-'):
        raise NotUnderstoodError('it must be longer than zero; to shorten a lease, give an earlier '
                                 'end')
    if _MONTHS.search(words):
        raise NotUnderstoodError('a month or a year has no fixed length; write days or weeks, '
                                 'such as 60d or 8w')
    found = _ISO_SPAN.fullmatch(words)
    parts = [(count or '0', unit) for count, unit in zip(
        found.groups(), _UNITS, strict=True)] if found else _parts(words)
    if found is None and _LONE_M.search(text) and not {'h', 's'} & {unit for _, unit in parts}:
        raise NotUnderstoodError('"M" may be minutes or months; write 3m, 3 minutes or 90d')
    total = sum((_number(count) * _UNITS[unit] for count, unit in parts), fractions.Fraction())
    if total.denominator != 1:
        raise NotUnderstoodError('it is not a whole number of seconds')
    return int(total)


def moment(text: str, now: datetime.datetime) -> datetime.datetime:
    """Parse a moment: "now", "+2h", "2030-5-1 8:00", ISO 8601; UTC if it names no zone.

    :param now: what "now" and "+2h" count from.
    :returns: an aware datetime in UTC.
    :raises ValueError: `text` has another form.
    :raises OutOfCalendarError: it is outside the calendar, in UTC at least.
    """
    try:
        return in_utc(written(text, now))
    except OverflowError as error:
        raise OutOfCalendarError() from error


def written(text: str, now: datetime.datetime) -> datetime.datetime:
    """Parse a moment as `moment` does; it has no zone if the text names none.

    :raises ValueError: `text` has another form.
    :raises OutOfCalendarError: it is outside the calendar.
    """
    words = text.strip()
    try:
        if is_now(words):
            return now
        if is_relative(words):
            return now + _later(words)
    except OverflowError as error:
        raise OutOfCalendarError() from error
    # Python would accept the digits of every script.
    if not words.isascii():
        raise ValueError('not ASCII text')
    padded = _padded(words)
    if not _ISO_MOMENT.fullmatch(padded):
        raise ValueError('not ISO 8601')
    return datetime.datetime.fromisoformat(padded)


def on_the_wire(text: str, now: datetime.datetime) -> str:
    """Convert a moment to what is sent: ISO text, or "now" or "+7200s" for the service's clock.

    The service keeps the relative forms, so the same request is the same also later.

    :param now: only to check that the moment is in the calendar.
    :raises ValueError: see `moment`.
    """
    found = moment(text, now)
    if is_now(text):
        return NOW
    return f'+{seconds(text.strip()[1:])}s' if is_relative(text) else iso(found)


def in_utc(when: datetime.datetime) -> datetime.datetime:
    """Convert a moment to UTC, which it is in if it names no zone.

    :raises OverflowError: it is outside the calendar then.
    """
    if when.tzinfo is None:
        return when.replace(tzinfo=datetime.UTC)
    return when.astimezone(datetime.UTC)


def iso(when: datetime.datetime) -> str:
    """Format a moment as it is sent and shown: 2030-05-01T08:00:00Z."""
    return in_utc(when).isoformat().removesuffix('+00:00') + 'Z'


def exactly(when: datetime.datetime | None) -> str | None:
    """Format a moment as REST 1.0 shows those of leases: always microseconds, no zone."""
    return None if when is None else when.isoformat(timespec='microseconds')[:26]


def plainly(when: datetime.datetime | None) -> str | None:
    """Format a moment as REST 1.0 shows created_at and updated_at: a space, whole seconds."""
    return None if when is None else when.strftime('%Y-%m-%d %H:%M:%S')


def span(length: datetime.timedelta) -> str:
    """Format a duration as `seconds` parses it, in days and smaller units: "1d12h", "0s"."""
    left = max(0, int(length.total_seconds()))
    parts = []
    for unit in 'dhms':
        count, left = divmod(left, _UNITS[unit])
        parts.append(f'{count}{unit}' if count else '')
    return ''.join(parts) or '0s'


def _parts(words: str) -> list[tuple[str, str]]:
    """Split a duration into pairs (count, letter of the unit)."""
    clock = _MINUTES_AFTER.search(words)
    if clock and clock.end() == len(words):
        words = f'{words[:clock.start()]}{clock[1]} {clock[2]}m'
    if not _SPAN.fullmatch(words):
        raise NotUnderstoodError(f'write {DURATION_HELP}')
    parts = [(count.strip(), unit[0]) for count, unit in _PARTS.findall(words)]
    if len({unit for _, unit in parts}) < len(parts):
        raise NotUnderstoodError('a unit occurs twice')
    return parts


def _number(count: str) -> fractions.Fraction:
    if count.startswith('half'):
        return fractions.Fraction(1, 2)
    return fractions.Fraction(1 if count.startswith('a') else count)


def _later(words: str) -> datetime.timedelta:
    found = seconds(words[1:])
    if found == 0:
        raise NotUnderstoodError('it must be longer than zero')
    return datetime.timedelta(seconds=found)


def _padded(words: str) -> str:
    """Return a moment with numbers of two digits, as ISO 8601 has them; other text unchanged."""
    match = _MOMENT.fullmatch(words)
    if match is None:
        return words
    year, month, day, hour, minute, rest = match.groups()
    date = f'{year}-{month:0>2}-{day:0>2}'
    return date if hour is None else f'{date}T{hour:0>2}:{minute:0>2}{rest}'
