# SPDX-License-Identifier: Apache-2.0
"""Refused requests for resources."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import hashlib
import json
from typing import Any

from climate import errors
from climate.domain import interval

#: Too few resources meet the criteria, even if all of them were free.
NO_MATCH = 'no_match'
#: Enough resources meet the criteria, but too few of them are free for the whole time.
NOT_FREE = 'not_free'
#: Other requests booked the same resources at the same time.
LOST_RACE = 'lost_race'
#: Too many leases of the project wait already.
QUEUE_FULL = 'queue_full'
#: The lease waited until its time limit.
WAITED_TOO_LONG = 'waited_too_long'
#: All tries of the lease failed.
RETRIES_USED_UP = 'retries_used_up'
#: The lease was deleted while it waited.
WITHDRAWN = 'withdrawn'

REASONS = (NO_MATCH, NOT_FREE, LOST_RACE, QUEUE_FULL, WAITED_TOO_LONG, RETRIES_USED_UP, WITHDRAWN)

#: The errors of a request that was refused for lack of resources.
SHORTAGES = (errors.NotEnough, errors.LostRace, errors.TooManyWaiting)

#: Within this time after a refusal, the same request counts as its repetition.
SAME_WITHIN = datetime.timedelta(hours=1)


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A refused request for copies of an amount in a pool from `start` to `end`.

    If a request has several needs, there is one Refusal for each need, because none was served.

    :ivar at: when the request was refused first; `last_at`: when it was refused last.
    :ivar lease_id: the lease that was not created or not changed. If the request was repeated, the
        lease of the first request.
    :ivar copies: the minimum number that would have served the request.
    :ivar amount: {class: units} of one copy; None: whole resources.
    :ivar reason: one of `REASONS`.
    :ivar waited_seconds: how long the lease waited; 0 if it was refused at once.
    :ivar times: how often the same request was refused.
    :ivar criteria: the criteria for the resources, for ``requirement.parse``; None: not recorded.
    """

    at: datetime.datetime
    project_id: str
    user_id: str
    lease_id: str
    resource_type: str
    pool: str
    start: datetime.datetime
    end: datetime.datetime
    copies: int
    amount: Mapping[str, int] | None
    reason: str
    request_hash: str
    last_at: datetime.datetime
    waited_seconds: int = 0
    times: int = 1
    criteria: Sequence[Any] | None = None
    id: int | None = None


def reason_of(error: errors.ClimateError) -> str:
    """Return the one of `REASONS` that belongs to an error of `SHORTAGES`."""
    if isinstance(error, errors.TooManyWaiting):
        return QUEUE_FULL
    if isinstance(error, errors.LostRace):
        return LOST_RACE
    matching, wanted = error.kwargs.get('matching'), error.kwargs.get('wanted')
    return NO_MATCH if matching is not None and matching < (wanted or 0) else NOT_FREE


def request_hash(project_id: str, parts: Iterable[Any]) -> str:
    """Return a hash that is equal for equal requests of the same project.

    :param parts: the contents of the request: JSON values, moments and records.
    """
    text = json.dumps([project_id, *parts], sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def unmet(span: interval.Interval, copies: int, had_span: interval.Interval | None,
          had: int) -> list[tuple[interval.Interval, int]]:
    """Return the demand of a refused request beyond the present copies of its reservation.

    :param span: the requested time.
    :param copies: the requested number.
    :param had_span: the time for which the reservation has `had` copies; None: it has none.
    :returns: pairs (Interval, copies): all copies for the time outside `had_span`, and the
        additional copies for the time inside it.
    """
    if had_span is None or not had or not span.overlaps(had_span):
        return [(span, copies)] if copies else []
    parts = [(span.start, min(span.end, had_span.start), copies),
             (max(span.start, had_span.start), min(span.end, had_span.end), copies - had),
             (max(span.start, had_span.end), span.end, copies)]
    return [(interval.Interval(start, end), count) for start, end, count in parts
            if start < end and count > 0]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f'{type(value)} is not a part of a request.')
