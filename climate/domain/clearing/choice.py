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
# try, and the number of backtracking steps for all choices together. If a limit is reached, the
# result may not be the cheapest choice, or there may be no result although a choice exists.
_CHOICES = 500
_BACKTRACKS = 20000

Cost = tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class MovableServer:
    """A server that must be migrated.

    :ivar takes: {resource class: units} that the server needs on a host.
    :ivar targets: the names of the hosts that may run the server and have enough free capacity for
        it alone.
    :ivar memory_mb: the memory, which a live migration copies.
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
    """The hosts to clear, and the necessary migrations.

    :ivar hosts: the names of the hosts to clear, sorted by cost.
    :ivar cost: the total cost of these hosts.
    """

    hosts: tuple[str, ...]
    moves: tuple[ChosenMove, ...]
    cost: Cost


class Impossible(Exception):
    """The wanted number of hosts cannot be cleared.

    :ivar possible: how many hosts can be cleared.
    :ivar reasons: {host name: why this host cannot be cleared, in words}.
    """

    def __init__(self, possible: int, reasons: Mapping[str, str]):
        super().__init__(possible, reasons)
        self.possible = possible
        self.reasons = dict(reasons)


def plan(hosts: Iterable[ClearableHost], free: Mapping[str, Mapping[str, int]], wanted: int,
         cost: Callable[[ClearableHost], Cost], keep: Iterable[str] = ()) -> ClearingChoice:
    """Return the cheapest ClearingChoice that clears `wanted` of the hosts.

    All servers that move to one host must fit there together, and no server moves to a host that is
    cleared too. A resource class that `free` does not list for a host is not limited there.

    :param hosts: the hosts that may be cleared, without duplicate names.
    :param free: {host name: {resource class: free units}} of all hosts that may run the servers.
    :param cost: the cost of clearing a host; costs are added and compared number by number.
    :param keep: the names of hosts that must be among the chosen ones.
    :raises Impossible: there is no such choice.
    """
    kept, clearable, reasons = [], [], {}
    keep = frozenset(keep)
    backtracks = iter(range(_BACKTRACKS))
    for host in sorted(hosts, key=lambda host: (cost(host), host.name)):
        if host.name in keep:
            kept.append(host)
        elif _placed([host], free, backtracks) is None:
            reasons[host.name] = _why(host)
        else:
            clearable.append(host)
    costs = {host.name: cost(host) for host in (*kept, *clearable)}
    for chosen in _choices(clearable, [costs[host.name] for host in clearable],
                           wanted - len(kept)):
        cleared = [*kept, *chosen]
        moves = _placed(cleared, free, backtracks)
        if moves is not None:
            names = [host.name for host in cleared]
            return ClearingChoice(tuple(names), tuple(moves), _sum(costs[name] for name in names))
    raise Impossible(_most(kept, clearable, free, wanted - 1, backtracks), reasons)


def _choices(hosts: Sequence[ClearableHost], costs: Sequence[Cost],
             count: int) -> Iterator[list[ClearableHost]]:
    """Yield choices of `count` hosts, cheapest first, at most _CHOICES.

    :param hosts: the hosts, sorted by cost.
    """
    if not 0 <= count <= len(hosts):
        return
    first = tuple(range(count))
    heap = [(_sum(costs[index] for index in first), first)]
    seen = {first}
    for _ in range(_CHOICES):
        if not heap:
            return
        _, indexes = heapq.heappop(heap)
        yield [hosts[index] for index in indexes]
        # Replace one of the hosts by the next more expensive host.
        for position, index in enumerate(indexes):
            following = (*indexes[:position], index + 1, *indexes[position + 1:])
            if index + 1 < len(hosts) and index + 1 not in indexes and following not in seen:
                seen.add(following)
                heapq.heappush(heap, (_sum(costs[index] for index in following), following))


def _most(kept: Sequence[ClearableHost], clearable: Sequence[ClearableHost],
          free: Mapping[str, Mapping[str, int]], limit: int, backtracks: Iterator[int]) -> int:
    """Return how many hosts can be cleared together, found by adding one after the other."""
    chosen = list(kept)
    for host in clearable:
        if len(chosen) < limit and _placed([*chosen, host], free, backtracks) is not None:
            chosen.append(host)
    return min(len(chosen), max(limit, 0))


def _placed(cleared: Sequence[ClearableHost], free: Mapping[str, Mapping[str, int]],
            backtracks: Iterator[int]) -> list[ChosenMove] | None:
    """Return a ChosenMove for each server of the hosts, or None if they do not all fit elsewhere.

    :param backtracks: an iterator with an item for each remaining backtracking step.
    """
    names = {host.name for host in cleared}
    remaining = {name: dict(units) for name, units in free.items() if name not in names}
    # The servers that are hardest to place come first.
    servers = sorted(((server, host.name) for host in cleared for server in host.servers),
                     key=lambda pair: (len(pair[0].targets & remaining.keys()),
                                       -pair[0].memory_mb, -sum(pair[0].takes.values()),
                                       pair[0].id))
    moves: list[ChosenMove] = []
    # For each placed server, and for the next one, the hosts that are not tried yet.
    options = [_targets(servers[0][0], remaining)] if servers else []
    while len(moves) < len(servers):
        if not options[-1]:
            options.pop()
            if not options or next(backtracks, None) is None:
                return None
            _add(remaining[moves[-1].target], servers[len(moves) - 1][0].takes, 1)
            moves.pop()
            continue
        server, source = servers[len(moves)]
        moves.append(ChosenMove(server.id, source, options[-1].pop()))
        _add(remaining[moves[-1].target], server.takes, -1)
        if len(moves) < len(servers):
            options.append(_targets(servers[len(moves)][0], remaining))
    return moves


def _targets(server: MovableServer, free: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the hosts on which a server fits, the one with the most free memory last."""
    fitting = [name for name in server.targets if name in free and all(
        units <= free[name].get(resource_class, units)
        for resource_class, units in server.takes.items())]
    return sorted(fitting, key=lambda name: (free[name].get('MEMORY_MB', 0), name))


def _add(free: dict[str, int], takes: Mapping[str, int], times: int) -> None:
    for name, units in takes.items():
        if name in free:
            free[name] += units * times


def _why(host: ClearableHost) -> str:
    for server in host.servers:
        if not server.targets - {host.name}:
            return f'no other host has capacity for server {server.id}'
    return 'the other hosts have no capacity for all of its servers'


def _sum(costs: Iterable[Cost]) -> Cost:
    return tuple(map(sum, zip(*costs, strict=True)))
