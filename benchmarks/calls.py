# SPDX-License-Identifier: Apache-2.0
"""The number of calls to the cloud at the start and the end of a lease, by resource type.

``python -m benchmarks.calls``: on the simulated cloud, one lease after the other, each known an
hour ahead. A call of the simulated cloud is one method of an adapter and one object, such as one
host that is added to an aggregate; the real adapter may need several calls for it.
"""
import collections
import contextlib
import sys

from support import builders
from support import every_type

from benchmarks import report
from benchmarks import worlds
from climate.cloud import simulated
from climate.cloud.simulated import neutron
from climate.domain import lifecycle
from climate.domain import records

TYPES = ('physical:host', 'virtual:instance', 'flavor:instance', 'virtual:floatingip',
         'virtual:network', 'virtual:volume')
HOSTS = 8
_SIZES = {'vcpus': 1, 'memory_mb': 1024, 'disk_gb': 1}


def cases(manager):
    """Yield (what is leased, its ReservationRequest, most calls of its start, of its end)."""
    def asked(resource_type, **request):
        return records.ReservationRequest(resource_type, request)

    server = manager.cloud.boot('demo', 'mine', flavor='1')
    yield '1 host', builders.hosts(1), 4, 7
    yield '4 hosts', builders.hosts(4), 10, 13
    yield '1 instance', asked('virtual:instance', **_SIZES, amount=1, affinity=None), 4, 11
    yield '8 instances on 8 hosts', asked(
        'virtual:instance', **_SIZES, amount=8, affinity=False), 19, 26
    yield '1 instance of a flavor', asked(
        'flavor:instance', flavor_id='1', amount=1, affinity=None), 4, 11
    yield 'a server', asked('virtual:instance', resource_id=server.id, on_end='suspend'), 8, 18
    yield '3 addresses', asked('virtual:floatingip', network_id=neutron.PUBLIC, amount=3), 8, 4
    yield 'a network with a router', asked(
        'virtual:network', subnet='10.42.0.0/24', router=True,
        external_network=neutron.PUBLIC), 12, 9
    yield 'a volume', asked('virtual:volume', size_gb=10, on_end='delete'), 9, 9


class Counter:
    """Counts the calls of the cloud by name; those of Keystone are not counted."""

    def __init__(self, cloud):
        self._cloud = cloud

    @contextlib.contextmanager
    def counted(self):
        """Yield a Counter that fills while the block runs."""
        made = collections.Counter()

        def note(name, when):
            if when == 'before' and not name.startswith('keystone.'):
                made[name] += 1
        self._cloud.faults.on_point = note
        yield made
        self._cloud.faults.on_point = None


def measure(database):
    """Yield (what is leased, its goals, the calls of its start, those of its end)."""
    clock = builders.Clock()
    conf = worlds.configured(HOSTS + 4, TYPES)
    manager = builders.Manager(conf, database, clock, simulated.SimulatedCloud(
        conf, clock=lambda: clock().timestamp()))
    manager.enrol(HOSTS)
    for each in every_type.POOLS:
        each.enrol(manager, len(each.names))
    counter = Counter(manager.cloud)
    for what, asked, *goals in cases(manager):
        start = clock() + builders.hours(1)
        lease = manager.create(builders.a_lease(asked, start=start, end=start + builders.hours(1)))
        manager.run_until(start - builders.seconds(1))
        with counter.counted() as starting:
            manager.run_until(start + builders.minutes(30))
        assert manager.lease(lease).state == lifecycle.ACTIVE, what
        with counter.counted() as ending:
            manager.run_until(start + builders.hours(2))
        assert manager.lease(lease).state == lifecycle.TERMINATED, what
        yield what, goals, starting, ending


def figures(form):
    """Row 15."""
    with worlds.emptied(worlds.FILE) as database:
        for what, goals, *counted in measure(database):
            for step, goal, made in zip(('a start', 'an end'), goals, counted, strict=True):
                yield report.Figure(15, f'calls of {step}: {what}', made.total(), 'calls',
                                    goal=goal, firm=True)


if __name__ == '__main__':
    sys.exit(report.main(figures))
