# SPDX-License-Identifier: Apache-2.0
"""End the sub-leases of a lease before the lease itself ends."""
from oslo_log import log

from climate.db import allocations
from climate.db import leases
from climate.db import sub_leases as stored
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.leases import lease_end

LOG = log.getLogger(__name__)

_WITH_PARENT = texts.same('The lease that its hosts belong to ends.')


def end_in(connection, lease, now):
    """End the sub-leases of a locked lease now, in the transaction that ends the lease."""
    for sub_lease in leases.lock_all(connection, [each.id for each in lease.sub_leases]):
        _end(connection, sub_lease, now)


def end_open(core, lease, now):
    """End the sub-leases of a lease that is being ended; return the ids of those not over yet."""
    with core.database.reader() as connection:
        ids = stored.open_ids(connection, lease.id)
    if ids:
        _end_all(core, ids, now)
    return ids


@cores.again_after_a_race
def _end_all(core, ids, now):
    with core.database.writer() as connection:
        for sub_lease in leases.lock_all(connection, ids):
            _end(connection, sub_lease, now)


def _end(connection, lease, now):
    """End a locked sub-lease now, unless its end or its deletion is ordered already."""
    end = lease.event(event_kinds.END)
    if (lease.state not in lifecycle.OPEN or due_events.deletion_ordered(lease) or end is None
            or end.at <= now or end.status != lifecycle.EVENT_UNDONE):
        return
    allocations.cut(connection, [each.id for each in lease.reservations], now)
    lease_end.end_early(connection, lease.id, now, _WITH_PARENT)
    LOG.info('Lease %s: ends now with its parent %s', lease.id, lease.parent_id)
