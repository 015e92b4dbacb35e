# SPDX-License-Identifier: Apache-2.0
"""The openings of an availability query at which a lease would be within the limits of the caller.
"""
import dataclasses
import datetime

from climate import errors
from climate.manager.booking import limit_rations
from climate.manager.limits import checking
from climate.manager.limits import subjects

# The number of changes of one opening. A later start may break another limit.
_CHANGES = 3


def within(core, draft, plans, plan_for):
    """Return the PlannedOpenings that limits allow, some of them changed.

    An opening that a limit refuses begins later, or gets resources that the limit does not count.

    :param draft: the Draft of the lease that the query describes.
    :param plan_for: a function that returns the Allocations for Wishes during an Interval.
    :raises LimitExceeded: there are openings, but no limit allows any of them.
    """
    lease = draft.lease
    limits = checking.applying(core, lease.project_id, lease.user_id, draft.now)
    changed, first = list(plans), None
    for left in reversed(range(_CHANGES + 1)):
        refusals = limits.preview([_subject(core, draft, plan) for plan in changed])
        first = first or next(filter(None, refusals), None)
        changed = [plan for plan in (
            plan if error is None else left and (
                _later(draft, plan, error, plan_for)
                or _elsewhere(core, draft, limits, (plan, error), plan_for))
            for plan, error in zip(changed, refusals, strict=True)) if plan]
        if not any(refusals):
            break
    if first is not None and not changed:
        raise first
    return changed


def _subject(core, draft, plan):
    lease = dataclasses.replace(draft.lease, start=plan.span.start, end=plan.span.end)
    return subjects.of_new_lease(core, lease, plan.allocations, draft.roles)


def _later(draft, plan, error, plan_for):
    """Return a PlannedOpening with the later start that a limit needs, or None.

    Until its `last_start`, an opening has the same resources. After that, it may need others.
    """
    text = error.kwargs['would_fit'].get('start')
    if text is None:
        return None
    start = datetime.datetime.fromisoformat(text)
    by = start - plan.span.start
    span = dataclasses.replace(plan.span, start=start, end=plan.span.end + by)
    if start > plan.last_start:
        return _planned(plan, span, draft.wishes, plan_for)
    return dataclasses.replace(plan, span=span, allocations=[
        dataclasses.replace(each, start=each.start + by, end=each.end + by)
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
    return _planned(plan, plan.span, wishes, plan_for)


def _planned(plan, span, wishes, plan_for):
    """Return a PlannedOpening at an Interval with resources for Wishes, or None."""
    try:
        return dataclasses.replace(plan, span=span, last_start=span.start,
                                   allocations=plan_for(wishes, span))
    except errors.NotEnough:
        return None
