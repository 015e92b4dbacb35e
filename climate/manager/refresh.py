# SPDX-License-Identifier: Apache-2.0
"""What the cloud says of enrolled resources, read anew from time to time."""
import datetime

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import managers
from climate.db import resources
from climate.domain import interval
from climate.domain import requirement
from climate.domain import usage
from climate.manager import core as cores
from climate.manager import criteria
from climate.manager.acquire import line

LOG = log.getLogger(__name__)

# A manager that has not been seen for so long leaves the work to the next one.
_ALIVE = datetime.timedelta(seconds=60)


class Refresher:
    """Writes down what has changed of the resources of all pools.

    Promises are kept as they are: where a host has become smaller than what is promised of it,
    new bookings see what it has now, and the log names the leases that may suffer.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner
        self._missing = set()

    def refresh(self, now):
        """One look, by one of the managers; returns the names of the resources that changed.

        Several at once are harmless: each writes what the cloud says.
        """
        with self._core.database.reader() as connection:
            eldest = managers.eldest(connection, now - _ALIVE)
        if eldest not in (None, self._owner):
            return []
        changed = []
        for pool in self._core.registry.pools.values():
            changed += self._refresh_pool(pool, now)
        return changed

    def _refresh_pool(self, pool, now):
        with self._core.database.reader() as connection:
            known = resources.find(connection, pool.name)
        if not known:
            return []
        found = pool.survey(self._core.cloud, known)
        self._tell_missing(pool.name, {each.name for each in known} - set(found))
        changed = []
        for resource in known:
            said = found.get(resource.name)
            if said is None or not _differs(resource, said):
                continue
            if self._write(resource, said, now):
                changed.append(resource.name)
        if changed:
            self._core.wake()
        return changed

    def _tell_missing(self, pool, names):
        """Log once what the cloud knows no more, and what it knows again."""
        before = {name for each, name in self._missing if each == pool}
        for name in sorted(names - before):
            LOG.warning('%s %s: the cloud does not know it any more; what was known of it is '
                        'kept, and it can still be leased', pool, name)
        for name in sorted(before - names):
            LOG.info('%s %s: the cloud knows it again', pool, name)
        self._missing = ({each for each in self._missing if each[0] != pool}
                         | {(pool, name) for name in names})

    @cores.again_after_a_race
    def _write(self, resource, said, now):
        """True where something was written; False for a resource withdrawn meanwhile."""
        with self._core.database.writer() as connection:
            # The first write locks the row, so that no booking proves itself on the old values.
            resources.change(connection, resource.id, now, capacity=said.capacity)
            try:
                before = resources.get(connection, resource.pool, resource.id)
            except errors.HostNotFound:
                return False
            facts = {**dict.fromkeys(before.facts), **said.facts}
            resources.set_values(connection, resource.pool, resource.id, facts, now, fact=True)
            after = resources.get(connection, resource.pool, resource.id)
            affected = self._affected(connection, after, now)
            line.wake(connection, now)
        LOG.info('%s %s: changed in the cloud: %s', resource.pool, resource.name,
                 _difference(resource, said))
        if affected:
            LOG.warning('%s %s: it has less now than leases were promised of it, or does not '
                        'meet their criteria any more: leases %s', resource.pool, resource.name,
                        ', '.join(affected))
        return True

    def _affected(self, connection, resource, now):
        """The ids of leases whose promise the resource cannot keep as it is now, in order."""
        promises = [each for each in allocations.listing(
            connection, resource.pool, now, resource_ids=[resource.id]) if each.end > now]
        parts = [each for each in promises if not each.whole]
        bookings = [(interval.Interval(each.start, each.end),
                     {name: units * each.copies for name, units in each.amount.items()})
                    for each in parts]
        found = {parts[place].lease_id for place in usage.overdrawn(resource.capacity, bookings)}
        lease_of = {each.reservation_id: each.lease_id for each in promises}
        for reservation_id, kind, request in allocations.requests_on(connection, resource.id,
                                                                     now):
            if not self._meets(connection, resource, kind, request):
                found.add(lease_of[reservation_id])
        return sorted(found)

    def _meets(self, connection, resource, kind, request):
        try:
            plugin = self._core.registry.plugin(kind)
        except errors.UnknownResourceType:
            # A type that is no longer enabled says nothing of what it needs.
            return True
        return all(criteria.matching(self._core, connection, need, {resource.id: resource})
                   for need in plugin.needs(request)
                   if need.pool == resource.pool and requirement.names(need.requirement))


def _differs(resource, said):
    return dict(resource.capacity) != said.capacity or dict(resource.facts) != said.facts


def _difference(resource, said):
    """In words, each name with what it was and what it is."""
    before = {**resource.facts, **resource.capacity}
    after = {**said.facts, **said.capacity}
    return ', '.join(f'{name} {str(before.get(name))[:80]} → {str(after.get(name))[:80]}'
                     for name in sorted({*before, *after})
                     if before.get(name) != after.get(name))
