# SPDX-License-Identifier: Apache-2.0
"""Another attempt of a request that a limit with criteria refuses, on resources that do not count.

A request without criteria may get any resource, and so one that the limit counts.
"""
import dataclasses

from climate import errors
from climate.db import resources
from climate.domain import selection
from climate.manager.booking import criteria


def attempt(core, limits, request, planned, book):
    """Return ``book(wishes, planned)``; if a limit with criteria refuses it, try other resources.

    :param limits: the LimitChecks that `book` uses.
    :param request: (the Wishes, {reservation id: resource type}).
    :param planned: Allocations for the wishes, or None. Other wishes get None.
    :raises LimitExceeded: the error of the first attempt, if other resources are not enough. If
        they are only occupied, waiting may help.
    """
    wishes, _ = request
    try:
        return book(wishes, planned)
    except errors.LimitExceeded as error:
        others = elsewhere(core, limits, error, request)
        if others is None:
            raise
        try:
            return book(others, None)
        except errors.LimitExceeded:
            raise error from None
        except (errors.NotEnough, errors.LostRace) as failure:
            raise errors.LimitExceeded(
                error.message, **{**error.kwargs, 'never': False}) from failure


def elsewhere(core, limits, error, request):
    """Return the Wishes of a request without the resources that the limits of an error count.

    None means that a limit does not depend on criteria, or that the other resources would not be
    enough even if all were free. Resources that a reservation has already are not avoided.
    """
    broken = limits.with_criteria(error)
    if not broken:
        return None
    wishes, types = request
    with core.database.reader() as connection:
        others = [_avoiding(core, connection, wish, [
            limit for limit in broken if limit.pool in (None, wish.need.pool)
            and limit.resource_type in (None, types[wish.reservation_id])]) for wish in wishes]
    return None if None in others or others == list(wishes) else others


def _avoiding(core, connection, wish, limits):
    """Return a Wish that avoids what limits count; None: too few other resources are enrolled."""
    need = wish.need
    if not limits:
        return wish
    enrolled = {each.id: each for each in resources.find(connection, need.pool)}
    matching = set(criteria.matching(core, connection, need, enrolled))
    counted = set().union(*(criteria.matching(core, connection, dataclasses.replace(
        need, requirement=limit.criteria), enrolled) for limit in limits))
    avoid = counted.difference(wish.keep)
    least = need.demand.at_least if need.demand.amount is selection.WHOLE else 1
    if len(matching - avoid) < least and not need.optional:
        return None
    return dataclasses.replace(wish, avoid=wish.avoid | avoid)
