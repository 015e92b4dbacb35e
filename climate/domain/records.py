# SPDX-License-Identifier: Apache-2.0
"""The frozen records of Climate, which every layer uses."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import acquire
from climate.domain import health
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import maintenance
from climate.domain import prices
from climate.domain import texts

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class Allocation:
    """The allocation of a resource to a reservation from `start` to `end`.

    If not `whole`, it takes `amount`, {class: units}, for each of `copies`. `need` is the key of
    the need of the reservation's plugin that it serves. An allocation that was released early has
    `released_at` and does not count any more. Only lists have its `id`, and its `lease_id`. A new
    one has `promised_until` if it replaces one that was promised for longer.
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
    need: str = ''
    id: int | None = None
    promised_until: Moment | None = None


def by_need(allocations: Iterable[Allocation],
            reservation_id: str) -> dict[str, tuple[int, ...]]:
    """Return what `allocations` give a reservation, in the format of ``Reservation.allocated``."""
    found: dict[str, tuple[int, ...]] = {}
    for each in sorted(allocations, key=lambda given: given.resource_id):
        if each.reservation_id == reservation_id:
            found[each.need] = found.get(each.need, ()) + (each.resource_id,) * each.copies
    return found


@dataclasses.dataclass(frozen=True)
class Resource:
    """A resource that can be reserved: a host, an address, a storage backend.

    `capacity` is {class: units}. `properties` come from operators, `facts` from the cloud.
    `held_by` is the reservation that holds all of it in the cloud now. `lent_to` is the only
    reservation that may use it; None: any may. `health_state` is one of ``health.STATES``,
    for `health_reason`. Only answers have its `verdict`, its `maintenances` and its
    `power_state`, one of ``sleep.STATES``; None: it never sleeps, or nobody asked.
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
    health_state: str = health.WELL
    health_reason: str | None = None
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    verdict: health.Verdict | None = None
    maintenances: tuple[maintenance.Window, ...] = ()
    power_state: str | None = None
    power_since: Moment | None = None

    @property
    def is_well(self) -> bool:
        """Return whether nobody says that it does not work."""
        return self.health_state == health.WELL


@dataclasses.dataclass(frozen=True)
class Property:
    """A property of the resources of a pool; only admins see a private one."""

    id: int
    pool: str
    name: str
    private: bool = False
    values: tuple[str, ...] = ()
    created_at: Moment | None = None
    updated_at: Moment | None = None


# The field stays in the process: ``rpc.wire`` leaves it out.
_STAYS = {'stays': True}


class Secrets(dict[str, Any]):
    """The secret fields of a request, {name: value}. Neither a log nor a traceback shows them."""

    def __repr__(self) -> str:
        return '***'

    __str__ = __repr__


#: The key of a binding under which a plugin notes what it made before the start. No answer has it.
STAGED = 'staged'


@dataclasses.dataclass(frozen=True)
class Reservation:
    """A reservation of a lease: its `request`, and the `binding` that the cloud gave it.

    `allocated` is {need key: resource ids}, with an id once for each copy. `leased_id` is the id of
    its target, the object in the cloud that it leases (such as a server); None if it has no target
    or the target is not known yet. `label` names it among the reservations of its lease.
    It starts after the reservations whose labels are in `depends_on`, and ends before them.
    `secrets` has the fields of the request that its plugin calls secret; only a new or changed
    reservation has them.
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
    label: str | None = None
    depends_on: tuple[str, ...] = ()
    allocated: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    secrets: Secrets = dataclasses.field(default_factory=Secrets, repr=False, metadata=_STAYS)

    @property
    def resource_ids(self) -> tuple[int, ...]:
        """Return the sorted ids of the resources of all needs, each once for each copy."""
        return tuple(sorted(key for ids in self.allocated.values() for key in ids))


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of a lease at the moment `at`.

    `due_at` is when it is tried next: at first `at`, later after a failure or a wait. A claim
    (`claim_owner`, `claimed_until`) expires; `claim_no` counts the claims, and every write of the
    owner is conditional on it. `begun_at` is the first try, `attempts` counts the failures, and
    `waits` counts how often something in the cloud was not ready.
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
    """How a lease is to be acquired, as the caller asked; fields that are not set are None."""

    type: str
    retries: int | None = None
    retry_pause_seconds: int | None = None
    timeout_seconds: int | None = None
    strategy: str | None = None
    not_after: Moment | None = None
    priority: int | None = None


@dataclasses.dataclass(frozen=True)
class Acquisition:
    """The acquisition of the resources of a lease, and its progress.

    The fields of its type (`acquire.FIELDS`) are those of Acquire with their final values.
    `not_after` is when it is given up; None: never. `duration_seconds` is the length of the lease
    from its acquisition on; None: its end is fixed. `attempts` counts timed tries; the next one is
    at `next_at`. `wakes` counts how often released resources notified it, `heard` how many of these
    notifications a try has answered. `plan` is the JSON-ready plan of host clearing, which is
    written before it is carried out. `least` is what the lease needs at least while it is in the
    wait queue, as ``domain.least.of`` returns it; None: not known.
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
    created_at: Moment | None = None

    def by_clock(self, now: Moment) -> bool:
        """Return whether a try at `now` is a timed one, not one for released resources."""
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
        """Return why, for the owner and for operators; None: the entry has no reason."""
        return texts.stored(self.why, self.owner_why, self.lease_id)


@dataclasses.dataclass(frozen=True)
class Lease:
    """A lease: reservations for a project from `start` to `end`.

    While it is being acquired, `start` is the moment of the request and `end` the end that follows
    from it; both are set when it is acquired. `acquisition` is None for the types immediate and
    scheduled, which get their resources in the request. `reason` is the version for operators; its
    owner must read `owner_reason` only. Use `reason_text`, which has both. An idle lease has
    `idle_since`, and `reclaim_at` if it is to be taken back then; it never is if `idle_exempt`.
    Only the lease of a dry run has a `price`. `request_bytes` is what ``domain.request_sizes``
    counts.
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
    reservations: tuple[Reservation, ...] = ()
    events: tuple[Event, ...] = ()
    acquisition: Acquisition | None = None
    price: prices.Price | None = None

    @property
    def reason_text(self) -> texts.Text | None:
        """Return the reason of the state, for the owner and for operators; or None."""
        return texts.stored(self.reason, self.owner_reason, self.id)

    def is_of(self, context: Any) -> bool:
        """Return whether the caller of a request belongs to the project that has the lease."""
        return bool(context.project_id == self.project_id)

    def explained(self, text: texts.Text | None) -> 'Lease':
        """Return the lease with another reason."""
        return dataclasses.replace(self, reason=None if text is None else text.operator,
                                   owner_reason=None if text is None else text.owner)

    def interval_from(self, now: Moment) -> interval.Interval:
        """Return the interval of the lease if it is acquired at `now`."""
        seconds = self.acquisition.duration_seconds if self.acquisition is not None else None
        end = self.end if seconds is None else now + datetime.timedelta(seconds=seconds)
        return interval.Interval(now, end)

    @property
    def interval(self) -> interval.Interval:
        return interval.Interval(self.start, self.end)

    @property
    def open_reservations(self) -> tuple[Reservation, ...]:
        """Return the reservations that are not over."""
        return tuple(each for each in self.reservations
                     if each.state != lifecycle.RESERVATION_DELETED)

    @property
    def leased_ids(self) -> list[str]:
        """Return the ids of the targets of its reservations."""
        return [each.leased_id for each in self.reservations if each.leased_id is not None]

    @property
    def given_up_at(self) -> Moment | None:
        """Return when a lease that is being acquired is given up; None: never."""
        if self.acquisition is None:
            return None
        fixed = self.end if self.acquisition.duration_seconds is None else None
        return min((each for each in (fixed, self.acquisition.not_after) if each is not None),
                   default=None)

    def dependencies(self, reservation: Reservation) -> dict[str, Reservation]:
        """Return {label: Reservation} of those that a reservation of the lease depends on."""
        return {each.label: each for each in self.reservations
                if each.label is not None and each.label in reservation.depends_on}

    def task_at(self, now: Moment) -> str | None:
        """Return the task that runs on the lease at `now`, or None if it has expired."""
        return self.task if self.task_until is not None and self.task_until > now else None

    def event(self, kind: str) -> Event | None:
        """Return the event of that kind, the latest if there are several, or None."""
        found = [event for event in self.events if event.kind == kind]
        return max(found, key=lambda event: event.at) if found else None


@dataclasses.dataclass(frozen=True)
class Service:
    """A manager at its last heartbeat; `id` is its host, process number and a random part.

    `running` counts the events that it was carrying out. `not_ready` is why it was not ready, or
    None. `up` is whether it is alive; see ``heartbeat.judged``.
    """

    id: str
    host: str
    since: Moment
    last_seen: Moment
    running: int = 0
    not_ready: str | None = None
    up: bool = True


@dataclasses.dataclass(frozen=True)
class ReservationRequest:
    """A request for one resource type; `id` is that of the reservation to change, or None.

    `label` and `depends_on` are those of Reservation; None if the caller did not set them. A label
    of '' removes it. Only the request of an offer has its `secrets` apart.
    """

    resource_type: str | None
    request: Mapping[str, Any]
    id: str | None = None
    label: str | None = None
    depends_on: tuple[str, ...] | None = None
    secrets: Secrets = dataclasses.field(default_factory=Secrets, repr=False, metadata=_STAYS)


@dataclasses.dataclass(frozen=True)
class Offer:
    """An offer: resources from `start` to `end`, held for a project until `held_until`.

    Each part of `request` is validated and has the id that its reservation gets when the offer is
    taken. `allocations` are made for these reservations; empty if nothing is `held` any more.
    `price` is that of a lease that takes the offer now; None without a price book.
    """

    id: str
    project_id: str
    user_id: str
    start: Moment
    end: Moment
    request: tuple[ReservationRequest, ...]
    held_until: Moment
    created_at: Moment
    allocations: tuple[Allocation, ...] = ()
    held: bool = True
    price: prices.Price | None = None

    @property
    def span(self) -> interval.Interval:
        return interval.Interval(self.start, self.end)


@dataclasses.dataclass(frozen=True)
class EarlyCreation:
    """The objects that are created in the cloud for a reservation during its request.

    `offer_id` is the offer that is being taken. While `closing`, the objects are being deleted.
    """

    id: str
    reservation_id: str
    resource_type: str
    offer_id: str | None
    created_at: Moment
    closing: bool = False


@dataclasses.dataclass(frozen=True)
class RecordedTrust:
    """A Keystone trust that was created for a lease of this database.

    `expires_at` is None for one that never expires. While `closing`, it is being dropped.

    :ivar trust_id: None while no answer of Keystone is known; then `expires_at`, which no other
        trust has, identifies it.
    """

    id: str
    lease_id: str
    created_at: Moment
    expires_at: Moment | None = None
    trust_id: str | None = None
    closing: bool = False


@dataclasses.dataclass(frozen=True)
class LeaseRequest:
    """A request for a lease.

    A `start` of None means now. `duration_seconds` may replace the start or the end.

    :ivar whole_minutes: the caller counts in whole minutes: "now" is the current one.
    :ivar offer_id: the offer to take, which has the reservations and the dates.
    :ivar hidden_criteria: whether criteria may name resources and use private properties.
    """

    name: str
    start: Moment | None
    end: Moment | None
    duration_seconds: int | None = None
    before_end: Moment | None = None
    reservations: tuple[ReservationRequest, ...] = ()
    notify_at: tuple[Moment, ...] = ()
    acquire: Acquire | None = None
    whole_minutes: bool = False
    dry_run: bool = False
    idempotency_key: str | None = None
    request_hash: str | None = None
    offer_id: str | None = None
    hidden_criteria: bool = True
    idle_exempt: bool = False


@dataclasses.dataclass(frozen=True)
class LeaseChanges:
    """The changes of a lease; a field that is None does not change.

    `start_now` and `end_now` stand for the word "now". With `whole_minutes`, the minute in which
    the lease starts stands for its start. `generation`, if given, is the version
    of the lease that the caller has seen. `hidden_criteria` is as in a LeaseRequest.
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
    whole_minutes: bool = False
    dry_run: bool = False
    generation: int | None = None
    hidden_criteria: bool = True
    idle_exempt: bool | None = None

    @property
    def only_renames(self) -> bool:
        """Return whether at most the name and `idle_exempt` change."""
        return not (self.start or self.end or self.start_now or self.end_now or self.before_end
                    or self.duration_seconds or self.reservations or self.notify_at)

    @property
    def only_ends(self) -> bool:
        """Return whether the end changes, and at most the name beside it."""
        return bool(self.end or self.end_now or self.duration_seconds) and not (
            self.start or self.start_now or self.before_end or self.reservations
            or self.notify_at)


@dataclasses.dataclass(frozen=True)
class AllocationQuery:
    """A query for the allocations of a pool. A filter that is None selects all."""

    pool: str
    lease_id: str | None = None
    reservation_id: str | None = None


@dataclasses.dataclass(frozen=True)
class LeaseQuery:
    """A query for leases: filters and order. A filter that is None selects all.

    :ivar status: one status word, or several separated by commas.
    :ivar idle: only leases that are idle.
    :ivar most_bytes: the limit of the bytes of a page; None: there is none.
    """

    project_id: str | None = None
    status: str | None = None
    idle: bool = False
    name: str | None = None
    starts_before: Moment | None = None
    ends_after: Moment | None = None
    resource_id: int | None = None
    deleted: bool = False
    sort: tuple[tuple[str, bool], ...] = (('created_at', True),)
    limit: int | None = None
    marker: str | None = None
    most_bytes: int | None = None
