# SPDX-License-Identifier: Apache-2.0
"""Commands about properties of resources."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import resource as pool_commands


class ListProperties(pool_commands.OfPoolOrHosts, base.Lister):
    """List the properties that criteria can use."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--detail', action='store_true',
                            help='Show the values that resources have.')
        parser.add_argument('--all', action='store_true', dest='include_private',
                            help='Private properties, too; for administrators.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        properties = self.pool_of(parsed_args).properties.list(
            detail=parsed_args.detail, include_private=parsed_args.include_private)
        if not parsed_args.detail:
            return ('property',), [(prop['property'],) for prop in properties]
        return ('property', 'private', 'values'), [
            (prop['property'], prop.get('private'), columns.Lines(prop.get('values') or []))
            for prop in properties]


class SetProperty(pool_commands.OfPoolOrHosts, base.ShowOne):
    """Make a property private or public."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('property', metavar='PROPERTY', help='Name of the property.')
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument('--private', action='store_true', help='Only administrators see it.')
        who.add_argument('--public', action='store_false', dest='private',
                         help='Everybody sees it.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        changed = self.pool_of(parsed_args).properties.update(
            parsed_args.property, private=parsed_args.private)
        names = sorted(changed)
        return names, [changed[name] for name in names]


class UnsetProperty(pool_commands.OfPoolOrHosts, base.Silent):
    """Remove a property from resources."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('property', metavar='PROPERTY', help='Name of the property.')
        parser.add_argument('--host', '--resource', metavar='RESOURCE', action='append',
                            required=True, dest='resources',
                            help='Hypervisor hostname or id of a host; of another pool, name or '
                                 'id of a resource. Repeatable.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        pool = self.pool_of(parsed_args)

        def unset(name: str) -> None:
            resource = pool.find(name)
            pool_commands.refuse_unknown(pool, resource, [parsed_args.property])
            pool.properties.unset(parsed_args.property, [resource['id']])

        self.for_each(parsed_args.resources, pool.noun, unset)
