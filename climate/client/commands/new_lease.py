# SPDX-License-Identifier: Apache-2.0
"""What commands that make a lease share: when it is, and what is done once it is made."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import lease_view
from climate.client.commands import waits

TIME_HELP = f'{times.MOMENT_HELP}.'


class NewLeaseCommand(waits.ShowLeaseCommand):
    """A command that makes a lease."""

    def add_when(self, parser: argparse.ArgumentParser) -> None:
        """The arguments that say when the lease is, and how it is made."""
        parser.add_argument('--start', metavar='TIME', type=arguments.moment,
                            help=f'When it starts: {TIME_HELP} Default: now.')
        parser.add_argument('--end', metavar='TIME', type=arguments.moment,
                            help='When it ends; +2h counts from now.')
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span,
                            help=f'How long it lasts: {times.SPAN_HELP}.')
        parser.add_argument('--before-end', metavar='TIME', type=arguments.moment,
                            help='When the action before the end is due.')
        parser.add_argument('--key', metavar='TEXT',
                            help='Idempotency key: the same key never makes a second lease. '
                                 'Default: a new one.')
        either = parser.add_mutually_exclusive_group()
        either.add_argument('--dry-run', action='store_true',
                            help='Only show what would be given.')
        either.add_argument('--wait', action='store_true',
                            help='Wait until the lease is active; if it starts after the '
                                 'time-out, until it is booked.')
        self.add_timeout(parser)

    def made(self, parsed_args: argparse.Namespace, lease: Mapping[str, typing.Any]
             ) -> lease_view.Table:
        """What is shown of the new lease, after the wait that was asked for."""
        if parsed_args.wait:
            now = times.utcnow()
            ahead = (times.moment(lease['start'], now) - now).total_seconds()
            wanted = {'active'} if ahead <= parsed_args.timeout else {'active', 'inactive'}
            lease = self.wait(lease['id'], wanted, parsed_args.timeout) or lease
        return lease_view.shown(lease, exists=not parsed_args.dry_run)


def when(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    """What ``add_when`` added, as the library takes it.

    :raises BadValue: the end is not said, or more than is needed.
    """
    start, end, duration = parsed_args.start, parsed_args.end, parsed_args.duration
    if end is None and duration is None:
        raise errors.BadValue('When does it end? Give --duration 2h, or --end "2030-05-01 18:00" '
                              '(UTC).')
    if start and end and duration:
        raise errors.BadValue('Give two of --start, --end and --duration: the third follows.')
    if start is None and (end is None or duration is None):
        start = 'now'
    return {'start': start, 'end': end, 'duration': duration, **beside(parsed_args)}


def beside(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    """What ``add_when`` added beside start, end and duration, as the library takes it."""
    return {'before_end': parsed_args.before_end, 'idempotency_key': parsed_args.key,
            'dry_run': parsed_args.dry_run}
