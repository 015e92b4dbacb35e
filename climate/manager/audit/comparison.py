# SPDX-License-Identifier: Apache-2.0
"""One look at the accounts and the cloud: where are they not the same?"""
from climate.db import leases
from climate.db import resources
from climate.domain import audit
from climate.manager.audit import snapshot as snapshots
from climate.manager.booking import allocated
from climate.manager.leases import early


class Auditor:
    """Compares. It changes nothing, and asks the cloud once for each kind of thing.

    The accounts are read before and after the cloud; what changed meanwhile, or is being changed,
    is not judged.
    """

    def __init__(self, core):
        self._core = core
        self._allocated = allocated.Allocated(core)
        self._early = early.Reaper(core)

    def look(self):
        """The Drifts there are now, in the order in which they are repaired.

        One of them may be the work of somebody who has written down only half of it: what is
        there in a second look, a while later, is drift.
        """
        before = self._read()
        snapshot = snapshots.take(self._core.cloud, self._core.registry)
        traces = self._traces(snapshot)
        after = self._read()
        with self._core.database.reader() as connection:
            known = {lease.id: lease for lease in (
                *after[0], *leases.mentioned(connection, _mentioned(traces, after[1])))}
            trusted = leases.with_trusts(connection, {each.id for each in snapshot.trusts})
        now = self._core.clock()
        accounts = _accounts(before, (known.values(), after[1]), now)
        ids = {*known, *(each.id for lease in known.values() for each in lease.reservations)}
        return audit.in_order([
            *audit.left_behind(traces, ids, accounts.over()),
            *audit.not_ended(traces, accounts.leases, now),
            *self._of_running(snapshot, accounts),
            *self._of_pools(snapshot, accounts),
            *_held_for_nobody(accounts, ids),
            *_lent_to_nobody(accounts, ids),
            *audit.disabled_in_vain(snapshot.disabled, audit.clearing(before[0], after[0])),
            *(audit.Drift('left behind', f'what was created early for {each.reservation_id}',
                          'no lease has its reservation', audit.DELETE_EARLY, each.id)
              for each in self._early.find(now)),
            *(audit.Drift('trust', f'trust {each.id}', 'no lease has it', audit.DROP_TRUST,
                          each.id) for each in snapshot.trusts if each.id not in trusted)])

    def _read(self):
        """(the leases that are not over, {pool: its Resources})."""
        with self._core.database.reader() as connection:
            return leases.open_ones(connection), {
                pool: resources.find(connection, pool) for pool in self._core.registry.pools}

    def _traces(self, snapshot):
        found = {}
        for name, plugin in self._core.registry.plugins.items():
            for trace in plugin.traces(snapshot.plugins[name]):
                key = trace.made_for, trace.kind, trace.name
                if key not in found or trace.signed_by:
                    found[key] = trace
        return list(found.values())

    def _of_running(self, snapshot, accounts):
        """What is wrong with the reservations that run."""
        by_id = {each.id: each for pool in accounts.resources.values() for each in pool}
        for lease, reservation in accounts.running():
            promised = [by_id.get(each) for each in dict.fromkeys(reservation.resource_ids)]
            plugin = self._core.registry.plugins.get(reservation.resource_type)
            if plugin is not None and None not in promised:
                theirs = self._allocated.of([reservation], promised)[reservation.id]
                yield from plugin.lacks(snapshot.plugins[reservation.resource_type], lease,
                                        reservation, theirs)

    def _of_pools(self, snapshot, accounts):
        for name, pool in self._core.registry.pools.items():
            yield from pool.audit(snapshot.pools[name], accounts.resources[name],
                                  accounts.enrolled[name])


def _accounts(before, after, now):
    """The Accounts, of two readings."""
    earlier = {(pool, each.id): each for pool, found in before[1].items() for each in found}
    same = {pool: tuple(each for each in found if earlier.get((pool, each.id)) == each)
            for pool, found in after[1].items()}
    names = {pool: frozenset(each.name for each in (*found, *before[1][pool]))
             for pool, found in after[1].items()}
    return audit.Accounts(leases=audit.settled(before[0], after[0], now), resources=same,
                          enrolled=names)


def _mentioned(traces, pools):
    """The ids of all reservations and leases that the cloud or a resource names."""
    return ({trace.made_for for trace in traces}
            | {key for found in pools.values() for each in found
               for key in (each.held_by, each.lent_to)} - {None})


def _lent_to_nobody(accounts, known):
    """The resources that are enrolled for a reservation which is over, or which nobody knows."""
    over = accounts.over()
    for found in accounts.resources.values():
        for each in found:
            if each.held_by is None and (
                    each.lent_to in over or each.lent_to not in {None, *known}):
                yield audit.Drift('lent', f'{each.pool} {each.name}',
                                  f'lent to reservation {each.lent_to}, which is over',
                                  audit.GIVE_BACK, each.lent_to)


def _held_for_nobody(accounts, known):
    """The resources that a reservation occupies which is over, or which nobody knows any more."""
    over = accounts.over()
    for found in accounts.resources.values():
        for each in found:
            if each.held_by in over or each.held_by not in {None, *known}:
                yield audit.Drift('held', f'{each.pool} {each.name}',
                                  f'held by reservation {each.held_by}, which is over',
                                  audit.RELEASE, each.held_by)
