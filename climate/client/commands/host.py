# SPDX-License-Identifier: Apache-2.0
"""Commands about hosts that can be leased."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import errors
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns

_LIST = ('id', 'hypervisor_hostname', 'vcpus', 'memory_mb', 'local_gb')
_LONG = (*_LIST, 'hypervisor_type', 'availability_zone', 'reservable')
_FIRST = ('id', 'hypervisor_hostname', 'service_name', 'reservable', 'availability_zone', 'vcpus',
          'memory_mb', 'local_gb')
_TIMES = ('created_at', 'updated_at')


class CreateHost(base.ShowOne):
    """Enrol a host, so that it can be leased."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='Hypervisor hostname of the host.')
        _add_properties(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _shown(self.client.hosts.create(parsed_args.name, dict(parsed_args.properties)))


class ListHosts(base.Lister):
    """List the hosts that can be leased."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--long', action='store_true', help='More columns.')
        parser.add_argument('--limit', metavar='COUNT', type=arguments.positive,
                            help='At most so many.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        names = _LONG if parsed_args.long else _LIST
        found = self.client.hosts.list(limit=parsed_args.limit)
        return names, [tuple(_cell(name, host.get(name)) for name in names) for host in found]


class ShowHost(base.ShowOne):
    """Show a host and its properties."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_host(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _shown(self.client.hosts.find(parsed_args.host))


class SetHost(base.ShowOne):
    """Set or remove properties of a host, or take it out of use."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_host(parser)
        _add_properties(parser)
        parser.add_argument('--unset', metavar='PROPERTY', action='append', default=[],
                            help='Remove a property from the host. Repeatable.')
        use = parser.add_mutually_exclusive_group()
        use.add_argument('--disable', dest='reservable', action='store_const', const=False,
                         help='Promise it to no new lease; leases that have not started get '
                              'another host then.')
        use.add_argument('--enable', dest='reservable', action='store_const', const=True,
                         help='The host can be leased again.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        if (parsed_args.reservable is None and not parsed_args.properties
                and not parsed_args.unset):
            raise errors.BadValue('Nothing to change: give --property gpu=True, --unset gpu, '
                                  '--disable or --enable.')
        host_id = self.client.hosts.find(parsed_args.host)['id']
        return _shown(self.client.hosts.update(
            host_id, dict(parsed_args.properties), unset=parsed_args.unset,
            reservable=parsed_args.reservable))


class DeleteHosts(base.Silent):
    """Make hosts ordinary ones again."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('hosts', metavar='HOST', nargs='+',
                            help='Hypervisor hostname or id of a host. Repeatable.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        hosts = self.client.hosts
        self.for_each(parsed_args.hosts, 'host',
                      lambda name: hosts.delete(hosts.find(name)['id']))


def _add_host(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('host', metavar='HOST', help='Hypervisor hostname or id of the host.')


def _add_properties(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--property', metavar='NAME=VALUE', action='append', default=[],
                        type=arguments.name_and_value, dest='properties',
                        help='A property that leases can ask for, such as gpu=True. Repeatable.')


def _shown(host: Mapping[str, typing.Any]) -> tuple[list[str], list[typing.Any]]:
    names = [*(name for name in _FIRST if name in host),
             *sorted(name for name in host if name not in _FIRST)]
    return names, [_cell(name, host[name]) for name in names]


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    if isinstance(value, list):
        return columns.Lines(value)
    return '' if value is None else value
