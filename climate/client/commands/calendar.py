# SPDX-License-Identifier: Apache-2.0
"""The command that shows how many hosts are free, and when."""
import argparse
import typing

from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import resource


class ListCalendar(resource.OfPoolOrHosts, base.Lister):
    """Show how many hosts are free, and when; by default for administrators."""

    example = 'calendar --start now --end +7d'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--start', metavar='TIME', type=arguments.moment,
                            help=f'The start: {times.MOMENT_HELP}. Default: now.')
        parser.add_argument('--end', metavar='TIME', type=arguments.moment,
                            help='The end, at most 366 days later. Default: 30 days later.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        spans = self.pool_of(parsed_args).calendar(start=parsed_args.start, end=parsed_args.end)
        return ('start', 'end', 'free', 'total'), [
            (columns.Time(each['start']), columns.Time(each['end']), each['free'], each['total'])
            for each in spans]
