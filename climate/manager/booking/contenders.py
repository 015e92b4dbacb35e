# SPDX-License-Identifier: Apache-2.0
"""Find a waiting lease that could use the resources of a running lease after its end."""
from climate.db import contenders
from climate.db import reservations
from climate.db import resources
from climate.manager.booking import shortfalls
from climate.manager.booking import wish_lists

# The number of waiting leases that are read at once.
_READ_AT_ONCE = 200


class Contenders:
    """Finds the waiting leases for which a running lease makes way."""

    def __init__(self, core):
        self._core = core

    def first_for(self, lease):
        """Return the oldest Contender that could use a resource of a lease, or None.

        A lease whose wait ends before the present end of `lease` cannot use them. Capacity does not
        count, because the waiting lease may get the rest elsewhere.
        """
        registry = self._core.registry
        with self._core.database.reader() as connection:
            held = resources.enrolled(connection, {
                key for each in lease.open_reservations for key in each.resource_ids})
            pools = {resource.pool for resource in held}
            types = [name for name, plugin in registry.plugins.items()
                     if pools.intersection(pool.name for pool in plugin.pools)]
            could_use, last = _Matches(self._core, held), None
            while pools:
                page = contenders.page(connection, types, last, _READ_AT_ONCE)
                parts = reservations.of_leases(connection, [each.id for each in page])
                for waiting in page:
                    in_time = waiting.given_up_at is None or waiting.given_up_at > lease.end
                    if in_time and could_use.any_of(wish_lists.of(
                            registry, parts.get(waiting.id, ()))):
                        return waiting
                if len(page) < _READ_AT_ONCE:
                    return None
                last = page[-1]
        return None


class _Matches:
    """Remembers which needs the resources meet, because many leases have the same needs."""

    def __init__(self, core, held):
        self._core = core
        self._held = held
        self._known = {}

    def any_of(self, wishes):
        """Return whether a resource meets one of the needs that are not optional."""
        return any(self._met(wish.need) for wish in wishes
                   if not wish.need.optional and wish.need.demand.at_least)

    def _met(self, need):
        key = need.pool, repr(need.requirement)
        if key not in self._known:
            self._known[key] = any(resource.pool == need.pool and shortfalls.meets(
                self._core, need, resource) for resource in self._held)
        return self._known[key]
