# SPDX-License-Identifier: Apache-2.0
"""The openings of an availability query at which a lease would be within the limits of the caller.
"""
import dataclasses
import datetime

from climate import errors
from climate.manager.booking import limit_rations
from climate.manager.limits import checking
from climate.manager.limits import subjects


def within(core, draft, plans, plan_for):
    """Return the PlannedOpenings that limits allow, some of them changed.

    An opening that a limit refuses begins later, or gets resources that the limit does not count.

    :param draft: the Draft of the lease that the query describes.
    :param plan_for: a function that returns the Allocations for Wishes during an Interval.
    :raises LimitExceeded: there are openings, but no limit allows any of them.
    """
    lease = draft.lease
    limits = checking.applying(core, lease.project_id, lease.user_id, draft.now)
    refusals = limits.preview([_subject(core, draft, plan) for plan in plans])
    changed = [plan if error is None else _later(plan, error) or _elsewhere(
        core, draft, limits, (plan, error), plan_for)
        for plan, error in zip(plans, refusals, strict=True)]
    doubtful = [plan for plan, error in zip(changed, refusals, strict=True) if plan and error]
    allowed = {id(plan) for plan, error in zip(doubtful, limits.preview([
        _subject(core, draft, plan) for plan in doubtful]), strict=True) if error is None}
    kept = [plan for plan, error in zip(changed, refusals, strict=True)
            if plan is not None and (error is None or id(plan) in allowed)]
    if plans and not kept:
        raise refusals[0]
    return kept


def _subject(core, draft, plan):
    lease = dataclasses.replace(draft.lease, start=plan.span.start, end=plan.span.end)
    return subjects.of_new_lease(core, lease, plan.allocations, draft.roles)


def _later(plan, error):
    """Return a PlannedOpening with the later start that a limit needs, or None.

    An opening may start until its `last_start`, on the same resources.
    """
    start = error.kwargs['would_fit'].get('start')
    if start is None or datetime.datetime.fromisoformat(start) > plan.last_start:
        return None
    by = datetime.datetime.fromisoformat(start) - plan.span.start
    return dataclasses.replace(
        plan, span=dataclasses.replace(plan.span, start=plan.span.start + by,
                                       end=plan.span.end + by),
        allocations=[dataclasses.replace(each, start=each.start + by, end=each.end + by)
                     for each in plan.allocations])


def _elsewhere(core, draft, limits, refused, plan_for):
    """Return a PlannedOpening at the same time on resources that a limit does not count, or None.

    :param refused: (the PlannedOpening, its LimitExceeded).
    """
    plan, error = refused
    types = {each.id: each.resource_type for each in draft.lease.reservations}
    wishes = limit_rations.rationed(core, limits, error, (draft.wishes, types))
    if wishes is None:
        return None
    try:
        return dataclasses.replace(plan, last_start=plan.span.start,
                                   allocations=plan_for(wishes, plan.span))
    except errors.NotEnough:
        return None
