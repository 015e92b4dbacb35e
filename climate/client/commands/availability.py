# SPDX-License-Identifier: Apache-2.0
"""The command that finds times at which reservations fit."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import reservation_arguments

# The width of the timeline of each offer, in characters.
_WIDTH = 60


class ReservationShares(columns.Lines):
    """The resources of each reservation: their number and their properties."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        groups = [' '.join([f'{group["count"]} with', *(
            f'{name}={value}' for name, value in group['properties'].items()),
            *([f'({", ".join(group["names"])})'] if group.get('names') else [])])
            for group in element['resources']]
        return '\n'.join([f'{element["count"]} x {element["resource_type"]}', *(
            f'  {group}' for group in groups)])


class FindAvailability(base.Lister):
    """Find times at which reservations fit, and show the resources that they would get."""

    example = 'availability --hosts 1-4 --require gpu=True --duration 2h --timeline --hold'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        reservation_arguments.add(parser)
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span, required=True,
                            help=f'The duration: {times.SPAN_HELP}.')
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
        query: dict[str, typing.Any] = {name: getattr(parsed_args, name) for name in (
            'duration', 'earliest', 'latest', 'limit')}
        # Invalid arguments are reported before the client logs in.
        reservations = reservation_arguments.from_args(parsed_args)
        answer = (self.client.availability.find(reservations, **query) if parsed_args.hold is None
                  else self.client.availability.hold(reservations, **query,
                                                     count=parsed_args.hold))
        if not answer['offers']:
            raise errors.ClientError(_no_offers(answer), hint=(
                'Take one of these numbers and times, or change --require or --duration.'))
        self._offers = answer['offers']
        names: tuple[str, ...] = ('start', 'end', 'last_start', 'reservations')
        if parsed_args.hold is not None:
            # "offer show" has the reservations of an offer.
            names = (('id', 'held_until', 'start', 'end') if self.is_narrow(parsed_args)
                     else ('id', 'held_until', *names))
        # Without a price book no offer has a price.
        if any('price' in offer for offer in self._offers):
            names = (*names, 'price')
        return names, [tuple(_cell(name, offer.get(name)) for name in names)
                       for offer in self._offers]

    def summary(self, parsed_args: argparse.Namespace) -> list[str]:
        return timeline(self._offers) if parsed_args.timeline else []


def timeline(offers: Sequence[Mapping[str, typing.Any]]) -> list[str]:
    """Draw a timeline: one line for each offer, from the first start to the last end."""
    now = times.utcnow()
    spans = [tuple(times.moment(offer[name], now) for name in ('start', 'end', 'last_start'))
             for offer in offers]
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
        return ReservationShares(value)
    if name == 'price':
        return columns.PriceColumn(value)
    return value or '' if name == 'id' else columns.Time(value)


def _no_offers(answer: Mapping[str, typing.Any]) -> str:
    """Return the reasons why there is no offer, and the alternatives."""
    lines = ['There is no time at which the reservations fit.', *answer['reasons']]
    for other in answer['alternatives']:
        length = times.in_words(datetime.timedelta(seconds=other['duration']))
        counts = ' and '.join(str(count) for count in other['counts'])
        lines.append(f'{other["kind"].capitalize()}: {counts} for {length} from '
                     f'{times.for_people(other["start"])}.')
    if not answer['complete']:
        lines.append('The search stopped at its limit: give an earlier --latest.')
    return '\n'.join(lines)
