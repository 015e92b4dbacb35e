# SPDX-License-Identifier: Apache-2.0
"""Neutron, Cinder, Heat and Magnum of the cloud, and the snapshots that show what is left there."""
import leaks
from openstack import exceptions
import pytest
import scene as scenes

pytestmark = pytest.mark.services

TEMPLATE = {'heat_template_version': '2018-08-31',
            'resources': {'word': {'type': 'OS::Heat::RandomString'}}}


@pytest.fixture(autouse=True)
def needs_all(cloud):
    """These tests are for a cloud with every service."""
    if len(cloud.optional) < 3:
        pytest.skip(f'the cloud has only {", ".join(cloud.optional)}')


@pytest.fixture
def kinds():
    return leaks.ALL


@pytest.fixture
def template(scene, demo):
    """A template of clusters, of project demo."""
    magnum = demo.container_infrastructure_management
    made = magnum.create_cluster_template(
        name=scene.name(), coe='kubernetes', image_id='tiny-coe', flavor_id='m1.nano',
        master_flavor_id='m1.nano', external_network_id='public', server_type='vm')
    scene.afterwards(lambda: magnum.delete_cluster_template(made))
    return made


@pytest.fixture
def cluster(scene, demo, template):
    """callable(**more): a new cluster of one master and one worker."""
    magnum = demo.container_infrastructure_management

    def create(**more):
        made = magnum.create_cluster(name=scene.name(), cluster_template_id=template.uuid,
                                     node_count=1, master_count=1, **more)
        scene.afterwards(lambda: _gone(magnum, made))
        return scenes.until(lambda: _settled(magnum, made.id), 'the cluster to be settled', 90, 1)
    return create


def _settled(magnum, cluster):
    try:
        found = magnum.get_cluster(cluster)
    except (exceptions.NotFoundException, exceptions.BadRequestException):
        return None  # Magnum's conductor writes the row after the answer
    return None if found.status.endswith('IN_PROGRESS') else found


def _gone(magnum, cluster):
    magnum.delete_cluster(cluster.id)
    scenes.until(lambda: cluster.id not in {each.uuid for each in magnum.clusters()},
                 'the cluster to be gone', 60, 1)


def test_an_object_of_a_member_is_in_the_snapshot_until_it_is_deleted(scene, demo):
    before = scene.state()
    network = demo.network.create_network(name=scene.name())
    volume = demo.block_storage.create_volume(size=1, name=scene.name())
    stack = demo.orchestration.create_stack(name=scene.name(), template=TEMPLATE)
    demo.block_storage.wait_for_status(volume, 'available', wait=30)
    scenes.until(lambda: demo.orchestration.get_stack(stack.id).status == 'CREATE_COMPLETE',
                 'the stack to be made')
    after = scene.state()
    # Heat keeps a trust of the user's with the stack.
    assert {kind: len(after[kind].keys() - before[kind].keys()) for kind in leaks.ALL
            if after[kind] != before[kind]} == {
                'networks': 1, 'volumes': 1, 'stacks': 1, 'trusts': 1}
    assert after['volumes'][volume.id][1:] == (1, 'available', 'fake')
    demo.network.delete_network(network)
    demo.block_storage.delete_volume(volume)
    demo.orchestration.delete_stack(stack)
    scenes.until(lambda: scene.state() == before, 'everything to be gone', 120, 1)


def test_a_project_with_access_gets_space_of_the_second_back_end_up_to_its_capacity(
        scene, admin, demo):
    with pytest.raises(exceptions.NotFoundException, match='could not be found'):
        demo.block_storage.create_volume(size=1, volume_type='lease')
    lease = admin.block_storage.find_type('lease')
    admin.block_storage.add_type_access(lease, demo.current_project_id)
    scene.afterwards(lambda: admin.block_storage.remove_type_access(
        lease, demo.current_project_id))
    made = [demo.block_storage.create_volume(size=150, volume_type='lease') for _ in range(2)]
    for volume in made:
        scene.afterwards(lambda volume=volume: _delete_volume(demo, volume))
    scenes.until(lambda: sorted(demo.block_storage.get_volume(volume).status for volume in made)
                 == ['available', 'error'], 'one of two volumes to fail')


def _delete_volume(demo, volume):
    demo.block_storage.delete_volume(volume)
    demo.block_storage.wait_for_delete(volume, wait=30)


def test_the_nodes_of_a_cluster_are_servers_of_the_user(admin, demo, open_host, cluster):
    made = cluster()
    assert made.status == 'CREATE_COMPLETE', made.status_reason
    nodes = [each for each in admin.compute.servers(all_projects=True)
             if each.name.startswith(f'{made.name}-')]
    assert sorted(each.name.removeprefix(f'{made.name}-default-') for each in nodes) == [
        'master-0', 'worker-0']
    assert {(each.status, each.project_id) for each in nodes} == {
        ('ACTIVE', demo.current_project_id)}


def test_a_cluster_can_be_made_to_fail(cluster):
    made = cluster(labels={'fail': 'no such luck'}, merge_labels=True)
    assert (made.status, made.status_reason) == ('CREATE_FAILED', 'no such luck')
