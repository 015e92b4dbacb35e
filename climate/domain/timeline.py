# SPDX-License-Identifier: Apache-2.0
"""The timeline of a pool: its resources, and bars for the leases on them."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import typing

from climate.domain import texts

#: The kinds of bars: a lease of the caller's project, one of another project, an offer that is
#: held, a resource that has maintenance, is out of service or asleep, and several of these that are
#: too short to be distinguished.
OWN = 'own'
OTHERS = 'others'
OFFER = 'offer'
MAINTENANCE = 'maintenance'
OUT_OF_ORDER = 'out_of_order'
ASLEEP = 'asleep'
SEVERAL = 'several'
KINDS = (OWN, OTHERS, OFFER, MAINTENANCE, OUT_OF_ORDER, ASLEEP, SEVERAL)
#: The maximum number of waiting leases of a timeline.
MOST_WAITING = 100
#: The maximum number of bars of a timeline.
MOST_BARS = 60_000
#: If there are more bars than ALL_NAMED, only those that last NAMED_RESOLUTIONS resolutions have
#: their leases: on a shorter bar no name can be read.
ALL_NAMED = 2_000
NAMED_RESOLUTIONS = 20


@dataclasses.dataclass(frozen=True)
class TimelineQuery:
    """A query for a timeline.

    :ivar criteria: JSON text of criteria; '': all resources of the pool.
    :ivar hidden: whether the criteria may name resources and private properties.
    :ivar project_id: the project of the caller.
    :ivar everybody: whether leases of other projects are named, not only shown as bars.
    :ivar resolution: in seconds; bars that together are shorter are one bar, and of many
        bars only those that are much longer have their leases. 0: every bar is shown, with its
        lease.
    """

    pool: str
    start: datetime.datetime
    end: datetime.datetime
    criteria: str = ''
    hidden: bool = False
    project_id: str | None = None
    everybody: bool = False
    resolution: int = 0


@dataclasses.dataclass(frozen=True)
class TimelineResource:
    """A resource in a timeline.

    :ivar properties: {name: text} of the properties that everybody may see.
    """

    id: int
    name: str
    reservable: bool
    properties: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class ShownLease:
    """A lease in a timeline."""

    id: str
    name: str
    project_id: str


@dataclasses.dataclass(frozen=True)
class WaitingLease:
    """A lease that waits for resources of the pool.

    :ivar position: its position among the leases in the wait queue that need this pool, from 1 on;
        None: it waits outside the queue, as a best effort does.
    :ivar since: when it was requested.
    :ivar acquire_type: how it gets its resources.
    :ivar wanted: the minimum number of resources, or parts of resources, that it needs of the pool.
    :ivar own: whether it belongs to the caller's project.
    :ivar lease: the lease, if it may be seen; `reason` is why it waits, and is given only then.
    """

    position: int | None
    since: datetime.datetime
    acquire_type: str
    wanted: int
    own: bool
    lease: ShownLease | None = None
    reason: texts.Text | None = None


@dataclasses.dataclass(frozen=True)
class Bar:
    """The use of a resource from one second to another.

    :ivar resource_id: the id of the resource.
    :ivar kind: one of KINDS.
    :ivar status: the status of the lease, if it may be seen.
    :ivar lease_id: the lease, if it may be seen.
    """

    resource_id: int
    start: int
    end: int
    kind: str
    status: str | None = None
    lease_id: str | None = None


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The answer to a TimelineQuery.

    The bars are columns of equal length, because there are many. They are in the order of the
    resources and of their starts.

    :ivar starts: in seconds after the start of the query, which may be negative; so are `ends`.
    :ivar lanes: indexes into `resources`.
    :ivar kinds: indexes into KINDS.
    :ivar statuses: indexes into `words`; -1: none.
    :ivar of_leases: indexes into `leases`; -1: none.
    :ivar words: the statuses of leases that occur.
    :ivar waiting: the first MOST_WAITING leases that wait for resources of the pool, those in the
        wait queue first and in its order; `more_wait`: there are others.
    """

    start: datetime.datetime
    end: datetime.datetime
    now: datetime.datetime
    resources: tuple[TimelineResource, ...]
    leases: tuple[ShownLease, ...]
    lanes: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    kinds: tuple[int, ...] = ()
    statuses: tuple[int, ...] = ()
    of_leases: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    waiting: tuple[WaitingLease, ...] = ()
    more_wait: bool = False


def merged(bars: Iterable[Bar], resolution: int) -> list[Bar]:
    """Merge bars of one resource that follow each other and are shorter than a resolution.

    Bars become one if they are shorter than the resolution together with the gaps between them. So
    a picture with pixels of that length shows the same.

    :param bars: ordered by resource and start.
    :param resolution: in seconds.
    """
    result: list[Bar] = []
    for bar in bars:
        last = result[-1] if result else None
        if (last is not None and last.resource_id == bar.resource_id
                and max(last.end, bar.end) - last.start < resolution):
            same = (last.lease_id, last.kind) == (bar.lease_id, bar.kind)
            result[-1] = Bar(last.resource_id, last.start, max(last.end, bar.end),
                             last.kind if same else SEVERAL, last.status if same else None,
                             last.lease_id if same else None)
        else:
            result.append(bar)
    return result


def named(bars: Sequence[Bar], resolution: int, all_named: int = ALL_NAMED) -> list[str]:
    """Return the ids of the leases that are named, in the order of their bars.

    These are all leases if there are few bars, otherwise those with a bar that is long enough for a
    name.

    :param all_named: the largest number of bars that are few.
    """
    least = NAMED_RESOLUTIONS * resolution if len(bars) > all_named else 0
    return [*dict.fromkeys(bar.lease_id for bar in bars
                           if bar.lease_id is not None and bar.end - bar.start >= least)]


def columns(bars: Iterable[Bar], lanes: Mapping[int, int], leases: Mapping[str, int],
            epoch: int) -> dict[str, tuple[typing.Any, ...]]:
    """Return the columns of a Timeline, by the names of its fields.

    :param lanes: {resource id: its index}.
    :param leases: {lease id: its index} of those that are named.
    :param epoch: the second from which moments are counted.
    """
    kinds = {kind: place for place, kind in enumerate(KINDS)}
    words: dict[str | None, int] = {None: -1}
    rows = [(lanes[bar.resource_id], bar.start - epoch, bar.end - epoch, kinds[bar.kind],
             words.setdefault(bar.status, len(words) - 1), leases.get(bar.lease_id or '', -1))
            for bar in bars]
    names = ('lanes', 'starts', 'ends', 'kinds', 'statuses', 'of_leases')
    found = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    return {**found, 'words': tuple(word for word in words if word is not None)}
