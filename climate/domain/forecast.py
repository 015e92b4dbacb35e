# SPDX-License-Identifier: Apache-2.0
"""The records of forecasts of the demand for a pool."""
import dataclasses

from climate.domain import records


@dataclasses.dataclass(frozen=True)
class ForecastQuery:
    """A query for the expected demand for the resources of a pool in each hour until `end`.

    :ivar end: None: in a week.
    :ivar criteria: the JSON text of criteria for the resources; '': all resources of the pool.
    """

    pool: str
    end: records.Moment | None = None
    criteria: str = ''


@dataclasses.dataclass(frozen=True)
class Hour:
    """The expected demand in the hour from `start` on, in resources.

    :ivar allocated: the resources that are leased or offered already. The expected demand and the
        limits are at least this number.
    :ivar low80: the lower limit of the band in which 80 % of the hours are expected; `high80` is
        its upper limit. `low95` and `high95` limit the band of 95 %. None: too little history.
    :ivar missing: the number of resources by which the expected demand exceeds the capacity.
    """

    start: records.Moment
    expected: float
    allocated: float
    low80: float | None = None
    high80: float | None = None
    low95: float | None = None
    high95: float | None = None
    missing: float = 0.0


@dataclasses.dataclass(frozen=True)
class ForecastAnswer:
    """The answer to a ForecastQuery.

    :ivar learned_from: the beginning of the history that was used.
    :ivar past_error: the mean absolute error of forecasts for the next day in the last four weeks,
        in resources; None: the history is too short.
    :ivar refused: the resource-hours of refused requests in the history.
    :ivar short_at: the first hour with an expected demand above the capacity; None: there is none.
    :ivar may_be_short_at: the first hour with `high80` above the capacity; None: there is none.
    """

    pool: str
    method: str
    learned_from: records.Moment
    capacity: int
    hours: tuple[Hour, ...]
    past_error: float | None = None
    refused: float = 0.0
    short_at: records.Moment | None = None
    may_be_short_at: records.Moment | None = None


def with_missing(hours: tuple[Hour, ...], capacity: int) -> tuple[Hour, ...]:
    """Return the Hours with `missing` set."""
    return tuple(dataclasses.replace(hour, missing=max(0.0, hour.expected - capacity))
                 for hour in hours)


def first_above(hours: tuple[Hour, ...], name: str, capacity: int) -> records.Moment | None:
    """Return the start of the first Hour whose field `name` exceeds the capacity, or None."""
    return next((hour.start for hour in hours
                 if getattr(hour, name) is not None and getattr(hour, name) > capacity), None)
