# SPDX-License-Identifier: Apache-2.0
"""The demands of a lease as if all enrolled resources were free."""
from climate.db import resources
from climate.domain import joint_selection
from climate.domain import selection
from climate.manager.booking import criteria


def of(core, connection, wishes):
    """Return a ``joint_selection.ReservationDemand`` for each Wish that is not optional."""
    demands = []
    for wish in wishes:
        if wish.need.optional:
            continue
        enrolled = {each.id: each for each in resources.find(connection, wish.need.pool)
                    if each.lent_to is None}
        demands.append(joint_selection.ReservationDemand(wish.need.demand, [
            selection.Candidate(key, enrolled[key].capacity)
            for key in criteria.matching(core, connection, wish.need, enrolled)]))
    return demands
