# SPDX-License-Identifier: Apache-2.0
"""The kinds of events that a lease has: one table says all that sets one kind apart.

A new kind is a row here, and its action in ``manager/events/actions.py``. Code asks the table,
such as ``of(event.kind).task``, instead of comparing names.
"""
import dataclasses
import enum

from climate.domain import lifecycle

START = 'start_lease'
BEFORE_END = 'before_end_lease'
END = 'end_lease'
NOTIFY = 'notify'
PREPARE = 'prepare_lease'
CHECK = 'check_lease'
UPDATE = 'update_lease'
DELETE = 'delete_lease'
DROP_TRUST = 'drop_trust'
GIVE_BACK = 'give_back'
ACQUIRE = 'acquire_lease'
HEAL = 'heal_lease'


class Until(enum.Enum):
    """How long in the life of a lease an event has something to do."""

    OVER = 'until the lease is over or is to be deleted'
    DELETION_ORDERED = 'until the lease is to be deleted'
    DELETED = 'until the lease is deleted'
    ALWAYS = 'always'


class Releases(enum.Enum):
    """What the lease has less of after an event went well."""

    NOTHING = 'nothing'
    PART = 'a part'
    ALL = 'all'


class Retry(enum.Enum):
    """How an event that failed is tried again."""

    PAUSES = 'pauses that double'
    ACQUISITION = 'pauses that double; best effort: until its time is over'
    HEALING = 'the pause of healing, until the lease ends'


class GivenUp(enum.Enum):
    """What happens after the last try of an event failed."""

    ERROR = 'the lease says why; a person must look'
    HEALED = 'the lease is in error, and is healed until it ends'
    NOT_ACQUIRED = 'the lease is over: it got no resources'
    REAPED = 'the reaper drops the trust'


_ALL_STATES = frozenset(lifecycle.STATES)


@dataclasses.dataclass(frozen=True)
class Kind:
    """What is true of all events of one kind.

    :ivar does: what it does, as a sentence.
    :ivar task: the task that it does to its lease; None changes nothing of the lease.
    :ivar states: in the other states of the lease it is moot.
    :ivar until: it is moot after that, and closed where it is still to come.
    :ivar moot_during: it is moot while the lease has this task.
    :ivar shown: users see it among the events of the lease, and get news of it.
    :ivar told: the history of the lease tells how it went.
    :ivar only_told: it is nothing but news, so that whoever claims it finishes it at once.
    :ivar makes_first: before the first try of such events the cloud has nothing of the lease.
    :ivar moves_cloud: while it is due, what the cloud has of the lease is about to change.
    :ivar releases: what it releases of the allocations and resources of the lease by itself.
    :ivar may_leave_unneeded: after it the lease may have hosts, cleared or lent, in vain.
    :ivar says_all: its Outcome says all that it changes of the lease.
    :ivar retry: how it is tried again after a failure.
    :ivar given_up: what happens after its last try; None where it is never given up.
    :ivar given_up_reason: what users read then; None for the reason of the failure.
    """

    name: str
    does: str
    task: str | None = None
    states: frozenset[str] = _ALL_STATES
    until: Until = Until.OVER
    moot_during: str | None = None
    shown: bool = False
    told: bool = True
    only_told: bool = False
    makes_first: bool = False
    moves_cloud: bool = False
    releases: Releases = Releases.NOTHING
    may_leave_unneeded: bool = False
    says_all: bool = False
    retry: Retry = Retry.PAUSES
    given_up: GivenUp | None = GivenUp.ERROR
    given_up_reason: str | None = None

    @property
    def releases_all(self) -> bool:
        """True where the lease has nothing any more after it went well."""
        return self.releases is Releases.ALL


# In the order in which events of one moment come: those that give back before those that take;
# and a lease of an hour starts before it is told that its end is near.
KINDS = {kind.name: kind for kind in (
    Kind(
        DELETE, 'Takes back all that the lease has, and deletes the lease.', task='delete',
        until=Until.DELETED, moves_cloud=True, releases=Releases.ALL),
    Kind(
        END, 'Takes back all that the lease has.', task='end',
        states=frozenset({lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.ERROR}),
        until=Until.DELETION_ORDERED, shown=True, moves_cloud=True, releases=Releases.ALL,
        says_all=True),
    Kind(
        CHECK, 'Looks whether the cloud still has what the lease leases.',
        states=_ALL_STATES - {lifecycle.TERMINATED}, told=False),
    Kind(
        UPDATE, 'Gives a running lease what it was changed to.', task='update',
        states=frozenset({lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.ERROR}),
        moves_cloud=True, releases=Releases.PART, may_leave_unneeded=True),
    Kind(
        PREPARE, 'Prepares, before the start, what the lease leases.',
        states=frozenset({lifecycle.PENDING}), moot_during='start', makes_first=True,
        moves_cloud=True),
    Kind(
        START, 'Hands the resources of the lease to its project.', task='start',
        states=frozenset({lifecycle.PENDING}), shown=True, makes_first=True, moves_cloud=True,
        may_leave_unneeded=True, says_all=True, given_up=GivenUp.HEALED),
    Kind(
        HEAL, 'Starts a lease after all whose start was given up.', task='start',
        states=frozenset({lifecycle.PENDING, lifecycle.ERROR}), moves_cloud=True,
        may_leave_unneeded=True, retry=Retry.HEALING, given_up=None),
    Kind(
        ACQUIRE, 'Looks for the resources of a lease that has none yet.',
        states=frozenset({lifecycle.ACQUIRING}), makes_first=True, moves_cloud=True,
        retry=Retry.ACQUISITION, given_up=GivenUp.NOT_ACQUIRED),
    Kind(
        BEFORE_END, 'Does what its owner asked for before the end, and tells that the end is near.',
        shown=True),
    Kind(
        NOTIFY, 'Tells, at a moment that the owner chose, how the lease is.',
        until=Until.DELETION_ORDERED, shown=True, only_told=True),
    Kind(
        DROP_TRUST, 'Drops the trust with which Climate acts for the owner.',
        until=Until.ALWAYS, told=False, given_up=GivenUp.REAPED),
    Kind(
        GIVE_BACK, 'Returns hosts that were cleared for the lease, or lent to it, in vain.',
        until=Until.ALWAYS, moves_cloud=True, given_up_reason=(
            'Hosts that were cleared for it could not be returned: its history says to '
            'administrators which, and why.')),
)}

#: {name: its place among the events of one moment}.
RANK = {name: place for place, name in enumerate(KINDS)}
#: The kinds that users see.
SHOWN = tuple(kind.name for kind in KINDS.values() if kind.shown)
#: The kinds that have nothing to do any more once the lease is over.
CLOSED_WHEN_OVER = tuple(kind.name for kind in KINDS.values() if kind.until is Until.OVER)
#: The kinds that have nothing to do any more once the deletion of the lease is ordered.
CLOSED_BY_DELETION = tuple(kind.name for kind in KINDS.values()
                           if kind.until in (Until.OVER, Until.DELETION_ORDERED))


def of(name: str) -> Kind:
    """The Kind of that name."""
    return KINDS[name]


def as_csv() -> str:
    """The table for the pages for contributors."""
    rows = [('Event', 'What it does', 'Task', 'In these states', 'As long as it matters',
             'Users see it', 'Tried again after', 'Given up')]
    rows += [(f'``{kind.name}``', kind.does, kind.task or 'none',
              'all' if kind.states == _ALL_STATES else ', '.join(sorted(kind.states)),
              kind.until.value, 'yes' if kind.shown else 'no',
              'never: it is only told' if kind.only_told else kind.retry.value,
              'never' if kind.given_up is None or kind.only_told else kind.given_up.value)
             for kind in KINDS.values()]
    return '\n'.join(','.join(f'"{cell}"' for cell in row) for row in rows) + '\n'
