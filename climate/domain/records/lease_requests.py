# SPDX-License-Identifier: Apache-2.0
"""The records of requests for leases."""
import dataclasses
import datetime

from climate.domain.records import reservations as reserved

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class AcquireRequest:
    """The fields of a request about the acquisition of the lease; None: not set by the caller."""

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

    :ivar whole_minutes: the caller counts in whole minutes. "now" is the beginning of the minute.
    :ivar offer_id: the offer from which the lease gets its reservations and dates.
    :ivar hidden_criteria: whether criteria may name resources and use private properties.
    :ivar while_free_seconds: the step by which the lease is extended while nobody else needs its
        resources; None: it is not.
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
    while_free_seconds: int | None = None


@dataclasses.dataclass(frozen=True)
class LeaseChanges:
    """The changes of a lease; a field that is None does not change.

    `start_now` and `end_now` are set if the caller wrote "now" instead of a moment. With
    `whole_minutes`, a `start` equals the present start if both are in the same minute. If
    `generation` is set, the change is refused unless the lease has this generation. For
    `hidden_criteria` and `while_free_seconds` see LeaseRequest; a step of 0 ends the steps. The
    manager sets `of_series` if the series of the lease changes, and not the lease alone, and
    `gives_back` if the resources that the lease loses are kept for waiting leases.
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
    while_free_seconds: int | None = None
    of_series: bool = False
    gives_back: bool = False

    @property
    def only_renames(self) -> bool:
        """Return whether nothing changes except the name and `idle_exempt`."""
        return not (self.start or self.end or self.start_now or self.end_now or self.before_end
                    or self.duration_seconds or self.reservations or self.notify_at
                    or self.while_free_seconds is not None)

    @property
    def only_ends(self) -> bool:
        """Return whether only the end changes, or the steps; the name and `idle_exempt` may too."""
        return bool(self.end or self.end_now or self.duration_seconds
                    or self.while_free_seconds is not None) and not (
            self.start or self.start_now or self.before_end or self.reservations
            or self.notify_at)


@dataclasses.dataclass(frozen=True)
class LeaseQuery:
    """A query for leases: filters and order. A filter that is None selects all.

    :ivar status: one status word, or several separated by commas.
    :ivar search: text that the name contains, in upper or lower case, or with which the id begins.
    :ivar owner: the id or the name of the user who owns the lease; the name only if `by_names`.
    :ivar project: the id or the name of the project, as for `owner`.
    :ivar resource_type: the type of one of the reservations.
    :ivar starts_before: only leases that start earlier; with a resource, the lease has the resource
        before this moment.
    :ivar ends_after: only leases that end later; with a resource, as for `starts_before`.
    :ivar resource: the name of a resource of the lease.
    :ivar series_id: the series that the leases belong to.
    :ivar by_names: whether filters and order use the names of users and projects.
    :ivar idle: True: only idle leases.
    :ivar receiver: (project id, user id) to which leases of other projects are shared that are
        selected, too; None: only leases of `project_id`.
    :ivar most_bytes: the maximum size of a page in bytes; None: no limit.
    """

    project_id: str | None = None
    status: str | None = None
    idle: bool = False
    name: str | None = None
    starts_before: Moment | None = None
    ends_after: Moment | None = None
    resource_id: int | None = None
    search: str | None = None
    owner: str | None = None
    project: str | None = None
    resource_type: str | None = None
    resource: str | None = None
    series_id: str | None = None
    by_names: bool = False
    deleted: bool = False
    sort: tuple[tuple[str, bool], ...] = (('created_at', True),)
    limit: int | None = None
    marker: str | None = None
    most_bytes: int | None = None
    receiver: tuple[str, str] | None = None
