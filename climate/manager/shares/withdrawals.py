# SPDX-License-Identifier: Apache-2.0
"""The writes of a change of the shares of a lease, in the transaction of the caller."""
import dataclasses

from oslo_log import log

from climate import moments
from climate.db import events
from climate.db import journal
from climate.db import shares as stored
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import shares
from climate.domain import texts
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)


def withdraw(connection, lease, share, now, what, who='climate'):
    """Withdraw a Share of a locked lease; return the withdrawn Share.

    Events apply the withdrawal to running reservations, and later clear the servers.

    :param what: ``shares.WITHDRAWN`` or ``shares.LEFT``.
    :param now: the moment from which the share gives no access any more.
    """
    withdrawn = dataclasses.replace(share, withdrawn_at=now)
    stored.change(connection, share.id, withdrawn_at=now)
    order_events(connection, lease, withdrawn, now)
    report(connection, lease, withdrawn, now, what, who)
    return withdrawn


def order_events(connection, lease, share, now):
    """Write the events by which a new or a withdrawn Share is applied, now and later."""
    later = {moment for moment in (share.clears_at, None if share.withdrawn_at else share.until)
             if moment is not None and moment > now}
    at_once = [now] if share.lets_in else []
    events.change(connection, lease.id, lease_events.EventChanges(add=tuple(
        (event_kinds.SHARE, moment) for moment in (*at_once, *sorted(later)))), now)


def report(connection, lease, share, now, what, who):
    """Write the history of a change of a Share, and its notifications to both projects."""
    until = '' if share.until is None else f' until {share.until:%Y-%m-%d %H:%M} UTC'
    journal.note_limited(connection, lease.id, now, who, what, texts.same(
        f'{share.receiver} as {share.role}{until}'))
    outbox.publish(connection, lease, now, what)
    journal.publish(connection, now, f'lease.{what}', [_for_receiver(lease, share, what)])
    LOG.info('Lease %s, share %s: %s: %s as %s', lease.id, share.id, what, share.receiver,
             share.role)


def _for_receiver(lease, share, what):
    """Return the payload of the notification to the receiver of a Share.

    A user without a project has no subscriptions, so this payload only goes to the bus.
    """
    facts = {
        'shared_lease': lease.id, 'lease_name': lease.name, 'owner_project': lease.project_id,
        'share_id': share.id, 'role': share.role, 'until': moments.iso(share.until or lease.end),
        'message': _message(lease, share, what)}
    if share.clears_at is not None:
        facts |= {'on_withdrawal': share.on_withdrawal,
                  'servers_until': moments.iso(share.clears_at)}
    return {'project_id': share.project_id, 'user_id': share.user_id, **facts}


def _message(lease, share, what):
    """Return what happens to the receiver of a Share, in sentences."""
    called = f'lease {lease.name} ({lease.id}) of project {lease.project_id}'
    if what == shares.SHARED:
        until = share.until or lease.end
        return (f'{share.receiver} may use {called} as {share.role} until '
                f'{until:%Y-%m-%d %H:%M} UTC.')
    fates = {shares.STOP: 'stopped', shares.DELETE: 'deleted'}
    servers = 'Running servers stay until the end of the lease.' if share.clears_at is None else (
        f'Running servers are {fates[share.on_withdrawal]} at '
        f'{share.clears_at:%Y-%m-%d %H:%M} UTC.')
    text = f'{share.receiver} may not use {called} any more.'
    return f'{text} {servers}' if share.lets_in else text
