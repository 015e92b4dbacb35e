# SPDX-License-Identifier: Apache-2.0
"""Commands about series."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import reservation_arguments
from climate.client.commands import series_arguments
from climate.client.commands import series_view

_NAMES = ('id', 'name', 'status', 'repeat', 'start', 'time_zone', 'duration_text', 'mode')
# In a table for people, "series show" and --long have the rest.
_NARROW = ('id', 'name', 'status', 'repeat', 'start')
_STATUSES = ('active', 'ended', 'cancelled')
_SERIES = ('series', {'metavar': 'SERIES', 'help': 'Name or id of the series.'})


class ShowOneSeries(base.ShowOne):
    """A command that shows a series as its result."""

    def shown(self, series: Mapping[str, typing.Any], *, dry_run: bool = False
              ) -> series_view.Table:
        """Return the table of a series."""
        if dry_run:
            self.app.stderr.write('Dry run: nothing was created or changed.\n')
        return series_view.shown(series, exists=not dry_run)


class CreateSeries(ShowOneSeries):
    """Reserve resources repeatedly."""

    example = ("series create lab --hosts 4 --start '2030-01-14 09:00' --duration 8h "
               "--repeat 'every monday until 2030-03-31' --time-zone Europe/Berlin --dry-run")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='Name of the series and of its leases.')
        reservation_arguments.add(parser)
        parser.add_argument('--start', metavar='TIME', type=arguments.moment,
                            help=f'The first start: {times.MOMENT_HELP}. Default: now.')
        parser.add_argument('--end', metavar='TIME', type=arguments.moment,
                            help='The end of the first lease.')
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span,
                            help=f'The duration of each lease: {times.SPAN_HELP}.')
        series_arguments.add(parser, required=True)
        arguments.add_key(parser, 'series')
        parser.add_argument('--dry-run', action='store_true',
                            help='Only show what each occurrence would get, or why not.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return self.shown(series_arguments.create(
            self.client.series, parsed_args, reservation_arguments.from_args(parsed_args)),
            dry_run=parsed_args.dry_run)


class ListSeries(base.Lister):
    """List series, the oldest first."""

    parameters = (
        ('--status', {'choices': _STATUSES, 'help': 'Only series with this status.'}),
        ('--all-projects', {'action': 'store_true',
                            'help': 'Series of all projects; for administrators.'}), base.LONG)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        names = _NARROW if self.is_narrow(parsed_args) else _NAMES
        return names, [tuple(series_view.cell(name, series[name]) for name in names)
                       for series in self.client.series.list(
                           all_projects=parsed_args.all_projects, status=parsed_args.status)]


class ShowSeries(ShowOneSeries):
    """Show a series with its occurrences."""

    parameters = (_SERIES,)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return self.shown(self.client.series.find(parsed_args.series))


class SetSeries(ShowOneSeries):
    """Change one occurrence of a series, those from one on, or all."""

    example = 'series set lab --from 3 --at 10:00 --duration 6h'
    parameters = (_SERIES,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_scope(parser)
        parser.add_argument('--name', metavar='NEW_NAME', help='The new name.')
        parser.add_argument('--at', metavar='HH:MM', dest='time',
                            help='The new local time of the starts.')
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span,
                            help=f'The new duration: {times.SPAN_HELP}.')
        reservation_arguments.add(parser)
        parser.add_argument('--dry-run', action='store_true',
                            help='Only show what each changed occurrence would get.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        changes = {name: getattr(parsed_args, name) for name in ('name', 'time', 'duration')
                   if getattr(parsed_args, name) is not None}
        if parsed_args.hosts or parsed_args.require or parsed_args.reservations:
            changes['reservations'] = reservation_arguments.from_args(parsed_args)
        if not changes:
            raise errors.BadValue('Nothing to change: give --at 10:00, --duration 6h, --name or '
                                  '--hosts.')
        series = self.client.series.find(parsed_args.series)
        return self.shown(self.client.series.change(
            series['id'], *_scope(parsed_args), dry_run=parsed_args.dry_run, **changes),
            dry_run=parsed_args.dry_run)


class DeleteSeries(base.Silent):
    """Cancel one occurrence of a series, those from one on, or all."""

    example = 'series delete lab --only 3'
    parameters = (_SERIES,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_scope(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        series = self.client.series.find(parsed_args.series)
        self.client.series.cancel(series['id'], *_scope(parsed_args))


def _add_scope(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument('--only', metavar='NUMBER', type=arguments.positive,
                       help='Only the occurrence with this number; "series show" has the numbers.')
    which.add_argument('--from', metavar='NUMBER', type=arguments.positive, dest='first',
                       help='The occurrence with this number and those after it.')
    which.add_argument('--all', action='store_true',
                       help='All occurrences that have not begun.')


def _scope(parsed_args: argparse.Namespace) -> tuple[str, int | None]:
    """Return the scope of a request and the number of its occurrence."""
    if parsed_args.all:
        return 'all', None
    if parsed_args.only is not None:
        return 'this', parsed_args.only
    return 'following', parsed_args.first
