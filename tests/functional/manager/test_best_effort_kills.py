# SPDX-License-Identifier: Apache-2.0
"""A hunt that is killed anywhere is carried on; what is left of one an audit finds."""
import os

import acts
import builders
import hunting
import pytest

from climate.db import resources
from climate.domain import hunt
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import audit as auditing
from climate.manager import repairs

# Of the fault points of a hunt, so that the processes are killed at one of so many.
STRIDE = int(os.environ.get('CLIMATE_TEST_STRIDE', '17'))


@pytest.fixture
def cloud(conf, manager):
    return hunting.lent_cloud(conf, manager)


def _spread_again(manager, cloud):
    """Put the servers back to where they were at first."""
    manager.clock.advance(hunting.seconds(10))
    manager.core.conf.set_override('migrate_seconds', 0, group='simulated')
    for each in cloud.servers():
        if each.host != each.name[:2]:
            cloud.as_service().servers.migrate(each.id, each.name[:2])
            if each.status == 'SHUTOFF':
                cloud.as_service().servers.migrate(each.id)
    manager.core.conf.set_override('migrate_seconds', 2, group='simulated')


def _is_whole(manager, cloud, before):
    """Nothing of a hunt is left but what its lease has."""
    assert hunting.fences(cloud) == {}
    assert not [each for each in cloud.host_names() if cloud.as_service().computes.BARRED
                in cloud.as_service().placement.traits(each)]
    assert {each.id for each in cloud.servers()} == before
    assert {status for status, _ in hunting.servers(cloud).values()} == {'ACTIVE', 'SHUTOFF'}


@pytest.mark.parametrize('seconds_given', [600, 3])
def test_a_hunt_that_is_killed_anywhere_is_carried_on_or_undone(
        manager, cloud, conf, seconds_given):
    conf.set_override('parallel_moves', 2, group='acquire')
    conf.set_override('migrate_seconds', 2, group='simulated')
    cloud.mark_server(hunting.by_name(cloud, 'c1-0').id, 'SHUTOFF')
    before = {each.id for each in cloud.servers()}
    number, was_killed = 1, True
    while was_killed:
        lease = manager.create(hunting.a_request(acquire=records.Acquire(
            'best-effort', timeout_seconds=seconds_given)))
        was_killed = hunting.killed_at(
            cloud, number, lambda lease=lease: hunting.hunted(manager, lease))
        manager.clock.advance(hunting.seconds(60))
        lease = hunting.hunted(manager, lease)
        assert lease.state == (lifecycle.ACTIVE if seconds_given > 60 else lifecycle.TIMEDOUT), (
            number, lease.reason)
        _is_whole(manager, cloud, before)
        if lease.state == lifecycle.ACTIVE:
            mine = acts.aggregate(manager, lease).hosts
            assert len(mine) == 2
            assert not set(mine) & {host for _, host in hunting.servers(cloud).values()}
            acts.delete(manager, lease)
        manager.run_until(manager.clock() + hunting.seconds(10))
        assert manager.client.list_resources(builders.an_admin(), 'host') == [], number
        assert acts.nova(manager).aggregate('freepool') is None or not acts.freepool(manager)
        _spread_again(manager, cloud)
        number += STRIDE
    assert number > 60


def _drifts(manager):
    found = auditing.Auditor(manager.core).look()
    return [(each.kind, each.what) for each in found], found


def test_an_audit_takes_down_a_fence_that_no_lease_needs(manager, cloud):
    lease = manager.create(hunting.a_request(1))
    computes = cloud.as_service().computes
    computes.fence('c1', hunt.fence_of(lease.id))
    cloud.mark_host('c2', enabled=False, reason='a disk is broken')
    assert _drifts(manager)[0] == []
    computes.unfence('c1', hunt.fence_of(lease.id))
    lease = hunting.hunted(manager, lease)
    assert hunting.fences(cloud) == {'c2': 'a disk is broken'}
    computes.fence('c4', hunt.fence_of(lease.id))
    told, found = _drifts(manager)
    assert told == [('fence', 'service of c4')]
    assert repairs.Repairs(manager.core).make(found) == {found[0]: None}
    assert hunting.fences(cloud) == {'c2': 'a disk is broken'}
    assert _drifts(manager)[0] == []


def test_an_audit_gives_back_a_host_that_is_lent_to_nobody(manager, cloud):
    lease = hunting.hunted(manager, manager.create(hunting.a_request(1)))
    cloud.add_host('c5')
    host = manager.client.create_resource(builders.an_admin(), 'host', 'c5', {})
    with manager.database.writer() as connection:
        resources.change(connection, host.id, builders.NOON, lent_to=lease.reservations[0].id)
    assert _drifts(manager)[0] == []
    acts.delete(manager, lease)
    manager.run()
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    host = manager.client.create_resource(builders.an_admin(), 'host', 'c5', {})
    with manager.database.writer() as connection:
        resources.change(connection, host.id, builders.NOON, lent_to=lease.reservations[0].id)
    told, found = _drifts(manager)
    assert told == [('lent', 'host c5')]
    assert repairs.Repairs(manager.core).make(found) == {found[0]: None}
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.freepool(manager) == ()
