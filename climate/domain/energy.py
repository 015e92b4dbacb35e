# SPDX-License-Identifier: Apache-2.0
"""How long resources slept, and how much energy that saved. Pure."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
import math

Moment = datetime.datetime

_HOUR = datetime.timedelta(hours=1)
# More watts than any machine draws are a mistake, or would make the sums meaningless.
_MOST_WATTS = 1_000_000


@dataclasses.dataclass(frozen=True)
class EnergyQuery:
    """A question for the sleep of resources between two moments.

    :ivar pool: None: all pools whose resources can sleep.
    """

    start: Moment
    end: Moment
    pool: str | None = None


@dataclasses.dataclass(frozen=True)
class Line:
    """One resource: whether it sleeps, and how long it slept.

    :ivar state: one of ``sleep.STATES``.
    :ivar since: when it came into that state; None: it has been awake since it was enrolled.
    :ivar watts: how much less it draws asleep; None: that is not known.
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
        """The energy that its sleep saved; None: that is not known."""
        return None if self.watts is None else self.hours_asleep * self.watts / 1000


@dataclasses.dataclass(frozen=True)
class EnergyAnswer:
    """The answer to a EnergyQuery: a Line for each resource, by pool and id.

    :ivar end: the end of the query, or now if that is earlier.
    """

    start: Moment
    end: Moment
    lines: tuple[Line, ...]


def hours(spans: Iterable[tuple[Moment, Moment | None]], start: Moment, end: Moment) -> float:
    """Return how many hours between two moments are in spans that do not overlap.

    :param spans: pairs (start, end); an end of None: it goes on.
    """
    total = datetime.timedelta()
    for begin, until in spans:
        total += max(min(until or end, end) - max(begin, start), datetime.timedelta())
    return total / _HOUR


def watts(properties: Mapping[str, object], name: str, default: float) -> float | None:
    """Return how much less a resource draws asleep than awake; None: that is not known.

    :param name: the property that says so.
    :param default: what counts without that property; 0: it is not known.
    """
    try:
        found = float(str(properties[name])) if name in properties else default
    except ValueError:
        return None
    return found if math.isfinite(found) and 0 < found <= _MOST_WATTS else None
