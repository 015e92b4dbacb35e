# SPDX-License-Identifier: Apache-2.0
"""Usage at this moment, as Prometheus reads it."""
import prometheus_client
from prometheus_client import parser
import pytest
from support import builders

from climate import errors
from climate.db import use_samples
from climate.domain import use_sampling
from climate.manager.usage import gauges

hours, minutes = builders.hours, builders.minutes
NOON = builders.NOON


class _Collector:
    def __init__(self, manager):
        self._manager = manager

    def collect(self):
        return gauges.families(self._manager.database, self._manager.clock())


def read(manager):
    """{(name, value of each label by the label's name): value}."""
    registry = prometheus_client.CollectorRegistry()
    registry.register(_Collector(manager))
    text = prometheus_client.generate_latest(registry).decode()
    return {(sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
            for family in parser.text_string_to_metric_families(text) for sample in family.samples}


def of(found, name):
    return {key[1:]: value for key, value in found.items() if key[0] == f'climate_{name}'}


MINE = ('host', 'demo', 'physical:host')


def test_gauges_follow_a_lease_from_its_allocation_to_its_teardown(manager):
    hosts = manager.enrol(3)
    manager.book(builders.hosts(2), start=NOON + hours(1), end=NOON + hours(2))
    found = read(manager)
    assert of(found, 'allocated_resources') == of(found, 'occupied_resources') == {}
    assert of(found, 'pool_capacity_resources') == {('host',): 3}
    # Nobody starts it for a minute.
    manager.clock.now = NOON + hours(1) + minutes(1)
    found = read(manager)
    assert of(found, 'allocated_resources') == {MINE: 2}
    assert of(found, 'occupied_resources') == {}
    manager.run()
    found = read(manager)
    assert of(found, 'occupied_resources') == {MINE: 2}
    assert of(found, 'pool_occupied_resources') == {('host',): 2}
    capacities = sorted(host.capacity['vcpus'] for host in hosts)
    assert of(found, 'occupied_units')['vcpus', *MINE] in (
        sum(capacities[:2]), sum(capacities[1:]), capacities[0] + capacities[2])
    # Its end has come, and nobody ends it.
    manager.clock.now = NOON + hours(3)
    found = read(manager)
    assert of(found, 'allocated_resources') == {}
    assert of(found, 'occupied_resources') == {MINE: 2}
    manager.run()
    assert of(read(manager), 'occupied_resources') == {}


def test_the_idle_gauge_is_the_share_of_the_last_hour_with_samples(manager):
    [host] = manager.enrol(1)
    lease = manager.book(end=NOON + hours(4))
    manager.run()
    key = lease.reservations[0].id, host.id
    with manager.database.writer() as connection:
        use_samples.add(connection, NOON, {key: use_sampling.Sample(3600, 1800, 0.0)})
    manager.clock.now = NOON + hours(1)
    assert of(read(manager), 'idle_resources') == {MINE: 0.5}


def test_gauges_count_refused_resources_by_reason(manager):
    manager.enrol(1)
    with pytest.raises(errors.NotEnough):
        manager.book(builders.hosts(3), start=NOON + hours(1), end=NOON + hours(2))
    assert of(read(manager), 'refused_resources') == {}
    manager.clock.now = NOON + hours(1) + minutes(30)
    assert of(read(manager), 'refused_resources') == {('host', 'demo', 'no_match',
                                                       'physical:host'): 1}


@pytest.mark.parametrize(('asked', 'most'), [
    ([builders.hosts(10 ** 6)], {'physical:host': 2}),
    ([builders.hosts(3), builders.hosts(4), builders.hosts(10 ** 6)], {'physical:host': 2}),
    # Half of the first host and a quarter of the second one, of twice the size.
    ([builders.instances(999, memory_mb=32 * 1024)], {'virtual:instance': 5}),
    ([builders.hosts(3), builders.instances(999)], {
        'physical:host': 2, 'virtual:instance': 0})], ids=str)
def test_no_project_is_refused_more_than_a_pool_has(manager, asked, most):
    manager.enrol(2)
    for request in asked:
        for project in ('demo', 'other'):
            with pytest.raises(errors.NotEnough):
                manager.create(builders.a_lease(request, end=NOON + hours(2)),
                               builders.a_member(project=project))
    found = of(read(manager), 'refused_resources')
    sums = {}
    for (_, project, _, resource_type), number in found.items():
        sums.setdefault(project, {}).setdefault(resource_type, 0)
        sums[project][resource_type] += number
    assert sums == {'demo': most, 'other': most}


def test_hosts_out_of_use_are_out_of_order(manager):
    [host, _] = manager.enrol(2)
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, reservable=False)
    found = read(manager)
    assert of(found, 'pool_out_of_order_resources') == {('host',): 1}
    assert of(found, 'pool_asleep_resources') == {('host',): 0}
