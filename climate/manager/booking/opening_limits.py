# SPDX-License-Identifier: Apache-2.0
"""The openings of an availability query at which a lease would be within the limits of the caller.
"""
import dataclasses
import datetime

from climate.manager.limits import checking
from climate.manager.limits import subjects


def within(core, draft, plans):
    """Return the PlannedOpenings that limits allow, some of them with a later start.

    :param draft: the Draft of the lease that the query describes.
    :raises LimitExceeded: there are openings, but no limit allows any of them.
    """
    lease = draft.lease
    limits = checking.applying(core, lease.project_id, lease.user_id, draft.now)
    refusals = limits.preview([_subject(core, draft, plan) for plan in plans])
    later = [plan if error is None else _later(plan, error)
             for plan, error in zip(plans, refusals, strict=True)]
    moved = [plan for plan, error in zip(later, refusals, strict=True) if plan and error]
    allowed = {id(plan) for plan, error in zip(moved, limits.preview([
        _subject(core, draft, plan) for plan in moved]), strict=True) if error is None}
    kept = [plan for plan, error in zip(later, refusals, strict=True)
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
