# SPDX-License-Identifier: Apache-2.0
"""Commands about the resources of a pool; subclasses serve one pool by its noun."""
import argparse
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns

if typing.TYPE_CHECKING:
    from climate.client import resources

_LIST = ('id', 'name', 'reservable')
_STATE = ('state', 'leases')
_FIRST = (*_LIST, 'power_state', 'power_since')
_TIMES = ('created_at', 'updated_at', 'power_since')


class HealthColumn(columns.Pairs):
    """The health of a resource: the state, its reason and its time."""

    def human_readable(self) -> str:
        health = self._value
        words = [str(health['state'])]
        if health.get('reason'):
            words.append(f'({health["reason"]})')
        words += [f'{word} {times.for_people(health[word])}'
                  for word in ('since', 'until') if health.get(word)]
        return ' '.join(words)


class WindowLines(columns.Lines):
    """The windows of maintenance of a resource."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        return (f'{times.for_people(element["start"])} to {times.for_people(element["end"])}: '
                f'{element["reason"]}')


class LeaseLines(columns.Lines):
    """The leases that have a resource now."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        owner = element.get('project_name') or element['project_id']
        return (f'{element["name"]} of project {owner} until '
                f'{times.for_people(element["end"])}')


class OfPool(base.ClientCommand):
    """A command about the resources of one pool.

    :cvar pool: the name of the pool; None: the argument --pool names it.
    :cvar named: the help of the argument that names a resource.
    """

    pool: str | None = None
    named = 'Name or id of the resource.'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        if self.pool is None:
            parser.add_argument('--pool', metavar='POOL', required=True,
                                help='The pool, such as host.')
        return parser

    @property
    def metavar(self) -> str:
        """The placeholder for a resource in the usage."""
        return (self.pool or 'resource').upper()

    def pool_of(self, parsed_args: argparse.Namespace) -> 'resources.Resources':
        """Return the pool from the client library."""
        return self.client.pool(self.pool or parsed_args.pool)


class OfOneResource(OfPool):
    """A command about one resource of a pool."""

    first: Sequence[str] = _FIRST

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('resource', metavar=self.metavar, help=self.named)
        return parser


class OfPoolOrHosts(base.ClientCommand):
    """A command about hosts, or about the resources of the pool that --pool names."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--pool', metavar='POOL', help='The pool. Default: host.')
        return parser

    def pool_of(self, parsed_args: argparse.Namespace) -> 'resources.Resources':
        """Return the pool from the client library."""
        if parsed_args.pool is None:
            return self.client.hosts
        return self.client.pool(parsed_args.pool)


class CreateResource(OfPool, base.ShowOne):
    """Enrol a resource, so that it can be leased."""

    #: True if the pool needs a name only.
    by_name = False
    first: Sequence[str] = _FIRST

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        if self.by_name:
            parser.add_argument('name', metavar='NAME', help=self.named.partition(' or id')[0])
        else:
            parser.add_argument('name', metavar='NAME', nargs='?',
                                help='Name of the resource in the cloud, or a range of names if '
                                     'the pool has ranges.')
            parser.add_argument('--field', metavar='NAME=VALUE', action='append', default=[],
                                type=arguments.field, dest='fields',
                                help='A further field that the pool requires. Repeatable.')
        _add_properties(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        pool, fields = self.pool_of(parsed_args), dict(getattr(parsed_args, 'fields', ()))
        properties = dict(parsed_args.properties)
        if parsed_args.name is None or self.by_name:
            return shown(pool.create(parsed_args.name, properties, fields), self.first)
        resources = pool.create_range(parsed_args.name, properties, fields)
        return shown(resources[0] if len(resources) == 1 else _together(resources), self.first)


class ListResources(OfPool, base.Lister):
    """List the resources of a pool."""

    #: The columns without and with --long; () stands for all fields.
    short: Sequence[str] = _LIST
    long: Sequence[str] = ()

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--long', action='store_true', help='Show more columns.')
        parser.add_argument('--limit', metavar='COUNT', type=arguments.positive,
                            help='The maximum number of resources.')
        parser.add_argument('--search', metavar='TEXT', help='Only names that contain this text.')
        parser.add_argument('--require', metavar='CONDITION', action='append', default=[],
                            type=arguments.requirement, dest='conditions',
                            help='Only resources that meet a condition, such as rack=r7. '
                                 'Repeatable.')
        parser.add_argument('--state', action='store_true',
                            help='Show whether each is free, leased and by whom, in maintenance, '
                                 'out of service, out of use or asleep.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        resources = list(self.pool_of(parsed_args).list(
            limit=parsed_args.limit, search=parsed_args.search, state=parsed_args.state,
            criteria=json.dumps(arguments.all_of(parsed_args.conditions))
            if parsed_args.conditions else None))
        names = self.long if parsed_args.long else self.short
        names = (*names, *_STATE) if parsed_args.state and names else names
        if names == _LIST and any('power_state' in resource for resource in resources):
            names = (*_LIST, 'power_state')
        if parsed_args.columns or not names:
            names = columns.in_order(dict.fromkeys(
                [*names, *(name for resource in resources for name in resource)]), names or _FIRST)
        return names, [tuple(cell(name, resource.get(name)) for name in names)
                       for resource in resources]


class ShowResource(OfOneResource, base.ShowOne):
    """Show a resource and its properties."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return shown(self.pool_of(parsed_args).find(parsed_args.resource), self.first)


class SetResource(OfOneResource, base.ShowOne):
    """Set or remove properties of a resource, or take it out of use."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_properties(parser)
        parser.add_argument('--unset', metavar='PROPERTY', action='append', default=[],
                            help='Remove a property. Repeatable.')
        use = parser.add_mutually_exclusive_group()
        use.add_argument('--disable', dest='reservable', action='store_const', const=False,
                         help='Take the resource out of use: leases that have not started get '
                              'another one.')
        use.add_argument('--enable', dest='reservable', action='store_const', const=True,
                         help='Allow leases to use the resource again.')
        health = parser.add_mutually_exclusive_group()
        health.add_argument('--out-of-order', metavar='REASON',
                            help='Report that the resource does not work, and why: leases that '
                                 'start soon get another one.')
        health.add_argument('--in-order', action='store_true',
                            help='Report that the resource works again.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        if parsed_args.out_of_order == '':
            raise errors.BadValue('--out-of-order: give the reason, such as "a fan is broken".')
        if (parsed_args.reservable is None and not parsed_args.properties
                and not parsed_args.unset and not parsed_args.out_of_order
                and not parsed_args.in_order):
            raise errors.BadValue('Nothing to change: give --property gpu=True, --unset gpu, '
                                  '--disable, --enable, --out-of-order REASON or --in-order.')
        pool = self.pool_of(parsed_args)
        resource = pool.find(parsed_args.resource)
        refuse_unknown(pool, resource, parsed_args.unset)
        return shown(pool.update(
            resource['id'], dict(parsed_args.properties),
            unset=parsed_args.unset, reservable=parsed_args.reservable,
            out_of_order=parsed_args.out_of_order, in_order=parsed_args.in_order), self.first)


class WakeResource(OfOneResource, base.ShowOne):
    """Wake a resource that sleeps."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        pool = self.pool_of(parsed_args)
        return shown(self.switch(pool, pool.find(parsed_args.resource)['id']), self.first)

    def switch(self, pool: 'resources.Resources', resource_id: str) -> Mapping[str, typing.Any]:
        """Switch a resource; return it."""
        return pool.wake(resource_id)


class SleepResource(WakeResource):
    """Put a resource to sleep that nobody has leased."""

    def switch(self, pool: 'resources.Resources', resource_id: str) -> Mapping[str, typing.Any]:
        return pool.sleep(resource_id)


class DeleteResources(OfPool, base.Silent):
    """Remove resources from the pool; the cloud keeps them."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('resources', metavar=self.metavar, nargs='+',
                            help=f'{self.named} Repeatable.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        pool = self.pool_of(parsed_args)
        self.for_each(parsed_args.resources, pool.noun,
                      lambda name: pool.delete(pool.find(name)['id']))


def refuse_unknown(pool: 'resources.Resources', resource: Mapping[str, typing.Any],
                   names: Iterable[str]) -> None:
    """Refuse names of properties that a resource does not have.

    :raises NotFound: the error names the first of them.
    """
    # The properties of a host are among its other fields.
    known = resource.get('properties', resource)
    for name in names:
        if name not in known:
            called = resource[pool.name_field]
            show = 'host show' if pool.noun == 'host' else f'resource show --pool {pool.noun}'
            raise errors.NotFound(
                f'{pool.noun.capitalize()} {called} has no property "{name}"; nothing was changed. '
                f'"climate {show} {called}" shows its properties.', status=404)


def shown(resource: Mapping[str, typing.Any], first: Sequence[str]
          ) -> tuple[list[str], list[typing.Any]]:
    """Make a table of all fields of a resource; those in `first` come first."""
    names = columns.in_order(resource, first)
    return names, [cell(name, resource[name]) for name in names]


def _together(resources: Sequence[Mapping[str, typing.Any]]) -> dict[str, typing.Any]:
    """Return a table of several new resources: a list of ids, a list of names."""
    return {name: [resource[name] for resource in resources] for name in ('id', 'name')}


def cell(name: str, value: typing.Any) -> typing.Any:
    """Convert the value of a field to a cell."""
    if name in _TIMES:
        return columns.Time(value)
    if name == 'health' and isinstance(value, dict):
        return HealthColumn(value)
    if name == 'maintenances' and isinstance(value, list):
        return WindowLines(value)
    if name == 'leases' and isinstance(value, list):
        return LeaseLines(value)
    if isinstance(value, dict):
        return columns.Pairs(value)
    if isinstance(value, list):
        return columns.Lines(value)
    return '' if value is None else value


def _add_properties(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--property', metavar='NAME=VALUE', action='append', default=[],
                        type=arguments.name_and_value, dest='properties',
                        help='A property for criteria, such as gpu=True. Repeatable.')
    arguments.also_named(parser, '--extra', action='append', dest='properties',
                         type=arguments.name_and_value)
