# SPDX-License-Identifier: Apache-2.0
"""The timeline of a pool as a picture shows it: its resources, and bars for whoever has them."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime

#: The kinds of bars: a lease that the caller may see, a lease that he may not, an offer that is
#: held, a resource that is out of order or asleep, and several of these, too short to tell apart.
LEASE = 'lease'
TAKEN = 'taken'
OFFER = 'offer'
OUT_OF_ORDER = 'out_of_order'
ASLEEP = 'asleep'
SEVERAL = 'several'
KINDS = (LEASE, TAKEN, OFFER, OUT_OF_ORDER, ASLEEP, SEVERAL)
#: How many bars a timeline has at most.
MOST_BARS = 60_000


@dataclasses.dataclass(frozen=True)
class Query:
    """A question for a timeline.

    :ivar criteria: JSON text of criteria; '': all resources of the pool.
    :ivar hidden: whether the criteria may name resources and private properties.
    :ivar project_id: only leases of this project are named; None: all are.
    :ivar resolution: in seconds; bars that together are not longer may be one bar. 0: none are.
    """

    pool: str
    start: datetime.datetime
    end: datetime.datetime
    criteria: str = ''
    hidden: bool = False
    project_id: str | None = None
    resolution: int = 0


@dataclasses.dataclass(frozen=True)
class Lane:
    """A resource in a timeline.

    :ivar properties: {name: text} of the properties that everybody may see.
    """

    id: int
    name: str
    reservable: bool
    properties: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Shown:
    """What a timeline says of a lease."""

    id: str
    name: str
    project_id: str
    state: str
    task: str | None
    start: datetime.datetime
    degraded: bool


@dataclasses.dataclass(frozen=True)
class Bar:
    """Somebody has a resource from one second to another.

    :ivar resource_id: the id of the resource.
    :ivar kind: one of KINDS.
    :ivar lease_id: the lease; None unless the kind is LEASE.
    """

    resource_id: int
    start: int
    end: int
    kind: str
    lease_id: str | None = None


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The answer to a Query.

    The bars are columns of equal length, because there are many. They are in the order of the
    resources and of their starts.

    :ivar starts: in seconds after the start of the query, which may be negative; so are `ends`.
    :ivar lanes: indexes into `resources`.
    :ivar kinds: indexes into KINDS.
    :ivar of_leases: indexes into `leases`; -1: none.
    """

    start: datetime.datetime
    end: datetime.datetime
    now: datetime.datetime
    resources: tuple[Lane, ...]
    leases: tuple[Shown, ...]
    lanes: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    kinds: tuple[int, ...] = ()
    of_leases: tuple[int, ...] = ()


def merged(bars: Iterable[Bar], resolution: int) -> list[Bar]:
    """Merge bars of one resource that follow each other and are shorter than a resolution.

    Two bars become one if both of them and what is between them are shorter than the resolution,
    so a picture with pixels of that length shows the same.

    :param bars: ordered by resource and start.
    :param resolution: in seconds.
    """
    found: list[Bar] = []
    for bar in bars:
        last = found[-1] if found else None
        if (last is not None and last.resource_id == bar.resource_id
                and max(last.end, bar.end) - last.start < resolution):
            same = last.lease_id == bar.lease_id and last.kind == bar.kind
            found[-1] = Bar(last.resource_id, last.start, max(last.end, bar.end),
                            last.kind if same else SEVERAL, last.lease_id if same else None)
        else:
            found.append(bar)
    return found


def columns(bars: Iterable[Bar], lanes: Mapping[int, int], leases: Mapping[str, int],
            epoch: int) -> dict[str, tuple[int, ...]]:
    """Return the columns of a Timeline.

    :param lanes: {resource id: its index}.
    :param leases: {lease id: its index}.
    :param epoch: the second from which moments are counted.
    """
    kinds = {kind: place for place, kind in enumerate(KINDS)}
    rows = [(lanes[bar.resource_id], bar.start - epoch, bar.end - epoch, kinds[bar.kind],
             leases.get(bar.lease_id or '', -1)) for bar in bars]
    names = ('lanes', 'starts', 'ends', 'kinds', 'of_leases')
    return dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
