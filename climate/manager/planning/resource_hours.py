# SPDX-License-Identifier: Apache-2.0
"""The use of a pool in each step of time, in resource-hours."""
import numpy as np

from climate.domain import selection

_HOUR = 3600 * 10 ** 6


def hours(edges, starts, ends, shares):
    """Return the resource-hours between each two of the `edges`.

    :param edges: the sorted ends of the steps, in microseconds; an array, as are all others.
    :param starts: the moments at which each use begins, in microseconds; `ends`: at which it ends.
    :param shares: the number of resources of each use; a part of one is less than 1.
    """
    origin = edges[0]
    before = _before(edges - origin, starts - origin, shares)
    return np.diff(before - _before(edges - origin, ends - origin, shares)) / _HOUR


def _before(edges, moments, shares):
    """Return for each edge the sum of the time since each earlier moment, times its share."""
    order = np.argsort(moments)
    moments, shares = moments[order].astype(float), shares[order]
    counts = np.concatenate([[0.0], np.cumsum(shares)])
    sums = np.concatenate([[0.0], np.cumsum(shares * moments)])
    earlier = np.searchsorted(moments, edges)
    return edges * counts[earlier] - sums[earlier]


def of_kinds(places, kinds, amounts, capacities):
    """Return the share of its resource that each booking takes: 1 for the whole of it.

    A part of a resource counts as the largest of its shares of the capacity.

    :param places: the place of the resource of each booking; `kinds`: an index into `amounts`.
    :param amounts: pairs ({class: units} or selection.WHOLE, copies).
    :param capacities: {class: units} of each place.
    """
    known, shares = {}, np.ones(len(places))
    for row, key in enumerate(zip(places.tolist(), kinds.tolist(), strict=True)):
        if amounts[key[1]][0] is selection.WHOLE:
            continue
        if key not in known:
            known[key] = share(*amounts[key[1]], capacities[key[0]])
        shares[row] = known[key]
    return shares


def share(amount, copies, capacity):
    """Return the share of a resource that copies of an amount take, from 0 to 1."""
    parts = [units * copies / capacity[name] for name, units in amount.items()
             if capacity.get(name, 0) > 0]
    return min(1.0, max(parts, default=1.0))
