# SPDX-License-Identifier: Apache-2.0
"""An upper bound of what a pool could serve, read with one statement for each pool.

It costs far less than a plan. What is beyond the bound cannot succeed, whatever the criteria are.
"""
import collections
import json

from climate import errors
from climate.db import free_resources
from climate.domain import selection


def shortage(connection, wishes, terms):
    """Return a NotEnough if the wishes need more than the bound of a pool, or else None."""
    pools = collections.defaultdict(list)
    for wish in wishes:
        if not wish.need.optional:
            pools[wish.need.pool].append(wish.need.demand)
    for pool, demands in pools.items():
        rows = free_resources.open_capacities(connection, free_resources.Search(
            pool=pool, span=terms.span.widened(terms.cleaning), own=terms.own, soon=terms.soon,
            ignoring=terms.replaced))
        for what, wanted, free in _compared(pool, demands, rows):
            if wanted > free:
                return errors.NotEnough(
                    f'Only {free} of {wanted} {what} are free for all of the time asked for.',
                    what=pool, wanted=wanted, free=free)
    return None


def _compared(pool, demands, rows):
    """Yield triples (what, number wanted, number that can be free at most)."""
    whole = [demand for demand in demands if demand.amount is selection.WHOLE]
    yield (f'{pool}s', _wanted(whole), sum(count for _, taken, count in rows if not taken))
    parts = [demand for demand in demands if demand.amount is not selection.WHOLE]
    capacities = [(json.loads(text), count) for text, _, count in rows]
    for amount in _distinct(demand.amount for demand in parts):
        yield (f'places on {pool}s',
               _wanted([demand for demand in parts if demand.amount == amount]),
               sum(count * min(capacity.get(name, 0) // units
                               for name, units in amount.items() if units > 0)
                   for capacity, count in capacities))
    for name in sorted({name for demand in parts for name in demand.amount}):
        yield (f'{name} on {pool}s',
               sum(demand.at_least * demand.amount.get(name, 0) for demand in parts),
               sum(count * capacity.get(name, 0) for capacity, count in capacities))


def _wanted(demands):
    return sum(demand.at_least for demand in demands)


def _distinct(amounts):
    found = []
    for amount in amounts:
        if amount not in found:
            found.append(amount)
    return found
