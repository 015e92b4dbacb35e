# SPDX-License-Identifier: Apache-2.0
"""Parse moments and durations in requests, and format moments in responses."""
import datetime

from climate import errors
from climate import moments
from climate.domain import durations

NOW = moments.NOW
_MINUTES = '%Y-%m-%d %H:%M'
_EXAMPLE = 'write "now", "+2h", "2030-05-01 08:00" or "2030-05-01T08:00:00Z"'
_NEVER = datetime.datetime.min.replace(tzinfo=datetime.UTC)
_ONE_MOMENT, _OTHER_MOMENT = (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC)
                              for year in (2000, 2001))
_NO_YEAR = f'the year must be from {moments.YEARS[0]} to {moments.YEARS[-1]}'


class _OutOfRangeError(ValueError):
    """The year of a moment is outside moments.YEARS."""


def minute(field, text):
    """Parse a moment of REST 1.0; return NOW for "now".

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
    """Parse a moment of REST 1.1 after `absolute`; return NOW for "now". The default zone is UTC.

    :raises BadDate: `text` is relative or malformed, or its year is out of range.
    """
    try:
        if moments.is_now(_plain(text)):
            return NOW
        # Only a malformed relative moment is still relative after `absolute`.
        if moments.is_relative(text):
            raise ValueError('not absolute')
        return _in_range(moments.moment(text, _NEVER))
    except (_OutOfRangeError, moments.OutOfCalendarError) as error:
        raise errors.BadDate(f'{field}: "{text}" is too far away: {_NO_YEAR}.', value=text,
                             field=field, reason=_NO_YEAR) from error
    except (ValueError, TypeError, OverflowError) as error:
        raise errors.BadDate(f'{field}: "{str(text)[:80]}" is not a moment: {_EXAMPLE}.',
                             value=str(text)[:80], field=field, reason=_EXAMPLE) from error


def absolute(value, now):
    """Replace a relative moment, such as "+2h" from `now`, by ISO text; other values stay."""
    if not moments.is_relative(value) or value != value.strip():
        return value
    try:
        return shown(now + datetime.timedelta(seconds=seconds('', value[1:])))
    except (errors.BadField, OverflowError):
        # `moment` refuses the text with an error that names the field.
        return value


def asked(field, text, now):
    """Parse a moment of REST 1.1. "now" and relative moments such as "+2h" refer to `now`.

    :raises BadDate: see `moment`.
    """
    moment_or_now = moment(field, absolute(text, now))
    return now if moment_or_now == NOW else moment_or_now


def are_fixed(query, *names, optional=()):
    """Return whether moments of a query that `asked` accepts are the same whenever it is sent.

    :param names: parameters whose default is relative to the present moment.
    :param optional: parameters whose default is relative to those of `names`.
    """
    given = [query[name] for name in (*names, *optional) if name in query]
    return all(name in query for name in names) and all(
        asked('', text, _ONE_MOMENT) == asked('', text, _OTHER_MOMENT) for text in given)


def seconds(field, value):
    """Parse a duration as ``durations.seconds`` does; return seconds, at least 1.

    :raises BadField: see ``durations.seconds``.
    """
    return durations.seconds(field, value)


def now():
    """Return the current time by the clock of this machine."""
    return datetime.datetime.now(datetime.UTC)


def shown(value):
    """Format a moment as REST 1.1 shows it; None stays None."""
    if value is None:
        return None
    return moments.iso(value)


def _plain(text):
    # Python also accepts digits that are not ASCII.
    if not isinstance(text, str) or not text.isascii() or text != text.strip():
        raise ValueError('not ASCII text, or spaces around it')
    return text


def _utc(value):
    try:
        return _in_range(moments.in_utc(value))
    except OverflowError as error:
        raise _OutOfRangeError() from error


def _in_range(value):
    if value.year not in moments.YEARS:
        raise _OutOfRangeError()
    return value
