# SPDX-License-Identifier: Apache-2.0
"""The records of leases."""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import acquire
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import losses as lost
from climate.domain import prices
from climate.domain import shares as sharing
from climate.domain import sub_leases as sub_leasing
from climate.domain import texts
from climate.domain.records import reservations as reserved

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of a lease, planned for the moment `at`.

    `due_at` is the time of the next try. At first it equals `at`; a failure or a wait postpones it.
    The manager `claim_owner` has claimed the event until `claimed_until`. `claim_no` counts the
    claims; a manager may write only while the number is that of its claim. `begun_at` is the time
    of the first try. `attempts` counts the failed tries, `waits` the tries in which something in
    the cloud was not ready.
    """

    id: str
    lease_id: str
    kind: str
    at: Moment
    due_at: Moment
    status: str = lifecycle.EVENT_UNDONE
    claim_owner: str | None = None
    claim_no: int = 0
    claimed_until: Moment | None = None
    begun_at: Moment | None = None
    attempts: int = 0
    waits: int = 0
    created_at: Moment | None = None
    updated_at: Moment | None = None


@dataclasses.dataclass(frozen=True)
class Acquisition:
    """The acquisition of the resources of a lease, and its progress.

    The fields of its type (`acquire.FIELDS`) have the values of the AcquireRequest, or defaults.
    `not_after` is the time limit; None: no limit. `duration_seconds` is the duration of the lease,
    counted from the success of the acquisition; None: the lease has a fixed end. `attempts` counts
    the timed tries, and `next_at` is the time of the next one. `wakes` counts the notifications
    that resources were released, and `heard` how many of them a try has handled. `plan` is the plan
    of host clearing, ready for JSON. `least` is the minimum need of a lease in the wait queue, as
    ``minimum_need.of`` returns it; None: not known. `share` is the share of the project in the
    decayed use of all projects, see ``domain.fair_shares``; 0 if the queue ignores it.
    """

    lease_id: str
    type: str
    retries: int | None = None
    retry_pause_seconds: int | None = None
    timeout_seconds: int | None = None
    strategy: str | None = None
    not_after: Moment | None = None
    priority: int = 0
    duration_seconds: int | None = None
    notify_at: tuple[Moment, ...] = ()
    attempts: int = 0
    next_at: Moment | None = None
    wakes: int = 0
    heard: int = 0
    plan: Mapping[str, Any] | None = None
    least: Mapping[str, Any] | None = None
    share: int = 0
    created_at: Moment | None = None

    def by_clock(self, now: Moment) -> bool:
        """Return whether a try at `now` is due by time, not because resources were released."""
        return (self.wakes == self.heard and self.next_at is not None and self.next_at <= now)


@dataclasses.dataclass(frozen=True)
class HistoryLine:
    """An entry in the history of a lease: who did what, and optionally why."""

    id: int
    at: Moment
    who: str
    what: str
    why: str | None = None
    lease_id: str = ''
    owner_why: str | None = None

    @property
    def text(self) -> texts.Text | None:
        """Return the reason in both versions; None: the entry has no reason."""
        return texts.stored(self.why, self.owner_why, self.lease_id)


@dataclasses.dataclass(frozen=True)
class Lease:
    """A lease: reservations for a project from `start` to `end`.

    Until a lease has acquired its resources, `start` is the moment of the request, and `end` is
    computed from it; the acquisition sets both again. `acquisition` is None for the types immediate
    and scheduled, because such a lease gets its resources in the request. `reason` is for
    operators, and `owner_reason` for the owner; `reason_text` has both. `idle_since` is None unless
    the lease is idle, `reclaim_at` unless it will be reclaimed. A lease with `idle_exempt` never
    counts as idle. Only the lease of a dry run has a `price` and, after a change, `losses`, and the
    price `late_cancel` of what the change cancels shortly before the start. `request_bytes` is the
    size of the requests and events, see ``request_sizes``. `extended_count` is the number of
    extensions by the owner while the lease ran. A lease with `while_free_seconds` is extended by
    this step while nobody else needs its resources. A lease with a `series_id` is an occurrence of
    that series. Only leases that are read for a response have `user_name` and `project_name`, if
    they are known. `shares` has the open and the withdrawn shares; `shared` is True if there ever
    was one. A sub-lease has the `parent_id` and the `parent` of whose hosts it has a part.
    `sub_leases` has the sub-leases of the lease that are not over; `sub_leased` is True if there
    ever was one.
    """

    id: str
    name: str
    project_id: str
    user_id: str
    start: Moment
    end: Moment
    trust_id: str | None = None
    before_end: Moment | None = None
    state: str = lifecycle.PENDING
    reason: str | None = None
    task: str | None = None
    task_until: Moment | None = None
    claim_no: int = 0
    degraded: bool = False
    generation: int = 0
    created_at: Moment | None = None
    updated_at: Moment | None = None
    ended_at: Moment | None = None
    deleted_at: Moment | None = None
    acquire_type: str = acquire.IMMEDIATE
    owner_reason: str | None = None
    idle_exempt: bool = False
    idle_since: Moment | None = None
    reclaim_at: Moment | None = None
    request_bytes: int = 0
    extended_count: int = 0
    while_free_seconds: int | None = None
    shared: bool = False
    series_id: str | None = None
    parent_id: str | None = None
    sub_leased: bool = False
    reservations: tuple[reserved.Reservation, ...] = ()
    events: tuple[Event, ...] = ()
    acquisition: Acquisition | None = None
    price: prices.LeasePrice | None = None
    losses: tuple[lost.Loss, ...] | None = None
    late_cancel: prices.LeasePrice | None = None
    user_name: str | None = None
    project_name: str | None = None
    shares: tuple[sharing.Share, ...] = ()
    sub_leases: tuple[sub_leasing.SubLease, ...] = ()
    parent: sub_leasing.Parent | None = None

    @property
    def reason_text(self) -> texts.Text | None:
        """Return the reason of the state in both versions, or None."""
        return texts.stored(self.reason, self.owner_reason, self.id)

    @property
    def started_at(self) -> Moment | None:
        """Return when the first reservation became active; None: the lease has not begun."""
        if not self.reservations:
            return self.start if self.state in (lifecycle.ACTIVE, lifecycle.TERMINATED) else None
        return min((each.started_at for each in self.reservations if each.started_at is not None),
                   default=None)

    def is_of(self, context: Any) -> bool:
        """Return whether the caller acts for the owner: by its project, or as a manager."""
        return bool(context.project_id == self.project_id) or any(
            share.withdrawn_at is None and share.role == sharing.MANAGER and share.is_for(context)
            for share in self.shares)

    def explained(self, text: texts.Text | None) -> 'Lease':
        """Return the lease with another reason."""
        return dataclasses.replace(self, reason=None if text is None else text.operator,
                                   owner_reason=None if text is None else text.owner)

    def interval_from(self, now: Moment) -> interval.Interval:
        """Return the interval of the lease if its resources are acquired at `now`."""
        seconds = self.acquisition.duration_seconds if self.acquisition is not None else None
        end = self.end if seconds is None else now + datetime.timedelta(seconds=seconds)
        return interval.Interval(now, end)

    @property
    def interval(self) -> interval.Interval:
        return interval.Interval(self.start, self.end)

    @property
    def open_reservations(self) -> tuple[reserved.Reservation, ...]:
        """Return the reservations that are not over."""
        return tuple(reservation for reservation in self.reservations
                     if reservation.state != lifecycle.RESERVATION_DELETED)

    @property
    def leased_ids(self) -> list[str]:
        """Return the ids of the targets of the reservations, such as servers."""
        return [each.leased_id for each in self.reservations if each.leased_id is not None]

    @property
    def given_up_at(self) -> Moment | None:
        """Return the time limit of the acquisition; None: there is none."""
        if self.acquisition is None:
            return None
        fixed_end = self.end if self.acquisition.duration_seconds is None else None
        return min((limit for limit in (fixed_end, self.acquisition.not_after)
                    if limit is not None), default=None)

    def dependencies(self, reservation: reserved.Reservation) -> dict[str, reserved.Reservation]:
        """Return {label: Reservation} of the reservations on which `reservation` depends."""
        return {each.label: each for each in self.reservations
                if each.label is not None and each.label in reservation.depends_on}

    def task_at(self, now: Moment) -> str | None:
        """Return the task that runs on the lease at `now`; None: no task, or its time is over."""
        return self.task if self.task_until is not None and self.task_until > now else None

    def event(self, kind: str) -> Event | None:
        """Return the latest event of a kind, or None."""
        return max((event for event in self.events if event.kind == kind),
                   key=lambda event: event.at, default=None)


@dataclasses.dataclass(frozen=True)
class RecordedTrust:
    """A Keystone trust that was created for a lease of this database.

    `expires_at` is None if the trust never expires. While `closing`, the trust is being deleted.

    :ivar trust_id: None until the answer of Keystone is stored. Until then the second of
        `expires_at`, which is random, identifies the trust.
    """

    id: str
    lease_id: str
    created_at: Moment
    expires_at: Moment | None = None
    trust_id: str | None = None
    closing: bool = False
