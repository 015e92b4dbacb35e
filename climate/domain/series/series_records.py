# SPDX-License-Identifier: Apache-2.0
"""The records of series, of their occurrences, and of requests about them."""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import records
from climate.domain import texts
from climate.domain.series import series_times

Moment = datetime.datetime

#: The modes: book all occurrences within the horizon or none; or those for which resources are
#: free.
ALL_OR_NOTHING, WHAT_FITS = MODES = ('all_or_nothing', 'what_fits')
#: The states of a series. While MAKING, the request that creates the series is being answered. If
#: that request fails, the series is UNDONE. Nobody sees a series in one of these two states.
MAKING, ACTIVE, ENDED, CANCELLED, UNDONE = ('making', 'active', 'ended', 'cancelled', 'undone')
HIDDEN = (MAKING, UNDONE)
#: The states of an occurrence. PLANNED is not tried yet; FAILED is tried again; SKIPPED was never
#: booked before its start.
PLANNED, BOOKED, FAILED, SKIPPED, OFF = STATUSES = (
    'planned', 'booked', 'failed', 'skipped', 'cancelled')
#: The occurrences that a change or a deletion concerns.
THIS, FOLLOWING, ALL = SCOPES = ('this', 'following', 'all')


@dataclasses.dataclass(frozen=True)
class Occurrence:
    """One occurrence of a series.

    :ivar number: its number in the rule, from 1 on.
    :ivar lease_id: the id that its lease has once it is booked; None: the lease was purged.
    :ivar changed: whether a user changed its lease alone; changes of the series leave it as it is.
    :ivar due_at: when a manager works on it: books it, changes its lease, or deletes its lease.
    :ivar problem: why it has no lease, or why a change of the series was not applied, for
        operators; `owner_problem` is the text for the owner.
    """

    series_id: str
    number: int
    start: Moment
    end: Moment
    status: str = PLANNED
    lease_id: str | None = None
    changed: bool = False
    due_at: Moment | None = None
    problem: str | None = None
    owner_problem: str | None = None

    @property
    def problem_text(self) -> texts.Text | None:
        """Return the problem in both versions, or None."""
        return texts.stored(self.problem, self.owner_problem, self.lease_id or self.series_id)


@dataclasses.dataclass(frozen=True)
class Series:
    """A lease that repeats.

    :ivar request: the reservations of each lease, as a list of bodies ready for JSON, without their
        secret fields.
    :ivar secrets: {position of the reservation: its secret fields}.
    :ivar start: the local time of the first start, without a zone, as ISO text.
    :ivar seconds: the duration of each lease.
    :ivar rule: a normalised RRULE.
    :ivar same_resources: whether each lease gets the resources of the first one.
    :ivar resources: the names of these resources, {position of the reservation: names}.
    :ivar hidden_criteria: whether criteria may name resources, as in a LeaseRequest.
    :ivar booked_until: occurrences that start before this moment have rows.
    :ivar extend_at: when the next occurrence comes into the horizon; None: all have rows.
    """

    id: str
    project_id: str
    user_id: str
    name: str
    request: tuple[Mapping[str, Any], ...]
    start: str
    seconds: int
    rule: str
    time_zone: str
    mode: str = WHAT_FITS
    same_resources: bool = False
    resources: Mapping[str, Any] | None = None
    hidden_criteria: bool = False
    status: str = MAKING
    booked_until: Moment | None = None
    extend_at: Moment | None = None
    trust_id: str | None = None
    generation: int = 0
    created_at: Moment | None = None
    updated_at: Moment | None = None
    user_name: str | None = None
    project_name: str | None = None
    occurrences: tuple[Occurrence, ...] = ()
    secrets: records.Secrets = dataclasses.field(
        default_factory=records.Secrets, repr=False, metadata={'stays': True})

    @property
    def timing(self) -> series_times.Timing:
        return series_times.Timing(
            self.rule, Moment.fromisoformat(self.start), self.seconds, self.time_zone)


@dataclasses.dataclass(frozen=True)
class SeriesRequest:
    """A request for a series; `repeat` is a rule in the words of people, or an RRULE.

    :ivar idempotency_key: see LeaseRequest, as for `request_hash`.
    """

    name: str
    reservations: tuple[records.ReservationRequest, ...]
    start: str
    seconds: int
    repeat: str
    time_zone: str
    mode: str = WHAT_FITS
    same_resources: bool = False
    hidden_criteria: bool = False
    dry_run: bool = False
    idempotency_key: str | None = None
    request_hash: str | None = None


@dataclasses.dataclass(frozen=True)
class SeriesChanges:
    """The changes of a series; a field that is None does not change.

    :ivar scope: one of SCOPES.
    :ivar number: the number of the occurrence, for THIS and FOLLOWING.
    :ivar time: the local time of day of the starts, as ISO text.
    :ivar reservations: the new requests of all reservations, in order.
    """

    scope: str
    number: int | None = None
    name: str | None = None
    time: str | None = None
    seconds: int | None = None
    reservations: tuple[records.ReservationRequest, ...] | None = None
    hidden_criteria: bool = False
    dry_run: bool = False


@dataclasses.dataclass(frozen=True)
class OccurrencePreview:
    """The result for one occurrence if a request were made.

    :ivar resources: the names of the resources by position of the reservation.
    :ivar nearest: the nearest start at which the occurrence would fit, or None.
    """

    number: int
    start: Moment
    end: Moment
    fits: bool
    resources: tuple[tuple[str, ...], ...] = ()
    problem: str | None = None
    owner_problem: str | None = None
    nearest: Moment | None = None


@dataclasses.dataclass(frozen=True)
class SeriesPreview:
    """A series as a request would make or change it, with all occurrences up to its end."""

    series: Series
    occurrences: tuple[OccurrencePreview, ...]


@dataclasses.dataclass(frozen=True)
class SeriesQuery:
    """A query for series; a filter that is None selects all."""

    project_id: str | None = None
    status: str | None = None
    limit: int | None = None
    marker: str | None = None
    most_bytes: int | None = None
