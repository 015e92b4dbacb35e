# SPDX-License-Identifier: Apache-2.0
"""The latest moment until which a lease can be extended, and the obstacles after it."""
from collections.abc import Callable
import dataclasses
import datetime

from climate import moments
from climate.domain import texts

Moment = datetime.datetime

#: How far beyond the present end the latest end is searched.
AHEAD = datetime.timedelta(days=366)
#: The latest end is a moment with full seconds, as requests have them.
STEP = datetime.timedelta(seconds=1)
# Requests may name no later moment, not even after the search for what prevents a later end.
_LAST = datetime.datetime(moments.YEARS[-1], 12, 31, tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """An allocation of a resource of the lease, which prevents a later end.

    :ivar kind: one of ``timeline.KINDS``, from the view of the project of the lease.
    :ivar lease_id: the lease that has the allocation; None: an offer, a maintenance or an outage.
    """

    resource_id: int
    kind: str
    start: Moment
    lease_id: str | None = None
    lease_name: str | None = None


@dataclasses.dataclass(frozen=True)
class LatestEnd:
    """The answer to the question how far a lease can be extended.

    :ivar end: the latest end that a change would accept now; it is the present end if the lease
        cannot be extended at all.
    :ivar limited: False if `end` is only the end of the search, AHEAD of the present end.
    :ivar reason: why a later end is refused; None unless `limited`.
    :ivar rule: the name of the rule of extensions that refuses a later end, or None.
    :ivar opens_at: the moment from which this rule allows extensions, if it does not now.
    """

    end: Moment
    limited: bool
    reason: texts.Text | None = None
    obstacles: tuple[Obstacle, ...] = ()
    rule: str | None = None
    opens_at: Moment | None = None


def horizon(end: Moment) -> Moment | None:
    """Return the moment up to which an end later than `end` is searched; None: there is none."""
    if end >= _LAST:
        return None
    return _LAST if end > _LAST - AHEAD else end + AHEAD


def last_fit(fits: Callable[[Moment], bool], known: Moment, refused: Moment) -> Moment:
    """Return the last full second that fits, or `known` if no later full second fits.

    :param fits: returns whether a moment fits; no moment after one that does not fit may fit.
    :param known: a moment that fits.
    :param refused: a later moment that does not fit.
    """
    first = known.replace(microsecond=0)
    good, bad = 0, -((first - refused) // STEP)
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(first + middle * STEP):
            good = middle
        else:
            bad = middle
    return max(known, first + good * STEP)
