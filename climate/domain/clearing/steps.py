# SPDX-License-Identifier: Apache-2.0
"""The next steps of host clearing for a lease: the orders for a plan and an observed state.

A plan is stored before its orders are carried out, and each order can be repeated. So any manager
can continue interrupted host clearing with the stored plan and the observed state.
"""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain.clearing import plans

# Kinds of orders. Disable or enable the service of a host, or both in turn:
FENCE = 'fence'
UNFENCE = 'unfence'
TOGGLE = 'toggle'
# Migrate a server, or confirm its cold migration:
MOVE = 'move'
CONFIRM = 'confirm'
# Exclude ordinary servers from a host, or undo that:
ADMIT = 'admit'
DISMISS = 'dismiss'

#: The statuses of servers that Nova can move.
MOVABLE = ('ACTIVE', 'PAUSED', 'SHUTOFF')
STOPPED = 'SHUTOFF'
MOVED_WHILE_STOPPED = 'VERIFY_RESIZE'
# Nova's type of a cold migration. A resize by the owner of the server has another type.
_MIGRATION = 'migration'


@dataclasses.dataclass(frozen=True)
class ObservedState:
    """The observed state of the cloud.

    :ivar at: the moment of the observation.
    :ivar computes: {service host: Compute}.
    :ivar servers: {id: Server} of the servers that are on hosts of the plan, or whose move away is
        planned.
    :ivar last_moves: {server id: its last Move in Nova, or None} of the servers that were checked.
    :ivar barred: the service hosts that have the trait of a disabled service in Placement, of the
        hosts that were checked.
    """

    at: datetime.datetime
    computes: Mapping[str, Any]
    servers: Mapping[str, Any]
    last_moves: Mapping[str, Any]
    barred: frozenset[str] = frozenset()

    def on(self, service_host: str) -> list[Any]:
        """Return the servers on a host."""
        return [server for server in self.servers.values() if server.host == service_host]


@dataclasses.dataclass(frozen=True)
class ClearingOrder:
    """An action to carry out in the cloud.

    :ivar host: the PlannedHost that the order concerns.
    :ivar fence: the reason with which compute services are disabled for the lease.
    :ivar server_id: the server, for MOVE and CONFIRM.
    :ivar target: the target service host, for MOVE.
    """

    kind: str
    host: plans.PlannedHost
    fence: str
    server_id: str | None = None
    target: str | None = None


def decide(plan: plans.ClearingPlan, observed: ObservedState, fence: str,
           most: int) -> tuple[plans.ClearingPlan, list[ClearingOrder]]:
    """Return (the updated ClearingPlan, the orders to carry out once it is stored).

    :param fence: the reason with which compute services are disabled for this lease.
    :param most: how many servers may be migrated at the same time.
    """
    # Migrations from dropped hosts do not count towards this limit.
    step = _Step(observed, fence, most - sum(
        move.state == plans.MOVING for host in plan.coming for move in host.moves))
    hosts = tuple(step.advance(host) for host in plan.hosts)
    return dataclasses.replace(plan, hosts=hosts), step.orders


def troubled(plan: plans.ClearingPlan, observed: ObservedState) -> frozenset[str]:
    """Return the names of hosts with a server that needs a new target."""
    return frozenset(
        host.name for host in plan.hosts if host.state == plans.FENCED and (
            any(move.state == plans.STUCK for move in host.moves)
            or {server.id for server in observed.on(host.service_host)}
            - {move.server_id for move in host.moves if move.state not in plans.OVER}))


class _Step:
    """The decisions about the hosts of a plan, one after the other.

    :param free_moves: how many more servers may be migrated now.
    :ivar orders: the orders of the hosts that were decided.
    """

    def __init__(self, observed: ObservedState, fence: str, free_moves: int):
        self.orders: list[ClearingOrder] = []
        self._observed = observed
        self._fence = fence
        self._free_moves = free_moves
        self._rules = {
            plans.PLANNED: self._planned, plans.FENCING: self._fencing, plans.FENCED: self._fenced,
            plans.ENROLLING: self._enrolling, plans.DROPPED: self._dropped}

    def advance(self, host: plans.PlannedHost) -> plans.PlannedHost:
        """Return the updated PlannedHost."""
        if host.state in (plans.FENCING, plans.FENCED, plans.ENROLLING) and (
                lost := self._lost(host)) is not None:
            return self._dropped(host.dropped(lost))
        rule = self._rules.get(host.state)
        return host if rule is None else rule(host)

    def _planned(self, host: plans.PlannedHost) -> plans.PlannedHost:
        compute = self._observed.computes.get(host.service_host)
        if compute is not None and compute.enabled and compute.up:
            self._order(FENCE, host)
            return dataclasses.replace(host, state=plans.FENCING)
        return host.dropped(self._lost(host) or 'it is disabled')

    def _fencing(self, host: plans.PlannedHost) -> plans.PlannedHost:
        if self._observed.computes[host.service_host].enabled:
            self._order(FENCE, host)
            return host
        return self._fenced(dataclasses.replace(host, state=plans.FENCED))

    def _fenced(self, host: plans.PlannedHost) -> plans.PlannedHost:
        if self._observed.computes[host.service_host].enabled:
            return self._dropped(dataclasses.replace(host.dropped(plans.ENABLED), reclaimed=True))
        host = dataclasses.replace(host, moves=tuple(self._moved(host, move)
                                                     for move in host.moves))
        if self._observed.on(host.service_host) or any(
                move.state not in plans.OVER for move in host.moves):
            return host
        self._order(ADMIT, host)
        self._open(host)
        return dataclasses.replace(host, state=plans.ENROLLING, admitted=False)

    def _enrolling(self, host: plans.PlannedHost) -> plans.PlannedHost:
        if self._observed.on(host.service_host):
            # An administrator forced a server onto the host. Its service may be enabled already.
            return self._fencing(dataclasses.replace(host, state=plans.FENCING))
        # An administrator may have opened the host before it was admitted.
        if host.admitted and self._is_open(host):
            return dataclasses.replace(host, state=plans.READY)
        self._order(ADMIT, host)
        self._open(host)
        return host

    def _dropped(self, host: plans.PlannedHost) -> plans.PlannedHost:
        compute = self._observed.computes.get(host.service_host)
        if compute is not None and not compute.answers:
            # Nova reports neither who has disabled the service nor which servers are on the host.
            return host
        # A running migration ends by itself, but a cold migration must be confirmed.
        host = dataclasses.replace(host, moves=tuple(
            self._moved(host, move) if move.state == plans.MOVING else move for move in host.moves))
        if host.resource_id is not None:
            self._order(DISMISS, host)
        self._open(host)
        done = host.resource_id is None and self._is_open(host) and not any(
            move.state == plans.MOVING and move.stopped for move in host.moves)
        return dataclasses.replace(host, state=plans.RELEASED, moves=tuple(
            dataclasses.replace(move, state=plans.LEFT) if move.state == plans.MOVING else move
            for move in host.moves)) if done else host

    def _moved(self, host: plans.PlannedHost, move: plans.PlannedMove) -> plans.PlannedMove:
        """Return the updated PlannedMove."""
        server = self._observed.servers.get(move.server_id)
        if move.state in (*plans.OVER, plans.STUCK, plans.LEFT):
            return move
        if server is None:
            return dataclasses.replace(move, state=plans.GONE)
        last = self._observed.last_moves.get(move.server_id)
        if server.host != move.source:
            return self._arrived(host, move, server, last)
        if move.state == plans.PLANNED:
            return (self._begun(host, dataclasses.replace(move, busy_since=None), server)
                    if server.task is None else self._waited_for(move))
        if server.task is not None:
            return move
        if last is not None and last.id > move.after:
            return dataclasses.replace(move, state=plans.STUCK) if last.failed else move
        if server.status not in MOVABLE:
            return dataclasses.replace(move, state=plans.STUCK)
        if host.state == plans.DROPPED:
            return dataclasses.replace(move, state=plans.PLANNED)
        # The plan says that the migration has begun, but Nova has no record of it.
        self._order(MOVE, host, move.server_id, move.target)
        return dataclasses.replace(move, stopped=server.status == STOPPED)

    def _waited_for(self, move: plans.PlannedMove) -> plans.PlannedMove:
        """Return the PlannedMove of a server that is busy with another task, such as a reboot."""
        since = move.busy_since or self._observed.at
        is_late = (self._observed.at - since).total_seconds() >= plans.BUSY_SECONDS
        return dataclasses.replace(move, busy_since=since,
                                   state=plans.STUCK if is_late else plans.PLANNED)

    def _arrived(self, host: plans.PlannedHost, move: plans.PlannedMove, server: Any,
                 last: Any | None) -> plans.PlannedMove:
        # A server that stopped between the observation and the order was cold-migrated too.
        ours = move.stopped or (last is not None and last.kind == _MIGRATION
                                and last.id > move.after)
        if server.status == MOVED_WHILE_STOPPED and ours and server.task is None:
            self._order(CONFIRM, host, move.server_id)
            return move
        if server.task is not None:
            return move
        return dataclasses.replace(move, state=plans.MOVED)

    def _begun(self, host: plans.PlannedHost, move: plans.PlannedMove,
               server: Any) -> plans.PlannedMove:
        if server.status not in MOVABLE:
            return dataclasses.replace(move, state=plans.STUCK)
        if self._free_moves <= 0 or move.server_id not in self._observed.last_moves:
            return move
        self._free_moves -= 1
        last = self._observed.last_moves[move.server_id]
        self._order(MOVE, host, move.server_id, move.target)
        return dataclasses.replace(
            move, state=plans.MOVING, after=last.id if last is not None else 0,
            tried=(*move.tried, move.target), stopped=server.status == STOPPED)

    def _lost(self, host: plans.PlannedHost) -> str | None:
        """Return why a host cannot be cleared any more, in words; None: it can."""
        compute = self._observed.computes.get(host.service_host)
        if compute is None:
            return 'Nova does not know its service any more'
        if not compute.answers:
            return 'its cell does not answer'
        if not compute.enabled and compute.reason != self._fence:
            return f'somebody has disabled it ({compute.reason or "no reason given"})'
        if not compute.up:
            return 'its service is down'
        return None

    def _is_open(self, host: plans.PlannedHost) -> bool:
        """Return whether servers can be placed on the host, as far as Climate decides."""
        compute = self._observed.computes.get(host.service_host)
        if compute is None or not compute.enabled:
            return compute is None or compute.reason != self._fence
        # If a service is down, Nova corrects its trait in Placement once it is up again.
        return not compute.up or host.service_host not in self._observed.barred

    def _open(self, host: plans.PlannedHost) -> None:
        """Order that the service of a host is enabled if Climate has disabled it."""
        if not self._is_open(host):
            compute = self._observed.computes[host.service_host]
            self._order(TOGGLE if compute.enabled else UNFENCE, host)

    def _order(self, kind: str, host: plans.PlannedHost, server_id: str | None = None,
               target: str | None = None) -> None:
        self.orders.append(ClearingOrder(kind, host, self._fence, server_id, target))
