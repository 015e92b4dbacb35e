# SPDX-License-Identifier: Apache-2.0
"""Store clearing plans in the database, and enrol and withdraw their hosts."""
import dataclasses

from oslo_log import log

from climate.db import acquisitions
from climate.db import allocations
from climate.db import engine
from climate.db import journal
from climate.db import leases
from climate.db import resource_properties
from climate.db import resources
from climate.domain import acquisition_reasons
from climate.domain import lifecycle
from climate.domain import texts
from climate.domain.clearing import plans
from climate.manager import core as cores
from climate.manager import ownership

LOG = log.getLogger(__name__)

_ENROLLED_BY_OTHERS = 'somebody has enrolled it'


class PlanStore:
    """Writes plans, unless another manager has taken over the claim of the lease."""

    def __init__(self, core):
        self._core = core

    def write(self, lease, before, after, now):
        """Store a changed plans.ClearingPlan; return it with the ids of hosts that were enrolled.

        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        if after == before:
            return after
        discovered = {host.name: self._discovered(host.name) for host in after.hosts
                      if host.state == plans.ENROLLING and host.resource_id is None}
        while True:
            try:
                return self._write(lease, before, after, discovered, now)
            except engine.Duplicate:
                # Drop the hosts that are enrolled already. If they have been withdrawn since, the
                # duplicate is not known, so drop all hosts; a later plan may include them again.
                with self._core.database.reader() as connection:
                    enrolled = {name for name in discovered if resources.named(
                        connection, self._pool.name, name) is not None} or set(discovered)
                after = after.without(enrolled, _ENROLLED_BY_OTHERS)
                discovered = {name: host for name, host in discovered.items()
                              if name not in enrolled}

    @property
    def _pool(self):
        return self._core.registry.clearable_pool()

    def _discovered(self, name):
        """Return the Found of a disabled host, with the facts that it will have once enabled."""
        cloud = self._core.cloud
        return self._pool.as_enabled(cloud, self._pool.discover(cloud, name))

    @cores.again_after_a_race
    def record_delay(self, lease, reason, heading, error, now):
        """Show in the reason of a lease why its clearing is delayed; add the error to its history.

        :param heading: the heading of the entry in the history.
        """
        with self._core.database.writer() as connection:
            ownership.refuse_overtaken(connection, lease)
            current = leases.get(connection, lease.id)
            if current.reason_text != reason:
                leases.change(connection, current, now, reason=reason)
                journal.note_if_new(connection, lease.id, now, 'climate', heading,
                                    texts.of_error(error))

    @cores.again_after_a_race
    def _write(self, lease, before, after, discovered, now):
        with self._core.database.writer() as connection:
            self._change_resources(connection, before, after, now)
            ownership.refuse_overtaken(connection, lease)
            _deallocate_dropped(connection, lease, before, after)
            after = dataclasses.replace(after, hosts=tuple(
                self._enrolled(connection, host, discovered[host.name], now)
                if host.name in discovered else host for host in after.hosts))
            acquisitions.change(connection, lease.id, now, plan=after.as_json())
            for heading, details in plans.changes(before, after):
                # The entries name hosts, so a separate policy decides who may read them.
                journal.note(connection, lease.id, now, 'climate', heading,
                             details and texts.same(details))
                LOG.info('Lease %s: %s: %s', lease.id, heading, details)
            current = leases.get(connection, lease.id)
            reason = acquisition_reasons.attempt(
                lease, 0, None, texts.same(plans.achieved(after)))
            acquiring = current.state == lifecycle.ACQUIRING and now < current.given_up_at
            if acquiring and after.hosts != before.hosts and current.reason_text != reason:
                leases.change(connection, current, now, reason=reason)
        return after

    def _enrolled(self, connection, host, discovered, now):
        """Enrol a host for its reservation, not bookable yet; return it with its resource id."""
        pool = self._pool.name
        resource_id = resources.add(connection, pool, discovered.name, discovered.capacity, now,
                                    reservable=False, lent_to=host.reservation_id)
        resource_properties.set_values(connection, pool, resource_id, discovered.facts, now,
                                       fact=True)
        return dataclasses.replace(host, resource_id=resource_id)

    @staticmethod
    def _change_resources(connection, before, after, now):
        """Make hosts that became ready bookable, and withdraw hosts that were returned."""
        hosts = {host.name: host for host in after.hosts}
        # Resources are locked in the order of their ids. A host that is not enrolled has no id.
        for earlier in sorted(before.hosts, key=lambda host: host.resource_id or 0):
            host = hosts.get(earlier.name)
            if host is None:
                continue
            if host.state == plans.READY and earlier.state != plans.READY:
                resources.change(connection, host.resource_id, now, reservable=True)
            elif host.state == plans.DROPPED and earlier.state == plans.READY:
                resources.change(connection, host.resource_id, now, reservable=False)
            if earlier.resource_id is not None and host.resource_id is None:
                resources.withdraw(connection, earlier.resource_id, now)


def _deallocate_dropped(connection, lease, before, after):
    """Delete the allocations of a lease on hosts that were ready and will be returned."""
    dropped = {host.name for host in after.hosts if host.state == plans.DROPPED}
    ids = [host.resource_id for host in before.hosts
           if host.state == plans.READY and host.name in dropped]
    if ids:
        allocations.delete(connection, [each.id for each in lease.reservations], ids)
