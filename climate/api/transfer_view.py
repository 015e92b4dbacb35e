# SPDX-License-Identifier: Apache-2.0
"""Render the transfers of leases, from REST 1.1 on."""
from climate.api import times


def render(transfer, now):
    """Render a Transfer as it is at `now`."""
    return {
        'id': transfer.id, 'lease_id': transfer.lease_id, 'from_project': transfer.from_project,
        'project_id': transfer.project_id, 'name': transfer.receiver_name,
        'by_key': transfer.key_hash is not None, 'hosts': transfer.hosts,
        'status': transfer.status_at(now), 'expires_at': times.shown(transfer.expires_at),
        'on_withdrawal': transfer.on_withdrawal, 'notice': transfer.notice_seconds,
        'created_at': times.shown(transfer.created_at), 'created_by': transfer.created_by,
        'decided_at': times.shown(transfer.decided_at), 'decided_by': transfer.decided_by,
        'new_lease_id': transfer.new_lease_id}
