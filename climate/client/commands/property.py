# SPDX-License-Identifier: Apache-2.0
"""Commands about properties of resources."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import resource


class ListProperties(resource.OfPoolOrHosts, base.Lister):
    """List the properties that criteria can use."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--detail', action='store_true',
                            help='Show the values that resources have.')
        parser.add_argument('--all', action='store_true', dest='include_private',
                            help='Private properties, too; for administrators.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        found = self.pool_of(parsed_args).properties.list(
            detail=parsed_args.detail, include_private=parsed_args.include_private)
        if not parsed_args.detail:
            return ('property',), [(one['property'],) for one in found]
        return ('property', 'private', 'values'), [
            (one['property'], one.get('private'), columns.Lines(one.get('values') or []))
            for one in found]


class SetProperty(resource.OfPoolOrHosts, base.ShowOne):
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
        found = self.pool_of(parsed_args).properties.update(
            parsed_args.property, private=parsed_args.private)
        names = sorted(found)
        return names, [found[name] for name in names]


class UnsetProperty(resource.OfPoolOrHosts, base.Silent):
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
        found = self.pool_of(parsed_args)

        def unset(name: str) -> None:
            one = found.find(name)
            resource.refuse_unknown(found, one, [parsed_args.property])
            found.properties.unset(parsed_args.property, [one['id']])

        self.for_each(parsed_args.resources, found.noun, unset)
