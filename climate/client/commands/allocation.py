# SPDX-License-Identifier: Apache-2.0
"""Commands about allocations of resources to leases."""
import argparse
import typing

from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import resource as pool_commands

if typing.TYPE_CHECKING:
    from climate.client import resources


class AllocationCommand(pool_commands.OfPoolOrHosts):
    """A command with filters for allocations."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        # Users of python-blazarclient write "host" there, the only pool that it knows.
        parser.add_argument('resource_type', nargs='?', choices=['host'], help=argparse.SUPPRESS)
        parser.add_argument('--lease', metavar='LEASE',
                            help='Only allocations of this lease, by name or id.')
        parser.add_argument('--reservation', metavar='ID',
                            help='Only allocations of this reservation.')
        for name in ('lease', 'reservation'):
            arguments.also_named(parser, f'--{name}-id', dest=name)
        return parser

    def filters(self, parsed_args: argparse.Namespace) -> dict[str, str | None]:
        """Convert the filters to arguments of the library; looks up the id of the lease."""
        lease_id = None
        if parsed_args.lease:
            lease_id = self.client.leases.find(parsed_args.lease)['id']
        return {'lease_id': lease_id, 'reservation_id': parsed_args.reservation}


class ListAllocations(AllocationCommand, base.Lister):
    """List the allocations of hosts, or of the resources of another pool."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        pool = self.pool_of(parsed_args)
        # A resource with very many allocations goes on in the next page.
        reservations: dict[str, list[typing.Any]] = {}
        for allocation in pool.allocations.list(**self.filters(parsed_args)):
            reservations.setdefault(allocation['resource_id'], []).extend(
                allocation['reservations'])
        names = {resource['id']: resource[pool.name_field] for resource in pool.list()}
        # A resource that was removed from the pool still has allocations, but no name.
        return _columns(pool), [
            (resource_id, names.get(resource_id, ''), columns.AllocationLines(items))
            for resource_id, items in reservations.items()]


class ShowAllocation(AllocationCommand, base.ShowOne):
    """Show the allocations of a host, or of a resource of another pool."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('resource', metavar='HOST', help=(
            'Hypervisor hostname or id of the host; of another pool, name or id of the resource.'))
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        pool = self.pool_of(parsed_args)
        resource = pool.find(parsed_args.resource)
        allocation = pool.allocations.get(resource['id'], **self.filters(parsed_args))
        return _columns(pool), (allocation['resource_id'], resource[pool.name_field],
                                columns.AllocationLines(allocation['reservations']))


def _columns(pool: 'resources.Resources') -> tuple[str, ...]:
    return 'resource_id', pool.name_field, 'reservations'
