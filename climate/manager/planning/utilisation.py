# SPDX-License-Identifier: Apache-2.0
"""How much of a pool is allocated in each step of time, in resource-hours."""
import numpy as np

from climate.domain import selection

_HOUR = 3600 * 10 ** 6


def hours(edges, rows, amounts, capacities):
    """Return the allocated resource-hours between each two of the `edges`.

    A part of a resource counts as the largest of its shares of the capacity.

    :param edges: the sorted ends of the steps, in microseconds; an array.
    :param rows: bookings as ``Board.columns`` returns them; `amounts` too.
    :param capacities: {class: units} of each place.
    """
    places, starts, ends, kinds = rows
    shares = _shares(places, kinds, amounts, capacities)
    # The sum of what lies before an edge; of each booking at most its whole length.
    before = [float(((np.minimum(ends, edge) - starts).clip(0) * shares).sum()) for edge in edges]
    return np.diff(before) / _HOUR


def _shares(places, kinds, amounts, capacities):
    found = {}
    shares = np.ones(len(places))
    for row, (place, kind) in enumerate(zip(places.tolist(), kinds.tolist(), strict=True)):
        amount, copies = amounts[kind]
        if amount is selection.WHOLE:
            continue
        if (place, kind) not in found:
            parts = [units * copies / capacities[place][name] for name, units in amount.items()
                     if capacities[place].get(name, 0) > 0]
            found[place, kind] = min(1.0, max(parts, default=1.0))
        shares[row] = found[place, kind]
    return shares
