# SPDX-License-Identifier: Apache-2.0
"""The history and the notifications of transfers, written in the transaction of the caller."""
from oslo_log import log

from climate import moments
from climate.db import journal
from climate.domain import texts
from climate.domain import transfers
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)


def write(connection, lease, transfer, now, what, who):
    """Write the history of a change of a Transfer, and its notifications to both projects.

    :param lease: the offered Lease.
    :param what: one of ``transfers.CHANGES``.
    """
    text = f'{transfer.offered} to {transfer.receiver}'
    if what == transfers.OFFER:
        text += f', until {transfer.expires_at:%Y-%m-%d %H:%M} UTC'
    if transfer.new_lease_id is not None:
        text += f', as lease {transfer.new_lease_id}'
    journal.note_limited(connection, lease.id, now, who, what, texts.same(text))
    outbox.publish(connection, lease, now, what)
    if transfer.project_id is not None:
        journal.publish(connection, now, f'lease.{what}', [_for_receiver(lease, transfer, what)])
    LOG.info('Lease %s, transfer %s: %s: %s', lease.id, transfer.id, what, text)


def note_origin(connection, lease, transfer, now, who):
    """Write into the history of the receiver's Lease from where it comes."""
    journal.note(connection, lease.id, now, who, transfers.TRANSFER, texts.same(
        f'{transfer.offered} from project {transfer.from_project}, lease {transfer.lease_id}'))


def _for_receiver(lease, transfer, what):
    """Return the payload of the notification to the receiver of a Transfer."""
    called = f'{lease.name} ({lease.id}) of project {transfer.from_project}'
    offered = 'Lease' if transfer.hosts is None else f'{transfer.offered} of lease'
    message = {
        transfers.OFFER: f'{offered} {called} is offered to {transfer.receiver} until '
                         f'{transfer.expires_at:%Y-%m-%d %H:%M} UTC.',
        transfers.TRANSFER: f'{offered} {called} now belongs to {transfer.receiver}, as lease '
                            f'{transfer.new_lease_id}.',
        transfers.DECLINE: f'{transfer.receiver} has declined lease {called}.',
        transfers.WITHDRAWAL: f'The offer of lease {called} was withdrawn.'}[what]
    return {'project_id': transfer.project_id, 'user_id': None, 'transfer_id': transfer.id,
            'offered_lease': lease.id, 'lease_name': lease.name, 'hosts': transfer.hosts,
            'owner_project': transfer.from_project, 'new_lease': transfer.new_lease_id,
            'expires_at': moments.iso(transfer.expires_at), 'message': message}
