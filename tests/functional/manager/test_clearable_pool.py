# SPDX-License-Identifier: Apache-2.0
"""Host clearing works for any pool that keeps the contract, and reaches the cloud by it only."""
import clearings
import pytest
from support import builders
from support import clearable_racks
from support import cloud_points

from climate import errors
from climate.db import resources
from climate.domain import lifecycle
from climate.domain import records
from climate.plugins import registry


@pytest.fixture
def manager(conf, database, clock):
    """A manager with racks only: rack1 and rack2 are lent and have a job each, rack3 is free."""
    found = builders.Manager(conf, database, clock, classes={
        'test:rack': clearable_racks.RackPlugin})
    pool = found.core.registry.clearable_pool()
    for name, lent in (('rack1', True), ('rack2', True), ('rack3', False)):
        pool.racks[name] = clearable_racks.Rack(lent=lent)
    for job, rack in (('job1', 'rack1'), ('job2', 'rack2')):
        pool.jobs[job] = clearable_racks.Job(job, rack)
    return found


def a_request(racks=1):
    return builders.a_lease(records.ReservationRequest('test:rack', {'racks': racks}),
                            duration_seconds=clearings.HOUR, acquire=clearings.BEST_EFFORT)


def test_racks_are_cleared_leased_and_given_back_without_nova(manager):
    pool, calls = manager.core.registry.clearable_pool(), cloud_points.calls(manager.cloud)
    lease = clearings.acquired(manager, manager.create(a_request()))
    assert lease.reservations[0].binding == {'racks': ['rack1']}
    assert pool.done[0] == ('disable', 'rack1')
    assert pool.done[1][:2] == ('migrate', 'job1')
    assert pool.done[2:] == [('enable', 'rack1')]
    assert pool.jobs['job1'].host != 'rack1'
    with manager.database.reader() as connection:
        [found] = resources.find(connection, 'rack')
    assert (found.name, found.facts) == ('rack1', {'state': 'enabled'})
    manager.expect(lease, lifecycle.TERMINATED, lease.end + clearings.seconds(5))
    assert not pool.racks['rack1'].admitted
    assert manager.client.list_resources(builders.an_admin(), 'rack') == []
    assert {name.partition('.')[0] for name in calls} <= {'keystone'}


def test_a_job_that_must_stay_keeps_its_rack(manager):
    pool = manager.core.registry.clearable_pool()
    pool.jobs['job1'].project_id = builders.a_member().project_id
    with pytest.raises(errors.NotEnough) as caught:
        manager.create(a_request(2))
    assert caught.value.kwargs['reasons'] == {'rack1': 'it is of the same project'}
    assert caught.value.kwargs['own_servers'] == ['job1']
    assert pool.done == []


class OtherRackPool(clearable_racks.RackPool):
    name = 'otherrack'


class OtherRackPlugin(clearable_racks.RackPlugin):
    resource_type = 'test:otherrack'
    pools = (OtherRackPool,)


def test_two_clearable_pools_are_refused_at_the_start(conf):
    with pytest.raises(errors.ConfigurationError, match=r'only one pool .*otherrack, rack'):
        registry.Registry(conf, {'test:rack': clearable_racks.RackPlugin,
                                 'test:otherrack': OtherRackPlugin})


def test_without_a_clearable_pool_nothing_can_be_cleared(conf):
    found = registry.Registry(conf, {})
    assert not found.is_clearable('host')
    with pytest.raises(errors.UnknownPool, match='can be cleared'):
        found.clearable_pool()
