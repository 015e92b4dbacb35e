# SPDX-License-Identifier: Apache-2.0
"""Delete a lease: at once if it has no objects in the cloud, else by a teardown event."""
from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import journal
from climate.db import leases
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import refusals
from climate.manager import core
from climate.manager.billing import late_cancels
from climate.manager.billing import lease_prices
from climate.manager.booking import refused_demand
from climate.manager.leases import lease_end
from climate.manager.leases import losses
from climate.manager.leases import sub_lease_end
from climate.manager.queue import given_back
from climate.manager.queue import wakeups
from climate.manager.sub_leases import division

LOG = log.getLogger(__name__)


class Delete:
    """The use case of DELETE /v1/leases/{id}."""

    def __init__(self, parts):
        self._core = parts
        self._losses = losses.LeaseLosses(parts)
        self._prices = lease_prices.LeasePrices(parts)
        self._refused = refused_demand.RefusedDemand(parts)

    def preview(self, lease_id):
        """Return the Losses if a lease were deleted now.

        :raises LeaseNotFound: no lease has this id, or it was deleted before.
        :raises CloudError: the cloud cannot list the objects.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        if lease.deleted_at is not None:
            raise errors.LeaseNotFound(lease_id=lease_id)
        return self._losses.at_end(lease, self._core.clock())

    def price(self, context, lease_id):
        """Return the LeasePrice of a deletion by the caller now; None: it costs nothing.

        :raises LeaseNotFound: no lease has this id, or it was deleted before.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        if lease.deleted_at is not None:
            raise errors.LeaseNotFound(lease_id=lease_id)
        if not lease.is_of(context):
            return None
        return self._prices.of_deletion(lease, self._core.clock())

    @core.again_after_a_race
    def delete(self, context, lease_id, gives_back=False):
        """Delete a lease; return True if it is deleted, False if a teardown was ordered.

        :param gives_back: whether its resources are kept for waiting leases until these were tried.
        :raises LeaseNotFound: no lease has this id, or it was deleted before.
        """
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            # Read the clock after the wait for the lock, because the lease was used until then.
            now = self._core.clock()
            if lease.deleted_at is not None:
                raise errors.LeaseNotFound(lease_id=lease_id)
            division.lock_family(connection, lease)
            # The deletion waits until the sub-leases are over.
            at_once = lease_end.can_delete_at_once(lease)
            wakeups.lock(connection, lease)
            sub_lease_end.end_in(connection, lease, now)
            if at_once or gives_back:
                wakeups.wake(connection, now, leaving=lease_id)
            if at_once or lease.event(event_kinds.DELETE) is None:
                if lease.state == lifecycle.ACQUIRING:
                    self._refused.record_waiting(connection, lease, refusals.WITHDRAWN, now)
                if lease.is_of(context):
                    late_cancels.write_deletion(connection, lease, now)
                given = allocations.of_reservations(connection, [
                    each.id for each in lease.reservations]) if gives_back else ()
                # A sub-lease returns its time to its parent, which pays for it from then on.
                lease_end.release(connection, lease, now,
                                  by_owner=lease.is_of(context) and lease.parent_id is None)
                division.settle(connection, lease, now)
                given_back.keep(connection, self._core.conf, given, now)
                journal.note_limited(connection, lease_id, now, context.user_id or 'climate',
                                     'return' if gives_back else 'delete')
            lease_end.delete(connection, lease, now)
        self._core.notify()
        LOG.info('Lease %s: %s', lease_id, 'deleted' if at_once else 'being deleted')
        return at_once
