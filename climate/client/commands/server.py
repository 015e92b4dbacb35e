# SPDX-License-Identifier: Apache-2.0
"""Commands about leased servers."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import times
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import new_lease

_NARROW = ('id', 'name', 'status', 'remaining')
_LIST = ('id', 'name', 'lease_name', 'status', 'remaining')
_LONG = (*_LIST, 'start', 'end', 'on_end', 'compute_status', 'host', 'lease_id',
         'reservation_id', 'project_id')
_TIMES = ('start', 'end')
_ON_END = ('snapshot', 'delete', 'suspend', 'shelve', 'migrate')


class LeaseServer(new_lease.NewLeaseCommand):
    """Lease an existing server."""

    example = 'server lease web-1 --duration 30d --on-end suspend'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('server', metavar='SERVER', help='Name or id of the server.')
        parser.add_argument('--name', help='Name of the lease. Default: "lease-" and the name of '
                                           'the server.')
        parser.add_argument('--on-end', choices=_ON_END, metavar='ACTION',
                            help='Action on the server at the end: '
                                 f'{", ".join(_ON_END)}. Default: that of the service.')
        self.add_when(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        # Invalid arguments are reported before the client logs in.
        when = new_lease.when(parsed_args)
        return self.made(parsed_args, self.client.servers.lease(
            parsed_args.server, name=parsed_args.name, on_end=parsed_args.on_end, **when))


class ListServers(base.Lister):
    """List leased servers with their status and remaining time."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--all-projects', action='store_true',
                            help='Servers of all projects; for administrators.')
        parser.add_argument('--ended', action='store_true',
                            help='Also servers whose lease has ended.')
        parser.add_argument('--long', action='store_true', help='Show more columns.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        everything = parsed_args.long or parsed_args.columns
        names = _LONG if everything else _NARROW if self.is_narrow(parsed_args) else _LIST
        servers = self.client.servers.list(all_projects=parsed_args.all_projects,
                                           ended=parsed_args.ended)
        return names, [tuple(_cell(name, server) for name in names) for server in servers]


def _cell(name: str, server: Mapping[str, typing.Any]) -> typing.Any:
    if name == 'remaining':
        return times.remaining(server, times.utcnow())
    if name in _TIMES:
        return columns.Time(server[name])
    return '' if server[name] is None else server[name]
