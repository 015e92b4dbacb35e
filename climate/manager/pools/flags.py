# SPDX-License-Identifier: Apache-2.0
"""The flags of leases with less than their allocations: degraded and missing_resources."""
import collections

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.booking import shortfalls
from climate.manager.health import failures
from climate.manager.notifications import outbox
from climate.plugins import audited

LOG = log.getLogger(__name__)

#: The text for the owner in the history of the lease. It names no host.
DEGRADED = ('A part of its resources does not work, has less than was asked for, or is used by '
            'others, too.')
RESTORED = 'It has all requested resources again.'


class Flags:
    """Sets and clears the flags of running leases."""

    def __init__(self, core):
        self._core = core

    def refresh(self, now, missing=(), suspected=False):
        """Set or clear the flags by the stored facts of resources and by failures in the cloud.

        :param missing: pairs (pool, name) of the resources that are missing in the cloud.
        :param suspected: True: check only leases that are degraded or have a resource that is not
            well, and ask the cloud only about their resources.
        """
        all_rows, resource_of = self._running(now)
        rows = all_rows
        if suspected:
            lease_ids = {row.lease_id for row in rows if row.degraded or row.missing_resources
                         or (row.resource_id in resource_of
                             and resource_of[row.resource_id].health_state != health.WELL)}
            rows = [row for row in rows if row.lease_id in lease_ids]
        if not rows:
            return
        below = self._below(rows, all_rows, resource_of, missing)
        changed = {row.reservation_id: row.lease_id for row in rows
                   if row.missing_resources != (row.reservation_id in below)}
        short = {row.lease_id for row in rows if row.reservation_id in below}
        wrong = {row.lease_id for row in rows if row.degraded != (row.lease_id in short)}
        for lease_id in sorted({*changed.values(), *wrong}):
            ids = {key for key, changed_lease_id in changed.items() if changed_lease_id == lease_id}
            with cores.isolated('Lease %s: its flags', lease_id):
                self._write(lease_id, ids, below, now)

    def short(self, lease, now):
        """Return the ids of the reservations of a running lease with less than was requested."""
        all_rows, resource_of = self._running(now)
        rows = [row for row in all_rows if row.lease_id == lease.id]
        return frozenset(self._below(rows, all_rows, resource_of, ()))

    def _running(self, now):
        """Return (the rows of the running allocations, {id: Resource})."""
        with self._core.database.reader() as connection:
            rows = allocations.running(connection, now)
            return rows, {resource.id: resource for resource in resources.enrolled(
                connection, {row.resource_id for row in rows})}

    def _below(self, rows, all_rows, resource_of, missing):
        """Return {reservation id: {name of a resource: why it is less than was requested}}.

        :param rows: the rows to check; `all_rows` are the rows of all running allocations.
        """
        resource_of = {row.resource_id: resource_of[row.resource_id] for row in rows
                       if row.resource_id in resource_of}
        bad, unknown = self._bad(resource_of, rows, missing)
        below = collections.defaultdict(dict)
        for row, why in [*self._unmet(rows, resource_of), *_too_small(all_rows, resource_of)]:
            below[row.reservation_id][resource_of[row.resource_id].name] = why
        for row in rows:
            if row.resource_id in bad:
                below[row.reservation_id][resource_of[row.resource_id].name] = bad[row.resource_id]
            elif row.missing_resources and row.resource_id in unknown:
                below[row.reservation_id][resource_of[row.resource_id].name] = 'as before'
        return {row.reservation_id: below[row.reservation_id] for row in rows
                if row.reservation_id in below}

    def _bad(self, resource_of, rows, missing):
        """Return ({id: why} of the Resources that do not serve their leases, unknown ids).

        The state of a resource is unknown while the cloud does not answer for its pool.
        """
        bad = {resource.id: 'the cloud does not know it' for resource in resource_of.values()
               if (resource.pool, resource.name) in missing}
        sick = {resource.id: failures.sick(resource) for resource in resource_of.values()}
        bad |= {key: why for key, why in sick.items() if why is not None}
        unknown = set()
        for pool in self._core.registry.pools.values():
            of_pool = [resource for resource in resource_of.values() if resource.pool == pool.name]
            if not of_pool:
                continue
            ids = {resource.id for resource in of_pool}
            unknown |= ids
            with cores.isolated('The failures of the pool %s', pool.name):
                bad = {**self._disturbed(pool, resource_of, rows),
                       **failures.failing(self._core, of_pool), **bad}
                unknown -= ids
        return bad, unknown

    def _disturbed(self, pool, resource_of, rows):
        """Return {id: why} of the Resources that others use because they bypass the scheduler."""
        held = [audited.Held(resource, row.reservation_id, row.lease_id, row.project_id, row.whole)
                for row in rows if (resource := resource_of.get(row.resource_id)) is not None
                and resource.pool == pool.name]
        return pool.disturbed(self._core.cloud, held) if held else {}

    def _unmet(self, rows, resource_of):
        """Yield (row, why) of the allocations whose resource does not meet the criteria."""
        for row in rows:
            try:
                needs = self._core.registry.plugin(row.resource_type).needs(row.request)
            except errors.UnknownResourceType:
                continue
            resource = resource_of.get(row.resource_id)
            if resource is not None and any(
                    need.key == row.need and not shortfalls.meets(self._core, need, resource)
                    for need in needs):
                yield row, shortfalls.UNMET

    @cores.again_after_a_race
    def _write(self, lease_id, changed, below, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            running = {reservation.id: reservation for reservation in lease.open_reservations
                       if reservation.state == lifecycle.RESERVATION_ACTIVE}
            if lease.state != lifecycle.ACTIVE or not changed <= running.keys():
                return
            degraded = not running.keys().isdisjoint(below)
            if degraded == lease.degraded and all(
                    reservation.missing_resources == (key in below)
                    for key, reservation in running.items()):
                # Another pass has already written the flags.
                return
            for key in sorted(changed):
                reservations.change(connection, [key], now, missing_resources=key in below)
            leases.change(connection, lease, now, degraded=degraded)
            note_change(connection, lease, degraded, now)
            after = leases.get(connection, lease_id)
            outbox.publish(connection, after, now, 'update')
            if degraded and not lease.degraded:
                outbox.publish(connection, after.explained(texts.same(DEGRADED)), now, 'degraded')
        for key in sorted(changed.intersection(below)):
            LOG.warning('Lease %s, reservation %s: it has less than its allocation: %s', lease_id,
                        key, ', '.join(f'{name}: {why}' for name, why in below[key].items()))


def note_change(connection, lease, degraded, now):
    """Add to the history of a lease that it is degraded, or not any more."""
    if degraded != lease.degraded:
        journal.note(connection, lease.id, now, 'climate',
                     'degraded' if degraded else 'restored',
                     texts.same(DEGRADED if degraded else RESTORED))


def _too_small(rows, resource_of):
    """Yield (row, why) of the allocations on shared resources that have less than is allocated."""
    allocated = collections.defaultdict(collections.Counter)
    for row in rows:
        if not row.whole:
            allocated[row.resource_id].update(
                {name: units * row.copies for name, units in row.amount.items()})
    for row in rows:
        resource = resource_of.get(row.resource_id)
        if not row.whole and resource is not None and any(
                units > resource.capacity.get(name, 0)
                for name, units in allocated[row.resource_id].items()):
            yield row, shortfalls.TOO_SMALL
