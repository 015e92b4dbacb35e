# SPDX-License-Identifier: Apache-2.0
"""Bind reservations to targets that are created in the cloud after their lease.

A target is an object in the cloud that a reservation leases, such as a server. A server that is
booted with a lease does not exist yet when the lease is created. The client that boots the server
reports its id to Climate. If the client does not, Climate finds the server by its metadata.
"""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.domain import acquisition_reasons
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core
from climate.manager import lease_cloud
from climate.manager import ownership
from climate.plugins import targets

LOG = log.getLogger(__name__)


class Targets:
    """Binds reservations to their targets."""

    def __init__(self, parts):
        self._core = parts

    def bind(self, context, reservation_id, leased_id):
        """Bind a reservation to its target; return the Lease. The call can be repeated.

        :param leased_id: the id of the target in the cloud.
        :raises ReservationNotFound: no reservation has this id, or the reservation is over.
        :raises Conflict: the reservation leases another target, or does not wait for a target.
        :raises TargetLeased: another reservation leases the target.
        :raises BadRequest: the target does not exist, is of another project, or does not fit.
        """
        lease, reservation = self._awaiting(reservation_id)
        if reservation.leased_id == leased_id:
            return lease
        plugin = self._core.registry.plugin(reservation.resource_type)
        if not plugin.awaits_target(reservation):
            raise errors.Conflict(reason=(
                f'resource_id: reservation {reservation_id} '
                + (f'leases {reservation.leased_id} already.' if reservation.leased_id
                   else 'does not wait for a server.') + ' Make another lease for this one.'))
        cloud = lease_cloud.ActionCloud(self._core.cloud, lease)
        name = plugin.check_target(cloud, lease, reservation, leased_id)
        lease = self._write(lease, {reservation_id: (leased_id, name)},
                            context.user_id or 'climate')
        if all(each.id != reservation_id for each in lease.open_reservations):
            # The reservation waited too long, so it was given up concurrently.
            raise errors.ReservationNotFound(reservation_id=reservation_id)
        self._core.notify()
        return lease

    def ensure(self, lease, now):
        """Bind the reservations of a lease to discovered targets.

        :returns: (the Lease with the bindings, frozenset of the ids of reservations whose target
            did not appear within the ``patience_seconds`` of their plugin).
        :raises StillBusy: some reservations must wait longer for their target.
        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        lease = self._bind_discovered(lease)
        waiting = self._waiting(lease)
        overdue = {each.id for each in waiting if now >= _overdue_from(
            self._core.registry.plugin(each.resource_type), lease)}
        if len(overdue) < len(waiting):
            raise errors.StillBusy.plain('Nova', (
                f'{len(waiting) - len(overdue)} of the targets of lease {lease.id} do not exist '
                'yet.'))
        return lease, frozenset(overdue)

    def _bind_discovered(self, lease):
        """Bind the waiting reservations of a lease to discovered targets; return the lease."""
        waiting = self._waiting(lease)
        bound = {}
        for resource_type in {each.resource_type for each in waiting}:
            plugin = self._core.registry.plugin(resource_type)
            cloud = lease_cloud.ActionCloud(self._core.cloud, lease)
            discovered = plugin.discovered_targets(cloud, lease)
            with self._core.database.reader() as connection:
                leased = reservations.leasing(connection, discovered)
            unbound = [each for each in waiting if each.resource_type == resource_type]
            for leased_id in discovered:
                if leased_id in leased or not unbound:
                    continue
                fits, name = _fits(plugin, cloud, lease, unbound[0], leased_id)
                if fits:
                    bound[unbound.pop(0).id] = leased_id, name
        return self._write(lease, bound) if bound else lease

    def _waiting(self, lease):
        """Return the open reservations of a lease that wait for their target."""
        return [each for each in lease.open_reservations if self._core.registry.plugin(
            each.resource_type).awaits_target(each)]

    def _awaiting(self, reservation_id):
        with self._core.database.reader() as connection:
            lease = leases.get(connection, reservations.lease_of(connection, reservation_id))
        for reservation in lease.open_reservations:
            if reservation.id == reservation_id and lease.deleted_at is None:
                return lease, reservation
        raise errors.ReservationNotFound(reservation_id=reservation_id)

    @core.again_after_a_race
    def _write(self, lease, bound, who=None):
        """Write the targets of reservations; return the lease with them.

        :param bound: {reservation id: (id of its target, its name or None)}.
        :param who: the user who binds the reservations; None: the holder of the lease's claim.
        """
        now = self._core.clock()
        try:
            with self._core.database.writer() as connection:
                if who is None:
                    ownership.refuse_overtaken(connection, lease)
                current = leases.lock(connection, lease.id)
                for reservation in current.open_reservations:
                    leased_id, name = bound.get(reservation.id, (None, None))
                    if leased_id is None or reservation.leased_id == leased_id:
                        continue
                    if reservation.leased_id is not None:
                        raise errors.Conflict(reason=(
                            f'Reservation {reservation.id} leases {reservation.leased_id}.'))
                    plugin = self._core.registry.plugin(reservation.resource_type)
                    reservations.change(connection, [reservation.id], now, leased_id=leased_id,
                                        binding=plugin.bound(reservation, leased_id, name))
                    called = f'{name} ({leased_id})' if name else leased_id
                    journal.note(connection, lease.id, now, who or 'climate', 'bind',
                                 texts.same(f'{reservation.id} leases {called}'))
                    LOG.info('Lease %s, reservation %s: leases %s', lease.id, reservation.id,
                             leased_id)
                leases.change(connection, current, now)
                after = leases.get(connection, lease.id)
        except engine.Duplicate:
            refuse_leased(self._core, [leased_id for leased_id, _ in bound.values()])
            raise errors.LostRace() from None
        # Keep the claim of `lease`, because its holder goes on with the claimed event.
        return dataclasses.replace(lease, reservations=after.reservations)


def explained(registry, lease):
    """Return the lease with a reason that also names the targets that the lease waits for.

    The sentences are not stored, so that an unsuccessful search for a target writes nothing.
    """
    sentences = waits(registry, lease)
    return lease.explained(texts.joined(lease.reason_text, *sentences)) if sentences else lease


def waits(registry, lease):
    """Return a sentence for each target that the start of the lease waits for."""
    if (lease.state, lease.task) != (lifecycle.PENDING, 'start'):
        return []
    sentences = []
    for reservation in lease.open_reservations:
        plugin = registry.plugins.get(reservation.resource_type)
        if plugin is not None and plugin.awaits_target(reservation):
            until = acquisition_reasons.shown(_overdue_from(plugin, lease).replace(microsecond=0))
            sentences.append(texts.same(f'Reservation {reservation.id} waits for its '
                                        f'{plugin.target_kind}, at most until {until}.'))
    return sentences


def _overdue_from(plugin, lease):
    """Return the moment from which a reservation of the lease no longer waits for its target."""
    # The owner of a lease that waited for resources could not boot a server before its start.
    since = lease.created_at if lease.acquisition is None else lease.start
    return since + datetime.timedelta(seconds=plugin.patience_seconds)


def bound_late(connection, lease_id, reservation_ids):
    """Return the ids of the reservations that were bound after they were found overdue.

    Lock the lease, so that no reservation is bound until the transaction ends.
    """
    if not reservation_ids:
        return frozenset()
    lease = leases.lock(connection, lease_id)
    return frozenset(each.id for each in lease.reservations
                     if each.id in reservation_ids and each.leased_id is not None)


def refuse_leased(parts, leased_ids):
    """Raise TargetLeased if a reservation already leases one of the targets.

    :raises TargetLeased: the error names the reservation.
    """
    if not leased_ids:
        return
    with parts.database.reader() as connection:
        leasing = sorted(reservations.leasing(connection, leased_ids).items())
        for leased_id, (reservation_id, lease_id) in leasing:
            lease = leases.get(connection, lease_id)
            [reservation] = [each for each in lease.reservations if each.id == reservation_id]
            plugin = parts.registry.plugins.get(reservation.resource_type, targets.LeasesTargets)
            raise errors.TargetLeased(kind=plugin.target_kind, target_id=leased_id,
                                      lease_id=lease_id, lease_name=lease.name,
                                      reservation_id=reservation_id)


def _fits(plugin, cloud, lease, reservation, leased_id):
    """Return (whether a reservation can lease a discovered target, the name of the target)."""
    try:
        return True, plugin.check_target(cloud, lease, reservation, leased_id)
    except errors.BadRequest as error:
        LOG.warning('Lease %s, reservation %s: the discovered target %s cannot be leased: %s',
                    lease.id, reservation.id, leased_id, error.message)
        return False, None
