# SPDX-License-Identifier: Apache-2.0
"""Maintenance: spans of time in which resources must be free of leases."""
import dataclasses
import datetime

from climate.domain import interval

Moment = datetime.datetime

#: The states of a window. Between CLOSING and OPENING its resources may be disabled in the cloud.
PLANNED = 'planned'
#: The window has begun, and its resources are being disabled in the cloud.
CLOSING = 'closing'
#: The resources are disabled in the cloud.
RUNNING = 'running'
#: The window is over, and its resources are being enabled again.
OPENING = 'opening'
DONE = 'done'
#: The states of a window that is not over.
OPEN = (PLANNED, CLOSING, RUNNING, OPENING)
#: The states in which resources may be disabled for the window.
TOUCHED = (CLOSING, RUNNING, OPENING)

#: The effects on leases that run when a window begins: the leases stay, their owners are asked to
#: swap the resources, or the leases end.
LEFT, SWAP, END = 'left', 'swap', 'end'
MODES = (LEFT, SWAP, END)

#: The effects on one lease: it gets other resources, no other resources fit, it runs and stays, its
#: owner is asked to swap the resources, it ends.
MOVES, STUCK, STAYS, ASKED, ENDS = 'moves', 'stuck', 'stays', 'asked', 'ends'

#: The beginning of the reason with which resources are disabled in the cloud.
REASON = 'climate: maintenance '


@dataclasses.dataclass(frozen=True)
class MaintenanceWindow:
    """One time span of a maintenance.

    :ivar id: the id of the window, and the reservation id of the allocations that block resources.
    :ivar claim_no: the number of claims by managers.
    """

    id: str
    maintenance_id: str
    start: Moment
    end: Moment
    state: str = PLANNED
    claim_no: int = 0
    reason: str = ''

    @property
    def span(self) -> interval.Interval:
        return interval.Interval(self.start, self.end)


@dataclasses.dataclass(frozen=True)
class Affected:
    """A lease that has resources of a maintenance during one of its windows.

    :ivar what: MOVES, STUCK, STAYS, ASKED or ENDS.
    :ivar why: why no other resources fit; None if others fit.
    :ivar name: the name of the lease.
    :ivar user_id: its owner; `user_name` and `project_name` are None if they are not known.
    """

    lease_id: str
    project_id: str
    window_start: Moment
    resource_ids: tuple[int, ...]
    what: str
    why: str | None = None
    name: str = ''
    user_id: str = ''
    project_name: str | None = None
    user_name: str | None = None


@dataclasses.dataclass(frozen=True)
class Maintenance:
    """A maintenance: resources that must be free from `start` to `end`, and recurrently by `rule`.

    :ivar running: the effect on leases that run: LEFT, SWAP or END.
    :ivar notice_minutes: the minimum time from the notification of an owner to the early end of
        their lease.
    :ivar rule: the RRULE of RFC 5545 by which the window recurs; None: there is one window.
    :ivar expanded_to: the moment up to which windows were created; None: all windows were.
    :ivar closing: whether the maintenance is being deleted.
    :ivar windows: the windows that are not over, in order.
    :ivar affected: the leases that are affected; only some responses have them.
    """

    id: str
    pool: str
    start: Moment
    end: Moment
    reason: str
    running: str = LEFT
    notice_minutes: int = 0
    rule: str | None = None
    expanded_to: Moment | None = None
    user_id: str | None = None
    created_at: Moment | None = None
    closing: bool = False
    resource_ids: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    windows: tuple[MaintenanceWindow, ...] = ()
    affected: tuple[Affected, ...] = ()

    @property
    def span(self) -> interval.Interval:
        """Return the Interval of the first window."""
        return interval.Interval(self.start, self.end)


@dataclasses.dataclass(frozen=True)
class MaintenanceRequest:
    """A request for a maintenance.

    :ivar resources: names or ids of resources of the pool; empty: all that meet `criteria`.
    :ivar criteria: a requirement as JSON text; None: `resources` names the resources.
    """

    pool: str
    start: Moment
    end: Moment
    reason: str
    resources: tuple[str, ...] = ()
    criteria: str | None = None
    running: str = LEFT
    notice_minutes: int = 0
    rule: str | None = None
    dry_run: bool = False


def mark(window: MaintenanceWindow) -> str:
    """Return the reason with which resources are disabled in the cloud for a window.

    Only resources that are disabled for exactly this reason are enabled again, not those that an
    administrator disabled. The id of the maintenance is for operators. The id of the window keeps
    one window from enabling resources that the next window has disabled.
    """
    return f'{REASON}{window.maintenance_id}, window {window.id}'


def marks(window: MaintenanceWindow) -> tuple[str, ...]:
    """Return all reasons with which resources may be disabled for a window.

    Managers of an earlier release wrote the second one.
    """
    return mark(window), f'{REASON}{window.id}'
