# SPDX-License-Identifier: Apache-2.0
"""The servers of a running lease that stay on its hosts after a transfer.

In the lease of the receiver, the old project and its guests are former guests, whose share was
withdrawn at the transfer. So the rules and events of withdrawn shares decide about their servers.
"""
import dataclasses

from oslo_utils import uuidutils

from climate.domain import records
from climate.domain import shares

# The texts of former warnings are for the old owner.
_WARNINGS = 'warnings'


def inherited_binding(lease, reservation):
    """Return the binding of a running reservation for the lease of the receiver.

    :param lease: the offered Lease, whose id the scheduler hints of servers may name.
    """
    binding = {key: value for key, value in reservation.binding.items() if key != _WARNINGS}
    return {**binding, records.FORMER_LEASES: [
        *binding.get(records.FORMER_LEASES, ()), lease.id]}


def shares_of(old, transfer, lease, now):
    """Return the withdrawn Shares of the receiver's lease, for the projects that used the old one.

    :param old: the offered Lease.
    :param transfer: the accepted Transfer.
    :param lease: the Lease of the receiver.
    """
    owner = shares.Share(
        id=uuidutils.generate_uuid(), lease_id=lease.id, role=shares.USER, created_at=now,
        created_by=transfer.created_by, project_id=transfer.from_project,
        on_withdrawal=transfer.on_withdrawal, notice_seconds=transfer.notice_seconds,
        withdrawn_at=now)
    guests = [dataclasses.replace(
        share, id=uuidutils.generate_uuid(), lease_id=lease.id,
        withdrawn_at=share.withdrawn_at or now) for share in old.shares
        if share.lets_in and share.cleared_at is None and share.project_id != lease.project_id]
    return [owner, *guests]
