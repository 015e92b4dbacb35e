# SPDX-License-Identifier: Apache-2.0
"""The nouns of Climate as frozen records, the same in every layer."""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import acquire
from climate.domain import interval
from climate.domain import lifecycle

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class Allocation:
    """A promise: `resource_id` belongs to `reservation_id` from `start` to `end`.

    `whole` says that all of it does, else `amount` is {class: units}, once for each of `copies`.
    A promise that was given back early has `released_at` and counts no more.
    """

    reservation_id: str
    resource_id: int
    start: Moment
    end: Moment
    whole: bool = True
    amount: Mapping[str, int] = dataclasses.field(default_factory=dict)
    copies: int = 1
    released_at: Moment | None = None
    lease_id: str | None = None


@dataclasses.dataclass(frozen=True)
class Resource:
    """Something that can be given: a host, an address, a storage backend.

    `capacity` is {class: units}; `properties` what operators said of it; `facts` what the cloud
    says of it. `held_by` is the reservation that occupies all of it in the cloud now; `lent_to` the
    one for which alone it is enrolled, None where anybody may book it.
    """

    id: int
    pool: str
    name: str
    capacity: Mapping[str, int]
    reservable: bool = True
    generation: int = 0
    held_by: str | None = None
    lent_to: str | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Property:
    """A name under which resources of a pool have values; a private one only admins see."""

    id: int
    pool: str
    name: str
    private: bool = False
    values: tuple[str, ...] = ()
    created_at: Moment | None = None
    updated_at: Moment | None = None


@dataclasses.dataclass(frozen=True)
class Reservation:
    """One allocation in a lease: what was asked (`request`), what the cloud made (`binding`).

    `resource_ids` has a resource once for each copy that the reservation has of it. `leased_id` is
    the one thing of the cloud that it leases (a server), where it is of that kind and known.
    """

    id: str
    lease_id: str
    resource_type: str
    request: Mapping[str, Any]
    binding: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    state: str = lifecycle.RESERVATION_PENDING
    missing_resources: bool = False
    resources_changed: bool = False
    leased_id: str | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    resource_ids: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happens to a lease at the moment `at`.

    `due_at` is when it is tried next: `at` at first, later after a failure or while it waits.
    A claim (`claim_owner`, `claimed_until`) ends by itself; `claim_no` counts the claims, and
    every write of a claim's owner names its number. `begun_at` is when it was first tried,
    `attempts` counts the failures, `waits` how often something in the cloud was not ready yet.
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
class Acquire:
    """How a lease is to be acquired, as a caller asked for it; what was not said is None."""

    type: str
    retries: int | None = None
    retry_pause_seconds: int | None = None
    timeout_seconds: int | None = None
    strategy: str | None = None
    not_after: Moment | None = None
    priority: int | None = None


@dataclasses.dataclass(frozen=True)
class Acquisition:
    """How the resources of a lease are looked for, and how far that has come.

    The fields of its type (`acquire.FIELDS`) are as in Acquire, all of them settled. `not_after` is
    when it is given up, None for never. `duration_seconds` is how long the lease lasts from the
    moment it is acquired, None where its end is fixed. `attempts` counts those that cost a retry;
    the next of these is at `next_at`. `wakes` counts how often it was woken by what others gave
    back, `heard` those of them that a try has followed. `plan` is what a best effort decided,
    JSON-ready, written before it is done.
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
    created_at: Moment | None = None

    def by_clock(self, now: Moment) -> bool:
        """True for a try that is made because its time has come: nothing was given back."""
        return (self.wakes == self.heard and self.next_at is not None and self.next_at <= now)


@dataclasses.dataclass(frozen=True)
class HistoryLine:
    """One thing that happened to a lease: who did what, and why where more is to be said."""

    id: int
    at: Moment
    who: str
    what: str
    why: str | None = None


@dataclasses.dataclass(frozen=True)
class Lease:
    """The contract: reservations for a project from `start` to `end`.

    While it is being acquired, `start` is the moment of the request and `end` what would follow
    from it; both are settled when it is acquired. `acquisition` is None where it was not looked for
    after the request: for the types immediate and scheduled.
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
    reservations: tuple[Reservation, ...] = ()
    events: tuple[Event, ...] = ()
    acquisition: Acquisition | None = None

    def interval_from(self, now: Moment) -> interval.Interval:
        """The time that it lasts where it is acquired at this moment."""
        seconds = self.acquisition.duration_seconds if self.acquisition is not None else None
        end = self.end if seconds is None else now + datetime.timedelta(seconds=seconds)
        return interval.Interval(now, end)

    @property
    def interval(self) -> interval.Interval:
        return interval.Interval(self.start, self.end)

    @property
    def open_reservations(self) -> tuple[Reservation, ...]:
        """Those that are not over."""
        return tuple(each for each in self.reservations
                     if each.state != lifecycle.RESERVATION_DELETED)

    @property
    def leased_ids(self) -> list[str]:
        """The ids of the things of the cloud that its reservations lease."""
        return [each.leased_id for each in self.reservations if each.leased_id is not None]

    @property
    def given_up_at(self) -> Moment | None:
        """When a lease that is being acquired is given up; None for never."""
        if self.acquisition is None:
            return None
        fixed = self.end if self.acquisition.duration_seconds is None else None
        return min((each for each in (fixed, self.acquisition.not_after) if each is not None),
                   default=None)

    def task_at(self, now: Moment) -> str | None:
        """The task that holds the lease at `now`; one whose time ran out holds it no more."""
        return self.task if self.task_until is not None and self.task_until > now else None

    def event(self, kind: str) -> Event | None:
        """The lease's own event of that kind, the latest where there are several."""
        found = [event for event in self.events if event.kind == kind]
        return max(found, key=lambda event: event.at) if found else None


@dataclasses.dataclass(frozen=True)
class Service:
    """A manager, as it was last heard of; `id` is its host and the number of its process.

    `running` counts the events that it was carrying out; `up` says that it still lives, where
    somebody judged that.
    """

    id: str
    host: str
    since: Moment
    last_seen: Moment
    running: int = 0
    up: bool = True


@dataclasses.dataclass(frozen=True)
class ReservationRequest:
    """What a caller asks of one resource type; `id` names the reservation that it changes."""

    resource_type: str | None
    request: Mapping[str, Any]
    id: str | None = None


@dataclasses.dataclass(frozen=True)
class Offer:
    """What a project may have from `start` to `end`, held for it until `held_until`.

    Each part of `request` is as it was validated, with the id that its reservation gets when the
    offer is taken; `promises` are the Allocations to these, none once nothing is `held` any more.
    """

    id: str
    project_id: str
    user_id: str
    start: Moment
    end: Moment
    request: tuple[ReservationRequest, ...]
    held_until: Moment
    created_at: Moment
    promises: tuple[Allocation, ...] = ()
    held: bool = True

    @property
    def span(self) -> interval.Interval:
        return interval.Interval(self.start, self.end)


@dataclasses.dataclass(frozen=True)
class LeaseRequest:
    """What a caller asks for: a `start` of None means now; `duration_seconds` stands in for one.

    :ivar lenient: the caller speaks REST 1.0: unknown keys are ignored, numbers may be text,
        "now" is the current minute.
    :ivar offer_id: the offer that is taken, which says what and when.
    """

    name: str
    start: Moment | None
    end: Moment | None
    duration_seconds: int | None = None
    before_end: Moment | None = None
    reservations: tuple[ReservationRequest, ...] = ()
    notify_at: tuple[Moment, ...] = ()
    acquire: Acquire | None = None
    lenient: bool = True
    dry_run: bool = False
    idempotency_key: str | None = None
    request_hash: str | None = None
    offer_id: str | None = None


@dataclasses.dataclass(frozen=True)
class LeaseChanges:
    """What a caller wants changed; a field that is None stays as it is.

    `start_now` and `end_now` stand for the word "now". `generation`, where given, is the version
    of the lease that the caller has seen.
    """

    name: str | None = None
    start: Moment | None = None
    end: Moment | None = None
    start_now: bool = False
    end_now: bool = False
    duration_seconds: int | None = None
    before_end: Moment | None = None
    reservations: tuple[ReservationRequest, ...] = ()
    notify_at: tuple[Moment, ...] = ()
    lenient: bool = True
    dry_run: bool = False
    generation: int | None = None

    @property
    def only_renames(self) -> bool:
        """True where nothing but the name is to change (or nothing at all)."""
        return not (self.start or self.end or self.start_now or self.end_now or self.before_end
                    or self.duration_seconds or self.reservations or self.notify_at)

    @property
    def only_ends(self) -> bool:
        """True where nothing but the end (and the name) is to change."""
        return bool(self.end or self.end_now or self.duration_seconds) and not (
            self.start or self.start_now or self.before_end or self.reservations
            or self.notify_at)


@dataclasses.dataclass(frozen=True)
class LeaseQuery:
    """Which leases to list, and in which order; None means any."""

    project_id: str | None = None
    status: str | None = None
    name: str | None = None
    starts_before: Moment | None = None
    ends_after: Moment | None = None
    resource_id: int | None = None
    deleted: bool = False
    sort: tuple[tuple[str, bool], ...] = (('created_at', True),)
    limit: int | None = None
    marker: str | None = None
