# SPDX-License-Identifier: Apache-2.0
"""Which one thing of the cloud a reservation leases, where that is known only after it was made.

A server that is booted with a lease is not there yet when its lease is made. Whoever boots it says
later which one it is; where nobody does, the server itself says so in its metadata.
"""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.manager import claims
from climate.manager import core
from climate.manager import lease_cloud

LOG = log.getLogger(__name__)


class Binding:
    """Binds reservations to what they lease."""

    def __init__(self, parts):
        self._core = parts

    def bind(self, context, reservation_id, leased_id):
        """The Lease of the reservation, which leases that one thing from now on. Repeatable.

        :raises ReservationNotFound: no reservation has that id, or it is over.
        :raises Conflict: it leases another thing, or nothing of the kind.
        :raises ServerLeased: another reservation leases that thing.
        :raises BadRequest: the thing is not there, of another project, or does not fit.
        """
        lease, reservation = self._awaiting(reservation_id)
        if reservation.leased_id == leased_id:
            return lease
        plugin = self._core.registry.plugin(reservation.resource_type)
        if not plugin.awaits_thing(reservation):
            raise errors.Conflict(reason=(
                f'Reservation {reservation_id} does not wait for anything'
                + (f': it leases {reservation.leased_id}.' if reservation.leased_id else '.')))
        cloud = lease_cloud.LeaseCloud(self._core.cloud, lease)
        plugin.check_thing(cloud, lease, reservation, leased_id)
        lease = self._write(lease, {reservation_id: leased_id}, context.user_id or 'climate')
        if all(each.id != reservation_id for each in lease.open_reservations):
            # It has waited too long, just now.
            raise errors.ReservationNotFound(reservation_id=reservation_id)
        self._core.wake()
        return lease

    def ensure(self, lease, now):
        """The lease with its reservations bound, as many as can be; and ids of those in vain.

        :returns: (Lease, frozenset of the reservations that waited as long as they may).
        :raises StillBusy: some wait, and may go on.
        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        lease = self._claim_arrivals(lease)
        waiting = [each for each in lease.open_reservations if self._awaits(each)]
        # What was looked for first was of no use to anybody until it was found.
        since = lease.created_at if lease.acquisition is None else lease.start
        in_vain = {each.id for each in waiting if now >= since + datetime.timedelta(
            seconds=self._core.registry.plugin(each.resource_type).patience_seconds)}
        if len(in_vain) < len(waiting):
            raise errors.StillBusy(service='Nova', reason=(
                f'{len(waiting) - len(in_vain)} of what lease {lease.id} is for is not there '
                'yet.'))
        return lease, frozenset(in_vain)

    def _claim_arrivals(self, lease):
        """The lease with its waiting reservations bound to what has arrived for them."""
        waiting = [each for each in lease.open_reservations if self._awaits(each)]
        found = {}
        for resource_type in {each.resource_type for each in waiting}:
            plugin = self._core.registry.plugin(resource_type)
            cloud = lease_cloud.LeaseCloud(self._core.cloud, lease)
            arrived = plugin.arrivals(cloud, lease)
            with self._core.database.reader() as connection:
                taken = reservations.leasing(connection, arrived)
            mine = [each for each in waiting if each.resource_type == resource_type]
            for leased_id in arrived:
                if leased_id not in taken and mine and _fits(plugin, cloud, lease, mine[0],
                                                             leased_id):
                    found[mine.pop(0).id] = leased_id
        return self._write(lease, found) if found else lease

    def _awaits(self, reservation):
        return self._core.registry.plugin(reservation.resource_type).awaits_thing(reservation)

    def _awaiting(self, reservation_id):
        with self._core.database.reader() as connection:
            lease = leases.get(connection, reservations.lease_of(connection, reservation_id))
        for reservation in lease.open_reservations:
            if reservation.id == reservation_id and lease.deleted_at is None:
                return lease, reservation
        raise errors.ReservationNotFound(reservation_id=reservation_id)

    @core.again_after_a_race
    def _write(self, lease, found, who=None):
        """The lease after {reservation id: id of what it leases} was written down.

        :param who: the user who says so; None: the holder of the lease's claim.
        """
        now = self._core.clock()
        try:
            with self._core.database.writer() as connection:
                if who is None:
                    claims.refuse_overtaken(connection, lease)
                current = leases.lock(connection, lease.id)
                for reservation in current.open_reservations:
                    leased_id = found.get(reservation.id)
                    if leased_id is None or reservation.leased_id == leased_id:
                        continue
                    if reservation.leased_id is not None:
                        raise errors.Conflict(reason=(
                            f'Reservation {reservation.id} leases {reservation.leased_id}.'))
                    plugin = self._core.registry.plugin(reservation.resource_type)
                    reservations.change(connection, [reservation.id], now, leased_id=leased_id,
                                        binding=plugin.bound(reservation, leased_id))
                    journal.note(connection, lease.id, now, who or 'climate', 'bind',
                                 f'{reservation.id} leases {leased_id}')
                    LOG.info('Lease %s, reservation %s: leases %s', lease.id, reservation.id,
                             leased_id)
                leases.change(connection, current, now)
                after = leases.get(connection, lease.id)
        except engine.Duplicate:
            refuse_leased(self._core, found.values())
            raise errors.LostRace() from None
        # The claim of whoever carries out an event of the lease stays as it was.
        return dataclasses.replace(lease, reservations=after.reservations)


def late_comers(connection, lease_id, reservation_ids):
    """Those of the reservations that were bound meanwhile, while they were given up.

    They stay as they are until the transaction ends.
    """
    if not reservation_ids:
        return frozenset()
    lease = leases.lock(connection, lease_id)
    return frozenset(each.id for each in lease.reservations
                     if each.id in reservation_ids and each.leased_id is not None)


def refuse_leased(parts, leased_ids):
    """Nothing, unless a reservation leases one of the things already.

    :raises ServerLeased: it names the reservation.
    """
    if not leased_ids:
        return
    with parts.database.reader() as connection:
        taken = reservations.leasing(connection, leased_ids)
    for leased_id, (reservation_id, lease_id) in sorted(taken.items()):
        raise errors.ServerLeased(server_id=leased_id, lease_id=lease_id,
                                  reservation_id=reservation_id)


def _fits(plugin, cloud, lease, reservation, leased_id):
    """Whether a reservation can lease what says of itself that it came for the lease."""
    try:
        plugin.check_thing(cloud, lease, reservation, leased_id)
    except errors.BadRequest as error:
        LOG.warning('Lease %s, reservation %s: does not lease what came for it: %s', lease.id,
                    reservation.id, error.message)
        return False
    return True
