# SPDX-License-Identifier: Apache-2.0
"""The records of requests for leases."""
import dataclasses
import datetime

from climate.domain.records import reservations as reserved

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class AcquireRequest:
    """The part of a request that says how to acquire a lease; fields that are not set are None."""

    type: str
    retries: int | None = None
    retry_pause_seconds: int | None = None
    timeout_seconds: int | None = None
    strategy: str | None = None
    not_after: Moment | None = None
    priority: int | None = None


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
    reservations: tuple[reserved.ReservationRequest, ...] = ()
    notify_at: tuple[Moment, ...] = ()
    acquire: AcquireRequest | None = None
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
    reservations: tuple[reserved.ReservationRequest, ...] = ()
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
        """Return whether the end changes, and nothing else but the name."""
        return bool(self.end or self.end_now or self.duration_seconds) and not (
            self.start or self.start_now or self.before_end or self.reservations
            or self.notify_at)


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
