# SPDX-License-Identifier: Apache-2.0
"""Apply the shares of a lease to its reservations: who may boot, and which servers are removed.

The shares in the database are changed first. So this work can be repeated at any time, and a
repetition after a crash gives the same result.
"""
import dataclasses

from oslo_log import log

from climate.db import leases
from climate.db import shares as stored
from climate.domain import lifecycle
from climate.domain import shares
from climate.manager import core as cores
from climate.manager import ownership
from climate.manager import results
from climate.manager.booking import allocated_resources
from climate.manager.shares import withdrawals

LOG = log.getLogger(__name__)

_STARTED = (lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR)


class GuestAccess:
    """Carries out the event SHARE of a lease."""

    def __init__(self, core):
        self._core = core
        self._allocated = allocated_resources.AllocatedResources(core)

    def carry_out(self, claim, cloud):
        """Apply the shares of the lease of a Claim; return the Outcome.

        :raises StillBusy: servers of a former guest are not stopped or deleted yet.
        :raises ClaimLost: another manager has taken the lease over.
        """
        now = claim.at
        lease = self._expired_withdrawn(claim.lease, now)
        reservations = [each for each in lease.open_reservations
                        if each.resource_type in self._core.registry.plugins]
        resources = self._allocated.of(reservations)
        for reservation in reservations:
            self._plugin(reservation).share(cloud, lease, reservation, resources[reservation.id])
        for share in shares.to_clear(lease.shares, now):
            for reservation in reservations:
                if reservation.state in _STARTED:
                    self._plugin(reservation).clear_guest(
                        cloud, lease, reservation, resources[reservation.id], share.project_id,
                        share.on_withdrawal == shares.DELETE)
            self._record_cleared(lease, share, now)
        return results.Outcome(results.DONE)

    def servers(self, lease, cloud, project_id):
        """Return the Losses of the servers of a project on the running reservations of a lease.

        :raises CloudError: a service does not list the servers; StillBusy is one, too.
        """
        started = [each for each in lease.open_reservations if each.state in _STARTED
                   and each.resource_type in self._core.registry.plugins]
        resources = self._allocated.of(started)
        return tuple(server for each in started for server in self._plugin(each).guest_servers(
            cloud, lease, each, resources[each.id], project_id))

    @cores.again_after_a_race
    def _expired_withdrawn(self, lease, now):
        """Withdraw the shares whose end has passed; return the lease with its present shares."""
        if not shares.expired(lease.shares, now):
            return lease
        with self._core.database.writer() as connection:
            current = ownership.current(connection, lease)
            for share in shares.expired(current.shares, now):
                withdrawals.withdraw(connection, current, share, now, shares.WITHDRAWN)
            after = leases.get(connection, lease.id)
        return dataclasses.replace(lease, shares=after.shares)

    def _record_cleared(self, lease, share, now):
        with self._core.database.writer() as connection:
            ownership.refuse_overtaken(connection, lease)
            stored.change(connection, share.id, cleared_at=now)
        LOG.info('Lease %s, share %s: the servers of %s are removed', lease.id, share.id,
                 share.receiver)

    def _plugin(self, reservation):
        return self._core.registry.plugin(reservation.resource_type)
