# SPDX-License-Identifier: Apache-2.0
"""The base class of commands that create a lease, with the arguments for its dates."""
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
    """A command that creates a lease."""

    def add_when(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments for the dates of the lease, and for how it is created."""
        parser.add_argument('--start', metavar='TIME', type=arguments.moment,
                            help=f'The start: {TIME_HELP} Default: now.')
        parser.add_argument('--end', metavar='TIME', type=arguments.moment,
                            help='The end; +2h counts from now.')
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span,
                            help=f'The duration: {times.SPAN_HELP}.')
        parser.add_argument('--before-end', metavar='TIME', type=arguments.moment,
                            help='The time of the action before the end.')
        for name in ('start', 'end', 'before_end'):
            arguments.also_named(parser, f'--{name.replace("_", "-")}-date', dest=name,
                                 type=arguments.moment_in_utc)
        add_while_free(parser)
        parser.add_argument('--idle-exempt', action='store_true',
                            help='Never treat the lease as idle; for administrators.')
        arguments.add_key(parser, 'lease')
        either = parser.add_mutually_exclusive_group()
        either.add_argument('--dry-run', action='store_true',
                            help='Only show the lease that would be created.')
        either.add_argument('--wait', action='store_true',
                            help='Wait until the lease is active, or until it is booked if it '
                                 'starts after the timeout.')
        self.add_timeout(parser)

    def made(self, parsed_args: argparse.Namespace, lease: Mapping[str, typing.Any]
             ) -> lease_view.Table:
        """Wait for the new lease if --wait was given, and show it."""
        if parsed_args.wait:
            now = times.utcnow()
            ahead = (times.moment(lease['start'], now) - now).total_seconds()
            statuses = {'active'} if ahead <= parsed_args.timeout else {'active', 'inactive'}
            lease = self.wait(lease['id'], statuses, parsed_args.timeout) or lease
        if parsed_args.dry_run:
            self.say_dry()
        return self.shown(lease, exists=not parsed_args.dry_run)


def when(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    """Convert the arguments of ``add_when`` to arguments of the library.

    :raises BadValue: --end and --duration are missing, or all three dates are given.
    """
    start, end, duration = parsed_args.start, parsed_args.end, parsed_args.duration
    if end is None and duration is None:
        raise errors.BadValue('The lease has no end: give --duration 2h, or --end '
                              '"tomorrow 18:00".')
    if start and end and duration:
        raise errors.BadValue('Give two of --start, --end and --duration: the third follows.')
    if start is None and (end is None or duration is None):
        start = 'now'
    return {'start': start, 'end': end, 'duration': duration, **beside(parsed_args)}


def beside(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    """Convert the arguments of ``add_when`` except start, end and duration."""
    return {'before_end': parsed_args.before_end, 'idempotency_key': parsed_args.key,
            'idle_exempt': parsed_args.idle_exempt, 'while_free': parsed_args.while_free,
            'dry_run': parsed_args.dry_run}


def add_while_free(parser: argparse._ActionsContainer) -> None:
    """Add the argument for the steps by which a lease is extended."""
    parser.add_argument('--while-free', metavar='STEP', type=arguments.span,
                        help='Extend the lease by this duration, one step before its end, while '
                             'nobody else needs its resources.')
