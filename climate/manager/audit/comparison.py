# SPDX-License-Identifier: Apache-2.0
"""The comparison of the database with the cloud."""
import collections
import itertools

from climate.db import leases
from climate.db import resources
from climate.domain import audit
from climate.domain import event_kinds
from climate.manager.audit import snapshot as snapshots
from climate.manager.booking import allocated_resources
from climate.manager.leases import early_creations
from climate.manager.leases import trust_reaper

# One reading of the database: the leases that are not over, and {pool: its Resources}.
_Reading = collections.namedtuple('_Reading', 'leases resources')


class Auditor:
    """Compares the database with the cloud, and changes neither.

    It lists each kind of object in the cloud once, and reads the database before and after that.
    Records that changed between the two readings, or that are due to change, are left out.
    """

    def __init__(self, core):
        self._core = core
        self._allocated = allocated_resources.AllocatedResources(core)
        self._early = early_creations.EarlyCreationReaper(core)
        self._trusts = trust_reaper.TrustReaper(core)

    def compare(self):
        """Return the current Drifts, in the order of their repairs.

        A comparison may mistake a change in progress for a Drift. Only a Drift that a later
        comparison finds again is certain.

        :raises ClimateError: a service of the cloud cannot be observed.
        """
        drifts, failures = self.compare_reachable()
        if failures:
            raise failures[0]
        return drifts

    def compare_reachable(self):
        """Return (the Drifts of the services that answered, the errors of the other services)."""
        before = self._read()
        snapshot = snapshots.take(self._core.cloud, self._core.registry, before.resources)
        traces = self._traces(snapshot)
        after = self._read()
        with self._core.database.reader() as connection:
            by_id = {lease.id: lease for lease in (*after.leases, *leases.mentioned(
                connection, _mentioned_ids(traces, after.resources)))}
            disabled_for = leases.mentioned(connection, {
                host.lease_id for host in snapshot.disabled})
        now = self._core.clock()
        recorded = _recorded(before, after._replace(leases=by_id.values()), now)
        ids = {*by_id, *(reservation.id for lease in by_id.values()
                         for reservation in lease.reservations)}
        return audit.in_order([
            *audit.left_behind(traces, ids, recorded.over()),
            *audit.not_ended(traces, recorded.leases, now),
            *self._of_running(snapshot, recorded),
            *self._of_pools(snapshot, recorded),
            *_kept_for_nothing(recorded, ids),
            *audit.disabled_needlessly(
                snapshot.disabled, audit.clearing_ids(before.leases, after.leases),
                (lease.id for lease in disabled_for)),
            *(audit.Drift('left behind', f'objects created early for {creation.reservation_id}',
                          'its reservation is not in this database', audit.DELETE_EARLY,
                          creation.id)
              for creation in self._early.find(now)),
            *self._of_trusts(snapshot, recorded, now)]), snapshot.failures

    def _of_trusts(self, snapshot, recorded, now):
        if snapshot.trusts is not None:
            yield from _unused_trusts(self._trusts, now, snapshot.trusts)
            yield from _without_trust(recorded.leases, snapshot.trusts)

    def _read(self):
        with self._core.database.reader() as connection:
            return _Reading(leases.open_ones(connection), {
                pool: resources.find(connection, pool) for pool in self._core.registry.pools})

    def _traces(self, snapshot):
        """Return the Traces of all plugins: one for each object, a signed one if there is any."""
        traces = {}
        for name, observed in snapshot.plugins.items():
            for trace in self._core.registry.plugins[name].traces(observed):
                key = trace.made_for, trace.kind, trace.name
                if key not in traces or trace.signed_by:
                    traces[key] = trace
        return list(traces.values())

    def _of_running(self, snapshot, recorded):
        """Yield the Drifts of running reservations."""
        by_id = {resource.id: resource for pool in recorded.resources.values()
                 for resource in pool}
        for lease, reservation in recorded.running():
            granted = [by_id.get(key) for key in dict.fromkeys(reservation.resource_ids)]
            if reservation.resource_type in snapshot.plugins and None not in granted:
                resources_of = self._allocated.of([reservation], granted)[reservation.id]
                plugin = self._core.registry.plugins[reservation.resource_type]
                yield from plugin.lacks(snapshot.plugins[reservation.resource_type], lease,
                                        reservation, resources_of)

    def _of_pools(self, snapshot, recorded):
        for name, observed in snapshot.pools.items():
            yield from self._core.registry.pools[name].audit(
                observed, recorded.resources[name], recorded.enrolled[name])
            unfit = snapshot.unfit[name]
            for resource in recorded.resources[name]:
                if resource.name in unfit:
                    yield audit.Drift('unfit', f'{name} {resource.name}', (
                        f'enrolled, but {unfit[resource.name]}'))


def _recorded(before, after, now):
    """Return the Recorded of two readings of the database."""
    unchanged, names = {}, {}
    for pool, pool_resources in after.resources.items():
        earlier = {resource.id: resource for resource in before.resources[pool]}
        unchanged[pool] = tuple(resource for resource in pool_resources
                                if earlier.get(resource.id) == resource)
        names[pool] = frozenset(
            resource.name for resource in (*pool_resources, *earlier.values()))
    return audit.Recorded(leases=audit.comparable(before.leases, after.leases, now),
                          resources=unchanged, enrolled=names)


def _mentioned_ids(traces, pools):
    """Return the ids of all reservations and leases that traces or resources name."""
    return ({trace.made_for for trace in traces}
            | {key for resource in itertools.chain.from_iterable(pools.values())
               for key in (resource.held_by, resource.lent_to)} - {None})


def _unused_trusts(reaper, now, listed):
    """Yield a Drift for each recorded trust in Keystone that belongs to no lease.

    :param listed: the Trusts in Keystone; unrecorded ones belong to other services.
    """
    for record_id, trust_id in reaper.identify(reaper.find(now), listed).items():
        yield audit.Drift('trust', f'trust {trust_id}', 'no lease has it', audit.DROP_TRUST,
                          record_id)


def _without_trust(recorded, listed):
    """Yield a Drift for each lease that needs its trust, if Keystone no longer has the trust."""
    listed_ids = {trust.id for trust in listed}
    for lease in recorded:
        dropped = lease.event(event_kinds.DROP_TRUST) is not None
        if not dropped and lease.trust_id not in {None, *listed_ids}:
            yield audit.Drift('trust', f'lease {lease.id}', (
                f'its trust {lease.trust_id} is gone from Keystone; Climate can no longer act '
                'for its owner'))


def _kept_for_nothing(recorded, known_ids):
    """Yield a Drift for each resource held by, or lent to, an ended or unknown reservation."""
    over = recorded.over()
    for resource in itertools.chain.from_iterable(recorded.resources.values()):
        name = f'{resource.pool} {resource.name}'
        if resource.held_by in over or resource.held_by not in {None, *known_ids}:
            yield audit.Drift(
                'held', name, f'held by reservation {resource.held_by}, which is over',
                audit.RELEASE, resource.held_by)
        elif resource.held_by is None and (
                resource.lent_to in over or resource.lent_to not in {None, *known_ids}):
            yield audit.Drift(
                'lent', name, f'lent to reservation {resource.lent_to}, which is over',
                audit.RETURN, resource.lent_to)
