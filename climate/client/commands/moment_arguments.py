# SPDX-License-Identifier: Apache-2.0
"""Arguments that are moments: understood in the user's time zone, and echoed before any request."""
import argparse
from collections.abc import Mapping
import contextlib
import dataclasses
import datetime
import re
import typing

from climate import moments
from climate.client import errors
from climate.client import time_zones
from climate.client import times

# A time of day or weekday in the first argument of a pair follows the moment of the second.
_AFTER = {'end': 'start', 'before_end': 'start', 'latest': 'earliest', 'until': 'since'}
# An offset in TZ has the opposite sign: TZ=UTC+3 is west of Greenwich.
_POSIX_OFFSET = re.compile(r'(?:UTC|GMT)?[+-]', re.IGNORECASE)
# Words of a moment that can only be in the future, or have a year.
_SURE = re.compile(r'(?<![+-])\d{4}|^\s*\+|\b(?:in|from|today|tomorrow|next|this)\b',
                   re.ASCII | re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class WrittenMoment:
    """A moment as it was written, until all arguments and the time zone are known.

    :ivar in_utc: whether a time without a zone is in UTC, and not in the zone of the user.
    :ivar of_report: whether it may be in the past as well, so "monday" may be either of two.
    """

    text: str
    in_utc: bool = False
    of_report: bool = False


def zone(options: typing.Any, environ: Mapping[str, str]) -> time_zones.Zone:
    """Return the zone of --time-zone or of TZ; without both, None, the zone of the machine.

    :raises BadValue: --time-zone is unknown.
    """
    given = getattr(options, 'time_zone', None)
    if given:
        try:
            return time_zones.named(given)
        except moments.NotUnderstoodError as error:
            raise errors.BadValue(f'--time-zone: {error}.') from None
    # The C library also reads other forms of TZ, such as CET-1CEST,M3.5.0,M10.5.0/3.
    name = environ.get('TZ', '').removeprefix(':')
    if _POSIX_OFFSET.match(name):
        return None
    with contextlib.suppress(moments.NotUnderstoodError):
        return time_zones.named(name)
    return None


def understand(parsed_args: argparse.Namespace, own_zone: time_zones.Zone,
               options: Mapping[str, str] | None = None) -> list[str]:
    """Replace each WrittenMoment of the arguments by the text that is sent.

    :param options: {name of an argument: its option, such as "--from"}, where they differ.
    :returns: lines that say how texts were understood that need a zone or a clock.
    :raises BadValue: a text is no moment; the message names the argument.
    """
    written = {name: value for name, value in vars(parsed_args).items()
               if isinstance(value, WrittenMoment)}
    found: dict[str, datetime.datetime] = {}
    lines = []
    for name in sorted(written, key=lambda name: name in _AFTER):
        option = _option(name, options)
        try:
            after = found.get(_AFTER.get(name, ''))
            understood = times.understand(
                written[name].text, datetime.UTC if written[name].in_utc else own_zone, after)
            if written[name].of_report and after is None:
                _refuse_unsure(written[name].text, understood.at)
        except errors.BadValue as error:
            raise errors.BadValue(f'{option}: {error.message}') from None
        found[name] = understood.at
        setattr(parsed_args, name, understood.wire)
        first = _AFTER.get(name, '')
        if first in found and name != 'before_end' and understood.at <= found[first]:
            raise errors.BadValue(
                f'{option}: {time_zones.echo(understood.at, own_zone)} is not after '
                f'{_option(first, options)}, {time_zones.echo(found[first], own_zone)}.')
        if not understood.exact:
            lines.append(f'{option} is {time_zones.echo(understood.at, own_zone)}. '
                         f'{understood.note}'.rstrip())
    return lines


def _option(name: str, options: Mapping[str, str] | None) -> str:
    return (options or {}).get(name, f'--{name.replace("_", "-")}')


def _refuse_unsure(text: str, moment: datetime.datetime) -> None:
    if moment > times.utcnow() and not _SURE.search(text):
        raise errors.BadValue(f'"{text}" may be in the past or in the future; write the date with '
                              'its year.')
