# SPDX-License-Identifier: Apache-2.0
"""Hosts are cleared of other people's servers for a best-effort lease, and given back after it."""
import datetime

import acts
import builders
import pytest

from climate import errors
from climate.db import leases
from climate.domain import hunt
from climate.domain import lifecycle
from climate.domain import records

NOON, hours = builders.NOON, builders.hours
BEST_EFFORT = records.Acquire('best-effort')
HOUR = 3600


def seconds(count):
    return datetime.timedelta(seconds=count)


@pytest.fixture
def lend(manager, conf):
    """callable(*names): hosts of the cloud are lent to best effort."""
    def build(*names):
        conf.set_override('lent_aggregate', 'lent', group='acquire')
        nova = acts.nova(manager)
        nova.add_hosts(nova.ensure_aggregate('lent'), names)
    return build


@pytest.fixture
def cloud(conf, manager, lend):
    """Four alike hosts: c1 to c3 are lent and have two servers of others each, c4 is free."""
    for name in list(manager.cloud.host_names()):
        manager.cloud.remove_host(name)
    for number in range(1, 5):
        manager.cloud.add_host(f'c{number}')
    lend('c1', 'c2', 'c3')
    for host in ('c1', 'c2', 'c3'):
        for number in range(2):
            manager.cloud.boot('other', f'{host}-{number}', host=host, flavor='2')
    return manager.cloud


def a_request(least=2, acquire=BEST_EFFORT, **more):
    return builders.a_lease(builders.hosts(least), duration_seconds=HOUR, acquire=acquire, **more)


def servers(cloud):
    """{name: (status, host)} of all servers."""
    return {each.name: (each.status, each.host) for each in cloud.servers()}


def fences(cloud):
    """{service host: why it is disabled}."""
    return {each.host: each.reason for each in cloud.as_service().computes.every()
            if not each.enabled}


def by_name(cloud, name):
    [found] = [each for each in cloud.servers() if each.name == name]
    return found


def hunted(manager, lease, within=600, step=1):
    """The lease after the clock ran until it was acquired, or given up."""
    until = manager.clock() + seconds(within)
    while manager.clock() < until:
        manager.run()
        found = manager.lease(lease)
        if found.state not in (lifecycle.ACQUIRING, lifecycle.PENDING):
            return found
        manager.clock.advance(seconds(step))
    return manager.lease(lease)


def test_two_hosts_are_cleared_leased_and_given_back(manager, cloud):
    before = {each.id for each in cloud.servers()}
    lease = manager.create(a_request())
    assert lease.state == lifecycle.ACQUIRING
    assert not fences(cloud)
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    mine = acts.aggregate(manager, lease).hosts
    assert set(mine) < {'c1', 'c2', 'c3'}
    assert len(mine) == 2
    assert {each.id for each in cloud.servers()} == before
    assert {host for status, host in servers(cloud).values()} == {'c1', 'c2', 'c3', 'c4'} - set(
        mine)
    assert {status for status, host in servers(cloud).values()} == {'ACTIVE'}
    assert fences(cloud) == {}
    assert cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id}).host in mine
    with pytest.raises(errors.Conflict):
        cloud.boot('other', 'not mine', host=mine[0])
    manager.run_until(lease.end + seconds(5))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert acts.freepool(manager) == ()
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.nova(manager).aggregate('lent').hosts == ('c1', 'c2', 'c3')
    cloud.boot('other', 'theirs again', host=mine[0])
