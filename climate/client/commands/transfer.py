# SPDX-License-Identifier: Apache-2.0
"""Commands about transfers of leases to other projects."""
import argparse
from collections.abc import Mapping
import typing

from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import waits

_FATES = ('keep', 'stop', 'delete')
_NARROW = ('id', 'lease_id', 'receiver', 'what', 'status', 'expires_at')
_ALL = (*_NARROW, 'from_project', 'on_withdrawal', 'notice', 'created_at', 'created_by',
        'decided_at', 'decided_by', 'new_lease_id')
_MOMENTS = ('expires_at', 'created_at', 'decided_at')
_KEY = ('--key', {'metavar': 'KEY', 'help': 'The one-time key of an offer that names no project.'})
_TRANSFER = ('transfer', {
    'metavar': 'TRANSFER', 'help': 'Id of the transfer; "lease transfer list" has the ids.'})


class OfferTransfer(base.ShowOne, waits.LeaseCommand):
    """Offer a lease, or hosts of a future lease, to another project."""

    example = 'lease transfer offer demo --to colleagues --expires "2030-05-31 18:00"'

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        receiver = parser.add_mutually_exclusive_group(required=True)
        receiver.add_argument('--to', metavar='PROJECT', help='Name or id of the other project.')
        receiver.add_argument('--key', action='store_true',
                              help='Show a one-time key. Any project that has it can accept.')
        parser.add_argument('--hosts', metavar='COUNT', type=arguments.positive,
                            help='The number of hosts of a future lease. Default: the whole '
                                 'lease.')
        parser.add_argument('--expires', metavar='TIME', type=arguments.moment,
                            help='When the offer expires. Default: in seven days, but at the end '
                                 'of the lease at the latest.')
        parser.add_argument('--on-withdrawal', choices=_FATES,
                            help='What happens to running servers of your project after the '
                                 'transfer. Default: as the cloud says.')
        parser.add_argument('--notice', metavar='SPAN', type=arguments.span,
                            help='The time between the transfer and the stop or deletion of '
                                 'servers, such as 2h.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease = self.client.leases.find(parsed_args.lease)
        return _shown(self.client.transfers.offer(
            lease['id'], project=parsed_args.to, hosts=parsed_args.hosts,
            expires_at=parsed_args.expires, on_withdrawal=parsed_args.on_withdrawal,
            notice=parsed_args.notice))


class ListTransfers(base.Lister, waits.LeaseCommand):
    """List the offers to your project, or all transfers of a lease."""

    parameters = (('lease', {'metavar': 'LEASE', 'nargs': '?',
                             'help': 'Name or id of a lease. Default: the offers to your '
                                     'project.'}), base.LONG)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        transfers = self.client.transfers
        listed = transfers.list() if parsed_args.lease is None else transfers.of_lease(
            self.client.leases.find(parsed_args.lease)['id'])
        names = _NARROW if self.is_narrow(parsed_args) else _ALL
        return names, [tuple(_cell(name, transfer) for name in names) for transfer in listed]

    def nothing(self, parsed_args: argparse.Namespace) -> str:
        return ('No lease is offered to your project.' if parsed_args.lease is None
                else 'The lease has no transfers.')


class ShowTransfer(base.ShowOne):
    """Show an offer, what your project would get, and what it would pay."""

    parameters = (_TRANSFER, _KEY)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        transfers = self.client.transfers
        return _shown(transfers.get(transfers.full_id(parsed_args.transfer), parsed_args.key))


class AcceptTransfer(waits.ShowLeaseCommand):
    """Accept an offer: your project gets the lease, or the offered hosts of it."""

    example = 'lease transfer accept 0a9c6a53-4d35-4a17-8b3e-90c1cf0f1c58 --dry-run'

    parameters = (_TRANSFER, _KEY, ('--dry-run', {
        'action': 'store_true', 'help': 'Only show the lease that your project would get.'}))

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        transfers = self.client.transfers
        lease = transfers.accept(transfers.full_id(parsed_args.transfer), parsed_args.key,
                                 dry_run=parsed_args.dry_run)
        if parsed_args.dry_run:
            self.say_dry()
        return self.shown(lease, exists=not parsed_args.dry_run)


class DeclineTransfer(base.Silent):
    """Decline an offer of a lease."""

    parameters = (_TRANSFER, _KEY)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        transfers = self.client.transfers
        transfers.decline(transfers.full_id(parsed_args.transfer), parsed_args.key)


class WithdrawTransfer(base.Silent, waits.LeaseCommand):
    """Withdraw the open offer of a lease."""

    parameters = (waits.LEASE,)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        lease, transfers = self.client.leases.find(parsed_args.lease), self.client.transfers
        transfers.withdraw(lease['id'], transfers.open_id(lease['id']))


def _shown(transfer: Mapping[str, typing.Any]) -> typing.Any:
    """Return the names and the cells of one transfer."""
    lease = transfer.get('lease')
    cells = {name: _cell(name, transfer) for name in _ALL}
    if transfer.get('key'):
        cells['key'] = transfer['key']
    if lease:
        cells |= {'name': lease['name'], 'start': columns.Time(lease['start']),
                  'end': columns.Time(lease['end']),
                  'reservations': columns.ReservationLines(lease['reservations'])}
        if lease.get('price'):
            cells['price'] = columns.PriceLines(lease['price'])
    if transfer.get('problem'):
        cells['problem'] = transfer['problem']
    return tuple(cells), tuple(cells.values())


def _cell(name: str, transfer: Mapping[str, typing.Any]) -> typing.Any:
    if name == 'receiver':
        return (transfer['name'] or transfer['project_id'] or 'the owner of the key')
    if name == 'what':
        hosts = transfer['hosts']
        return 'lease' if hosts is None else f'{hosts} host{"" if hosts == 1 else "s"}'
    if name in _MOMENTS:
        return columns.Time(transfer[name])
    return '' if transfer[name] is None else transfer[name]
