# SPDX-License-Identifier: Apache-2.0
"""Choose resources that are alike, such as volumes in the zone of a host of the lease.

The rule ``Need.alike`` (a ``plugins.base.Alike``) ties a need to a pool: its resources must have
the same value of a fact as a resource of that pool in the lease. The first choice ignores the
rules. If it violates a rule, choose the tied resources again, with the criterion that they have a
value of the resources that were chosen in the pool. If that fails, try one value after the other
for the tied resources and the pool.
"""
import dataclasses

from climate import errors
from climate.db import reservations
from climate.db import resources
from climate.domain import requirement
from climate.plugins import base


def choose(core, connection, wishes, choice, lost=()):
    """Return (the wishes that can be served, the Picks of each), which obey the rules.

    :param choice: choice(wishes) returns the same, but ignores the rules.
    :param lost: ids of resources that the lease does not keep.
    :raises NotEnough: no choice obeys a rule; the error names the fact that must be equal.
    """
    chosen = choice(wishes)
    # If the choice adds no resource, it stays as it is, even if a rule is newer than the lease.
    if not any(plugin.ties for plugin in core.registry.plugins.values()) or not _adds(*chosen):
        return chosen
    kept = _KeptResources(core, connection, wishes, lost)
    for tie, values in sorted(kept.violated(*chosen).items()):
        error = None
        for attempt in _attempts(wishes, tie, values, kept.values_of(tie)):
            try:
                chosen = choice(attempt)
            except errors.NotEnough as not_enough:
                error = error or not_enough
                continue
            if tie not in kept.violated(*chosen):
                break
        else:
            raise _refused(tie, error)
    return chosen


def _adds(wishes, chosen):
    """Return True if a choice adds resources to a reservation."""
    return any(pick.resource_id not in wish.keep
               for wish, picks in zip(wishes, chosen, strict=True) for pick in picks)


def _attempts(wishes, tie, values, all_values):
    """Yield the wishes with criteria that make the resources alike.

    :param values: the values that the first choice has in the pool of the tie.
    :param all_values: the values of all resources that could be chosen.
    """
    yield [_narrowed(wish, tie, values) if wish.need.alike == tie else wish for wish in wishes]
    for value in all_values:
        yield [_narrowed(wish, tie, [value]) if tie in (wish.need.alike, base.Alike(
            tie.fact, wish.need.pool)) else wish for wish in wishes]


class _KeptResources:
    """The resources that a lease keeps and for which there is no wish."""

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
        """Return the stored Reservations of the lease; a new lease has none."""
        try:
            lease_id = reservations.lease_of(self._connection, wishes[0].reservation_id)
        except errors.ReservationNotFound:
            return ()
        return reservations.of_leases(self._connection, [lease_id]).get(lease_id, ())

    def violated(self, wishes, chosen):
        """Return the violated rules of a choice, {Alike: sorted values of its pool in the lease}.

        Without a resource of the pool, a lease does not violate the rule.
        """
        own = self._others + [
            (wish.need, tuple(pick.resource_id for pick in picks))
            for wish, picks in zip(wishes, chosen, strict=True)]
        facts = {each.id: each.facts for each in resources.ever_enrolled(
            self._connection, {key for _, ids in own for key in ids})}
        violated = {}
        for tie in {need.alike for need in self._needs} - {None}:
            values = {facts[key].get(tie.fact) for need, ids in own
                      if need.pool == tie.pool for key in ids}
            tied = {facts[key].get(tie.fact) for need, ids in own
                    if need.alike == tie for key in ids}
            if values and not tied <= values:
                violated[tie] = sorted(filter(None, values))
        return violated

    def values_of(self, tie):
        """Return the sorted values of the fact in the pools of the tied needs."""
        pools = {need.pool for need in self._needs if need.alike == tie}
        return sorted({each.facts[tie.fact] for pool in pools
                       for each in resources.find(self._connection, pool)
                       if each.facts.get(tie.fact)})


def _narrowed(wish, tie, values):
    """Return the Wish with the criterion that the fact has one of the values."""
    need = wish.need
    return dataclasses.replace(wish, need=dataclasses.replace(
        need, requirement=requirement.conjunction(
            requirement.In(tie.fact, tuple(values)), need.requirement)))


def _refused(tie, error):
    """Return a NotEnough that names the rule; `error` is that of the first attempt, or None."""
    rule = f'Each must have the same {tie.fact} as a {tie.pool} of the lease'
    if error is None:
        return errors.NotEnough(f'{rule}, and none is free.', what='resources', wanted=1, free=0)
    return errors.NotEnough(f'{rule}. {error.message}', **{
        **error.kwargs, 'owner_message': f'{rule}. {error.owner_message}'})
