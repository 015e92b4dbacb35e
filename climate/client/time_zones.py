# SPDX-License-Identifier: Apache-2.0
"""Time zones by their names, and the wall clock of each: what it shows at a moment, and when.

A zone is a tzinfo; None is the zone of this machine.
"""
import datetime
import difflib
import os
import re
import zoneinfo

from climate import moments

Zone = datetime.tzinfo | None

_OFFSET = re.compile(r'(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d)(?::(\d\d))?)?', re.ASCII)
# A zone after a moment: a name, UTC with or without an offset, or an offset after minutes.
_AFTER_MOMENT = re.compile(
    r'(.*\S)(?: |(?<=\d))([A-Z]\w+(?:/[A-Z][\w+-]*)+|(?i:utc|gmt)(?:[+-]\d{1,2}(?::?\d\d){0,2})?|'
    r'[Zz]|(?:(?<=:\d\d)|(?<=:\d\d ))[+-]\d\d(?::?\d\d)?)', re.ASCII)
# The zone of this machine, usually a link to a file of the database of IANA.
_OF_MACHINE = '/etc/localtime'
_FULL_DATE = re.compile(r'\d{4}-\d', re.ASCII)
_OFFSETS = datetime.timedelta(hours=-12), datetime.timedelta(hours=14)


def split(text: str) -> tuple[str, Zone]:
    """Split a moment into its time and its zone; without a zone, return None for the zone.

    :raises NotUnderstoodError: there is no such zone, or it may be the end of a range of hours, as
        in 9:00-11:00.
    """
    found = _AFTER_MOMENT.fullmatch(text)
    if found is None:
        return text, None
    if found[2][0] in '+-' and not _FULL_DATE.search(text):
        raise moments.NotUnderstoodError(
            f'"{found[2]}" may be the end of a range or an offset; write the start and the end '
            'apart, or the offset in the form UTC-11')
    zone = named(found[2])
    check_offset(datetime.datetime(2000, 1, 1, tzinfo=zone))
    return found[1], zone


def check_offset(moment: datetime.datetime) -> None:
    """Refuse a moment with an offset that no clock has, such as 09:00-17:00.

    :raises NotUnderstoodError: the offset is not from -12:00 to +14:00.
    """
    if not _OFFSETS[0] <= (moment.utcoffset() or datetime.timedelta()) <= _OFFSETS[1]:
        raise moments.NotUnderstoodError(
            f'{_offset_words(moment)} is no offset from UTC-12 to UTC+14; if it is the end of a '
            'range, write the start and the end apart')


def named(name: str) -> datetime.tzinfo:
    """Return the time zone of a name, such as Europe/Berlin, UTC or UTC+5:30.

    :raises NotUnderstoodError: there is none.
    """
    offset = _OFFSET.fullmatch(name.strip().upper())
    try:
        if name.strip().upper() in ('UTC', 'GMT', 'Z'):
            return datetime.UTC
        if offset is None:
            return zoneinfo.ZoneInfo(name.strip())
        hours, minutes, seconds = (int(number or 0) for number in offset.groups()[1:])
        length = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return datetime.timezone(length if offset[1] == '+' else -length)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        if not name:
            raise moments.NotUnderstoodError('it is empty; write UTC') from error
        near = difflib.get_close_matches(name, zoneinfo.available_timezones(), 1)
        raise moments.NotUnderstoodError(
            f'"{name[:40]}" is not a time zone; write UTC, or a name such as '
            f'{near[0] if near else "Europe/Berlin"}') from error


def name_of(zone: Zone) -> str | None:
    """Return the name of a zone in the database of IANA; None: it has none, or is not known."""
    if zone is None:
        path = os.path.realpath(_OF_MACHINE)
        _, found, name = path.partition('/zoneinfo/')
        return name if found and name in zoneinfo.available_timezones() else None
    if zone is datetime.UTC:
        return 'UTC'
    return getattr(zone, 'key', None)


def moments_at(shown: datetime.datetime, zone: Zone) -> list[datetime.datetime]:
    """Return the moments, in UTC, at which a wall clock shows a time: none, one or two.

    :param shown: a datetime without a zone.
    """
    found = []
    for fold in (0, 1):
        moment = shown.replace(tzinfo=zone, fold=fold).astimezone(datetime.UTC)
        back = moment.astimezone(zone).replace(tzinfo=None)
        if back == shown and moment not in found:
            found.append(moment)
    return found


def beside_gap(shown: datetime.datetime, zone: Zone) -> list[datetime.datetime]:
    """Return local times before and after a time that the wall clock skips."""
    return [shown.replace(tzinfo=zone, fold=fold).astimezone(datetime.UTC).astimezone(zone)
            for fold in (1, 0)]


def words(moment: datetime.datetime, zone: Zone, *, weekday: bool = False) -> str:
    """Format a moment as ``moment_parsing`` reads it: "2030-05-01 10:00 UTC+2".

    :param weekday: put the day of the week before it.
    """
    local = moment.astimezone(zone).replace(microsecond=0)
    form = ('%a ' if weekday else '') + (
        '%Y-%m-%d %H:%M:%S' if local.second else '%Y-%m-%d %H:%M')
    return f'{local:{form}} {_offset_words(local)}'


def echo(moment: datetime.datetime, zone: Zone) -> str:
    """Format a moment with its weekday and the name of the zone, for a user to check."""
    name = getattr(zone, 'key', '')
    return words(moment, zone, weekday=True) + (f' ({name})' if name else '')


def _offset_words(local: datetime.datetime) -> str:
    """Return the offset of a local time: UTC, UTC+2, UTC-3:30."""
    length = local.utcoffset() or datetime.timedelta()
    total = round(abs(length).total_seconds())
    if not total:
        return 'UTC'
    hours, minutes, seconds = total // 3600, total // 60 % 60, total % 60
    rest = f':{minutes:02}' if minutes or seconds else ''
    return (f'UTC{"-" if length < datetime.timedelta() else "+"}{hours}{rest}'
            f'{f":{seconds:02}" if seconds else ""}')
