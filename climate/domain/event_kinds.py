# SPDX-License-Identifier: Apache-2.0
"""The table of event kinds: a row has everything that distinguishes a kind.

A new kind needs a row here and an action in ``manager/events/actions.py``. Code asks the table,
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
STAGE = 'stage_lease'
CHECK = 'check_lease'
UPDATE = 'update_lease'
DELETE = 'delete_lease'
DROP_TRUST = 'drop_trust'
GIVE_BACK = 'give_back'
ACQUIRE = 'acquire_lease'
HEAL = 'heal_lease'
RECLAIM = 'reclaim_lease'
WAKE = 'wake_lease'


class Until(enum.Enum):
    """The point in the life of a lease up to which an event has something to do."""

    OVER = 'until the lease is over or is to be deleted'
    DELETION_ORDERED = 'until the lease is to be deleted'
    DELETED = 'until the lease is deleted'
    ALWAYS = 'always'


class Releases(enum.Enum):
    """The amount of resources that a lease releases when an event succeeds."""

    NOTHING = 'nothing'
    PART = 'a part'
    ALL = 'all'


class Retry(enum.Enum):
    """The way in which an event is tried again after a failure."""

    PAUSES = 'pauses that double'
    ACQUISITION = 'pauses that double; best effort: until its time is over'
    HEALING = 'a constant pause, until the lease ends'


class Lane(enum.Enum):
    """The workers of a manager that carry out an event. Each lane has its own workers."""

    PROMPT = 'starts, ends and all else'
    AHEAD = 'preparations of a start'
    TRIES = 'tries to acquire resources'


class AfterLastTry(enum.Enum):
    """The consequence of the failure of the last try of an event."""

    ERROR = 'the lease shows the reason; a person must act'
    HEALED = 'the lease is in error, and the event is retried until the lease ends'
    GOES_ON = 'the lease shows the reason, and the event is retried until it succeeds'
    NOT_ACQUIRED = 'the lease is over: it got no resources'
    REAPED = 'the reaper drops the trust'
    LEFT_TO_START = 'the start does it'


_ALL_STATES = frozenset(lifecycle.STATES)


@dataclasses.dataclass(frozen=True)
class EventKind:
    """The properties of all events of one kind.

    :ivar does: a sentence about the effect of the event.
    :ivar task: the task by which the state of its lease changes; None: the state does not change.
    :ivar quiet: users do not see the task: the lease is listed as it is, and can be changed, while
        the event is carried out.
    :ivar gives_way: if another event of the lease will be tried again, this one shows no task and
        changes nothing.
    :ivar states: the states of the lease in which the event can act; it is moot in the others.
    :ivar until: when it becomes moot; an event that is still open then is closed.
    :ivar moot_during: the event is moot while the lease has this task.
    :ivar shown: users see the event in the lease, and notifications report it.
    :ivar told: the history of the lease reports its result.
    :ivar may_make_images: it may wait for images of servers, which takes long.
    :ivar lane: the workers that carry it out.
    :ivar only_told: it is only a notification. The manager that claims it finishes it at once.
    :ivar makes_first: before its first try the cloud has nothing of the lease.
    :ivar moves_cloud: while it is due, the objects of the lease in the cloud may change.
    :ivar releases: how much it releases of the allocations and resources of the lease.
    :ivar may_leave_unneeded: after it the lease may have cleared or lent hosts that it does not
        need.
    :ivar says_all: its Outcome names every change of the lease.
    :ivar retry: how it is tried again after a failure.
    :ivar given_up: what happens after its last try; None: it is never given up.
    :ivar given_up_reason: the reason that users read then; None: the reason of the failure.
    """

    name: str
    does: str
    task: str | None = None
    quiet: bool = False
    gives_way: bool = False
    states: frozenset[str] = _ALL_STATES
    until: Until = Until.OVER
    moot_during: str | None = None
    shown: bool = False
    told: bool = True
    may_make_images: bool = False
    lane: Lane = Lane.PROMPT
    only_told: bool = False
    makes_first: bool = False
    moves_cloud: bool = False
    releases: Releases = Releases.NOTHING
    may_leave_unneeded: bool = False
    says_all: bool = False
    retry: Retry = Retry.PAUSES
    given_up: AfterLastTry | None = AfterLastTry.ERROR
    given_up_reason: str | None = None

    def shown_task(self, other: str | None = None) -> str | None:
        """Return the task that users see while the event is carried out; None: they see none.

        :param other: the task that the lease shows when the event is claimed.
        """
        if self.quiet or (self.gives_way and other not in (None, self.task)):
            return None
        return self.task

    @property
    def releases_all(self) -> bool:
        """True if the lease has no resources after the event succeeded."""
        return self.releases is Releases.ALL


# The rows are in the order of events at the same moment: releases come before starts, and a lease
# starts before its owner is notified of its near end.
KINDS = {kind.name: kind for kind in (
    EventKind(
        DELETE, 'Releases all resources of the lease, and deletes the lease.', task='delete',
        until=Until.DELETED, may_make_images=True, moves_cloud=True, releases=Releases.ALL,
        given_up=AfterLastTry.GOES_ON),
    EventKind(
        END, 'Releases all resources of the lease.', task='end',
        states=frozenset({lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.ERROR}),
        until=Until.DELETION_ORDERED, shown=True, may_make_images=True, moves_cloud=True,
        releases=Releases.ALL, says_all=True, given_up=AfterLastTry.GOES_ON),
    EventKind(
        CHECK, 'Checks whether the targets of the lease still exist.',
        states=_ALL_STATES - {lifecycle.TERMINATED}, told=False),
    EventKind(
        UPDATE, 'Applies a change of the lease to its running reservations.', task='update',
        states=frozenset({lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.ERROR}),
        may_make_images=True, moves_cloud=True, releases=Releases.PART, may_leave_unneeded=True,
        given_up=AfterLastTry.HEALED),
    EventKind(
        RECLAIM, 'Reclaims an idle lease, or a part of it, unless it is in use.',
        task='reclaim', gives_way=True, states=frozenset({lifecycle.ACTIVE, lifecycle.ERROR}),
        moves_cloud=True, releases=Releases.PART, may_leave_unneeded=True),
    EventKind(
        WAKE, 'Wakes the sleeping resources of the lease, early enough before its start.',
        states=frozenset({lifecycle.PENDING}), moot_during='start', told=False,
        given_up=AfterLastTry.LEFT_TO_START),
    EventKind(
        PREPARE, 'Prepares the targets of the lease before its start.',
        states=frozenset({lifecycle.PENDING}), moot_during='start', makes_first=True,
        moves_cloud=True),
    EventKind(
        STAGE, 'Creates objects that the start of the lease needs and nobody can use before.',
        states=frozenset({lifecycle.PENDING}), moot_during='start', told=False, lane=Lane.AHEAD,
        makes_first=True, moves_cloud=True, given_up=AfterLastTry.LEFT_TO_START),
    EventKind(
        START, 'Gives the resources of the lease to its project.', task='start',
        states=frozenset({lifecycle.PENDING}), shown=True, makes_first=True, moves_cloud=True,
        may_leave_unneeded=True, says_all=True, given_up=AfterLastTry.HEALED),
    EventKind(
        HEAL, 'Tries the start or a change of a lease again after it was given up.', task='start',
        quiet=True, states=frozenset({lifecycle.PENDING, lifecycle.ERROR}), moves_cloud=True,
        releases=Releases.PART, may_leave_unneeded=True, retry=Retry.HEALING, given_up=None),
    EventKind(
        ACQUIRE, 'Looks for resources for a lease that has none yet.',
        states=frozenset({lifecycle.ACQUIRING}), lane=Lane.TRIES, makes_first=True,
        moves_cloud=True, retry=Retry.ACQUISITION, given_up=AfterLastTry.NOT_ACQUIRED),
    EventKind(
        BEFORE_END, 'Carries out the action before the end, and notifies that the end is near.',
        shown=True, may_make_images=True),
    EventKind(
        NOTIFY, 'Notifies of the lease at a moment that its owner chose.',
        until=Until.DELETION_ORDERED, shown=True, only_told=True),
    EventKind(
        DROP_TRUST, 'Drops the trust with which Climate acts for the owner.',
        until=Until.ALWAYS, told=False, given_up=AfterLastTry.REAPED),
    EventKind(
        GIVE_BACK, 'Returns cleared and lent hosts that the lease does not need.',
        until=Until.ALWAYS, moves_cloud=True, given_up=AfterLastTry.GOES_ON, given_up_reason=(
            'Hosts that were cleared for it could not be returned. Administrators see in its '
            'history which ones, and why.')),
)}

#: {name: its place among the events at the same moment}.
RANK = {name: place for place, name in enumerate(KINDS)}
#: {Lane: the kinds that run there}, the first ones first.
LANES = {lane: tuple(kind.name for kind in KINDS.values() if kind.lane is lane) for lane in Lane}
#: The kinds that users see.
SHOWN = tuple(kind.name for kind in KINDS.values() if kind.shown)
#: The kinds of events that are closed when the lease is over.
CLOSED_WHEN_OVER = tuple(kind.name for kind in KINDS.values() if kind.until is Until.OVER)
#: The kinds of events that are closed when the deletion of the lease is ordered.
CLOSED_BY_DELETION = tuple(kind.name for kind in KINDS.values()
                           if kind.until in (Until.OVER, Until.DELETION_ORDERED))


def of(name: str) -> EventKind:
    """Return the EventKind of that name."""
    return KINDS[name]


def as_csv() -> str:
    """Return the table as CSV, for the contributor pages."""
    rows = [('Event', 'What it does', 'Task', 'In these states', 'Until',
             'Users see it', 'Tried again after', 'Given up')]
    rows += [(f'``{kind.name}``', kind.does, kind.task or 'none',
              'all' if kind.states == _ALL_STATES else ', '.join(sorted(kind.states)),
              kind.until.value, 'yes' if kind.shown else 'no',
              'never: it is only a notification' if kind.only_told else kind.retry.value,
              'never' if kind.given_up is None or kind.only_told else kind.given_up.value)
             for kind in KINDS.values()]
    return '\n'.join(','.join(f'"{cell}"' for cell in row) for row in rows) + '\n'
