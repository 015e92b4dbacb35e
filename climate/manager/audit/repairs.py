# SPDX-License-Identifier: Apache-2.0
"""The repairs of drift, which are safe while managers run.

No repair deletes or moves a server. Each repair reads the database again before it changes
anything, and can be repeated.
"""
import contextlib
import functools

from oslo_log import log

from climate import errors
from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import audit
from climate.domain import lifecycle
from climate.domain.clearing import plans
from climate.manager import core as cores
from climate.manager import lease_cloud
from climate.manager.booking import allocated_resources
from climate.manager.clearing import lent_hosts
from climate.manager.leases import early_creations
from climate.manager.leases import trust_reaper
from climate.manager.pools import resources as pools
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


class Repairs:
    """Makes the repairs that Drifts name.

    :param unknown: whether to repair objects without a record in the database, too.
    """

    def __init__(self, core, unknown=False):
        self._core = core
        self._unknown = unknown
        self._pools = pools.ResourceRequests(core)
        self._lending = lent_hosts.LentHosts(core)
        self._by_name = {
            audit.CLEAR: self._clear, audit.RELEASE: self._release, audit.MEND: self._mend,
            audit.COMPLETE: self._complete, audit.ENROL: self._enrol,
            audit.DROP_TRUST: functools.partial(self._reap, trust_reaper.TrustReaper(core)),
            audit.ENABLE: self._enable, audit.RETURN: self._return,
            audit.DELETE_EARLY: functools.partial(
                self._reap, early_creations.EarlyCreationReaper(core)),
        }

    def make(self, drifts):
        """Repair the drifts that can be repaired.

        :returns: {Drift: None if it was repaired, else the reason why not}.
        """
        outcomes_of_repairs, outcomes = {}, {}
        for drift in audit.in_order(drifts):
            repair = drift.repair, drift.target
            if drift.repair is None or (drift.unknown and not self._unknown):
                outcomes[drift] = drift.remedy
                continue
            if repair not in outcomes_of_repairs:
                outcomes_of_repairs[repair] = self._try(drift)
            outcomes[drift] = outcomes_of_repairs[repair]
        return outcomes

    def _try(self, drift):
        """Make one repair; return None, or the reason why it could not be made."""
        try:
            self._by_name[drift.repair](drift.target)
        except errors.ClimateError as error:
            LOG.warning('Audit: %s: %s; not repaired: %s', drift.what, drift.problem,
                        error.message)
            return error.message
        except Exception as error:  # Outer loop: one failing repair must not stop the others.
            LOG.exception('Audit: %s: %s; the repair failed unexpectedly', drift.what,
                          drift.problem)
            return f'The repair failed unexpectedly: {type(error).__name__}.'
        LOG.info('Audit: %s: %s; repaired', drift.what, drift.problem)
        return None

    def _clear(self, target):
        resource_type, made_for = target
        plugin = self._core.registry.plugin(resource_type)
        with self._core.database.reader() as connection:
            if not leases.any_exist(connection):
                raise errors.Conflict(reason=(
                    'The database has no leases. Check that it is the database of this cloud.'))
            free = [resource for pool in plugin.pools
                    for resource in resources.find(connection, pool.name)
                    if resource.held_by in (None, made_for)]
        plugin.clear(self._core.cloud, made_for, free)

    def _release(self, reservation_id):
        lease, reservation = self._find(reservation_id)
        if lease is not None:
            if not audit.is_over(lease, reservation):
                return
            # No other reservation may get the resource while objects of this one are still on it.
            self._clear((reservation.resource_type, reservation_id))
        self._write_release(reservation_id)
        self._core.notify()

    @cores.again_after_a_race
    def _write_release(self, reservation_id):
        with self._core.database.writer() as connection:
            resources.release(connection, reservation_id)
            wakeups.wake(connection, self._core.clock())

    def _complete(self, reservation_id):
        lease, reservation = self._find(reservation_id)
        if lease is None or not self._is_settled(lease, reservation):
            return
        plugin = self._core.registry.plugin(reservation.resource_type)
        allocated = allocated_resources.AllocatedResources(self._core)
        granted = allocated.of([reservation])[reservation_id]
        cloud = lease_cloud.ActionCloud(self._core.cloud, lease)
        binding = plugin.complete(cloud, lease, reservation, granted)
        if self._written(lease, reservation, binding):
            return
        lease, reservation = self._find(reservation_id)
        if lease is None or audit.is_over(lease, reservation):
            # The reservation ended during the repair. Its end did not clear the objects that the
            # repair has just added.
            self._clear((plugin.resource_type, reservation_id))

    @cores.again_after_a_race
    def _written(self, lease, reservation, binding):
        """Store the binding if the reservation still runs; return whether it does."""
        with self._core.database.writer() as connection:
            current = leases.lock(connection, lease.id)
            [stored] = [other for other in current.reservations if other.id == reservation.id]
            if not self._is_settled(current, stored):
                return False
            if dict(stored.binding) != binding:
                reservations.change(connection, [stored.id], self._core.clock(), binding=binding)
        return True

    def _mend(self, target):
        pool, name = target
        with self._core.database.reader() as connection:
            resource = resources.named(connection, pool, name)
        if resource is not None:
            self._core.registry.pool(pool).mend(self._core.cloud, resource)

    def _enrol(self, target):
        with contextlib.suppress(errors.ResourceKnown):
            self._pools.enrol(*target, {})

    def _reap(self, reaper, record_id):
        for record in reaper.find(self._core.clock()):
            if record.id == record_id:
                reaper.delete(record)

    def _enable(self, target):
        pool, name, lease_id = target
        with self._core.database.reader() as connection:
            if any(lease.state == lifecycle.ACQUIRING
                   for lease in leases.mentioned(connection, {lease_id})):
                return
        self._core.registry.pool(pool).enable(
            self._core.cloud, name, plans.fence_of(lease_id))

    def _return(self, reservation_id):
        lease, reservation = self._find(reservation_id)
        if lease is None or audit.is_over(lease, reservation):
            self._lending.return_lent_to(reservation_id)

    def _find(self, reservation_id):
        """Return the current (lease, reservation), or (None, None) if the id is unknown."""
        with self._core.database.reader() as connection:
            for lease in leases.mentioned(connection, {reservation_id}):
                for reservation in lease.reservations:
                    if reservation.id == reservation_id:
                        return lease, reservation
        return None, None

    def _is_settled(self, lease, reservation):
        """Return whether a reservation runs and no change of its lease is in progress or due."""
        return audit.is_running(lease, reservation) and not audit.is_moving(
            lease, self._core.clock())
