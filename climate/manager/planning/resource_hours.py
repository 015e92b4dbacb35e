# SPDX-License-Identifier: Apache-2.0
"""The use of a pool in each step of time, in resource-hours."""
import numpy as np

from climate.domain import selection

_HOUR = 3600 * 10 ** 6


def hours(edges, starts, ends, shares):
    """Return the resource-hours between neighbouring `edges`. All parameters are arrays.

    :param edges: the sorted bounds of the steps, in microseconds.
    :param starts: the start of each use, in microseconds; `ends`: its end.
    :param shares: the number of resources that each use takes, less than 1 for a part of one.
    """
    origin = edges[0]
    before = _before(edges - origin, starts - origin, shares)
    return np.diff(before - _before(edges - origin, ends - origin, shares)) / _HOUR


def _before(edges, moments, shares):
    """Return for each edge the sum of (edge - moment) * share over all earlier moments."""
    order = np.argsort(moments)
    moments, shares = moments[order].astype(float), shares[order]
    counts = np.concatenate([[0.0], np.cumsum(shares)])
    sums = np.concatenate([[0.0], np.cumsum(shares * moments)])
    earlier = np.searchsorted(moments, edges)
    return edges * counts[earlier] - sums[earlier]


def of_kinds(places, kinds, amounts, capacities):
    """Return the `share` that each booking takes of its resource: 1 for the whole resource.

    :param places: the index in `capacities` of the resource of each booking.
    :param kinds: the index in `amounts` of each booking.
    :param amounts: pairs ({class: units} or selection.WHOLE, copies).
    :param capacities: {class: units} of each resource.
    """
    computed, shares = {}, np.ones(len(places))
    for row, key in enumerate(zip(places.tolist(), kinds.tolist(), strict=True)):
        if amounts[key[1]][0] is selection.WHOLE:
            continue
        if key not in computed:
            computed[key] = share(*amounts[key[1]], capacities[key[0]])
        shares[row] = computed[key]
    return shares


def share(amount, copies, capacity):
    """Return the largest share of a class that copies of an amount take, from 0 to 1."""
    shares = [units * copies / capacity[name] for name, units in amount.items()
              if capacity.get(name, 0) > 0]
    return min(1.0, max(shares, default=1.0))
