# SPDX-License-Identifier: Apache-2.0
"""The table of event kinds. A row has all properties in which a kind differs from the others.

A new kind needs a row here and an action in ``manager/events/actions.py``. Code reads the table,
as in ``of(event.kind).task``, and does not compare names.
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
EXTEND = 'extend_lease'
SHARE = 'share_lease'


class Until(enum.Enum):
    """The point in the life of a lease after which an event has nothing to do."""

    OVER = 'until the lease is over or its deletion is ordered'
    DELETION_ORDERED = 'until the deletion of the lease is ordered'
    DELETED = 'until the lease is deleted'
    ALWAYS = 'always'


class Releases(enum.Enum):
    """The part of its resources that a lease releases when an event succeeds."""

    NOTHING = 'nothing'
    PART = 'a part'
    ALL = 'all'


class Retry(enum.Enum):
    """The pauses between a failure of an event and its next try."""

    PAUSES = 'pauses that double'
    ACQUISITION = 'pauses that double; a best effort has no limit of tries'
    HEALING = 'pauses that grow, until the lease ends'


class Lane(enum.Enum):
    """A group of workers of a manager, which carries out only the events of its kinds."""

    PROMPT = 'starts, ends and all other kinds'
    AHEAD = 'preparations of a start'
    TRIES = 'tries to acquire resources'


class AfterLastTry(enum.Enum):
    """The consequence for a lease if the last try of an event fails."""

    ERROR = 'the lease shows the reason; a person must act'
    HEALED = 'the lease is in error, and the event is retried until the lease ends'
    GOES_ON = 'the lease shows the reason, and the event is retried until it succeeds'
    NOT_ACQUIRED = 'the lease is over: it got no resources'
    REAPED = 'a periodic task deletes the trust'
    LEFT_TO_START = 'the start of the lease does it'
    NOT_EXTENDED = 'the lease ends at its present end'


_ALL_STATES = frozenset(lifecycle.STATES)


@dataclasses.dataclass(frozen=True)
class EventKind:
    """The properties of all events of one kind.

    :ivar does: a sentence about the effect of the event.
    :ivar task: the task that changes the state of the lease; None: the state does not change.
    :ivar quiet: users do not see the task. While the event is carried out, the lease is listed with
        its state, and it can be changed.
    :ivar gives_way: if the lease shows the task of another event that will be tried again, this
        event shows no task and changes nothing.
    :ivar states: the states of the lease in which the event has something to do.
    :ivar until: the point at which the event is closed, because it has nothing to do any more.
    :ivar moot_during: the task of the lease during which the event has nothing to do.
    :ivar shown: users see the event in the lease, and notifications report it.
    :ivar in_history: the history of the lease has the result of the event.
    :ivar may_make_images: the event may wait for images of servers, which takes long.
    :ivar lane: the workers that carry out the event.
    :ivar only_notifies: the event has no action. The manager that claims the event writes its
        notification and finishes it.
    :ivar creates_first: before the first try of such an event, the lease has no objects in the
        cloud.
    :ivar moves_cloud: while the event is due, the objects of the lease in the cloud may change.
    :ivar releases: the part of the resources of the lease that the event releases.
    :ivar may_leave_unneeded: after the event the lease may have cleared or lent hosts that it does
        not need.
    :ivar reports_all_changes: the Outcome of the event has all changes of the lease, so the lease
        need not be read again.
    :ivar retry: the pauses between the tries after a failure.
    :ivar given_up: the consequence if the last try fails; None: there is no last try.
    :ivar given_up_reason: the reason that users read if the last try fails; None: the reason of the
        failure.
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
    in_history: bool = True
    may_make_images: bool = False
    lane: Lane = Lane.PROMPT
    only_notifies: bool = False
    creates_first: bool = False
    moves_cloud: bool = False
    releases: Releases = Releases.NOTHING
    may_leave_unneeded: bool = False
    reports_all_changes: bool = False
    retry: Retry = Retry.PAUSES
    given_up: AfterLastTry | None = AfterLastTry.ERROR
    given_up_reason: str | None = None

    def shown_task(self, present: str | None = None) -> str | None:
        """Return the task that users see while the event is carried out; None: they see none.

        :param present: the task that the lease shows when the event is claimed.
        """
        if self.quiet or (self.gives_way and present not in (None, self.task)):
            return None
        return self.task

    @property
    def releases_all(self) -> bool:
        """True if the lease has no resources after the event has succeeded."""
        return self.releases is Releases.ALL


# Events at the same moment are carried out in the order of the rows: releases come before starts,
# and a lease starts before its owner is notified of its end.
KINDS = {kind.name: kind for kind in (
    EventKind(
        DELETE, 'Releases all resources of the lease, and deletes the lease.', task='delete',
        until=Until.DELETED, may_make_images=True, moves_cloud=True, releases=Releases.ALL,
        given_up=AfterLastTry.GOES_ON),
    EventKind(
        END, 'Releases all resources of the lease.', task='end',
        states=frozenset({lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.ERROR}),
        until=Until.DELETION_ORDERED, shown=True, may_make_images=True, moves_cloud=True,
        releases=Releases.ALL, reports_all_changes=True, given_up=AfterLastTry.GOES_ON),
    EventKind(
        CHECK, 'Checks whether the targets of the lease still exist.',
        states=_ALL_STATES - {lifecycle.TERMINATED}, in_history=False),
    EventKind(
        UPDATE, 'Applies a change of the lease to its running reservations.', task='update',
        states=frozenset({lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.ERROR}),
        may_make_images=True, moves_cloud=True, releases=Releases.PART, may_leave_unneeded=True,
        given_up=AfterLastTry.HEALED),
    EventKind(
        SHARE, 'Applies the shares of the lease: who may use its resources, and which servers of '
        'former guests go.', states=_ALL_STATES - {lifecycle.TERMINATED}, in_history=False,
        moves_cloud=True, given_up=AfterLastTry.GOES_ON),
    EventKind(
        RECLAIM, 'Reclaims an idle lease, or a part of it, unless it is in use.',
        task='reclaim', gives_way=True, states=frozenset({lifecycle.ACTIVE, lifecycle.ERROR}),
        moves_cloud=True, releases=Releases.PART, may_leave_unneeded=True),
    EventKind(
        WAKE, 'Wakes the sleeping resources of the lease, early enough before its start.',
        states=frozenset({lifecycle.PENDING}), moot_during='start', in_history=False,
        given_up=AfterLastTry.LEFT_TO_START),
    EventKind(
        PREPARE, 'Prepares the targets of the lease before its start.',
        states=frozenset({lifecycle.PENDING}), moot_during='start', creates_first=True,
        moves_cloud=True),
    EventKind(
        STAGE, 'Creates objects for the start of the lease that nobody can use before the start.',
        states=frozenset({lifecycle.PENDING}), moot_during='start', in_history=False,
        lane=Lane.AHEAD, creates_first=True, moves_cloud=True, given_up=AfterLastTry.LEFT_TO_START),
    EventKind(
        START, 'Makes the resources of the lease usable for its project.', task='start',
        states=frozenset({lifecycle.PENDING}), shown=True, creates_first=True, moves_cloud=True,
        may_leave_unneeded=True, reports_all_changes=True, given_up=AfterLastTry.HEALED),
    EventKind(
        HEAL, 'Tries a start or a change of the lease again after its last try failed.',
        task='start', quiet=True, states=frozenset({lifecycle.PENDING, lifecycle.ERROR}),
        moves_cloud=True, releases=Releases.PART, may_leave_unneeded=True, retry=Retry.HEALING,
        given_up=None),
    EventKind(
        ACQUIRE, 'Tries to acquire resources for a lease that has none yet.',
        states=frozenset({lifecycle.ACQUIRING}), lane=Lane.TRIES, creates_first=True,
        moves_cloud=True, retry=Retry.ACQUISITION, given_up=AfterLastTry.NOT_ACQUIRED),
    EventKind(
        EXTEND, 'Extends the lease by a step while nobody else needs its resources.',
        in_history=False, given_up=AfterLastTry.NOT_EXTENDED),
    EventKind(
        BEFORE_END, 'Carries out the action before the end, and notifies that the end is near.',
        shown=True, may_make_images=True),
    EventKind(
        NOTIFY, 'Notifies at a moment that the owner of the lease chose.',
        until=Until.DELETION_ORDERED, shown=True, only_notifies=True),
    EventKind(
        DROP_TRUST, 'Deletes the trust with which Climate acts for the owner.',
        until=Until.ALWAYS, in_history=False, given_up=AfterLastTry.REAPED),
    EventKind(
        GIVE_BACK, 'Returns cleared and lent hosts that the lease does not need.',
        until=Until.ALWAYS, moves_cloud=True, given_up=AfterLastTry.GOES_ON, given_up_reason=(
            'Hosts that were cleared for it could not be returned. Administrators see in its '
            'history which ones, and why.')),
)}

#: {name: its position among the events at the same moment}.
RANK = {name: position for position, name in enumerate(KINDS)}
#: {Lane: the kinds of its events}, in the order of KINDS.
LANES = {lane: tuple(kind.name for kind in KINDS.values() if kind.lane is lane) for lane in Lane}
#: The kinds that users see.
SHOWN = tuple(kind.name for kind in KINDS.values() if kind.shown)
#: The kinds that decide what users see of a lease: an ordered deletion forbids most actions.
SHOWN_OR_DECIDING = (*SHOWN, DELETE)
#: The kinds of events that are closed when a lease is over.
CLOSED_WHEN_OVER = tuple(kind.name for kind in KINDS.values() if kind.until is Until.OVER)
#: The kinds of events that are closed when the deletion of the lease is ordered.
CLOSED_BY_DELETION = tuple(kind.name for kind in KINDS.values()
                           if kind.until in (Until.OVER, Until.DELETION_ORDERED))


def of(name: str) -> EventKind:
    """Return the EventKind with this name."""
    return KINDS[name]


def as_csv() -> str:
    """Return the table as CSV, for the documentation."""
    rows = [('Event', 'What it does', 'Task', 'In these states', 'Until',
             'Users see it', 'Tried again after', 'Given up')]
    rows += [(f'``{kind.name}``', kind.does, kind.task or 'none',
              'all' if kind.states == _ALL_STATES else ', '.join(sorted(kind.states)),
              kind.until.value, 'yes' if kind.shown else 'no',
              'never: it is only a notification' if kind.only_notifies else kind.retry.value,
              'never' if kind.given_up is None or kind.only_notifies else kind.given_up.value)
             for kind in KINDS.values()]
    return '\n'.join(','.join(f'"{cell}"' for cell in row) for row in rows) + '\n'
