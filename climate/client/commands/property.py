# SPDX-License-Identifier: Apache-2.0
"""Commands about the properties that hosts have."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns


class ListProperties(base.Lister):
    """List the properties that leases can ask for."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--detail', action='store_true',
                            help='With the values that hosts have.')
        parser.add_argument('--all', action='store_true', dest='include_private',
                            help='Private ones too; for administrators.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        found = self.client.properties.list(detail=parsed_args.detail,
                                            include_private=parsed_args.include_private)
        if not parsed_args.detail:
            return ('property',), [(one['property'],) for one in found]
        return ('property', 'private', 'values'), [
            (one['property'], one.get('private'), columns.Lines(one.get('values') or []))
            for one in found]


class SetProperty(base.ShowOne):
    """Say who sees a property."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('property', metavar='PROPERTY', help='Name of the property.')
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument('--private', action='store_true', help='Administrators only.')
        who.add_argument('--public', action='store_false', dest='private', help='Everybody.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        found = self.client.properties.update(parsed_args.property, private=parsed_args.private)
        names = sorted(found)
        return names, [found[name] for name in names]


class UnsetProperty(base.Silent):
    """Remove a property from hosts."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('property', metavar='PROPERTY', help='Name of the property.')
        parser.add_argument('--host', metavar='HOST', action='append', required=True,
                            dest='hosts', help='Hypervisor hostname or id of a host. Repeatable.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        def unset(name: str) -> None:
            host_id = self.client.hosts.find(name)['id']
            self.client.properties.unset(parsed_args.property, [host_id])

        self.for_each(parsed_args.hosts, 'host', unset)
