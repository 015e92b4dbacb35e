# SPDX-License-Identifier: Apache-2.0
"""Other attempts of a request that a limit with criteria refuses, with fewer resources that count.

A request without criteria may get any resources, and so more of those that the limit counts than
the limit allows. The next attempt has a ration of them.
"""
import dataclasses

from climate import errors
from climate.db import resources
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import resource_rations
from climate.domain import selection
from climate.domain.limits import fitting
from climate.domain.limits import rules
from climate.manager.booking import criteria
from climate.manager.booking import enrolled_demands
from climate.manager.limits import checking

# Each attempt may break a limit that the earlier ones did not.
_ATTEMPTS = 4


def attempt(core, limits, request, planned, book):
    """Return ``book(wishes, planned)``; if a limit with criteria refuses it, try other resources.

    :param limits: the LimitChecks that `book` uses.
    :param request: (the Wishes, {reservation id: resource type}).
    :param planned: Allocations for the wishes, or None. Other wishes get None.
    :raises LimitExceeded: the error of the first attempt, if other resources are not enough. If
        they are only occupied, waiting may help. If other resources break fewer of its limits, the
        error names only these.
    """
    wishes, types = request
    first = None
    for _ in range(_ATTEMPTS):
        try:
            return book(wishes, planned)
        except errors.LimitExceeded as error:
            if first is None or checking.names_in(error) < checking.names_in(first):
                first = error
            wishes, planned = rationed(core, limits, error, (wishes, types)), None
            if wishes is None:
                break
        except (errors.NotEnough, errors.LostRace) as failure:
            if first is None:
                raise
            if len(limits.with_criteria(first)) < len(first.kwargs['limits']):
                # Other resources do not help against the limits without criteria.
                raise first from failure
            raise errors.LimitExceeded(
                first.message, **{**first.kwargs, 'never': False}) from failure
    raise first


def rationed(core, limits, error, request):
    """Return the Wishes of a request with rations of what the limits of an error count.

    None means that no limit depends on criteria, that smaller rations do not help, or that
    the resources would not be enough even if all were free. Resources that a reservation has
    already are not rationed.
    """
    broken = limits.with_criteria(error)
    if not broken:
        return None
    wishes, types = request
    refused = error.refused
    own, alone = ({limit.name: fitting.addable_units(limit, checked, refused.added)
                   for limit in broken} for checked in (refused.request, refused.alone))
    if not any(own[name] < _present(wishes, name, own[name] + 1) for name in own):
        return None
    with core.database.reader() as connection:
        units = [_units(core, connection, wish, [
            limit for limit in broken if limit.pool in (None, wish.need.pool)
            and limit.resource_type in (None, types[wish.reservation_id])]) for wish in wishes]
        demands = enrolled_demands.of(core, connection, _with_rations(wishes, units, alone))
    try:
        joint_selection.choose(demands, interval.Interval(
            refused.request.after.start, refused.request.after.end))
    except errors.NotEnough:
        return None
    return _with_rations(wishes, units, own)


def _present(wishes, name, default):
    """Return the units of a ration that Wishes have already."""
    return min((ration.most for wish in wishes for ration in wish.need.demand.rations
                if ration.name == name), default=default)


def _with_rations(wishes, units, most):
    """Return Wishes with Rations, in place of those with the same names.

    :param units: {limit name: {resource id: units of one copy}} for each wish.
    :param most: {limit name: the greatest number of units}.
    """
    return [wish.demanding(rations=(
        *(ration for ration in wish.need.demand.rations if ration.name not in most),
        *(resource_rations.Ration(name, most[name], own) for name, own in of_limits.items())))
        for wish, of_limits in zip(wishes, units, strict=True)]


def _units(core, connection, wish, limits):
    """Return {limit name: {resource id: units of one copy}} of the resources that limits count."""
    if not limits:
        return {}
    need = wish.need
    enrolled = {each.id: each for each in resources.find(connection, need.pool)}
    return {limit.name: {
        key: _of_copy(core, need, enrolled[key], limit.unit)
        for key in criteria.matching(core, connection, dataclasses.replace(
            need, requirement=limit.criteria), enrolled)} for limit in limits}


def _of_copy(core, need, resource, unit):
    """Return the units of a limit that one copy of a Need takes on a Resource."""
    if unit == rules.RESOURCES:
        return 1
    of_capacity, of_amount = core.registry.pool(need.pool).unit_classes(unit)
    amount = need.demand.amount
    return resource.capacity.get(of_capacity, 0) if amount is selection.WHOLE else amount.get(
        of_amount, 0)
