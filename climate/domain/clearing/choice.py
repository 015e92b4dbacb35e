# SPDX-License-Identifier: Apache-2.0
"""The choice of the hosts to clear, and of a target for each of their servers."""
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import heapq

# Limits of the search, because bin packing can take very long: the number of choices of hosts to
# try, cheapest first, and the number of backtracking steps for all choices together. At a limit the
# plan may not be the cheapest, or may be missing although one exists.
_CHOICES = 500
_RETREATS = 20000

Cost = tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class MovableServer:
    """A server that must be migrated.

    :ivar takes: {resource class: units} that it takes of any host.
    :ivar targets: the names of the hosts that may take it and have enough free for it alone.
    :ivar memory_mb: its memory, which is copied while it runs.
    """

    id: str
    takes: Mapping[str, int]
    targets: frozenset[str]
    memory_mb: int = 0
    running: bool = True


@dataclasses.dataclass(frozen=True)
class ClearableHost:
    """A host that can be cleared, with its servers."""

    name: str
    servers: tuple[MovableServer, ...] = ()


@dataclasses.dataclass(frozen=True)
class ChosenMove:
    """The migration of a server from one host to another."""

    server_id: str
    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class ClearingChoice:
    """The hosts to clear and the migrations that this needs.

    :ivar hosts: the names of the hosts to clear, by cost.
    :ivar cost: the cost of all of them.
    """

    hosts: tuple[str, ...]
    moves: tuple[ChosenMove, ...]
    cost: Cost


class Impossible(Exception):
    """The wanted number of hosts cannot be cleared.

    :ivar possible: how many hosts can be cleared.
    :ivar reasons: {host name: why it cannot be cleared, in words}.
    """

    def __init__(self, possible: int, reasons: Mapping[str, str]):
        super().__init__(possible, reasons)
        self.possible = possible
        self.reasons = dict(reasons)


def plan(hosts: Iterable[ClearableHost], free: Mapping[str, Mapping[str, int]], wanted: int,
         cost: Callable[[ClearableHost], Cost], keep: Iterable[str] = ()) -> ClearingChoice:
    """Return the cheapest ClearingChoice that clears `wanted` of the hosts.

    The servers that go to one host must fit there together, and no server goes to a host that is
    cleared itself. A class that `free` does not list for a host does not count there.

    :param hosts: each name once.
    :param free: {host name: {resource class: free units}} of all hosts that may take servers.
    :param cost: the cost of clearing a host; costs are added and compared number by number.
    :param keep: the names of hosts that must be in the plan.
    :raises Impossible: there is no such plan.
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
            return ClearingChoice(tuple(names), tuple(moves), _sum(costs[name] for name in names))
    raise Impossible(_most(kept, able, free, wanted - 1, retreats), reasons)


def _choices(hosts: Sequence[ClearableHost], costs: Sequence[Cost],
             count: int) -> Iterator[list[ClearableHost]]:
    """Yield choices of `count` hosts, cheapest first, at most _CHOICES.

    :param hosts: the hosts, sorted by cost.
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


def _most(kept: Sequence[ClearableHost], able: Sequence[ClearableHost],
          free: Mapping[str, Mapping[str, int]], limit: int, retreats: Iterator[int]) -> int:
    """Return how many hosts can be cleared together, found by adding one after the other."""
    chosen = list(kept)
    for host in able:
        if len(chosen) < limit and _placed([*chosen, host], free, retreats) is not None:
            chosen.append(host)
    return min(len(chosen), max(limit, 0))


def _placed(cleared: Sequence[ClearableHost], free: Mapping[str, Mapping[str, int]],
            retreats: Iterator[int]) -> list[ChosenMove] | None:
    """Return a ChosenMove for each server of the hosts, or None if they do not all fit elsewhere.

    :param retreats: an iterator with an item for each backtracking step that is left.
    """
    names = {host.name for host in cleared}
    left = {name: dict(units) for name, units in free.items() if name not in names}
    # The servers that are hardest to place come first.
    waiting = sorted(((server, host.name) for host in cleared for server in host.servers),
                     key=lambda each: (len(each[0].targets & left.keys()),
                                       -each[0].memory_mb, -sum(each[0].takes.values()),
                                       each[0].id))
    moves: list[ChosenMove] = []
    # For each placed server, the hosts that are still to be tried.
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
        moves.append(ChosenMove(server.id, source, options[-1].pop()))
        _add(left[moves[-1].target], server.takes, -1)
        if len(moves) < len(waiting):
            options.append(_targets(waiting[len(moves)][0], left))
    return moves


def _targets(server: MovableServer, left: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the hosts that can take a server, the one with the most free memory last."""
    able = [name for name in server.targets if name in left and all(
        units <= left[name].get(resource_class, units)
        for resource_class, units in server.takes.items())]
    return sorted(able, key=lambda name: (left[name].get('MEMORY_MB', 0), name))


def _add(left: dict[str, int], takes: Mapping[str, int], times: int) -> None:
    for name, units in takes.items():
        if name in left:
            left[name] += units * times


def _why(host: ClearableHost) -> str:
    for server in host.servers:
        if not server.targets - {host.name}:
            return f'no other host has capacity for server {server.id}'
    return 'the other hosts have no capacity for all of its servers'


def _sum(costs: Iterable[Cost]) -> Cost:
    return tuple(map(sum, zip(*costs, strict=True)))
