# SPDX-License-Identifier: Apache-2.0
"""Refresh the facts and the capacity of enrolled resources from the cloud."""
from oslo_log import log

from climate import errors
from climate.db import allocation_lists
from climate.db import allocations
from climate.db import managers
from climate.db import resource_properties
from climate.db import resources
from climate.domain import booked_capacity
from climate.domain import interval
from climate.domain import records
from climate.domain import requirement
from climate.manager import core as cores
from climate.manager.booking import criteria
from climate.manager.pools import flags
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


class Refresher:
    """Reads enrolled resources from the cloud, and stores the facts and capacity that changed.

    Allocations stay as they are. If a host has less than is allocated on it, new bookings use its
    new capacity, and the log names the affected leases.

    :param owner: the name of this manager, for `refresh`.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner
        self._missing = set()
        self._unfit = {}
        self._flags = flags.Flags(core)

    def refresh(self, now):
        """Refresh all pools once; return the names of the resources that changed.

        If a service does not answer, the pools of the other services are still refreshed. Only the
        manager that has run longest refreshes. Two such managers at a time are harmless, because
        both write the state of the cloud.
        """
        with self._core.database.reader() as connection:
            eldest = managers.is_eldest(connection, self._owner, now)
        if not eldest:
            return []
        changed = []
        for pool in self._core.registry.pools.values():
            with cores.isolated('The facts of the pool %s', pool.name):
                changed += self._refresh_pool(pool, now)
        self._flags.refresh(now, self._missing)
        return changed

    def flag_leases(self, now):
        """Set or clear the flags of leases whose resources broke or were swapped meanwhile."""
        self._flags.refresh(now, self._missing, suspected=True)

    def _refresh_pool(self, pool, now):
        with self._core.database.reader() as connection:
            enrolled = resources.find(connection, pool.name)
        surveyed = pool.survey(self._core.cloud, enrolled) if enrolled else {}
        self._log_missing(pool.name, {resource.name for resource in enrolled}, surveyed)
        known = [resource for resource in enrolled if resource.name in surveyed]
        with cores.isolated('The fitness of the pool %s', pool.name):
            unfit = pool.unfit(self._core.cloud, known) if known else {}
            self._log_unfit(pool.name, surveyed, unfit)
        changed = self._store(enrolled, surveyed, now)
        if changed:
            self._core.notify()
        return changed

    def reread(self, to_read, now):
        """Read the facts of Resources again; return the names of the changed ones."""
        changed = []
        for pool in {resource.pool for resource in to_read}:
            of_pool = [resource for resource in to_read if resource.pool == pool]
            changed += self._store(
                of_pool, self._core.registry.pool(pool).survey(self._core.cloud, of_pool), now)
        return changed

    def _store(self, enrolled, surveyed, now):
        """Store the changes of Resources; return the names of the changed ones.

        :param surveyed: the result of ``Pool.survey``.
        """
        changed = []
        for resource in enrolled:
            found = surveyed.get(resource.name)
            if found is None or not _differs(resource, found):
                continue
            with cores.isolated('%s %s', resource.pool, resource.name):
                if self._write(resource, found, now):
                    changed.append(resource.name)
        return changed

    def _log_missing(self, pool, enrolled, surveyed):
        """Log once that the cloud does not know a resource, and once that it knows it again.

        :param enrolled: the names of the enrolled resources of the pool.
        :param surveyed: the result of ``Pool.survey``, with the names that the cloud knows.
        """
        before = {name for other_pool, name in self._missing if other_pool == pool}
        missing = enrolled - surveyed.keys()
        for name in sorted(missing - before):
            LOG.warning('%s %s: the cloud does not know it any more; its stored facts are kept, '
                        'and it can still be leased', pool, name)
        for name in sorted(before & surveyed.keys()):
            LOG.info('%s %s: the cloud knows it again', pool, name)
        self._missing = ({key for key in self._missing if key[0] != pool}
                         | {(pool, name) for name in missing})

    def _log_unfit(self, pool, surveyed, unfit):
        """Log once that a resource has become unfit for enrolment, and once that it is fit again.

        :param unfit: {name: why} of the unfit resources of the pool.
        """
        before = self._unfit.get(pool, {})
        for name in sorted(unfit):
            if before.get(name) != unfit[name]:
                LOG.warning('%s %s: it is enrolled, but %s', pool, name, unfit[name])
        for name in sorted(before.keys() & surveyed.keys() - unfit.keys()):
            LOG.info('%s %s: nothing is wrong with it any more', pool, name)
        self._unfit[pool] = unfit

    @cores.again_after_a_race
    def _write(self, resource, surveyed, now):
        """Store the surveyed state of a resource; return False if it was withdrawn meanwhile."""
        with self._core.database.writer() as connection:
            # This write locks the row, so that no booking is checked against the old capacity.
            resources.change(connection, resource.id, now, capacity=surveyed.capacity)
            try:
                before = resources.get(connection, resource.pool, resource.id)
            except errors.ResourceNotFound:
                return False
            facts = {**dict.fromkeys(before.facts), **surveyed.facts}
            resource_properties.set_values(connection, resource.pool, resource.id, facts, now,
                                           fact=True)
            after = resources.get(connection, resource.pool, resource.id)
            affected = self._affected(connection, after, now)
            wakeups.wake(connection, now)
        LOG.info('%s %s: changed in the cloud: %s', resource.pool, resource.name,
                 _difference(resource, surveyed))
        if affected:
            LOG.warning('%s %s: it has less now than is allocated on it, or does not meet the '
                        'criteria any more: leases %s', resource.pool, resource.name,
                        ', '.join(affected))
        return True

    def _affected(self, connection, resource, now):
        """Return the sorted ids of leases whose allocations no longer fit the resource."""
        allocated = [allocation for allocation in allocation_lists.find(
            connection, records.AllocationQuery(resource.pool), now,
            allocation_lists.ListPart([resource.id])) if allocation.end > now]
        shared = [allocation for allocation in allocated if not allocation.whole]
        bookings = [(interval.Interval(part.start, part.end),
                     {name: units * part.copies for name, units in part.amount.items()})
                    for part in shared]
        affected = {shared[index].lease_id
                    for index in booked_capacity.overdrawn(resource.capacity, bookings)}
        lease_of = {allocation.reservation_id: allocation.lease_id for allocation in allocated}
        for reservation_id, kind, request in allocations.requests_on(connection, resource.id,
                                                                     now):
            if not self._meets(connection, resource, kind, request):
                affected.add(lease_of[reservation_id])
        return sorted(affected)

    def _meets(self, connection, resource, kind, request):
        try:
            plugin = self._core.registry.plugin(kind)
        except errors.UnknownResourceType:
            # The needs of the reservation are unknown, because its plugin is not installed.
            return True
        return all(criteria.matching(self._core, connection, need, {resource.id: resource})
                   for need in plugin.needs(request)
                   if need.pool == resource.pool and requirement.names(need.requirement))


def _differs(resource, surveyed):
    return (dict(resource.capacity), dict(resource.facts)) != (surveyed.capacity, surveyed.facts)


def _difference(resource, surveyed):
    """Return the changes in words: each name with its old and its new value."""
    before = {**resource.facts, **resource.capacity}
    after = {**surveyed.facts, **surveyed.capacity}
    return ', '.join(f'{name} {str(before.get(name))[:80]} → {str(after.get(name))[:80]}'
                     for name in sorted({*before, *after})
                     if before.get(name) != after.get(name))
