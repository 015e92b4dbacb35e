# SPDX-License-Identifier: Apache-2.0
"""Parsing of moments and durations in requests, and their form in responses."""
import datetime
import re

from climate import errors

NOW = 'now'
_MINUTES = '%Y-%m-%d %H:%M'
_LOOSE = ('%Y-%m-%d %H:%M:%S', _MINUTES)
_EXAMPLE = 'write "now", "+2h", "2030-05-01 08:00" or "2030-05-01T08:00:00Z"'
_UNITS = {'w': 604800, 'd': 86400, 'h': 3600, 'm': 60, 's': 1}
_SPAN = re.compile(r'(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?',
                   re.IGNORECASE | re.ASCII)
_ISO_SPAN = re.compile(r'P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?', re.ASCII)
_LONGEST_SECONDS = 100 * 366 * 86400
# Leaves space for arithmetic at both ends of the calendar, and fits every database.
_YEARS = range(1970, 9999)
_NO_YEAR = f'the year must be from {_YEARS[0]} to {_YEARS[-1]}'


class _OutOfRangeError(ValueError):
    """The year of a moment is outside _YEARS."""


def minute(field, text):
    """Parse a moment in the form of REST 1.0; "now" stays NOW.

    :raises BadDate: `text` is not ``YYYY-MM-DD HH:MM``, or its year is out of range.
    """
    if text == NOW:
        return NOW
    try:
        return _utc(datetime.datetime.strptime(_plain(text), _MINUTES))
    except _OutOfRangeError as error:
        raise errors.BadDate(value=text, field=field, reason=_NO_YEAR) from error
    except (ValueError, TypeError) as error:
        raise errors.BadDate(value=str(text)[:80], field=field,
                             reason='UTC, such as "2030-05-01 08:00", or "now"') from error


def moment(field, text):
    """Parse a moment in a form of REST 1.1; "now" stays NOW, and the default zone is UTC.

    :raises BadDate: `text` has another form, or its year is out of range.
    """
    if text == NOW:
        return NOW
    try:
        return _utc(_parsed(_plain(text)))
    except _OutOfRangeError as error:
        raise errors.BadDate(f'{field}: "{text}" is too far away: {_NO_YEAR}.', value=text,
                             field=field, reason=_NO_YEAR) from error
    except (ValueError, TypeError, OverflowError) as error:
        raise errors.BadDate(f'{field}: "{str(text)[:80]}" is not a moment: {_EXAMPLE}.',
                             value=str(text)[:80], field=field, reason=_EXAMPLE) from error


def absolute(value, now):
    """Replace a relative moment, such as "+2h", by ISO text; other values stay.

    :param now: the moment from which it counts.
    """
    if not isinstance(value, str) or not value.startswith('+'):
        return value
    try:
        return shown(now + datetime.timedelta(seconds=seconds('', value[1:])))
    except (errors.BadField, OverflowError):
        # The parser of the moment refuses the text, and names the field.
        return value


def seconds(field, value):
    """Parse a duration: a number of seconds, or text such as "90m", "1d12h", "PT1H30M".

    :returns: seconds.
    :raises BadField: `value` has another form, or is zero, or longer than a century.
    """
    found = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str):
        if value.isascii() and value.isdigit():
            found = int(value[:20])
        else:
            match = _SPAN.fullmatch(value) or _ISO_SPAN.fullmatch(value)
            if match and any(match.groups()):
                found = sum(int(count[:20]) * unit for count, unit
                            in zip(match.groups(), _UNITS.values(), strict=True) if count)
    if found is not None and found > _LONGEST_SECONDS:
        raise errors.BadField(field=field, reason=(
            f'"{str(value)[:80]}" is longer than a century, the maximum.'))
    if found is None or found <= 0:
        raise errors.BadField(field=field, reason=(
            f'"{str(value)[:80]}" is not a duration: write seconds, or "90m", "1d12h", "PT1H".'))
    return found


def now():
    """Return the current time by the clock of this machine."""
    return datetime.datetime.now(datetime.UTC)


def shown(value):
    """Format a moment as REST 1.1 shows it; None stays None."""
    if value is None:
        return None
    return value.astimezone(datetime.UTC).isoformat().removesuffix('+00:00') + 'Z'


def shown_exactly(value):
    """Format a moment as REST 1.0 shows those of leases: always microseconds, no zone."""
    return None if value is None else value.isoformat(timespec='microseconds')[:26]


def shown_plainly(value):
    """Format a moment as REST 1.0 shows created_at and updated_at: a space, whole seconds."""
    return None if value is None else value.strftime('%Y-%m-%d %H:%M:%S')


def _parsed(text):
    for form in _LOOSE:
        try:
            return datetime.datetime.strptime(text, form)
        except ValueError:
            continue
    return datetime.datetime.fromisoformat(text)


def _plain(text):
    # Python would accept the digits of every script.
    if not isinstance(text, str) or not text.isascii():
        raise ValueError('not ASCII text')
    return text


def _utc(value):
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.UTC)
    try:
        value = value.astimezone(datetime.UTC)
    except OverflowError as error:
        raise _OutOfRangeError() from error
    if value.year not in _YEARS:
        raise _OutOfRangeError()
    return value
