# SPDX-License-Identifier: Apache-2.0
"""The time of the scheduler filter for 10,000 hosts, besides its one question to Climate.

``python -m benchmarks.filter``. Nova's own classes of hosts and aggregates are used where Nova can
be imported, stand-ins of them elsewhere.
"""
import sys
import time

from support import nova_standin

from benchmarks import report

HOSTS = 10_000
RESERVATIONS = 500
LIMIT_MS = 20
ROUNDS = {'short': 5, 'bench': 100, 'long': 300}


class Silent:
    """Stands in for Climate: answers at once, so that only the filter's own time is seen.

    :ivar asked: how often it was.
    """

    def __init__(self, answer):
        self._answer = answer
        self.asked = 0

    def ask(self, reservation_id, project_id):
        self.asked += 1
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
    return 'a stand-in', hosts


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
    return 'Nova', hosts


def milliseconds(climate_filter, request, hosts, rounds):
    """The time of each of several requests on the processor, whatever else the machine does."""
    taken = []
    for _ in range(rounds):
        began = time.thread_time()
        climate_filter.filter_all(hosts, request)
        taken.append((time.thread_time() - began) * 1000)
    return taken


def requests(hosts):
    """(what is asked for, its hints, what Climate answers or None where it is not asked)."""
    from climate.nova import host_rules
    mine = frozenset(host.host for host in hosts[3::4 * RESERVATIONS])
    hints = {'reservation': ['r0']}
    yield 'ordinary', {}, None
    yield 'by aggregates alone', hints, None
    yield ('reservation is active', hints,
           host_rules.ReservationAnswer(active=True, usable=True, hosts=mine))
    yield ('leased without capacity', hints,
           host_rules.ReservationAnswer(active=True, usable=True, ordinary=True))
    yield ('reservation is over', hints,
           host_rules.ReservationAnswer(active=False, usable=False, reason='it has ended'))


def figures(form):
    """The time of each kind of request, and how often Climate is asked for it."""
    whose, hosts = of_nova() or of_standin()
    with nova_standin.scheduler() as (filter_class, _conf):
        climate_filter = filter_class()
        for what, hints, answer in requests(hosts):
            climate = climate_filter._climate = Silent(answer) if answer else None
            taken = milliseconds(climate_filter, nova_standin.Request(hints, project_id='p0'),
                                 hosts, ROUNDS[form])
            what = f'filter {len(hosts):,} hosts of {whose}: {what}'
            yield report.timed(7, what, taken, goal=LIMIT_MS)
            if climate:
                yield report.Figure(7, f'{what}; asked', climate.asked / len(taken),
                                    'times', goal=1, firm=True)


if __name__ == '__main__':
    sys.exit(report.main(figures))
