# SPDX-License-Identifier: Apache-2.0
"""One look at the accounts and the cloud: where are they not the same?"""
from climate.db import leases
from climate.db import resources
from climate.domain import audit
from climate.manager import picture as pictures

#: The metadata by which a leased server says whose it is.
LEASE_KEY = 'climate:lease_id'
RESERVATION_KEY = 'climate:reservation_id'


class Auditor:
    """Compares. It changes nothing, and asks the cloud once for each kind of thing.

    The accounts are read before and after the cloud; what changed meanwhile, or is being changed,
    is not judged.
    """

    def __init__(self, core):
        self._core = core

    def look(self):
        """The Drifts there are now, in the order in which they are repaired.

        One of them may be the work of somebody who has written down only half of it: what is
        there in a second look, a while later, is drift.
        """
        before = self._read()
        picture = pictures.take(self._core.conf, self._core.cloud.as_service())
        traces = self._traces(picture)
        after = self._read()
        with self._core.database.reader() as connection:
            known = {lease.id: lease for lease in (
                *after[0], *leases.of_reservations(connection, _mentioned(traces, after[1])),
                *leases.with_ids(connection, _named(picture)))}
            trusted = leases.with_trusts(connection, {each.id for each in picture.trusts})
        now = self._core.clock()
        accounts = _accounts(before, (known.values(), after[1]), now)
        reservations = {each.id for lease in known.values() for each in lease.reservations}
        return audit.in_order([
            *audit.left_behind(traces, reservations, accounts.over()),
            *audit.not_ended(traces, accounts.leases, now),
            *self._of_running(picture, accounts),
            *self._of_pools(picture, accounts),
            *_held_for_nobody(accounts, reservations),
            *_of_servers(picture, accounts, known),
            *(audit.Drift('trust', f'trust {each.id}', 'no lease has it', audit.DROP_TRUST,
                          each.id) for each in picture.trusts if each.id not in trusted)])

    def _read(self):
        """(the leases that are not over, {pool: its Resources})."""
        with self._core.database.reader() as connection:
            return leases.open_ones(connection), {
                pool: resources.find(connection, pool) for pool in self._core.registry.pools}

    def _traces(self, picture):
        found = {}
        for plugin in self._core.registry.plugins.values():
            for trace in plugin.traces(picture):
                key = trace.reservation_id, trace.kind, trace.name
                if key not in found or trace.signed_by:
                    found[key] = trace
        return list(found.values())

    def _of_running(self, picture, accounts):
        """What is wrong with the reservations that run."""
        by_id = {each.id: each for pool in accounts.resources.values() for each in pool}
        for lease, reservation in accounts.running():
            promised = [by_id.get(each) for each in dict.fromkeys(reservation.resource_ids)]
            plugin = self._core.registry.plugins.get(reservation.resource_type)
            # A leased server has room, and nothing of its own; see _of_servers.
            leases_thing = plugin is not None and (
                reservation.leased_id is not None or plugin.awaits_thing(reservation))
            if plugin is not None and not leases_thing and None not in promised:
                yield from plugin.lacks(picture, lease, reservation, promised)

    def _of_pools(self, picture, accounts):
        for name, pool in self._core.registry.pools.items():
            yield from pool.audit(picture, accounts.resources[name], accounts.enrolled[name])


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
    """The ids of all reservations that the cloud or a resource names."""
    return ({trace.reservation_id for trace in traces}
            | {each.held_by for found in pools.values() for each in found} - {None})


def _named(picture):
    """The ids of the leases that servers name."""
    return {each.metadata[LEASE_KEY] for each in picture.servers
            if audit.is_id(each.metadata.get(LEASE_KEY, ''))}


def _held_for_nobody(accounts, known):
    """The resources that a reservation occupies which is over, or which nobody knows any more."""
    over = accounts.over()
    for found in accounts.resources.values():
        for each in found:
            if each.held_by in over or each.held_by not in {None, *known}:
                yield audit.Drift('held', f'{each.pool} {each.name}',
                                  f'held by reservation {each.held_by}, which is over',
                                  audit.RELEASE, each.held_by)


def _of_servers(picture, accounts, known):
    """Servers that say they are leased and are not, and such as are leased and do not say so."""
    leased = {each.leased_id: (lease, each) for lease in accounts.leases
              for each in lease.reservations if each.leased_id is not None}
    over = {lease.id for lease in accounts.leases
            if all(audit.is_over(lease, each) for each in lease.reservations)}
    for server in picture.servers:
        says = server.metadata.get(LEASE_KEY)
        if server.id in leased:
            lease, reservation = leased[server.id]
            if (says, server.metadata.get(RESERVATION_KEY)) != (lease.id, reservation.id):
                yield audit.Drift('metadata', f'server {server.id}',
                                  f'leased by {lease.id}, but its metadata do not say so',
                                  audit.LABEL, server.id)
        elif says in over:
            yield audit.Drift('metadata', f'server {server.id}',
                              f'its metadata name lease {says}, which is over', audit.UNLABEL,
                              server.id)
