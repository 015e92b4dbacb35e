# SPDX-License-Identifier: Apache-2.0
"""The plan of a hunt in the database, with the resources that it enrols for its lease."""
import dataclasses

from oslo_log import log

from climate.cloud import base as clouds
from climate.db import acquisitions
from climate.db import engine
from climate.db import journal
from climate.db import leases
from climate.db import resources
from climate.domain import hunt
from climate.domain import lifecycle
from climate.manager import claims
from climate.manager import core as cores
from climate.manager import trusts
from climate.manager.acquire import words
from climate.plugins import pools

LOG = log.getLogger(__name__)

_ENROLLED_BY_OTHERS = 'somebody has enrolled it'


class Ledger:
    """Writes plans down, each in a transaction that proves that the claim of the lease is ours."""

    def __init__(self, core):
        self._core = core

    def write(self, lease, before, after, now):
        """The hunt.Plan as it was written: hosts that are being enrolled have their resource.

        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        if after == before:
            return after
        pool = self._core.registry.pool(pools.HostPool.name)
        found = {host.name: pool.discover(self._core.cloud, host.name) for host in after.hosts
                 if host.state == hunt.ENROLLING and host.resource_id is None}
        while True:
            try:
                return self._write(lease, before, after, found, now)
            except engine.Duplicate:
                # Where nobody has any of them by now, another plan may have them again.
                taken = self._enrolled_by_others(found) or set(found)
                after = after.without(taken, _ENROLLED_BY_OTHERS)
                found = {name: each for name, each in found.items() if name not in taken}

    def _enrolled_by_others(self, names):
        with self._core.database.reader() as connection:
            return {name for name in names
                    if resources.named(connection, pools.HostPool.name, name) is not None}

    @cores.again_after_a_race
    def say(self, lease, reason, what, error, now):
        """Let the lease say why it goes no further just now, and its history what an error says."""
        reason = trusts.with_notice(lease, reason)
        with self._core.database.writer() as connection:
            claims.refuse_overtaken(connection, lease)
            current = leases.get(connection, lease.id)
            if current.reason != reason:
                leases.change(connection, current, now, reason=reason)
                journal.note_if_new(connection, lease.id, now, 'climate', what, error.message)

    @cores.again_after_a_race
    def _write(self, lease, before, after, found, now):
        with self._core.database.writer() as connection:
            self._change_resources(connection, before, after, now)
            claims.refuse_overtaken(connection, lease)
            after = dataclasses.replace(after, hosts=tuple(
                self._enrolled(connection, host, found[host.name], now)
                if host.name in found else host for host in after.hosts))
            acquisitions.change(connection, lease.id, now, plan=after.as_json())
            for what, why in hunt.told(before, after):
                journal.note(connection, lease.id, now, 'climate', what, why)
                LOG.info('Lease %s: %s: %s', lease.id, what, why)
            current = leases.get(connection, lease.id)
            reason = trusts.with_notice(lease, words.attempt(
                lease, 0, None, hunt.achieved(after)))
            seeks = current.state == lifecycle.ACQUIRING and now < current.given_up_at
            if seeks and after.hosts != before.hosts and current.reason != reason:
                leases.change(connection, current, now, reason=reason)
        return after

    @staticmethod
    def _enrolled(connection, host, found, now):
        """The Host with a resource of its own, lent to its reservation, not to be booked yet."""
        facts = {**found.facts, 'traits': ' '.join(
            each for each in found.facts.get('traits', '').split()
            if each != clouds.Computes.BARRED)}
        made = resources.add(connection, pools.HostPool.name, found.name, found.capacity, now,
                             reservable=False, lent_to=host.reservation_id)
        resources.set_values(connection, pools.HostPool.name, made, facts, now, fact=True)
        return dataclasses.replace(host, resource_id=made)

    @staticmethod
    def _change_resources(connection, before, after, now):
        """Let what became ready be booked, and withdraw what was given back."""
        following = {host.name: host for host in after.hosts}
        # In the order in which resources are locked; what is not enrolled yet has none.
        for earlier in sorted(before.hosts, key=lambda host: host.resource_id or 0):
            host = following.get(earlier.name)
            if host is None:
                continue
            if host.state == hunt.READY and earlier.state != hunt.READY:
                resources.change(connection, host.resource_id, now, reservable=True)
            elif host.state == hunt.DROPPED and earlier.state == hunt.READY:
                resources.change(connection, host.resource_id, now, reservable=False)
            if earlier.resource_id is not None and host.resource_id is None:
                resources.withdraw(connection, earlier.resource_id, now)
