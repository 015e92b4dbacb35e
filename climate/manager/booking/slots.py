# SPDX-License-Identifier: Apache-2.0
"""The limit of the slots that one lease may have on shared resources."""
from climate import errors
from climate.domain import selection


def refuse_too_many(most, wishes, had=()):
    """Refuse Wishes with more slots of shared resources than one lease may have.

    A slot is one copy of what a reservation demands, such as the capacity of one instance. Whole
    resources do not count: there are only as many as are enrolled.

    :param most: the limit, ``[manager] max_slots``.
    :param had: the Wishes of the lease as it is; a lease that has more already may keep them.
    :raises BadField: they have more.
    """
    wanted = _count(wishes)
    if wanted > most and wanted > _count(had):
        raise errors.BadField(field='reservations.amount', reason=(
            f'a lease has at most {most} instances, and other things that share a resource, and '
            f'this one would have {wanted}: ask for less, or make several leases.'))


def _count(wishes):
    return sum(wish.need.demand.at_most for wish in wishes
               if wish.need.demand.amount is not selection.WHOLE)
