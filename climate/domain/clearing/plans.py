# SPDX-License-Identifier: Apache-2.0
"""The stored plan of host clearing for a lease, with its progress."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import event_kinds

# The states of a host, in their order. Stored plans have these values.
PLANNED = 'planned'
FENCING = 'fencing'
FENCED = 'fenced'
ENROLLING = 'enrolling'
READY = 'ready'
# The states of a host that is not needed any more: its changes are being undone, or were undone.
DROPPED = 'dropped'
RELEASED = 'released'
#: The states of a host that is being prepared.
COMING = (PLANNED, FENCING, FENCED, ENROLLING)
#: The final states of a host.
SETTLED = (READY, RELEASED)

# The states of a move, besides PLANNED. STUCK: the server needs another target. GONE: the server
# does not exist any more. LEFT: the migration goes on, but the host is not needed any more.
MOVING = 'moving'
MOVED = 'moved'
STUCK = 'stuck'
GONE = 'gone'
LEFT = 'left'
OVER = (MOVED, GONE)

#: The longest pause between two searches for hosts, in seconds.
LONGEST_LOOK_SECONDS = 30
#: Seconds to wait for a server that is busy with another task, before it counts as stuck.
BUSY_SECONDS = 120

#: A reason to drop hosts: the lease was given up.
GIVEN_UP = 'its lease is not acquired any more'
#: A reason to drop a host and not to clear it for the same lease again.
ENABLED = 'somebody has enabled it'
#: A reason to drop hosts: the lease has got other hosts.
NOT_WANTED = 'it is not wanted any more'


@dataclasses.dataclass(frozen=True)
class PlannedMove:
    """The migration of a server from a host that is cleared.

    :ivar source: the service host that the server leaves.
    :ivar target: the service host to which the server moves.
    :ivar after: the id of the server's last migration in Nova before this move; 0: none.
    :ivar tried: the targets that were tried.
    :ivar stopped: whether the server was stopped, so that the cold migration must be confirmed.
    :ivar busy_since: since when another task of the server prevents the migration, or None.
    """

    server_id: str
    source: str
    target: str
    state: str = PLANNED
    after: int = 0
    tried: tuple[str, ...] = ()
    stopped: bool = False
    busy_since: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True)
class PlannedHost:
    """A host that is cleared for a reservation.

    :ivar name: the name of the hypervisor.
    :ivar resource_id: the id of the resource, once the host is enrolled.
    :ivar why: why the host was dropped, in words.
    :ivar admitted: whether the pool has admitted the host, so that it takes no ordinary servers.
    :ivar reclaimed: whether an administrator enabled the service of the host, so that the host is
        not cleared for this lease again.
    """

    name: str
    service_host: str
    reservation_id: str
    state: str = PLANNED
    moves: tuple[PlannedMove, ...] = ()
    resource_id: int | None = None
    why: str | None = None
    admitted: bool = False
    reclaimed: bool = False

    def dropped(self, why: str) -> 'PlannedHost':
        """Return the host in the state of a host that is not needed any more."""
        if self.state in (DROPPED, RELEASED):
            return self
        return dataclasses.replace(self, state=RELEASED if self.state == PLANNED else DROPPED,
                                   why=why)


@dataclasses.dataclass(frozen=True)
class ClearingPlan:
    """The hosts that are cleared for a lease, and the hosts that were dropped.

    :ivar looks: the number of consecutive searches that found no hosts.
    :ivar look_at: the time of the next search, unless something changes earlier.
    """

    strategy: str
    hosts: tuple[PlannedHost, ...] = ()
    looks: int = 0
    look_at: datetime.datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the plan as a dict that is ready for JSON, for `from_json`."""
        return {'strategy': self.strategy, 'looks': self.looks,
                'look_at': _as_text(self.look_at), 'hosts': [
                    {**dataclasses.asdict(host), 'moves': [
                        _move_as_json(move) for move in host.moves]} for host in self.hosts]}

    @property
    def coming(self) -> tuple[PlannedHost, ...]:
        """Return the hosts that are being prepared."""
        return tuple(host for host in self.hosts if host.state in COMING)

    @property
    def is_settled(self) -> bool:
        """Return whether all hosts are in a final state."""
        return all(host.state in SETTLED for host in self.hosts)

    def after_failed_search(self, now: datetime.datetime) -> 'ClearingPlan':
        """Return the ClearingPlan after another search that found no hosts, with a longer pause."""
        seconds = min(2 ** min(self.looks, 10), LONGEST_LOOK_SECONDS)
        return dataclasses.replace(self, looks=self.looks + 1,
                                   look_at=now + datetime.timedelta(seconds=seconds))

    def without(self, names: Iterable[str], why: str) -> 'ClearingPlan':
        """Return the ClearingPlan after these hosts were dropped."""
        names = frozenset(names)
        return dataclasses.replace(self, hosts=tuple(
            host.dropped(why) if host.name in names else host for host in self.hosts))


def from_json(document: Mapping[str, Any]) -> ClearingPlan:
    """Return the ClearingPlan of a dict that `ClearingPlan.as_json` returned.

    Unknown fields are ignored, because a newer manager may have stored them during an upgrade.
    """
    return ClearingPlan(document['strategy'], tuple(
        PlannedHost(**{**_known(PlannedHost, host),
                       'moves': tuple(_move(move) for move in host['moves'])})
        for host in document['hosts']), document.get('looks', 0), _moment(document.get('look_at')))


def _known(record: type, values: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(record)}
    return {name: value for name, value in values.items() if name in names}


def fence_of(lease_id: str) -> str:
    """Return the reason with which compute services are disabled to clear hosts for a lease."""
    return f'{FENCE_PREFIX}{lease_id}'


#: The beginning of the reasons from `fence_of`.
FENCE_PREFIX = 'climate: cleared for lease '


def achieved(plan: ClearingPlan) -> str:
    """Return the progress of host clearing, in words."""
    wanted = [host for host in plan.hosts if host.why in (None, GIVEN_UP)]
    moves = [move for host in plan.hosts for move in host.moves]
    cleared = sum(host.state not in (PLANNED, FENCING)
                  and all(move.state in OVER for move in host.moves) for host in wanted)
    return (f'{cleared} of {len(wanted)} hosts were cleared, and '
            f'{sum(move.state == MOVED for move in moves)} of {len(moves)} instances moved.')


def changes(before: ClearingPlan, after: ClearingPlan) -> list[tuple[str, str]]:
    """Return the differences of two ClearingPlans for the history, as pairs (what, why)."""
    states = {host.name: host.state for host in before.hosts}
    # If a released host is needed again, its earlier moves are in the history already.
    earlier_moves = {(host.name, move.server_id): move
                     for host in before.hosts for move in host.moves}
    lines = []
    for host in after.hosts:
        earlier = states.get(host.name)
        for move in host.moves:
            if move.state in _MOVE_WORDS and (
                    earlier_moves.get((host.name, move.server_id)) != move):
                lines.append((_MOVE_WORDS[move.state], (
                    f'server {move.server_id} from {move.source} to {move.target}')))
        if host.state == RELEASED and earlier == PLANNED:
            # The history does not mention a host that Climate never changed.
            continue
        if host.state in _HOST_WORDS and earlier != host.state:
            lines.append((_HOST_WORDS[host.state], ': '.join(
                filter(None, (f'host {host.name}', host.why)))))
    return lines


_MOVE_WORDS = {MOVING: 'move', MOVED: 'moved', STUCK: 'move failed', GONE: 'server gone'}
_HOST_WORDS = {FENCING: 'fence', ENROLLING: 'cleared', READY: 'host ready',
               DROPPED: 'host given up', RELEASED: 'host released'}
#: The heading of a history entry: no plan is possible at present.
NO_PLAN = 'no plan'
#: The heading of a history entry: the changes are not undone yet.
NOT_UNDONE = 'not undone yet'
#: The kinds of history entries that name hosts, or servers of other projects.
NAMING = frozenset({NO_PLAN, NOT_UNDONE, *_MOVE_WORDS.values(), *_HOST_WORDS.values(),
                    f'{event_kinds.GIVE_BACK} failed', f'{event_kinds.GIVE_BACK} given up'})


def _move_as_json(move: PlannedMove) -> dict[str, Any]:
    document = dataclasses.asdict(move)
    document['from'], document['to'] = document.pop('source'), document.pop('target')
    document['busy_since'] = _as_text(move.busy_since)
    return document


def _move(document: Mapping[str, Any]) -> PlannedMove:
    values = {**document, 'source': document['from'], 'target': document['to'],
              'tried': tuple(document['tried']),
              'busy_since': _moment(document.get('busy_since'))}
    return PlannedMove(**_known(PlannedMove, values))


def _as_text(moment: datetime.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime.datetime | None:
    return None if text is None else datetime.datetime.fromisoformat(text)
