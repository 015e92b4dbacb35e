# SPDX-License-Identifier: Apache-2.0
"""The hours for which resources slept, and the energy that their sleep saved."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
import math

Moment = datetime.datetime

_HOUR = datetime.timedelta(hours=1)
# A larger value is a mistake, because no machine draws more power.
_MOST_WATTS = 1_000_000


@dataclasses.dataclass(frozen=True)
class EnergyQuery:
    """A query for the sleep of resources between two moments.

    :ivar pool: None: all pools whose resources can sleep.
    """

    start: Moment
    end: Moment
    pool: str | None = None


@dataclasses.dataclass(frozen=True)
class Line:
    """The sleep of one resource.

    :ivar state: one of ``sleep.STATES``.
    :ivar since: when the state began; None: the resource has been awake since it was enrolled.
    :ivar watts: the power that the resource saves while it sleeps; None: not known.
    """

    pool: str
    resource_id: int
    name: str
    state: str
    since: Moment | None
    hours_asleep: float
    watts: float | None

    @property
    def kwh_saved(self) -> float | None:
        """The energy that the sleep saved; None: not known."""
        return None if self.watts is None else self.hours_asleep * self.watts / 1000


@dataclasses.dataclass(frozen=True)
class EnergyAnswer:
    """The answer to an EnergyQuery: a Line for each resource, by pool and id.

    :ivar end: the end of the query, or now if that is earlier.
    """

    start: Moment
    end: Moment
    lines: tuple[Line, ...]


def hours(spans: Iterable[tuple[Moment, Moment | None]], start: Moment, end: Moment) -> float:
    """Return the hours of sleep between two moments.

    :param spans: pairs (start, end) without overlaps; the end is None while the resource sleeps.
    """
    total = datetime.timedelta()
    for begin, until in spans:
        total += max(min(until or end, end) - max(begin, start), datetime.timedelta())
    return total / _HOUR


def watts(properties: Mapping[str, object], name: str, default: float) -> float | None:
    """Return the power that a resource saves while it sleeps; None: not known.

    :param name: the name of the property with the number of watts.
    :param default: the number for resources without the property; 0: not known.
    """
    try:
        number = float(str(properties[name])) if name in properties else default
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 < number <= _MOST_WATTS else None
