# SPDX-License-Identifier: Apache-2.0
"""How far the hunt for the hosts of a lease has come, as it is written down."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import agenda

# States of a host, in the order in which they come.
PLANNED = 'planned'
FENCING = 'fencing'
FENCED = 'fenced'
ENROLLING = 'enrolling'
READY = 'ready'
# It is not wanted any more: what was done to it is being undone, is undone.
DROPPED = 'dropped'
RELEASED = 'released'
#: The states of a host that is being made ready.
COMING = (PLANNED, FENCING, FENCED, ENROLLING)
#: Nothing is left to be done to these.
SETTLED = (READY, RELEASED)

# States of a move, beside PLANNED. A stuck one needs another target; a server that is gone needs
# none; one that is left goes where it goes, for its host is not wanted any more.
MOVING = 'moving'
MOVED = 'moved'
STUCK = 'stuck'
GONE = 'gone'
LEFT = 'left'
OVER = (MOVED, GONE)

#: Hosts that were looked for in vain are looked for again after so many seconds at the latest.
LONGEST_LOOK_SECONDS = 30
#: So long a host that is being cleared waits for a server to which something else is done.
BUSY_SECONDS = 120

#: Why hosts are dropped when the lease does not get any.
GIVEN_UP = 'its lease is not acquired any more'
#: Why hosts are dropped, and are not cleared for the same lease any more.
ENABLED = 'somebody has enabled it'
#: Why hosts are dropped when the lease has got others.
NOT_WANTED = 'it is not wanted any more'


@dataclasses.dataclass(frozen=True)
class Move:
    """A server that must leave its host.

    :ivar source: the service host that it is on.
    :ivar target: the service host that it goes to.
    :ivar after: the number of its last move before this one; 0: none.
    :ivar tried: the targets that it was sent to.
    :ivar stopped: it was stopped when it was sent, so that its new place must be confirmed.
    :ivar busy_since: something else has been done to it since then, so that it cannot be sent.
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
class Host:
    """A host that is cleared for a reservation.

    :ivar name: its hypervisor's.
    :ivar resource_id: its resource, from the moment when it is being enrolled.
    :ivar why: why it was dropped, in words.
    :ivar admitted: it was put out of ordinary use, since it is being enrolled.
    :ivar reclaimed: somebody took our fence off it, so that it is not cleared for this lease.
    """

    name: str
    service_host: str
    reservation_id: str
    state: str = PLANNED
    moves: tuple[Move, ...] = ()
    resource_id: int | None = None
    why: str | None = None
    admitted: bool = False
    reclaimed: bool = False

    def dropped(self, why: str) -> 'Host':
        """The same, no more wanted."""
        if self.state in (DROPPED, RELEASED):
            return self
        return dataclasses.replace(self, state=RELEASED if self.state == PLANNED else DROPPED,
                                   why=why)


@dataclasses.dataclass(frozen=True)
class Plan:
    """The hosts that are cleared for a lease, also those that were given up.

    :ivar looks: so often in a row hosts were looked for in vain.
    :ivar look_at: while nothing changes, they are looked for again at that moment.
    """

    strategy: str
    hosts: tuple[Host, ...] = ()
    looks: int = 0
    look_at: datetime.datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """What `from_json` makes a Plan of."""
        return {'strategy': self.strategy, 'looks': self.looks,
                'look_at': _as_text(self.look_at), 'hosts': [
                    {**dataclasses.asdict(host), 'moves': [
                        _move_as_json(move) for move in host.moves]} for host in self.hosts]}

    @property
    def coming(self) -> tuple[Host, ...]:
        """The hosts that are being made ready."""
        return tuple(host for host in self.hosts if host.state in COMING)

    @property
    def is_settled(self) -> bool:
        """True where nothing is left to be done to any host."""
        return all(host.state in SETTLED for host in self.hosts)

    def looked_in_vain(self, now: datetime.datetime) -> 'Plan':
        """The Plan after one more look that found no hosts: the pause until the next grows."""
        seconds = min(2 ** min(self.looks, 10), LONGEST_LOOK_SECONDS)
        return dataclasses.replace(self, looks=self.looks + 1,
                                   look_at=now + datetime.timedelta(seconds=seconds))

    def without(self, names: Iterable[str], why: str) -> 'Plan':
        """The Plan in which the hosts of these names are wanted no more."""
        names = frozenset(names)
        return dataclasses.replace(self, hosts=tuple(
            host.dropped(why) if host.name in names else host for host in self.hosts))


def from_json(text: Mapping[str, Any]) -> Plan:
    """The Plan that `Plan.as_json` made this of.

    What a newer manager, which works beside this one during an upgrade, said besides is left out.
    """
    return Plan(text['strategy'], tuple(
        Host(**{**_known(Host, host), 'moves': tuple(_move(move) for move in host['moves'])})
        for host in text['hosts']), text.get('looks', 0), _moment(text.get('look_at')))


def _known(record: type, values: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(record)}
    return {name: value for name, value in values.items() if name in names}


def fence_of(lease_id: str) -> str:
    """The reason for which services are disabled while their hosts are cleared for a lease."""
    return f'{FENCE_PREFIX}{lease_id}'


#: With this every such reason begins.
FENCE_PREFIX = 'climate: cleared for lease '


def achieved(plan: Plan) -> str:
    """How far a hunt has come, in words."""
    wanted = [host for host in plan.hosts if host.why in (None, GIVEN_UP)]
    moves = [move for host in plan.hosts for move in host.moves]
    cleared = sum(host.state not in (PLANNED, FENCING)
                  and all(move.state in OVER for move in host.moves) for host in wanted)
    return (f'{cleared} of {len(wanted)} hosts were cleared, and '
            f'{sum(move.state == MOVED for move in moves)} of {len(moves)} instances moved.')


def told(before: Plan, after: Plan) -> list[tuple[str, str]]:
    """What has become different from one Plan to the next, as pairs (what, why) in words."""
    states = {host.name: host.state for host in before.hosts}
    # Also of a host that was given back and is wanted again: its moves were told then.
    sent = {(host.name, move.server_id): move for host in before.hosts for move in host.moves}
    found = []
    for host in after.hosts:
        earlier = states.get(host.name)
        for move in host.moves:
            if move.state in _TOLD and sent.get((host.name, move.server_id)) != move:
                found.append((_TOLD[move.state], (
                    f'server {move.server_id} from {move.source} to {move.target}')))
        if host.state == RELEASED and earlier == PLANNED:
            # Nothing had been done to it.
            continue
        if host.state in _TOLD_OF_HOST and earlier != host.state:
            found.append((_TOLD_OF_HOST[host.state], ': '.join(
                filter(None, (f'host {host.name}', host.why)))))
    return found


_TOLD = {MOVING: 'move', MOVED: 'moved', STUCK: 'move failed', GONE: 'server gone'}
_TOLD_OF_HOST = {FENCING: 'fence', ENROLLING: 'cleared', READY: 'host ready',
                 DROPPED: 'host given up', RELEASED: 'host released'}
#: There is no plan as things are.
NO_PLAN = 'no plan'
#: What was done is not undone yet.
NOT_UNDONE = 'not undone yet'
#: Lines of a history that name hosts, and servers of others.
NAMING = frozenset({NO_PLAN, NOT_UNDONE, *_TOLD.values(), *_TOLD_OF_HOST.values(),
                    f'{agenda.GIVE_BACK} failed', f'{agenda.GIVE_BACK} given up'})


def _move_as_json(move: Move) -> dict[str, Any]:
    text = dataclasses.asdict(move)
    text['from'], text['to'] = text.pop('source'), text.pop('target')
    text['busy_since'] = _as_text(move.busy_since)
    return text


def _move(text: Mapping[str, Any]) -> Move:
    values = {**text, 'source': text['from'], 'target': text['to'],
              'tried': tuple(text['tried']), 'busy_since': _moment(text.get('busy_since'))}
    return Move(**_known(Move, values))


def _as_text(moment: datetime.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime.datetime | None:
    return None if text is None else datetime.datetime.fromisoformat(text)
