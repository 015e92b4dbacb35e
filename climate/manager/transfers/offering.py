# SPDX-License-Identifier: Apache-2.0
"""Offer leases to other projects, list offers, and withdraw or decline them."""
import secrets

from oslo_utils import uuidutils

from climate import errors
from climate.db import leases
from climate.db import transfers as stored
from climate.domain import lifecycle
from climate.domain import shares
from climate.domain import transfers
from climate.manager import core as cores
from climate.manager.leases import lease_parts
from climate.manager.shares import former_servers
from climate.manager.shares import receivers
from climate.manager.transfers import reports

_KEY_BYTES = 32


class Offering:
    """The use cases of transfers, except acceptance. The API has checked the permissions."""

    def __init__(self, core):
        self._core = core

    def offer(self, context, lease_id, request):
        """Offer a lease; return the NewTransfer.

        :raises LeaseNotFound: no lease has this id.
        :raises BadField: a field of the TransferRequest is wrong; the error names it.
        :raises TransferRefused: the lease, or one of its types, cannot be transferred.
        :raises AlreadyOffered: the lease has an open offer.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        self._refuse(lease, request, now)
        identity = None
        if request.project is not None:
            identity = receivers.find(self._core, shares.PROJECT_ID, request.project)
            if identity.id == lease.project_id:
                raise transfers.own_project(identity.id)
        key = secrets.token_urlsafe(_KEY_BYTES) if identity is None else None
        transfer = self._new(context, lease, request, identity, key, now)
        self._write(context, transfer, now)
        self._core.notify()
        return transfers.NewTransfer(transfer, key)

    def of_lease(self, lease_id):
        """Return the Transfers of a lease, the oldest first."""
        with self._core.database.reader() as connection:
            return stored.of_lease(connection, lease_id)

    def offered_to(self, context):
        """Return the open Transfers to the project of the caller, the oldest first."""
        with self._core.database.reader() as connection:
            return stored.offered_to(connection, context.project_id, self._core.clock())

    def withdraw(self, context, lease_id, transfer_id):
        """Withdraw an offer of a lease; return the Transfer.

        :raises TransferNotFound: the lease has no such transfer.
        :raises TransferClosed: the offer was decided, or has expired.
        """
        with self._core.database.reader() as connection:
            transfer = stored.get(connection, transfer_id)
        if transfer.lease_id != lease_id:
            raise errors.TransferNotFound(transfer_id=transfer_id)
        return self._end(context, transfer, transfers.WITHDRAWN, transfers.WITHDRAWAL)

    def decline(self, context, transfer_id, key=None):
        """Decline an offer as its receiver; return the Transfer.

        :raises TransferNotFound: the caller has no such offer, or the key is wrong.
        :raises TransferClosed: the offer was decided, or has expired.
        """
        transfer = received(self._core, context, transfer_id, key)
        return self._end(context, transfer, transfers.DECLINED, transfers.DECLINE)

    @cores.again_after_a_race
    def _end(self, context, transfer, status, what):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, transfer.lease_id)
            now = self._core.clock()
            close(connection, transfer, status, now, context.user_id or 'climate')
            reports.write(connection, lease, transfer, now, what, context.user_id or 'climate')
            return stored.get(connection, transfer.id)

    @cores.again_after_a_race
    def _write(self, context, transfer, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, transfer.lease_id)
            transfers.refuse_untransferable(lease, transfer.hosts, now)
            for known in stored.of_lease(connection, lease.id):
                if known.is_open(now):
                    raise errors.AlreadyOffered(lease_id=lease.id, receiver=known.receiver,
                                                transfer_id=known.id)
                if known.status == transfers.OFFERED:
                    stored.decide(connection, known, transfers.EXPIRED, known.expires_at,
                                  'climate')
            stored.add(connection, transfer)
            reports.write(connection, lease, transfer, now, transfers.OFFER,
                          context.user_id or 'climate')

    def _refuse(self, lease, request, now):
        transfers.refuse_untransferable(lease, request.hosts, now)
        transfers.refuse_wrong(request, lease, now)
        refuse_types(self._core, lease)
        if request.hosts is not None:
            lease_parts.split(self._core, lease, request.hosts)
        former_servers.refuse_choice(self._core.conf, request)

    def _new(self, context, lease, request, identity, key, now):
        latest = lease.start if request.hosts is not None else lease.end
        return transfers.Transfer(
            id=uuidutils.generate_uuid(), lease_id=lease.id, from_project=lease.project_id,
            project_id=identity and identity.id,
            receiver_name=identity and identity.name[:255],
            key_hash=None if key is None else transfers.hash_of(key), hosts=request.hosts,
            expires_at=request.expires_at or min(now + transfers.USUAL, latest),
            created_at=now, created_by=context.user_id or 'climate',
            on_withdrawal=request.on_withdrawal or self._core.conf.shares.on_withdrawal,
            notice_seconds=former_servers.notice_seconds(self._core.conf, request))


def received(core, context, transfer_id, key=None):
    """Return a Transfer that is for the project of the caller, or for the owner of a key.

    :raises TransferNotFound: there is no such offer for the caller, or the key is wrong.
    """
    with core.database.reader() as connection:
        transfer = stored.get(connection, transfer_id)
    if not transfer.is_for(context.project_id, key):
        raise errors.TransferNotFound(transfer_id=transfer_id)
    return transfer


def refuse_closed(core, transfer_id):
    """Refuse to accept a Transfer that was decided, or has expired.

    :raises TransferClosed: the error has the status.
    """
    with core.database.reader() as connection:
        transfer = stored.get(connection, transfer_id)
    now = core.clock()
    if not transfer.is_open(now):
        raise _closed(transfer, transfers.ACCEPTED, now)


def _closed(transfer, action, now):
    return errors.TransferClosed(transfer_id=transfer.id, status=transfer.status_at(now),
                                 action=action, new_lease_id=transfer.new_lease_id)


def close(connection, transfer, status, now, who, **values):
    """Write the decision about an open Transfer.

    :raises TransferClosed: the offer was decided, or has expired.
    """
    if transfer.is_open(now) and stored.decide(connection, transfer, status, now, who, **values):
        return
    raise _closed(stored.get(connection, transfer.id), status, now)


def refuse_types(core, lease):
    """Refuse a lease with a reservation that cannot be transferred.

    :raises TransferRefused: the error names the type.
    """
    begun = lease.state != lifecycle.PENDING
    for reservation in lease.open_reservations:
        plugin = core.registry.plugin(reservation.resource_type)
        if begun and not plugin.transfers_running:
            types = sorted(name for name, each in core.registry.plugins.items()
                           if each.transfers_running)
            raise errors.TransferRefused(lease_id=lease.id, reason=(
                f'it has begun, and {reservation.resource_type} can only be transferred before '
                f'the start; running leases of {", ".join(types) or "no type here"} can be'))
        if not plugin.is_transferable(dict(reservation.request)):
            raise errors.TransferRefused(lease_id=lease.id, reason=(
                f'its reservation of {reservation.resource_type} names objects of the project, '
                'which the other project does not have'))
