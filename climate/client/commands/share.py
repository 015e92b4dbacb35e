# SPDX-License-Identifier: Apache-2.0
"""Commands about the shares of leases."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import http
from climate.client import leases
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import confirmation
from climate.client.commands import waits

_ROLES = ('viewer', 'user', 'manager')
_FATES = ('keep', 'stop', 'delete')
_NARROW = ('id', 'receiver', 'role', 'until')
_ALL = (*_NARROW, 'on_withdrawal', 'notice', 'project_id', 'user_id', 'created_at', 'created_by')
_MOMENTS = ('until', 'created_at', 'withdrawn_at', 'servers_until')
_KEPT = 'kept'


class ShareLease(base.ShowOne, waits.LeaseCommand):
    """Share a lease with another project or user."""

    example = 'lease share demo --project colleagues --as user --until "2030-05-31 18:00"'

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        receiver = parser.add_mutually_exclusive_group(required=True)
        receiver.add_argument('--project', metavar='PROJECT',
                              help='Name or id of the other project.')
        receiver.add_argument('--user', metavar='USER', help='Name or id of a single user.')
        parser.add_argument('--as', choices=_ROLES, required=True, dest='role',
                            help='viewer: see the lease; user: also boot servers on its '
                                 'resources; manager: also change, extend and end it.')
        parser.add_argument('--until', metavar='TIME', type=arguments.moment,
                            help=f'The end of the share: {times.MOMENT_HELP}. Default: the end of '
                                 'the lease.')
        parser.add_argument('--on-withdrawal', choices=_FATES,
                            help='What happens to running servers of the other project after the '
                                 'share. Default: as the cloud says.')
        parser.add_argument('--notice', metavar='SPAN', type=arguments.span,
                            help='The time between the end of the share and the stop or deletion '
                                 'of servers, such as 2h.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease = self.client.leases.find(parsed_args.lease)
        share = self.client.shares.create(
            lease['id'], parsed_args.role, project=parsed_args.project, user=parsed_args.user,
            until=parsed_args.until, on_withdrawal=parsed_args.on_withdrawal,
            notice=parsed_args.notice)
        names = [name for name in (*_ALL, 'lease_id') if name in share or name == 'receiver']
        return names, [_cell(name, share) for name in names]


class ListShares(base.Lister, waits.LeaseCommand):
    """List with whom a lease is shared."""

    example = 'lease shares demo'

    parameters = (waits.LEASE, base.LONG)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease = self.client.leases.find(parsed_args.lease)
        names = _NARROW if self.is_narrow(parsed_args) else _ALL
        return names, [tuple(_cell(name, share) for name in names)
                       for share in self.client.shares.list(lease['id'])]

    def nothing(self, parsed_args: argparse.Namespace) -> str:
        return 'The lease is shared with nobody.'


class _EndShare(base.Silent, confirmation.ConfirmedCommand):
    """Ends a share after the question whether servers may be stopped or deleted."""

    def _end(self, parsed_args: argparse.Namespace, lease: Mapping[str, typing.Any],
             share_id: str, question: str) -> None:
        lease_id, shares = lease['id'], self.client.shares
        if not self.goes_on(parsed_args, lease, lambda: _losses(
                shares.delete(lease_id, share_id, dry_run=True)), question):
            return
        servers = shares.delete(lease_id, share_id)['servers']
        if servers is None:
            self.app.stderr.write('The cloud does not list the running servers now.\n')
        for server in servers or ():
            at = f' at {times.for_people(server["at"])}' if server['at'] else ''
            self.app.stderr.write(f'server {server["name"]} ({server["id"]}): '
                                  f'{server["fate"]}{at}\n')


class UnshareLease(_EndShare):
    """Withdraw a share: new servers of the other project are refused from now on."""

    example = 'lease unshare demo colleagues'

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('share', metavar='SHARE',
                            help='Id of the share, or the name or id of its project or user.')
        self.add_confirmation(parser, 'Only list the running servers of the other project.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        lease = self.client.leases.find(parsed_args.lease)
        self._end(parsed_args, lease, self.client.shares.full_id(lease['id'], parsed_args.share),
                  f'Withdraw the share of lease {lease["name"]}?')


class LeaveLease(_EndShare):
    """Leave a lease that another project has shared with you."""

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        self.add_confirmation(parser, 'Only list the servers of your project on the lease.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        lease = self.client.leases.find(parsed_args.lease)
        self._end(parsed_args, lease, self.client.shares.own(lease['id'])['id'],
                  f'Leave lease {lease["name"]}?')


def _losses(found: Mapping[str, typing.Any]) -> leases.Losses | None:
    """Return the servers that the end of a share stops or deletes; None: they are not known."""
    servers = found['servers']
    return None if servers is None else leases.Losses(
        http.Record({'kind': 'server', 'saved': False, 'resource': None, **server})
        for server in servers if server['fate'] != _KEPT)


def _cell(name: str, share: Mapping[str, typing.Any]) -> typing.Any:
    if name == 'receiver':
        kind = 'project' if share['project_id'] else 'user'
        return f'{kind} {share["name"] or share["project_id"] or share["user_id"]}'
    if name in _MOMENTS:
        return columns.Time(share[name])
    return '' if share[name] is None else share[name]
