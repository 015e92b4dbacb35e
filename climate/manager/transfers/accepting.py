# SPDX-License-Identifier: Apache-2.0
"""Accept an offered lease with the token of the receiver, or preview that."""
from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import leases
from climate.domain import transfers
from climate.manager.leases import create
from climate.manager.transfers import offering
from climate.manager.transfers import taking

LOG = log.getLogger(__name__)


class Accepting:
    """The use cases of the receiver of a transfer."""

    def __init__(self, core):
        self._core = core
        self._create = create.Create(core)

    def preview(self, context, transfer_id, key=None):
        """Return the TransferPreview of an offer to the caller.

        :raises TransferNotFound: the caller has no such offer, or the key is wrong.
        """
        transfer = offering.received(self._core, context, transfer_id, key)
        lease = self._offered(transfer)
        try:
            planned = self._take(context, transfer, lease, uuidutils.generate_uuid(), dry_run=True)
        except errors.ClimateError as error:
            return transfers.TransferPreview(transfer, None, lease.generation, error.message,
                                             error.owner_message)
        return transfers.TransferPreview(transfer, planned, lease.generation)

    def accept(self, context, transfer_id, key=None, generation=None, dry_run=False):
        """Accept an offer; return the Lease of the receiver. With `dry_run` only return a draft.

        :param generation: the generation of the offered lease that the caller has seen; None: any.
        :raises TransferNotFound: the caller has no such offer, or the key is wrong.
        :raises TransferClosed: the offer was decided, or has expired.
        :raises TransferRefused: the lease cannot be transferred now.
        :raises StalePrecondition: the lease has changed since the caller saw it.
        :raises ClimateError: as ``create.Create.create``: a limit, the enforcement service or
            Keystone refuses the lease.
        """
        transfer = offering.received(self._core, context, transfer_id, key)
        lease = self._offered(transfer)
        if generation not in (None, lease.generation):
            raise errors.StalePrecondition(lease_id=lease.id)
        made = self._take(context, transfer, lease, uuidutils.generate_uuid(), dry_run=dry_run)
        if not dry_run:
            LOG.info('Lease %s: %s transferred from project %s to %s, as lease %s', lease.id,
                     transfer.offered, lease.project_id, made.project_id, made.id)
        return made

    def _offered(self, transfer):
        with self._core.database.reader() as connection:
            return leases.get(connection, transfer.lease_id)

    def _take(self, context, transfer, lease, lease_id, *, dry_run):
        now = self._core.clock()
        offering.refuse_closed(self._core, transfer.id)
        transfers.refuse_untransferable(lease, transfer.hosts, now)
        if context.project_id == lease.project_id:
            raise errors.TransferRefused(lease_id=lease.id, reason='your project owns it already')
        offering.refuse_types(self._core, lease)
        return self._create.take_over(context, lease_id, taking.TransferTaking(
            self._core, context, transfer, lease, dry_run=dry_run))
