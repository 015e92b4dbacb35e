# SPDX-License-Identifier: Apache-2.0
"""Commands about properties of resources."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from climate.client import errors
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import resource as pool_commands


class FacetValueLines(columns.Lines):
    """The values of a property, with the resources that have them."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        return f'{element["value"]}  ({element["free"]} of {element["matching"]} free)'


class FacetCommand(pool_commands.OfPoolOrHosts):
    """A command that counts resources by the values of their properties."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--require', metavar='CONDITION', action='append', default=[],
                            type=arguments.requirement, dest='conditions',
                            help="Only count resources that meet it: 'vcpus>=16'. Repeatable.")
        parser.add_argument('--start', metavar='TIME', type=arguments.moment,
                            help='Count resources that are free from this time on. Default: now.')
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span,
                            help='Count resources that are free for this duration. Default: an '
                                 'hour.')
        return parser

    def facets(self, parsed_args: argparse.Namespace) -> Sequence[Mapping[str, typing.Any]]:
        """Return the facets that the arguments ask for."""
        found: Sequence[Mapping[str, typing.Any]] = self.pool_of(parsed_args).properties.facets(
            criteria=arguments.all_of(parsed_args.conditions), start=parsed_args.start,
            duration=parsed_args.duration)['facets']
        return found


class ListProperties(FacetCommand, base.Lister):
    """List the properties that criteria can use, with their values and the free resources."""

    example = "property list --require gpu=A100 --start 'tomorrow 9:00' --duration 8h"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--facts', action='store_true',
                            help='Also what the cloud reports, such as traits.')
        parser.add_argument('--detail', action='store_true',
                            help='Only the properties that administrators set, and whether they '
                                 'are private.')
        parser.add_argument('--all', action='store_true', dest='include_private',
                            help='As --detail, with private properties; for administrators.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        if parsed_args.detail or parsed_args.include_private:
            properties = self.pool_of(parsed_args).properties.list(
                detail=True, include_private=parsed_args.include_private)
            return ('property', 'private', 'values'), [
                (prop['property'], prop.get('private'), columns.Lines(prop.get('values') or []))
                for prop in properties]
        if parsed_args.formatter != 'table' and not parsed_args.columns:
            # Scripts read one name from each line; the values are theirs with -c.
            parsed_args.columns = ['property']
        return ('property', 'values'), [
            (facet['property'], FacetValueLines(facet['values']))
            for facet in self.facets(parsed_args)
            if facet['kind'] != 'fact' or parsed_args.facts]


class ShowProperty(FacetCommand, base.Lister):
    """Show the values of a property, and how many resources with each of them are free."""

    example = 'property show gpu --start +1d --duration 8h'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('property', metavar='PROPERTY', help='Name of the property.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        facets = {facet['property']: facet for facet in self.facets(parsed_args)}
        name = parsed_args.property
        if name not in facets:
            raise errors.NotFound(f'No resource has a property "{name}" that you may see. There '
                                  f'are: {", ".join(facets) or "none"}.')
        return ('value', 'resources', 'free'), [
            (each['value'], each['matching'], each['free']) for each in facets[name]['values']]


class SetProperty(pool_commands.OfPoolOrHosts, base.ShowOne):
    """Make a property private or public."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('property', metavar='PROPERTY', help='Name of the property.')
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument('--private', action='store_true', help='Only administrators see it.')
        who.add_argument('--public', action='store_false', dest='private',
                         help='Everyone sees it.')
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
