# SPDX-License-Identifier: Apache-2.0
"""What is to be done next in the hunt for the hosts of a lease.

Nothing is done that was not written down before, and whatever may have been done already can be
done again: so a hunt that is cut short anywhere is carried on from what is written and seen.
"""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import hunt

# Kinds of orders.
FENCE = 'fence'
UNFENCE = 'unfence'
TOGGLE = 'toggle'
MOVE = 'move'
CONFIRM = 'confirm'
ADMIT = 'admit'
DISMISS = 'dismiss'

#: The statuses of servers that Nova can move.
MOVABLE = ('ACTIVE', 'PAUSED', 'SHUTOFF')
STOPPED = 'SHUTOFF'
MOVED_WHILE_STOPPED = 'VERIFY_RESIZE'
# The kind of such a move; that of an owner who makes his server larger is another.
_MIGRATION = 'migration'


@dataclasses.dataclass(frozen=True)
class Sight:
    """What was seen of the cloud.

    :ivar at: when.
    :ivar computes: {service host: Compute}.
    :ivar servers: {id: Server} of those that are on hosts of the plan, or are to leave them.
    :ivar last_moves: {server id: its last Move as Nova keeps it, or None}, where that was asked.
    :ivar barred: the service hosts to which Placement gives no servers, where that was asked.
    """

    at: datetime.datetime
    computes: Mapping[str, Any]
    servers: Mapping[str, Any]
    last_moves: Mapping[str, Any]
    barred: frozenset[str] = frozenset()

    def on(self, service_host: str) -> list[Any]:
        """The servers on a host."""
        return [each for each in self.servers.values() if each.host == service_host]


@dataclasses.dataclass(frozen=True)
class Order:
    """Something to be done in the cloud.

    :ivar host: the Host that it is done to, or for.
    :ivar fence: the reason of the fences of the lease.
    :ivar server_id: of MOVE and CONFIRM.
    :ivar target: of MOVE, a service host.
    """

    kind: str
    host: hunt.Host
    fence: str
    server_id: str | None = None
    target: str | None = None


def decide(plan: hunt.Plan, sight: Sight, fence: str, most: int) -> tuple[hunt.Plan, list[Order]]:
    """The Plan as it is now, and what is to be done when it is written down.

    :param fence: the reason of the fences of this lease.
    :param most: so many servers are moved at the same time.
    """
    # What left a host that was given up may take its time; the others do not wait for it.
    step = _Step(sight, fence, most - sum(
        move.state == hunt.MOVING for host in plan.coming for move in host.moves))
    hosts = tuple(step.advance(host) for host in plan.hosts)
    return dataclasses.replace(plan, hosts=hosts), step.orders


def troubled(plan: hunt.Plan, sight: Sight) -> frozenset[str]:
    """The names of hosts with a server for which there is no plan (any more)."""
    return frozenset(
        host.name for host in plan.hosts if host.state == hunt.FENCED and (
            any(move.state == hunt.STUCK for move in host.moves)
            or {each.id for each in sight.on(host.service_host)}
            - {move.server_id for move in host.moves if move.state not in hunt.OVER}))


class _Step:
    """Decides about one host after the other.

    :param room: so many more servers may be moved now.
    :ivar orders: what is to be done.
    """

    def __init__(self, sight: Sight, fence: str, room: int):
        self.orders: list[Order] = []
        self._sight = sight
        self._fence = fence
        self._room = room
        self._rules = {
            hunt.PLANNED: self._planned, hunt.FENCING: self._fencing, hunt.FENCED: self._fenced,
            hunt.ENROLLING: self._enrolling, hunt.DROPPED: self._dropped}

    def advance(self, host: hunt.Host) -> hunt.Host:
        """The Host as it is now."""
        rule = self._rules.get(host.state)
        return host if rule is None else rule(host)

    def _planned(self, host: hunt.Host) -> hunt.Host:
        compute = self._sight.computes.get(host.service_host)
        if compute is not None and compute.enabled and compute.up:
            self._order(FENCE, host)
            return dataclasses.replace(host, state=hunt.FENCING)
        return host.dropped(self._lost(host) or 'it is disabled')

    def _fencing(self, host: hunt.Host) -> hunt.Host:
        lost = self._lost(host)
        if lost is not None:
            return self._dropped(host.dropped(lost))
        if self._sight.computes[host.service_host].enabled:
            self._order(FENCE, host)
            return host
        return self._fenced(dataclasses.replace(host, state=hunt.FENCED))

    def _fenced(self, host: hunt.Host) -> hunt.Host:
        lost = self._lost(host)
        if lost is not None:
            return self._dropped(host.dropped(lost))
        if self._sight.computes[host.service_host].enabled:
            return self._dropped(dataclasses.replace(host.dropped(hunt.ENABLED), reclaimed=True))
        host = dataclasses.replace(host, moves=tuple(self._moved(host, move)
                                                     for move in host.moves))
        if self._sight.on(host.service_host) or any(
                move.state not in hunt.OVER for move in host.moves):
            return host
        self._order(ADMIT, host)
        self._open(host)
        return dataclasses.replace(host, state=hunt.ENROLLING, admitted=False)

    def _enrolling(self, host: hunt.Host) -> hunt.Host:
        lost = self._lost(host)
        if lost is not None:
            return self._dropped(host.dropped(lost))
        if self._sight.on(host.service_host):
            # Somebody has put one there by force. Our own fence may be down already.
            return self._fencing(dataclasses.replace(host, state=hunt.FENCING))
        # Open, it may have been opened by somebody else, before it was admitted.
        if host.admitted and self._is_open(host):
            return dataclasses.replace(host, state=hunt.READY)
        self._order(ADMIT, host)
        self._open(host)
        return host

    def _dropped(self, host: hunt.Host) -> hunt.Host:
        # A server that is on its way goes on by itself, but for one whose place must be confirmed.
        host = dataclasses.replace(host, moves=tuple(
            self._moved(host, move) if move.state == hunt.MOVING else move for move in host.moves))
        if host.resource_id is not None:
            self._order(DISMISS, host)
        self._open(host)
        done = host.resource_id is None and self._is_open(host) and not any(
            move.state == hunt.MOVING and move.stopped for move in host.moves)
        return dataclasses.replace(host, state=hunt.RELEASED, moves=tuple(
            dataclasses.replace(move, state=hunt.LEFT) if move.state == hunt.MOVING else move
            for move in host.moves)) if done else host

    def _moved(self, host: hunt.Host, move: hunt.Move) -> hunt.Move:
        """The Move as it is now."""
        server = self._sight.servers.get(move.server_id)
        if move.state in (*hunt.OVER, hunt.STUCK, hunt.LEFT):
            return move
        if server is None:
            return dataclasses.replace(move, state=hunt.GONE)
        last = self._sight.last_moves.get(move.server_id)
        if server.host != move.source:
            return self._arrived(host, move, server, last)
        if move.state == hunt.PLANNED:
            return (self._begun(host, dataclasses.replace(move, busy_since=None), server)
                    if server.task is None else self._waited_for(move))
        if server.task is not None:
            return move
        if last is not None and last.id > move.after:
            return dataclasses.replace(move, state=hunt.STUCK) if last.failed else move
        if server.status not in MOVABLE:
            return dataclasses.replace(move, state=hunt.STUCK)
        if host.state == hunt.DROPPED:
            return dataclasses.replace(move, state=hunt.PLANNED)
        # It was decided, and never begun.
        self._order(MOVE, host, move.server_id, move.target)
        return dataclasses.replace(move, stopped=server.status == STOPPED)

    def _waited_for(self, move: hunt.Move) -> hunt.Move:
        """The Move of a server to which something else is done, such as a reboot."""
        since = move.busy_since or self._sight.at
        is_late = (self._sight.at - since).total_seconds() >= hunt.BUSY_SECONDS
        return dataclasses.replace(move, busy_since=since,
                                   state=hunt.STUCK if is_late else hunt.PLANNED)

    def _arrived(self, host: hunt.Host, move: hunt.Move, server: Any,
                 last: Any | None) -> hunt.Move:
        # One that was stopped between the look and the call was moved as a stopped one, too.
        ours = move.stopped or (last is not None and last.kind == _MIGRATION
                                and last.id > move.after)
        if server.status == MOVED_WHILE_STOPPED and ours and server.task is None:
            self._order(CONFIRM, host, move.server_id)
            return move
        if server.task is not None:
            return move
        return dataclasses.replace(move, state=hunt.MOVED)

    def _begun(self, host: hunt.Host, move: hunt.Move, server: Any) -> hunt.Move:
        if server.status not in MOVABLE:
            return dataclasses.replace(move, state=hunt.STUCK)
        if self._room <= 0 or move.server_id not in self._sight.last_moves:
            return move
        self._room -= 1
        last = self._sight.last_moves[move.server_id]
        self._order(MOVE, host, move.server_id, move.target)
        return dataclasses.replace(
            move, state=hunt.MOVING, after=last.id if last is not None else 0,
            tried=(*move.tried, move.target), stopped=server.status == STOPPED)

    def _lost(self, host: hunt.Host) -> str | None:
        """Why a host cannot be cleared any more, in words."""
        compute = self._sight.computes.get(host.service_host)
        if compute is None:
            return 'Nova does not know its service any more'
        if not compute.enabled and compute.reason != self._fence:
            return f'somebody has disabled it ({compute.reason or "no reason given"})'
        if not compute.up:
            return 'its service is down'
        return None

    def _is_open(self, host: hunt.Host) -> bool:
        """True where nothing that is ours keeps servers off."""
        compute = self._sight.computes.get(host.service_host)
        if compute is None or not compute.enabled:
            return compute is None or compute.reason != self._fence
        # Of one that is down Placement hears when it is up again.
        return not compute.up or host.service_host not in self._sight.barred

    def _open(self, host: hunt.Host) -> None:
        """Order what takes a fence of ours down."""
        if not self._is_open(host):
            compute = self._sight.computes[host.service_host]
            self._order(TOGGLE if compute.enabled else UNFENCE, host)

    def _order(self, kind: str, host: hunt.Host, server_id: str | None = None,
               target: str | None = None) -> None:
        self.orders.append(Order(kind, host, self._fence, server_id, target))
