# SPDX-License-Identifier: Apache-2.0
"""Reclaim an idle lease or its unused resources, in the cloud and in the database.

The action may be repeated. While it runs, the lease shows the task "reclaim", and Climate allows no
new servers on the lease. The action first closes the lease in the cloud, and then checks which
resources are in use, so a resource in use is never reclaimed. If a failed change of the lease waits
for its retry, the lease shows the task of the change, and nothing is reclaimed.
"""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import events
from climate.db import leases
from climate.db import reservations
from climate.db import use_samples
from climate.domain import due_events
from climate.domain import idle
from climate.domain import interval
from climate.domain import lease_events
from climate.domain import lease_times
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import texts
from climate.manager import results
from climate.manager.booking import allocated_resources
from climate.manager.idle import rules
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

_NOT_IDLE = texts.same('It stays as it is: it is not idle any more, or may not be reclaimed.')
_IN_USE = texts.same('It stays as it is: it is in use.')
_IN_CHANGE = texts.same('It stays as it is: it is being changed.')


class NotReclaimable(Exception):
    """The lease may not be reclaimed any more; nothing was written."""


class Reclaim:
    """The action of the event ``reclaim_lease``."""

    def __init__(self, core):
        self._core = core
        self._allocated = allocated_resources.AllocatedResources(core)

    def carry_out(self, claim, cloud, now):
        """Reclaim the idle resources of the lease of a Claim; return the Outcome.

        :param cloud: the ``plugins.cloud.LeaseCloud``.
        """
        # An earlier try may have closed the lease.
        attempt = _Try(self._core, claim, cloud, self._allocated.of(claim.lease.open_reservations),
                       closed=claim.event.begun_at < claim.at)
        try:
            return self._carry_out(attempt, now)
        except errors.ClimateError as error:
            if attempt.closed:
                # The lease must not stay closed, so try until the cloud answers or the lease ends.
                return results.Outcome(results.BUSY, texts.of_error(error), patient=True)
            return results.Outcome(results.MOOT, texts.of_error(error))

    def _carry_out(self, attempt, now):
        reclamation, why = None, _IN_CHANGE
        if attempt.alone:
            reclamation, why = self._reclamation(attempt.lease, now), _NOT_IDLE
        if reclamation is not None:
            why = _IN_USE
            # Do not close a lease in use.
            if attempt.closed or reclamation.without(attempt.occupied()) is not None:
                attempt.close()
                reclamation = reclamation.without(attempt.occupied())
                if reclamation is not None and attempt.take(reclamation):
                    return _done(attempt.lease, reclamation)
        if attempt.closed:
            attempt.reopen()
        return results.Outcome(results.MOOT, why)

    def _reclamation(self, lease, now):
        """Return the Reclamation of a lease by its samples until now; None: nothing to reclaim."""
        judged_by = rules.of(self._core.conf)
        if (lease.reclaim_at is None or lease.state != lifecycle.ACTIVE or lease.end <= now
                or rules.is_exempt(self._core.conf, lease)
                or not rules.is_measured(self._core, lease)):
            return None
        with self._core.database.reader() as connection:
            samples = use_samples.since(
                connection, judged_by.watched_since(now),
                [reservation.id for reservation in lease.open_reservations])
        verdict = idle.judge({key: samples.get(key, use_samples.NONE)
                              for key in rules.sample_keys(lease)}, judged_by)
        return rules.reclamation(self._core, lease, verdict.unused) if verdict.is_idle else None


class _Try:
    """One try to reclaim a lease in the cloud.

    :ivar closed: whether this try or an earlier try has closed the lease.
    :ivar alone: whether no other event of the lease waits for its retry.
    """

    def __init__(self, core, claim, cloud, resources, closed):
        self.lease = claim.lease
        self.closed = closed
        self.alone = claim.has_task
        self._registry = core.registry
        self._check = claim.ownership.check
        self._cloud = cloud
        self._resources = resources

    def close(self):
        """Close all reservations, so that no new server gets onto their resources."""
        self.closed = True
        for reservation, plugin, _ in self._reclaimable():
            plugin.close(self._cloud, self.lease, reservation)

    def reopen(self):
        """Open all reservations again, with all their resources."""
        for reservation, plugin, resources in self._reclaimable():
            plugin.reopen(self._cloud, self.lease, reservation, resources)

    def occupied(self):
        """Return {reservation id: the ids of its resources that are in use}."""
        return {reservation.id: plugin.occupied(self._cloud, self.lease, reservation, resources)
                for reservation, plugin, resources in self._reclaimable()}

    def take(self, reclamation):
        """Return the resources of a Reclamation to the pools, and reopen the other resources.

        A lease that ends stays closed.

        :returns: False if a resource was in use after all.
        """
        if reclamation.ends:
            return True
        for reservation, plugin, resources in self._reclaimable():
            ids = reclamation.resource_ids.get(reservation.id, ())
            reclaimed = [resource for allocated in resources.values() for resource in allocated
                         if resource.id in ids]
            kept = {need: tuple(resource for resource in allocated if resource.id not in ids)
                    for need, allocated in resources.items()}
            try:
                if reclaimed:
                    plugin.give_up(self._cloud, self.lease, reservation, reclaimed)
            except errors.StillBusy as error:
                LOG.info('Lease %s: nothing is reclaimed: %s', self.lease.id, error.message)
                return False
            plugin.reopen(self._cloud, self.lease, reservation, kept)
        return True

    def _reclaimable(self):
        """Yield the reclaimable (Reservation, its plugin, {need key: its Resources})."""
        for reservation in self.lease.open_reservations:
            plugin = self._registry.plugin(reservation.resource_type)
            if plugin.reclaims_one(reservation):
                self._check()
                yield reservation, plugin, self._resources[reservation.id]


def _done(lease, reclamation):
    """Return the Outcome of a Reclamation that was carried out in the cloud."""
    since = f'{lease.idle_since:%Y-%m-%d %H:%M} UTC'
    if reclamation.ends:
        return results.Outcome(results.DONE, texts.same(
            f'Nothing ran on it since {since}, so it ends now.'), reclaimed=reclamation)
    count = sum(len(ids) for ids in reclamation.resource_ids.values())
    whole = sum(len(set(reservation.resource_ids)) for reservation in lease.open_reservations)
    return results.Outcome(
        results.DONE, texts.same(f'Nothing ran on {count} of its {whole} resources since {since}: '
                                 f'{"it was" if count == 1 else "they were"} reclaimed.'),
        reclaimed=reclamation, released=dict(reclamation.resource_ids))


def write(connection, core, lease_id, reclamation, now):
    """Write a Reclamation of a lease that the caller has locked under its claim.

    :raises NotReclaimable: the lease may not be reclaimed any more, for example because it was
        exempted.
    """
    lease = leases.get(connection, lease_id)
    if (rules.is_exempt(core.conf, lease) or lease.reclaim_at is None or lease.end <= now
            or due_events.deletion_ordered(lease)):
        raise NotReclaimable()
    if reclamation.ends:
        _end(connection, lease, now)
    else:
        _shrink(connection, core.registry, lease, reclamation, now)
    outbox.publish(connection, leases.get(connection, lease_id), now, 'reclaim')


def _end(connection, lease, now):
    """End a lease now, as if its owner had requested the end."""
    before_end = lease_times.before_end_of_changes(
        records.LeaseChanges(end_now=True), lease, interval.Interval(lease.start, now))
    ended = dataclasses.replace(lease, end=now, before_end=before_end)
    events.change(connection, lease.id, lease_events.after_change(
        lease, ended, (), False, lease_events.Preparations(), now), now)
    allocations.cut(connection, [reservation.id for reservation in lease.reservations], now)
    leases.change(connection, lease, now, end=now, before_end=before_end, reclaim_at=None)


def _shrink(connection, registry, lease, reclamation, now):
    for reservation in lease.reservations:
        ids = reclamation.resource_ids.get(reservation.id, ())
        if not ids:
            continue
        count = len(set(reservation.resource_ids)) - len(ids)
        allocations.cut(connection, [reservation.id], now, ids)
        reservations.change(connection, [reservation.id], now, request=registry.plugin(
            reservation.resource_type).lessened(reservation.request, count))
    leases.change(connection, lease, now, reclaim_at=None)
