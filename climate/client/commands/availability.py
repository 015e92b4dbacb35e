# SPDX-License-Identifier: Apache-2.0
"""The command that finds times at which reservations fit."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import textwrap
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import reservation_arguments

# The width of the timeline of each offer, in characters.
_WIDTH = 60
# The width of the cell beside three moments.
_CELL_WIDTH = 38


class Shares(columns.Lines):
    """What each reservation gets: the number of resources and their properties."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        groups = [' '.join([f'{group["count"]} with', *(
            f'{name}={value}' for name, value in group['properties'].items()),
            *([f'({", ".join(group["names"])})'] if group.get('names') else [])])
            for group in element['resources']]
        lines = [f'{element["count"]} x {element["resource_type"]}', *(
            f'  {group}' for group in groups)]
        return '\n'.join(textwrap.fill(line, _CELL_WIDTH, subsequent_indent='    ',
                                       break_long_words=False, break_on_hyphens=False)
                         for line in lines)


class FindAvailability(base.Lister):
    """Find times at which reservations fit, and show what they would get."""

    example = 'availability --hosts 1-4 --require gpu=True --duration 2h --timeline --hold'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        reservation_arguments.add(parser)
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span, required=True,
                            help=f'For how long: {times.SPAN_HELP}.')
        parser.add_argument('--earliest', metavar='TIME', type=arguments.moment,
                            help=f'The earliest start: {times.MOMENT_HELP}. Default: now.')
        parser.add_argument('--latest', metavar='TIME', type=arguments.moment,
                            help='The latest end. Default: it starts within 30 days.')
        parser.add_argument('--limit', metavar='COUNT', type=arguments.positive,
                            help='The maximum number of offers, up to 20. Default: 5.')
        parser.add_argument('--hold', metavar='COUNT', nargs='?', const=1,
                            type=arguments.positive,
                            help='Hold the first offer, or the first COUNT of them, up to 5; '
                                 '"lease create --offer ID" takes one.')
        parser.add_argument('--long', action='store_true',
                            help='Show more columns of offers that are held.')
        parser.add_argument('--timeline', action='store_true',
                            help='Draw a timeline of the offers below the table.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        asked: dict[str, typing.Any] = {name: getattr(parsed_args, name) for name in (
            'duration', 'earliest', 'latest', 'limit')}
        # Invalid arguments are reported before the client logs in.
        reservations = reservation_arguments.from_args(parsed_args)
        found = (self.client.availability.find(reservations, **asked) if parsed_args.hold is None
                 else self.client.availability.hold(reservations, **asked,
                                                    count=parsed_args.hold))
        if not found['offers']:
            raise errors.ClientError(_no_offers(found))
        self._offers = found['offers']
        names: tuple[str, ...] = ('start', 'end', 'last_start', 'reservations')
        if parsed_args.hold is not None:
            # "offer show" has the reservations of an offer.
            names = (('id', 'held_until', 'start', 'end') if self.is_narrow(parsed_args)
                     else ('id', 'held_until', *names))
        # Without a price book no offer has a price.
        if any('price' in each for each in found['offers']):
            names = (*names, 'price')
        return names, [tuple(_cell(name, each.get(name)) for name in names)
                       for each in found['offers']]

    def produce_output(self, parsed_args: argparse.Namespace, column_names: typing.Any,
                       data: typing.Any) -> int:
        code: int = super().produce_output(parsed_args, column_names, data)
        # The timeline is not for programs, which read other formats.
        if parsed_args.timeline and parsed_args.formatter == 'table':
            self.app.stdout.write('\n'.join(timeline(self._offers)) + '\n')
        return code


def timeline(offers: Sequence[Mapping[str, typing.Any]]) -> list[str]:
    """Draw a timeline: one line for each offer, from the first start to the last end."""
    now = times.utcnow()
    spans = [tuple(times.moment(each[name], now) for name in ('start', 'end', 'last_start'))
             for each in offers]
    first, last = min(start for start, _, _ in spans), max(end for _, end, _ in spans)

    def place(moment: datetime.datetime) -> int:
        return min(_WIDTH, int((moment - first) / (last - first) * _WIDTH))

    lines = [f'{times.for_people(times.iso(first))} to {times.for_people(times.iso(last))}']
    for number, (start, end, latest) in enumerate(spans, 1):
        begin = min(place(start), _WIDTH - 1)
        stop = max(place(end), begin + 1)
        # The end of the lease if it starts as late as possible.
        latest_stop = max(place(latest + (end - start)), stop)
        bar = '=' * (stop - begin) + '.' * (latest_stop - stop)
        lines.append(f'{number:2} |{" " * begin}{bar:{_WIDTH - begin}}|')
    return [*lines, '   = the lease   . free, if the lease starts later']


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name == 'reservations':
        return Shares(value)
    if name == 'price':
        return columns.Price(value)
    return value or '' if name == 'id' else columns.Time(value)


def _no_offers(found: Mapping[str, typing.Any]) -> str:
    """Say why there is no offer, and what would fit instead."""
    lines = ['There is no time at which the reservations fit.', *found['reasons']]
    for each in found['alternatives']:
        length = times.in_words(datetime.timedelta(seconds=each['duration']))
        counts = ' and '.join(str(count) for count in each['counts'])
        lines.append(f'{each["kind"].capitalize()}: {counts} for {length} from '
                     f'{times.for_people(each["start"])}.')
    if not found['complete']:
        lines.append('The search stopped at its limit: give an earlier --latest.')
    return '\n'.join(lines)
