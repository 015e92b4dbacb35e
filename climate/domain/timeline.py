# SPDX-License-Identifier: Apache-2.0
"""The timeline of a pool: its resources, and bars for the leases on them."""
from collections.abc import Mapping
import dataclasses
import datetime

from climate.domain import texts

#: The kinds of bars: a lease of the caller's project, a lease of another project, an offer, a
#: maintenance, a resource that is out of service, a resource that sleeps, and several bars that are
#: too short to be shown one by one.
OWN = 'own'
OTHERS = 'others'
OFFER = 'offer'
MAINTENANCE = 'maintenance'
OUT_OF_ORDER = 'out_of_order'
ASLEEP = 'asleep'
SEVERAL = 'several'
KINDS = (OWN, OTHERS, OFFER, MAINTENANCE, OUT_OF_ORDER, ASLEEP, SEVERAL)
#: The kinds of bars that lie behind the other bars: they may overlap leases.
ABSENCES = (MAINTENANCE, OUT_OF_ORDER, ASLEEP)
#: The maximum number of waiting leases of a timeline.
MOST_WAITING = 100
#: The maximum number of bars of a timeline.
MOST_BARS = 150_000
#: If a timeline has more than ALL_NAMED bars, bars that are shorter than NAMED_RESOLUTIONS
#: resolutions do not name their leases, because a name would not be readable there.
ALL_NAMED = 2_000
NAMED_RESOLUTIONS = 20


@dataclasses.dataclass(frozen=True)
class TimelineQuery:
    """A query for a timeline.

    :ivar criteria: the JSON text of criteria; '': all resources of the pool.
    :ivar hidden: whether the criteria may name resources and private properties.
    :ivar project_id: the project of the caller.
    :ivar user_id: the caller; None: leases that are shared with a single user are not named.
    :ivar everybody: whether bars name the leases of other projects too.
    :ivar resolution: the resolution in seconds. Shorter bars that follow each other are merged, and
        short bars do not name their leases. 0: nothing is merged, and each bar names its lease.
    """

    pool: str
    start: datetime.datetime
    end: datetime.datetime
    criteria: str = ''
    hidden: bool = False
    project_id: str | None = None
    everybody: bool = False
    resolution: int = 0
    user_id: str | None = None


@dataclasses.dataclass(frozen=True)
class TimelineResource:
    """A resource in a timeline.

    :ivar properties: {name: text} of the public properties.
    """

    id: int
    name: str
    reservable: bool
    properties: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class ShownLease:
    """A lease in a timeline; the names of the owner and the project are None if not known."""

    id: str
    name: str
    project_id: str
    user_id: str = ''
    user_name: str | None = None
    project_name: str | None = None


@dataclasses.dataclass(frozen=True)
class WaitingLease:
    """A lease that waits for resources of the pool.

    :ivar position: the position among the leases in the wait queue that need this pool, from 1 on;
        None: the lease waits outside the queue, as a best effort does.
    :ivar since: when the lease was requested.
    :ivar wanted: the minimum number of resources, or parts of resources, that the lease needs of
        the pool.
    :ivar own: whether the lease belongs to the caller's project.
    :ivar lease: the lease, and `reason` why it waits; None if the caller may not see the lease.
    """

    position: int | None
    since: datetime.datetime
    acquire_type: str
    wanted: int
    own: bool
    lease: ShownLease | None = None
    reason: texts.Text | None = None


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The answer to a TimelineQuery.

    Six columns of equal length have the values of the bars, because there are many bars. The bars
    are sorted by resource and start.

    :ivar lanes: indexes into `resources`.
    :ivar starts: seconds after the start of the query; negative for an earlier start.
    :ivar ends: seconds after the start of the query; None: the end is unknown.
    :ivar kinds: indexes into KINDS.
    :ivar statuses: indexes into `words`; -1: no status.
    :ivar of_leases: indexes into `leases`; -1: no lease.
    :ivar words: the statuses of the leases of the bars.
    :ivar waiting: the first MOST_WAITING leases that wait for resources of the pool. Leases in the
        wait queue come first, in the order of the queue.
    :ivar more_wait: whether more leases wait.
    :ivar changes: the number of changes in the database before the timeline was read; None: an
        earlier release did not count them.
    :ivar until: the first moment at which the timeline differs although the database does not;
        None: there is none.
    """

    start: datetime.datetime
    end: datetime.datetime
    now: datetime.datetime
    resources: tuple[TimelineResource, ...]
    leases: tuple[ShownLease, ...]
    lanes: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    ends: tuple[int | None, ...] = ()
    kinds: tuple[int, ...] = ()
    statuses: tuple[int, ...] = ()
    of_leases: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    waiting: tuple[WaitingLease, ...] = ()
    more_wait: bool = False
    changes: int | None = None
    until: datetime.datetime | None = None
