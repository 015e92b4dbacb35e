# SPDX-License-Identifier: Apache-2.0
"""Render the shares of leases, from REST 1.1 on."""
from climate.api import times


def of_lease(lease, share, is_receiver, now):
    """Return the fields of a lease about its shares.

    :param share: the Share by which the caller sees the lease, or None.
    :param is_receiver: whether the number of shares is hidden from the caller.
    """
    shown = share and {
        'id': share.id, 'role': share.role, 'until': times.shown(share.until),
        'since': times.shown(share.created_at), 'by': lease.project_id}
    return {'shared': shown, 'share_count': None if is_receiver else sum(
        each.is_open(now) for each in lease.shares)}


def render(share):
    """Render a Share."""
    return {
        'id': share.id, 'lease_id': share.lease_id, 'project_id': share.project_id,
        'user_id': share.user_id, 'name': share.receiver_name, 'role': share.role,
        'until': times.shown(share.until), 'on_withdrawal': share.on_withdrawal,
        'notice': share.notice_seconds, 'created_at': times.shown(share.created_at),
        'created_by': share.created_by, 'withdrawn_at': times.shown(share.withdrawn_at),
        'servers_until': times.shown(share.clears_at)}


def withdrawal(found):
    """Render a Withdrawal, with the running servers of its receiver; null: they are not known."""
    servers = None if found.servers is None else [
        {'id': server.id, 'name': server.name, 'fate': server.fate, 'at': times.shown(server.at)}
        for server in found.servers]
    return {'share': render(found.share), 'servers': servers}
