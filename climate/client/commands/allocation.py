# SPDX-License-Identifier: Apache-2.0
"""Commands about which host is promised to which lease."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns

_COLUMNS = ('resource_id', 'hypervisor_hostname', 'reservations')


class AllocationCommand(base.Command):
    """The filters of both commands."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--lease', metavar='LEASE', help='Only of this lease, by name or id.')
        parser.add_argument('--reservation', metavar='ID', help='Only of this reservation.')
        return parser

    def filters(self, parsed_args: argparse.Namespace) -> dict[str, str | None]:
        """What the library takes, with the id of the lease."""
        lease_id = None
        if parsed_args.lease:
            lease_id = self.client.leases.find(parsed_args.lease)['id']
        return {'lease_id': lease_id, 'reservation_id': parsed_args.reservation}


class ListAllocations(AllocationCommand, base.Lister):
    """List the hosts and what they are promised to."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        found = list(self.client.allocations.list(**self.filters(parsed_args)))
        names = {host['id']: host['hypervisor_hostname'] for host in self.client.hosts.list()}
        # A host that was withdrawn has a past, but no name any more.
        return _COLUMNS, [(one['resource_id'], names.get(one['resource_id'], ''),
                           columns.Allocated(one['reservations'])) for one in found]


class ShowAllocation(AllocationCommand, base.ShowOne):
    """Show what a host is promised to."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('host', metavar='HOST', help='Hypervisor hostname or id of the host.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        host = self.client.hosts.find(parsed_args.host)
        found = self.client.allocations.get(host['id'], **self.filters(parsed_args))
        return _COLUMNS, (found['resource_id'], host['hypervisor_hostname'],
                          columns.Allocated(found['reservations']))
