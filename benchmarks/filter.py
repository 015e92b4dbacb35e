# SPDX-License-Identifier: Apache-2.0
"""How long the scheduler filter takes over 10,000 hosts, besides its one question to Climate.

``python -m benchmarks.filter``; it fails where a figure is above the limit. Nova's own classes of
hosts and aggregates are used where Nova can be imported, stand-ins of them elsewhere.
"""
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests'))

import nova_standin

HOSTS = 10_000
RESERVATIONS = 500
LIMIT_MS = 20
ROUNDS = 30


class Silent:
    """Stands in for Climate: answers at once, so that only the filter's own time is seen."""

    def __init__(self, answer):
        self._answer = answer

    def ask(self, reservation_id, project_id):
        return self._answer, False


def region(aggregate):
    """10,000 hosts: half of them ordinary, a quarter in the freepool, a quarter leased.

    :param aggregate: makes one, of a name and metadata.
    :returns: [(name, its aggregates)].
    """
    zones = [aggregate(f'zone-{number}', {'availability_zone': f'az{number}'})
             for number in range(3)]
    disks = aggregate('ssd', {'ssd': 'true'})
    freepool = aggregate('freepool', {})
    pools = [aggregate(f'r{number}', {'availability_zone': f'climate_r{number}',
                                      'climate:owner': f'p{number}'})
             for number in range(RESERVATIONS)]
    for number in range(HOSTS):
        kind = number % 4
        if kind == 3:
            mine = [disks, pools[number // 4 % RESERVATIONS]]
        elif kind == 2:
            mine = [disks, freepool]
        else:
            mine = [zones[number % 3], disks]
        yield f'host-{number}', mine


def of_standin():
    hosts = [nova_standin.Host(*each) for each in region(nova_standin.Aggregate)]
    return 'a stand-in for Nova', hosts


def of_nova():
    """Hosts made of Nova's own classes, or None where there is no Nova."""
    try:
        from nova import objects
        from nova.scheduler import host_manager
    except ImportError:
        return None
    objects.register_all()
    hosts = []
    for name, aggregates in region(
            lambda name, metadata: objects.Aggregate(name=name, metadata=metadata)):
        host = host_manager.HostState(name, name, None)
        host.aggregates = aggregates
        hosts.append(host)
    return 'Nova itself', hosts


def milliseconds(climate_filter, request, hosts):
    """The median time of one request on the processor, whatever else the machine does."""
    taken = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        climate_filter.filter_all(hosts, request)
        taken.append((time.thread_time() - began) * 1000)
    return statistics.median(taken)


def main():
    made = of_nova() or of_standin()
    whose, hosts = made
    slowest = 0.0
    with nova_standin.scheduler() as (filter_class, _conf):
        from climate.nova import rules
        climate_filter = filter_class()
        mine = frozenset(host.host for host in hosts[3::4 * RESERVATIONS])
        idle = rules.Answer(active=False, usable=False, reason='it has ended')
        usable = rules.Answer(active=True, usable=True, hosts=mine)
        ordinary = rules.Answer(active=True, usable=True, ordinary=True)
        for name, hints, answer in (
                ('an ordinary request', {}, None),
                ('a reservation, by aggregates alone', {'reservation': ['r0']}, None),
                ('a reservation that is active', {'reservation': ['r0']}, usable),
                ('a leased server without held room', {'reservation': ['r0']}, ordinary),
                ('a reservation that is not', {'reservation': ['r0']}, idle)):
            climate_filter._climate = Silent(answer) if answer else None
            figure = milliseconds(climate_filter, nova_standin.Request(
                hints, project_id='p0'), hosts)
            slowest = max(slowest, figure)
            print(f'{len(hosts)} hosts of {whose}, {name}: {figure:.1f} ms')
    print(f'slowest: {slowest:.1f} ms, limit: {LIMIT_MS} ms')
    return 0 if slowest <= LIMIT_MS else 1


if __name__ == '__main__':
    sys.exit(main())
