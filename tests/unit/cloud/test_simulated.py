# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud behaves as Nova, Placement and Keystone do."""
import threading

import pytest
from support import waiting

from climate import cloud as clouds
from climate import context
from climate import errors
from climate.cloud import simulated


@pytest.fixture
def cloud(simulate, clock):
    return simulate('hosts = 3', clock=clock)


@pytest.fixture
def nova(cloud):
    return cloud.as_service().nova


@pytest.fixture
def trust(cloud):
    caller = context.RequestContext(user_id='u', project_id='p', roles=['member'],
                                    overwrite=False)
    return cloud.as_service().keystone.create_trust(caller)


def _reserve(nova, reservation, project_id, *hosts):
    made = nova.ensure_aggregate(reservation, zone=f'climate_{reservation}',
                                 metadata={'climate:owner': project_id})
    nova.add_hosts(made, hosts)
    return made


def test_the_driver_of_the_configuration_is_built(configured):
    assert isinstance(clouds.build(configured('[cloud]\ndriver = simulated')),
                      simulated.SimulatedCloud)


def test_a_new_cloud_has_hosts_of_three_sizes(simulate):
    cloud = simulate()
    assert cloud.host_names() == [f'compute-{number}' for number in range(1, 9)]
    found = cloud.as_service().nova.hypervisors()
    assert [each.vcpus for each in found] == [16, 32, 64, 16, 32, 64, 16, 32]
    assert {(each.availability_zone, each.up, each.enabled) for each in found} == {
        ('nova', True, True)}


def test_a_hypervisor_is_found_by_its_exact_name(cloud, nova):
    cloud.add_host('compute-10', vcpus=128)
    assert nova.hypervisor('compute-1').vcpus == 16
    with pytest.raises(errors.ResourceNotFound):
        nova.hypervisor('compute')
    cloud.add_host('compute-1', service_host='other-cell')
    with pytest.raises(errors.ResourceAmbiguous):
        nova.hypervisor('compute-1')


def test_hypervisors_of_one_service_host_keep_their_servers_apart(cloud, nova):
    cloud.add_host('node-1', service_host='ironic')
    cloud.add_host('node-2', service_host='elsewhere')
    for name in ('node-1', 'node-2'):
        cloud.boot('demo', name, host=name)
    cloud.rehome_host('node-2', 'ironic')
    assert {each.name: (each.host, each.hypervisor) for each in nova.servers_on(['ironic'])} == {
        'node-1': ('ironic', 'node-1'), 'node-2': ('ironic', 'node-2')}
    assert [each.host for each in cloud.compute_services()].count('ironic') == 1


def test_an_existing_aggregate_is_used(nova):
    made = nova.ensure_aggregate('freepool')
    nova.set_aggregate_metadata(made, {'kept': 'x', 'dropped': 'y'})
    nova.set_aggregate_metadata(made, {'dropped': None, 'unknown': None})
    found = nova.ensure_aggregate('freepool', metadata={'added': 'z'})
    assert found.id == made.id
    assert found.metadata == {'kept': 'x', 'added': 'z'}
    assert nova.aggregates() == [nova.aggregate('freepool')] == [found]
    assert nova.aggregate('other') is None


def test_adding_and_removing_hosts_can_be_repeated(nova):
    made = nova.ensure_aggregate('freepool')
    for _ in range(2):
        nova.add_hosts(made, ['compute-1', 'compute-2'])
    assert nova.aggregate('freepool').hosts == ('compute-1', 'compute-2')
    for _ in range(2):
        nova.remove_hosts(made, ['compute-1', 'compute-2'])
    for _ in range(2):
        nova.delete_aggregate(made)
    assert nova.aggregate('freepool') is None


def test_an_aggregate_with_hosts_is_not_deleted(nova):
    made = _reserve(nova, 'r1', 'p', 'compute-1')
    with pytest.raises(errors.CloudError, match='not empty'):
        nova.delete_aggregate(made)


def test_an_unknown_host_is_reported_and_the_other_hosts_are_moved(nova):
    made = nova.ensure_aggregate('freepool')
    with pytest.raises(errors.ResourceNotFound, match='nobody'):
        nova.add_hosts(made, ['nobody', 'compute-1'])
    assert nova.aggregate('freepool').hosts == ('compute-1',)


def test_a_host_with_servers_does_not_change_its_zone(cloud, nova):
    cloud.boot('p', 'vm', host='compute-1')
    freepool = nova.ensure_aggregate('freepool')
    nova.add_hosts(freepool, ['compute-1'])
    with pytest.raises(errors.ResourcesRefused) as caught:
        _reserve(nova, 'r1', 'p', 'compute-1')
    assert caught.value.refused.keys() == {'compute-1'}
    nova.remove_hosts(freepool, ['compute-1'])


def test_a_host_with_servers_does_not_leave_a_zone(cloud, nova):
    made = _reserve(nova, 'r1', 'p', 'compute-1')
    server = cloud.boot('p', 'vm', hints={'reservation': 'r1'})
    with pytest.raises(errors.StillBusy):
        nova.remove_hosts(made, ['compute-1'])
    with pytest.raises(errors.StillBusy):
        nova.ensure_aggregate('r1', zone='other')
    nova.delete_server(server.id)
    nova.remove_hosts(made, ['compute-1'])
    assert nova.hypervisor('compute-1').availability_zone == 'nova'


def test_a_host_is_in_one_zone_at_most(nova):
    _reserve(nova, 'r1', 'p', 'compute-1')
    assert nova.hypervisor('compute-1').availability_zone == 'climate_r1'
    with pytest.raises(errors.CloudError, match='already in availability zone'):
        _reserve(nova, 'r2', 'p', 'compute-1')


def test_reserved_hosts_take_servers_of_their_reservation_only(cloud, nova):
    nova.add_hosts(nova.ensure_aggregate('freepool'), ['compute-2'])
    _reserve(nova, 'r1', 'p', 'compute-1')
    assert cloud.boot('p', 'plain').host == 'compute-3'
    assert cloud.boot('p', 'leased', hints={'reservation': ['r1']}).host == 'compute-1'
    for project_id, hints in (('other', {'reservation': 'r1'}), ('p', {'reservation': 'r2'}),
                              ('p', {'reservation': 'freepool'})):
        with pytest.raises(errors.Conflict, match='No valid host was found'):
            cloud.boot(project_id, 'refused', hints=hints)


def test_servers_go_to_the_emptiest_host_that_is_up_and_enabled(cloud):
    cloud.mark_host('compute-1', up=False)
    cloud.mark_host('compute-2', enabled=False)
    cloud.add_host('compute-4')
    assert [cloud.boot('p', 'vm').host for _ in range(3)] == ['compute-3', 'compute-4', 'compute-3']
    with pytest.raises(errors.Conflict):
        cloud.boot('p', 'vm', host='compute-1')


def test_a_deleted_server_stays_for_delete_seconds(simulate, clock):
    cloud = simulate('delete_seconds = 5', clock=clock)
    nova = cloud.as_service().nova
    server = cloud.boot('p', 'vm', host='compute-1')
    nova.delete_server(server.id)
    clock.now += 4
    nova.delete_server(server.id)
    assert [(each.id, each.task) for each in nova.servers_on(['compute-1'])] == [
        (server.id, 'deleting')]
    clock.now += 1
    assert nova.servers_on(['compute-1']) == cloud.servers() == []
    nova.delete_server(server.id)


def test_servers_of_all_projects_on_hosts_are_listed(cloud, nova):
    for project_id, host in (('p', 'compute-1'), ('q', 'compute-2'), ('p', 'compute-3')):
        cloud.boot(project_id, 'vm', host=host)
    assert {each.project_id for each in nova.servers_on(['compute-1', 'compute-2'])} == {'p', 'q'}
    assert len(cloud.servers('p')) == 2


def test_a_user_owns_the_images_of_their_servers_and_changes_no_other_servers(cloud, trust):
    mine = cloud.boot('p', 'mine')
    other = cloud.boot('q', 'other')
    services = cloud.as_user(trust.id)
    as_user = services.nova
    services.servers.create_image(mine.id, 'snapshot', 'k')
    cloud.as_service().servers.create_image(other.id, 'by-the-service', 'k')
    assert [each['project_id'] for each in cloud.images()] == ['p', 'service']
    with pytest.raises(errors.TargetGone):
        services.servers.create_image(other.id, 'snapshot', 'k')
    as_user.delete_server(other.id)
    as_user.delete_server(mine.id)
    assert cloud.servers() == [other]
    with pytest.raises(errors.CloudError, match='administrators only'):
        as_user.aggregates()


def test_the_trusts_of_a_deleted_user_are_dead(cloud, trust):
    server = cloud.boot('p', 'vm')
    services = cloud.as_user(trust.id)
    cloud.delete_trustor('u')
    with pytest.raises(errors.TrustDead):
        services.servers.create_image(server.id, 'snapshot', 'k')
    with pytest.raises(errors.TrustDead):
        cloud.as_user(trust.id)


def test_trusts_are_listed_and_deleted(cloud, trust):
    keystone = cloud.as_service().keystone
    assert trust.roles == ('member',)
    assert [each.id for each in keystone.trusts()] == [trust.id]
    for _ in range(2):
        keystone.delete_trust(trust.id)
    assert keystone.trusts() == []
    with pytest.raises(errors.TrustDead):
        cloud.as_user(trust.id)


def test_placement_knows_the_hosts(cloud):
    placement = cloud.as_service().placement
    child = placement.ensure_child('compute-1', 'climate_compute-1')
    placement.empty_child('climate_compute-1')
    placement.empty_child('never-made')
    assert placement.ensure_child('compute-1', 'climate_compute-1') == child
    assert 'COMPUTE_NODE' in placement.traits('compute-1')
    assert placement.inventory('compute-2')['VCPU']['total'] == 32
    with pytest.raises(errors.ResourceNotFound):
        placement.ensure_child('nobody', 'climate_nobody')


def test_slow_calls_are_made_concurrently(simulate):
    meeting = threading.Barrier(10)
    cloud = simulate('hosts = 10\ndelay_seconds = 0.001', on_point=lambda name, when: (
        meeting.wait(waiting.SECONDS) if (name, when) == ('nova.add_host', 'before') else None))
    nova = cloud.as_service().nova
    freepool = nova.ensure_aggregate('freepool')
    nova.add_hosts(freepool, cloud.host_names())
    assert not meeting.broken
    assert len(nova.aggregate('freepool').hosts) == 10
