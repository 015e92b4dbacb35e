# SPDX-License-Identifier: Apache-2.0
"""Arguments about series, which "series create" and "lease create" share."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from climate.client import errors
from climate.client import series
from climate.client import time_zones
from climate.client import times

REPEAT_HELP = ('The rule: "every monday until 2030-07-31", "every weekday for 10 times", "every '
               'month on the last day for 6 times", or an RRULE.')


def add(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the arguments to the parser of a command that may create a series."""
    parser.add_argument('--repeat', metavar='RULE', required=required,
                        help=REPEAT_HELP if required else f'Make a series. {REPEAT_HELP}')
    parser.add_argument('--time-zone', metavar='ZONE',
                        help='The zone whose local time the series keeps, such as Europe/Berlin. '
                             'Default: your zone.')
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument('--all-or-nothing', action='store_const', const='all_or_nothing',
                      dest='mode', help='Refuse a series if one occurrence does not fit.')
    mode.add_argument('--what-fits', action='store_const', const='what_fits', dest='mode',
                      help='Book the occurrences that fit, and try the others again. This is the '
                           'default.')
    parser.add_argument('--same-resources', action='store_true',
                        help='Give each lease of a series the resources of the first one.')


def create(all_series: series.AllSeries, parsed_args: argparse.Namespace,
           reservations: Sequence[Mapping[str, typing.Any]]) -> Mapping[str, typing.Any]:
    """Create or preview the series of the arguments; return it.

    :raises BadValue: the duration is missing, or the name of the zone is not known.
    """
    start = parsed_args.start or 'now'
    duration = parsed_args.duration
    if duration is None:
        if parsed_args.end is None:
            raise errors.BadValue('The leases have no duration: give --duration 8h, or --end.')
        now = times.utcnow()
        duration = times.moment(parsed_args.end, now) - times.moment(start, now)
    return all_series.create(
        parsed_args.name, reservations=reservations, start=start, duration=duration,
        repeat=parsed_args.repeat, time_zone=_zone_name(), mode=parsed_args.mode,
        same_resources=parsed_args.same_resources, idempotency_key=parsed_args.key,
        dry_run=parsed_args.dry_run)


def refuse_without_repeat(parsed_args: argparse.Namespace) -> None:
    """Refuse arguments that only a series has.

    :raises BadValue: one of them is given without --repeat.
    """
    for name in ('mode', 'same_resources', 'time_zone'):
        if getattr(parsed_args, name):
            option = f'--{str(parsed_args.mode if name == "mode" else name).replace("_", "-")}'
            raise errors.BadValue(f'{option} is for a series: give --repeat "every monday until '
                                  '2030-07-31", too.')


def _zone_name() -> str:
    """Return the name of the zone of the command.

    :raises BadValue: the zone has no name, as an offset from UTC.
    """
    name = time_zones.name_of(times.user_zone())
    if name is None:
        raise errors.BadValue('The zone whose local time the series keeps is not known: give '
                              '--time-zone Europe/Berlin, or --time-zone UTC.')
    return name
