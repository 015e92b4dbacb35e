# SPDX-License-Identifier: Apache-2.0
"""Resources that must be alike: ``Need.alike``, such as volumes in the zone of a host of the lease.

First choose without the rule. If the result violates it, choose again with criteria: at first only
for the resources that must be like others, then for both, one value after the other.
"""
import dataclasses

from climate import errors
from climate.db import reservations
from climate.db import resources
from climate.domain import requirement
from climate.plugins import base


def choose(core, connection, wishes, choice, lost=()):
    """Return (the wishes that can be served, the Picks of each), alike where they must be.

    :param choice: callable(wishes) that returns the same without regard to the rule.
    :param lost: ids of resources that the lease does not keep.
    :raises NotEnough: no choice is alike; the error names the fact that must be equal.
    """
    chosen = choice(wishes)
    # A lease keeps the resources that it has, even if the rule is newer.
    if not any(each.ties for each in core.registry.plugins.values()) or not _gets_others(*chosen):
        return chosen
    kept = _KeptResources(core, connection, wishes, lost)
    for tie, values in sorted(kept.violated(*chosen).items()):
        error = None
        for attempt in _attempts(wishes, tie, values, kept.known(tie)):
            try:
                chosen = choice(attempt)
            except errors.NotEnough as why:
                error = error or why
                continue
            if tie not in kept.violated(*chosen):
                break
        else:
            raise _refused(tie, error)
    return chosen


def _gets_others(wishes, chosen):
    """Return whether a choice has resources that the reservations do not have yet."""
    return any(pick.resource_id not in wish.keep
               for wish, picks in zip(wishes, chosen, strict=True) for pick in picks)


def _attempts(wishes, tie, values, known):
    """Yield the wishes with criteria by which their resources may be alike.

    :param values: the values of the resources to which the tie refers, as chosen first.
    :param known: the values of all resources that could be chosen.
    """
    yield [_narrowed(each, tie, values) if each.need.alike == tie else each for each in wishes]
    for value in known:
        yield [_narrowed(each, tie, [value]) if tie in (each.need.alike, base.Alike(
            tie.fact, each.need.pool)) else each for each in wishes]


class _KeptResources:
    """The resources that the lease of some wishes has apart from them, and keeps."""

    def __init__(self, core, connection, wishes, lost):
        self._connection = connection
        changed = {wish.reservation_id for wish in wishes if not wish.beside}
        self._others = [
            (need, set(each.allocated.get(need.key, ())) - set(lost))
            for each in self._reservations(wishes)
            if each.id not in changed and each.resource_type in core.registry.plugins
            for need in core.registry.needs_of(each)]
        self._needs = [need for need, _ in self._others] + [wish.need for wish in wishes]

    def _reservations(self, wishes):
        """Return the stored Reservations of the lease; none if it is a new one."""
        try:
            lease_id = reservations.lease_of(self._connection, wishes[0].reservation_id)
        except errors.ReservationNotFound:
            return ()
        return reservations.of_leases(self._connection, [lease_id]).get(lease_id, ())

    def violated(self, wishes, chosen):
        """Return the rules that a choice violates, {Alike: the values of its pool in the lease}.

        A lease that has no resource of that pool violates none.
        """
        own = self._others + [
            (wish.need, tuple(pick.resource_id for pick in picks))
            for wish, picks in zip(wishes, chosen, strict=True)]
        known = {each.id: each for each in resources.ever_enrolled(
            self._connection, {key for _, ids in own for key in ids})}
        violated = {}
        for tie in {each.alike for each in self._needs} - {None}:
            values = {known[key].facts.get(tie.fact) for need, ids in own
                      if need.pool == tie.pool for key in ids}
            tied = {known[key].facts.get(tie.fact) for need, ids in own
                    if need.alike == tie for key in ids}
            if values and not tied <= values:
                violated[tie] = sorted(filter(None, values))
        return violated

    def known(self, tie):
        """Return the values of the fact that resources of the tied needs have, sorted."""
        pools = {each.pool for each in self._needs if each.alike == tie}
        return sorted({each.facts[tie.fact] for pool in pools
                       for each in resources.find(self._connection, pool)
                       if each.facts.get(tie.fact)})


def _narrowed(wish, tie, values):
    """Return a Wish that only resources with one of these values of the fact meet."""
    need = wish.need
    return dataclasses.replace(wish, need=dataclasses.replace(
        need, requirement=requirement.conjunction(
            requirement.In(tie.fact, tuple(values)), need.requirement)))


def _refused(tie, error):
    """Return the NotEnough of a lease whose resources cannot be alike."""
    why = f'Each must have the same {tie.fact} as a {tie.pool} of the lease'
    if error is None:
        return errors.NotEnough(f'{why}, and none is free.', what='resources', wanted=1, free=0)
    return errors.NotEnough(f'{why}. {error.message}', **{
        **error.kwargs, 'owner_message': f'{why}. {error.owner_message}'})
