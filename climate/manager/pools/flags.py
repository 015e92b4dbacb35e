# SPDX-License-Identifier: Apache-2.0
"""The flags of leases that have less than they were promised: degraded, missing_resources."""
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

#: What the owner reads in the history of the lease. It names no host.
DEGRADED = ('A part of its resources does not work, has less than was asked for, or is used by '
            'others, too.')
RESTORED = 'It has again all that was asked for.'


class Flags:
    """Sets and clears the flags of running leases."""

    def __init__(self, core):
        self._core = core

    def refresh(self, now, missing=(), suspected=False):
        """Judge all running reservations by the stored facts, and by what fails in the cloud.

        :param missing: pairs (pool, name) of the resources that the cloud does not know.
        :param suspected: judge only the leases that are degraded, or have a resource that is not
            well. The cloud is asked only about their resources.
        """
        every, known = self._running(now)
        rows = every
        if suspected:
            leases_then = {row.lease_id for row in rows if row.degraded or row.missing_resources
                           or (row.resource_id in known
                               and known[row.resource_id].health_state != health.WELL)}
            rows = [row for row in rows if row.lease_id in leases_then]
        if not rows:
            return
        below = self._below(rows, every, known, missing)
        changed = {row.reservation_id: row.lease_id for row in rows
                   if row.missing_resources != (row.reservation_id in below)}
        short = {row.lease_id for row in rows if row.reservation_id in below}
        wrong = {row.lease_id for row in rows if row.degraded != (row.lease_id in short)}
        for lease_id in sorted({*changed.values(), *wrong}):
            mine = {key for key, each in changed.items() if each == lease_id}
            with cores.isolated('Lease %s: its flags', lease_id):
                self._write(lease_id, mine, below, now)

    def short(self, lease, now):
        """Return the ids of the reservations of a running lease with less than was asked for."""
        every, known = self._running(now)
        rows = [row for row in every if row.lease_id == lease.id]
        return frozenset(self._below(rows, every, known, ()))

    def _running(self, now):
        """Return (the rows of what runs, {id: Resource})."""
        with self._core.database.reader() as connection:
            rows = allocations.running(connection, now)
            return rows, {each.id: each for each in resources.enrolled(
                connection, {row.resource_id for row in rows})}

    def _below(self, rows, every, known, missing):
        """Return {reservation id: {name of a resource: why it is less than was asked for}}.

        :param rows: the rows to judge, of `every` running one.
        """
        known = {row.resource_id: known[row.resource_id] for row in rows
                 if row.resource_id in known}
        bad, unknown = self._bad(known, rows, missing)
        below = collections.defaultdict(dict)
        for row, why in [*self._unmet(rows, known), *_too_small(every, known)]:
            below[row.reservation_id][known[row.resource_id].name] = why
        for row in rows:
            if row.resource_id in bad:
                below[row.reservation_id][known[row.resource_id].name] = bad[row.resource_id]
            elif row.missing_resources and row.resource_id in unknown:
                below[row.reservation_id][known[row.resource_id].name] = 'as before'
        return {row.reservation_id: below[row.reservation_id] for row in rows
                if row.reservation_id in below}

    def _bad(self, known, rows, missing):
        """Return ({resource id: why} of the Resources that do not serve their leases, unknown ids).

        The state of a resource is unknown while the cloud does not answer for its pool.
        """
        bad = {each.id: 'the cloud does not know it' for each in known.values()
               if (each.pool, each.name) in missing}
        doubts = {each.id: failures.sick(each) for each in known.values()}
        bad |= {key: why for key, why in doubts.items() if why is not None}
        unknown = set()
        for pool in self._core.registry.pools.values():
            mine = [each for each in known.values() if each.pool == pool.name]
            if not mine:
                continue
            unknown |= {each.id for each in mine}
            with cores.isolated('What works in the pool %s', pool.name):
                found = {**self._disturbed(pool, known, rows), **failures.failing(self._core, mine)}
                bad = {**found, **bad}
                unknown -= {each.id for each in mine}
        return bad, unknown

    def _disturbed(self, pool, known, rows):
        """Return {resource id: why} of the Resources that others use, past the scheduler."""
        held = [audited.Held(known[row.resource_id], row.reservation_id, row.lease_id,
                             row.project_id, row.whole)
                for row in rows if row.resource_id in known]
        mine = [each for each in held if each.resource.pool == pool.name]
        return pool.disturbed(self._core.cloud, mine) if mine else {}

    def _unmet(self, rows, known):
        """Yield (row, why) of the allocations whose resource does not meet the criteria."""
        for row in rows:
            try:
                needs = self._core.registry.plugin(row.resource_type).needs(row.request)
            except errors.UnknownResourceType:
                continue
            resource = known.get(row.resource_id)
            if resource is not None and any(
                    need.key == row.need and not shortfalls.meets(self._core, need, resource)
                    for need in needs):
                yield row, shortfalls.UNMET

    @cores.again_after_a_race
    def _write(self, lease_id, changed, below, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            running = [each for each in lease.open_reservations
                       if each.state == lifecycle.RESERVATION_ACTIVE]
            if lease.state != lifecycle.ACTIVE or not changed <= {each.id for each in running}:
                return
            degraded = any(each.id in below for each in running)
            if degraded == lease.degraded and all(
                    each.missing_resources == (each.id in below) for each in running):
                # Another pass wrote it.
                return
            for key in sorted(changed):
                reservations.change(connection, [key], now, missing_resources=key in below)
            leases.change(connection, lease, now, degraded=degraded)
            tell(connection, lease, degraded, now)
            after = leases.get(connection, lease_id)
            outbox.publish(connection, after, now, 'update')
            if degraded and not lease.degraded:
                outbox.publish(connection, after.explained(texts.same(DEGRADED)), now, 'degraded')
        for key in sorted(changed.intersection(below)):
            LOG.warning('Lease %s, reservation %s: it has less than it was promised: %s', lease_id,
                        key, ', '.join(f'{name}: {why}' for name, why in below[key].items()))


def tell(connection, lease, degraded, now):
    """Add to the history of a lease that it is degraded, or not any more."""
    if degraded != lease.degraded:
        journal.note(connection, lease.id, now, 'climate',
                     'degraded' if degraded else 'restored',
                     texts.same(DEGRADED if degraded else RESTORED))


def _too_small(rows, known):
    """Yield (row, why) of the allocations on shared resources that have less than is allocated."""
    taken = collections.defaultdict(collections.Counter)
    for row in rows:
        if not row.whole:
            taken[row.resource_id].update(
                {name: units * row.copies for name, units in row.amount.items()})
    for row in rows:
        resource = known.get(row.resource_id)
        if not row.whole and resource is not None and any(
                units > resource.capacity.get(name, 0)
                for name, units in taken[row.resource_id].items()):
            yield row, shortfalls.TOO_SMALL
