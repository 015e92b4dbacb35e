# SPDX-License-Identifier: Apache-2.0
"""Commands about the sub-leases of leases."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import waits

_NARROW = ('id', 'name', 'project', 'status', 'end')
_ALL = ('id', 'name', 'project', 'project_id', 'status', 'start', 'end', 'resources')
_FREE = ('id', 'name', 'in_use', 'reservation_id')


def _add_span(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--start', metavar='TIME', type=arguments.moment,
                        help=f'The start: {times.MOMENT_HELP}. Default: the start of the lease, '
                             'or now.')
    parser.add_argument('--end', metavar='TIME', type=arguments.moment,
                        help='The end. Default: the end of the lease.')


class CreateSubLease(waits.ShowLeaseCommand):
    """Give hosts of a lease to another project for a time, as a lease of that project."""

    example = 'lease sub-lease demo --project students --hosts 2 --end "2030-05-31 18:00"'

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--project', metavar='PROJECT', required=True,
                            help='Name or id of the other project.')
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument('--hosts', metavar='NUMBER', type=arguments.positive,
                           help='The number of hosts.')
        which.add_argument('--resource', metavar='HOST', action='append', dest='resources',
                           help='Name or id of a host of the lease. Repeatable.')
        _add_span(parser)
        parser.add_argument('--name', metavar='NAME',
                            help='The name of the sub-lease. Default: the name of the lease.')
        parser.add_argument('--dry-run', action='store_true',
                            help='Only show the sub-lease as it would be.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease = self.client.leases.find(parsed_args.lease)
        made = self.client.sub_leases.create(
            lease['id'], parsed_args.name or lease['name'], parsed_args.project,
            hosts=parsed_args.hosts, resources=parsed_args.resources or (),
            start=parsed_args.start, end=parsed_args.end, dry_run=parsed_args.dry_run)
        return self.shown(made, exists=not parsed_args.dry_run)


class ListSubLeases(base.Lister, waits.LeaseCommand):
    """List the sub-leases of a lease, or its hosts that are free for one."""

    example = 'lease sub-leases demo'

    parameters = (waits.LEASE, base.LONG)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--free', action='store_true',
                            help='List the hosts of the lease that are free for a sub-lease '
                                 'between --start and --end.')
        _add_span(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease = self.client.leases.find(parsed_args.lease)
        if parsed_args.free:
            return _FREE, [tuple('' if host[name] is None else host[name] for name in _FREE)
                           for host in self.client.sub_leases.free_hosts(
                               lease['id'], start=parsed_args.start, end=parsed_args.end)]
        names = _NARROW if self.is_narrow(parsed_args) else _ALL
        return names, [tuple(_cell(name, sub_lease) for name in names)
                       for sub_lease in self.client.sub_leases.list(lease['id'])]

    def nothing(self, parsed_args: argparse.Namespace) -> str:
        if parsed_args.free:
            return 'No host of the lease is free for a sub-lease in this time.'
        return 'The lease has no sub-leases.'


def _cell(name: str, sub_lease: Mapping[str, typing.Any]) -> typing.Any:
    if name == 'project':
        return sub_lease['project_name'] or sub_lease['project_id']
    if name in ('start', 'end'):
        return columns.Time(sub_lease[name])
    return columns.Words(sub_lease[name]) if name == 'resources' else sub_lease[name]
