# SPDX-License-Identifier: Apache-2.0
"""Which hosts are cleared of their servers, and where each of these goes."""
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import heapq

# So many choices of hosts are tried, the cheapest first; and so often, for all of them together, a
# server that was placed is placed elsewhere. Whether servers fit is a puzzle that can take for
# ever; who meets these limits gets a plan that is good, or none although there might be one.
_CHOICES = 500
_RETREATS = 20000

Cost = tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that must go elsewhere.

    :ivar takes: {resource class: units} on whatever host it is.
    :ivar targets: the names of the hosts that may have it and would have room for it alone.
    :ivar memory_mb: its memory, which is copied while it runs.
    """

    id: str
    takes: Mapping[str, int]
    targets: frozenset[str]
    memory_mb: int = 0
    running: bool = True


@dataclasses.dataclass(frozen=True)
class Host:
    """A host that could be cleared, and what is on it."""

    name: str
    servers: tuple[Server, ...] = ()


@dataclasses.dataclass(frozen=True)
class Move:
    """A server goes from one host to another."""

    server_id: str
    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is to be done.

    :ivar hosts: the names of the hosts that are cleared, by their cost.
    :ivar cost: of all of them.
    """

    hosts: tuple[str, ...]
    moves: tuple[Move, ...]
    cost: Cost


class Impossible(Exception):
    """So many hosts cannot be cleared.

    :ivar possible: how many could be.
    :ivar reasons: {host name: why it cannot be cleared, in words}, of those that cannot at all.
    """

    def __init__(self, possible: int, reasons: Mapping[str, str]):
        super().__init__(possible, reasons)
        self.possible = possible
        self.reasons = dict(reasons)


def plan(hosts: Iterable[Host], free: Mapping[str, Mapping[str, int]], wanted: int,
         cost: Callable[[Host], Cost], keep: Iterable[str] = ()) -> Plan:
    """The cheapest Plan by which `wanted` of the hosts are cleared.

    What is free of a host is given to several servers only as far as it goes round; nothing goes
    to a host that is cleared itself. A class that `free` does not name of a host is not counted
    there.

    :param hosts: each name once.
    :param free: {host name: {resource class: units}}, of all hosts that may get servers.
    :param cost: what it costs to clear a host; costs are added and compared place by place.
    :param keep: the names of hosts that are cleared in any case.
    :raises Impossible: with the reasons.
    """
    kept, able, reasons = [], [], {}
    keep = frozenset(keep)
    retreats = iter(range(_RETREATS))
    for host in sorted(hosts, key=lambda each: (cost(each), each.name)):
        if host.name in keep:
            kept.append(host)
        elif _placed([host], free, retreats) is None:
            reasons[host.name] = _why(host)
        else:
            able.append(host)
    costs = {host.name: cost(host) for host in (*kept, *able)}
    for chosen in _choices(able, [costs[host.name] for host in able], wanted - len(kept)):
        cleared = [*kept, *chosen]
        moves = _placed(cleared, free, retreats)
        if moves is not None:
            names = [host.name for host in cleared]
            return Plan(tuple(names), tuple(moves), _sum(costs[name] for name in names))
    raise Impossible(_most(kept, able, free, wanted - 1, retreats), reasons)


def _choices(hosts: Sequence[Host], costs: Sequence[Cost], count: int) -> Iterator[list[Host]]:
    """Choices of `count` hosts, the cheapest first, _CHOICES at most.

    :param hosts: by their costs.
    """
    if not 0 <= count <= len(hosts):
        return
    first = tuple(range(count))
    waiting = [(_sum(costs[place] for place in first), first)]
    seen = {first}
    for _ in range(_CHOICES):
        if not waiting:
            return
        _, places = heapq.heappop(waiting)
        yield [hosts[place] for place in places]
        for which, place in enumerate(places):
            following = (*places[:which], place + 1, *places[which + 1:])
            if (place + 1 < len(hosts) and place + 1 not in places and following not in seen):
                seen.add(following)
                heapq.heappush(waiting, (_sum(costs[each] for each in following), following))


def _most(kept: Sequence[Host], able: Sequence[Host], free: Mapping[str, Mapping[str, int]],
          limit: int, retreats: Iterator[int]) -> int:
    """How many hosts can be cleared together, as far as going through them once tells."""
    chosen = list(kept)
    for host in able:
        if len(chosen) < limit and _placed([*chosen, host], free, retreats) is not None:
            chosen.append(host)
    return min(len(chosen), max(limit, 0))


def _placed(cleared: Sequence[Host], free: Mapping[str, Mapping[str, int]],
            retreats: Iterator[int]) -> list[Move] | None:
    """A Move for each server of the hosts, or None where they do not all fit elsewhere.

    :param retreats: gives as many as there may still be.
    """
    names = {host.name for host in cleared}
    left = {name: dict(units) for name, units in free.items() if name not in names}
    # The hardest to place first.
    waiting = sorted(((server, host.name) for host in cleared for server in host.servers),
                     key=lambda each: (len(each[0].targets & left.keys()),
                                       -each[0].memory_mb, -sum(each[0].takes.values()),
                                       each[0].id))
    moves: list[Move] = []
    # For each server that is placed, the hosts that are still to be tried for it.
    options = [_targets(waiting[0][0], left)] if waiting else []
    while len(moves) < len(waiting):
        if not options[-1]:
            options.pop()
            if not options or next(retreats, None) is None:
                return None
            _add(left[moves[-1].target], waiting[len(moves) - 1][0].takes, 1)
            moves.pop()
            continue
        server, source = waiting[len(moves)]
        moves.append(Move(server.id, source, options[-1].pop()))
        _add(left[moves[-1].target], server.takes, -1)
        if len(moves) < len(waiting):
            options.append(_targets(waiting[len(moves)][0], left))
    return moves


def _targets(server: Server, left: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The hosts that have room for a server, the one with the most memory left at the end."""
    able = [name for name in server.targets if name in left and all(
        units <= left[name].get(each, units) for each, units in server.takes.items())]
    return sorted(able, key=lambda name: (left[name].get('MEMORY_MB', 0), name))


def _add(left: dict[str, int], takes: Mapping[str, int], times: int) -> None:
    for name, units in takes.items():
        if name in left:
            left[name] += units * times


def _why(host: Host) -> str:
    for server in host.servers:
        if not server.targets - {host.name}:
            return f'no other host has room for server {server.id}'
    return 'the other hosts have no room for all of its servers'


def _sum(costs: Iterable[Cost]) -> Cost:
    return tuple(map(sum, zip(*costs, strict=True)))
