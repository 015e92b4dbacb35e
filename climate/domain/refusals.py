# SPDX-License-Identifier: Apache-2.0
"""Refusals: resources that were asked for and not given, and for what time."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
import hashlib
import json
from typing import Any

from climate import errors
from climate.domain import interval

#: Fewer resources than asked for meet the criteria, even if all are free.
NO_MATCH = 'no_match'
#: Enough resources meet the criteria, and too few of them are free for all of the time.
NOT_FREE = 'not_free'
#: Other requests booked the same resources at the same time.
LOST_RACE = 'lost_race'
#: The project has too many leases that wait.
QUEUE_FULL = 'queue_full'
#: The lease waited until its time was over.
WAITED_TOO_LONG = 'waited_too_long'
#: The lease was tried as often as it was to be tried.
RETRIES_USED_UP = 'retries_used_up'

REASONS = (NO_MATCH, NOT_FREE, LOST_RACE, QUEUE_FULL, WAITED_TOO_LONG, RETRIES_USED_UP)

#: The errors of a request that was refused for lack of resources.
SHORTAGES = (errors.NotEnough, errors.LostRace, errors.TooManyWaiting)

#: The same request within this time of its last refusal counts as a repetition of it.
SAME_WITHIN = datetime.timedelta(hours=1)


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Copies of an amount in a pool from `start` to `end`, asked for and not given.

    A request for several needs is one refusal for each, since none of them was served.

    :ivar at: when it was refused first; `last_at` when the same request was refused last.
    :ivar times: how often the same request was refused.
    :ivar lease_id: the lease that was refused or is not changed; if the request is repeated, the
        lease of the first request.
    :ivar copies: the least number that would have served the request.
    :ivar amount: {class: units} of one copy; None: whole resources.
    :ivar reason: one of `REASONS`.
    :ivar waited_seconds: how long the lease waited; 0 if it was refused at once.
    :ivar request_hash: equal for equal requests of one project.
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
    id: int | None = None


def reason_of(error: errors.ClimateError) -> str:
    """Return the short code for one of `SHORTAGES`."""
    if isinstance(error, errors.TooManyWaiting):
        return QUEUE_FULL
    if isinstance(error, errors.LostRace):
        return LOST_RACE
    matching, wanted = error.kwargs.get('matching'), error.kwargs.get('wanted')
    return NO_MATCH if matching is not None and matching < (wanted or 0) else NOT_FREE


def request_hash(project_id: str, parts: Iterable[Any]) -> str:
    """Return the same text for the same request of the same project.

    :param parts: what makes the request; moments are written as text, records as their fields.
    """
    text = json.dumps([project_id, *parts], sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def unmet(span: interval.Interval, copies: int, had_span: interval.Interval | None,
          had: int) -> list[tuple[interval.Interval, int]]:
    """Return what a refused request asked for beyond what its reservation has.

    :param span: the time asked for.
    :param copies: the number asked for.
    :param had_span: the time for which the reservation has `had` copies; None: it has nothing.
    :returns: pairs (Interval, copies): all copies for the time outside `had_span`, and the further
        copies for the time inside it.
    """
    if had_span is None or not had or not span.overlaps(had_span):
        return [(span, copies)] if copies else []
    edges = [(span.start, min(span.end, had_span.start), copies),
             (max(span.start, had_span.start), min(span.end, had_span.end), copies - had),
             (max(span.start, had_span.end), span.end, copies)]
    return [(interval.Interval(start, end), count) for start, end, count in edges
            if start < end and count > 0]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f'{type(value)} is not a part of a request.')
