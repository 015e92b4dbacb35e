# SPDX-License-Identifier: Apache-2.0
"""Leases of clusters, and of further nodes of a cluster, on the real Magnum."""
import clusters
import leaks
import pytest
import scene as scenes

from climate.client import errors

pytestmark = pytest.mark.services


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.CLUSTER)


@pytest.fixture(scope='module')
def magnum(cloud, demo):
    """Magnum as the member of project demo uses it."""
    if 'magnum' not in cloud.optional:
        pytest.skip('The cloud has no Magnum.')
    return clusters.Magnum(demo)


@pytest.fixture(scope='module')
def template(magnum):
    """The id of a template of project demo."""
    made = magnum.template('test-cluster-template')
    yield made
    magnum.call('DELETE', f'/clustertemplates/{made}')


@pytest.fixture
def lease(scene, template):
    """callable(**request): a Leased cluster; afterwards nothing is left of it."""
    made = []

    def create(**request):
        what = {} if 'resource_id' in request else {'cluster_template_id': template}
        made.append(clusters.Leased(scene, **{'node_count': 1, **what, **request}))
        return made[-1]
    yield create
    for each in made:
        if each.look()['status'] not in ('terminated', 'deleted'):
            each.end()
        assert each.left() == []


@pytest.fixture
def users_cluster(scene, open_host, magnum, template):
    """The id of a cluster of project demo, on a host that is not enrolled."""
    made = magnum.call('POST', '/clusters', name=scene.name(), cluster_template_id=template,
                       node_count=1, master_count=1)['uuid']
    scene.afterwards(lambda: magnum.remove(made))
    assert magnum.settled(made)['status'] == 'CREATE_COMPLETE'
    return made


def test_a_cluster_from_now_grows_shrinks_is_prolonged_and_ends(lease, magnum, demo, cloud):
    leased = lease(node_count=2)
    leased.wait()
    found = magnum.cluster(leased.reservation['cluster_id'])
    assert (found['name'], found['status']) == (leased.name, 'CREATE_COMPLETE')
    assert (found['project_id'], found['user_id']) == (
        demo.current_project_id, demo.current_user_id)
    assert (found['node_count'], found['master_count']) == (2, 1)
    assert found['flavor_id'] == leased.id
    assert (len(leased.nodes()), len(leased.nodes('masters'))) == (2, 1)
    assert {each.compute_host for each in leased.nodes()} <= set(cloud.climate_hosts)
    for count in (4, 1):
        leased.change(count)
        leased.has(count)
        assert magnum.cluster(found['uuid'])['node_count'] == count
    until = leased.look()['end']
    leased.prolong('10m')
    assert leased.look()['end'] > until
    leased.end()
    assert magnum.named(leased.name) == []


def test_a_cluster_for_later_is_deleted_while_it_starts(lease, magnum, scene):
    leased = lease(start=scenes.in_seconds(20))
    assert magnum.named(leased.name) == []
    scenes.until(lambda: magnum.named(leased.name), 'the cluster', clusters.SECONDS)
    scene.climate().leases.delete(leased.lease_id)
    leased.wait('deleted')
    assert magnum.named(leased.name) == []


def test_further_nodes_grow_shrink_and_go_at_the_end(lease, magnum, users_cluster):
    leased = lease(resource_id=users_cluster, node_count=1)
    leased.wait()
    group = magnum.groups(users_cluster)[leased.name]
    assert (group['uuid'], group['node_count']) == (leased.reservation['node_group_id'], 1)
    assert magnum.cluster(users_cluster)['node_count'] == 2
    for count in (3, 1):
        leased.change(count)
        leased.has(count)
        assert magnum.groups(users_cluster)[leased.name]['node_count'] == count
    leased.end()
    assert sorted(magnum.groups(users_cluster)) == ['default-master', 'default-worker']
    assert magnum.settled(users_cluster)['node_count'] == 1


def test_further_nodes_are_deleted_while_they_start(lease, magnum, users_cluster, scene):
    leased = lease(resource_id=users_cluster)
    scenes.until(lambda: leased.name in magnum.groups(users_cluster), 'the group',
                 clusters.SECONDS)
    scene.climate().leases.delete(leased.lease_id)
    leased.wait('deleted')
    assert sorted(magnum.groups(users_cluster)) == ['default-master', 'default-worker']


def test_the_leases_of_a_deleted_owner_leave_nothing(
        lease, magnum, admin, guest, users_cluster):
    whole = lease(person='guest')
    nodes = lease(person='guest', resource_id=users_cluster)
    for each in (whole, nodes):
        each.wait()
    admin.identity.delete_user(guest)
    for each in (whole, nodes):
        each.end()
    assert magnum.named(whole.name) == []
    # Magnum lets nobody else delete a node group, unless it still trusts a token that it knows.
    group = magnum.groups(users_cluster).get(nodes.name)
    assert group is None or (
        f'node group {group["uuid"]} of cluster' in nodes.look()['status_reason'])


def test_a_full_quota_is_said_early_and_before_the_start(lease, magnum, admin, scene):
    service = clusters.Magnum(admin)
    quota = f'/quotas/{magnum.project_id}/Cluster'
    later = lease(start=scenes.in_seconds(30))
    service.call('POST', '/quotas', project_id=magnum.project_id, resource='Cluster',
                 hard_limit=0)
    scene.afterwards(lambda: service.call(
        'DELETE', quota, project_id=magnum.project_id, resource='Cluster'))
    with pytest.raises(errors.Conflict, match='quota of clusters in Magnum is full'):
        lease()
    scenes.until(lambda: 'quota of clusters in Magnum is full' in (
        later.look()['status_reason'] or ''), 'the reason', clusters.SECONDS)
    assert magnum.named(later.name) == []


def test_a_cluster_that_cannot_be_made_is_explained_and_leaves_nothing(lease, magnum):
    leased = lease(labels={'fail': 'The image is too old.'})
    scenes.until(lambda: 'The image is too old.' in (leased.look()['status_reason'] or ''),
                 'the reason', clusters.SECONDS)
    leased.end()
    assert magnum.named(leased.name) == []


def test_while_magnums_conductor_stands_still_nothing_is_lost_or_doubled(lease, magnum, cloud):
    with scenes.frozen(cloud, 'magnum-conductor'):
        leased = lease()
        scenes.until(lambda: 'Magnum' in (leased.look()['status_reason'] or ''),
                     'the reason', 60)
        assert magnum.named(leased.name) == []
    leased.wait()
    assert len(magnum.named(leased.name)) == 1
    with scenes.frozen(cloud, 'magnum-conductor'):
        leased.scene.climate().leases.end(leased.lease_id)
        scenes.until(lambda: leased.look()['status'] == 'terminating', 'the end to begin', 60)
    leased.wait('terminated')
    assert magnum.named(leased.name) == []


@pytest.mark.parametrize('moment', ['before', 'after'])
def test_a_manager_may_die_at_any_call_for_a_cluster(lease, magnum, mortal, moment):
    made = []
    mortal.dies([('POST', '^/clusters$')], moment, lambda: made.append(lease()))
    [leased] = made
    leased.wait()
    assert len(magnum.named(leased.name)) == 1
    mortal.dies([('POST', '/actions/resize$')], moment, lambda: leased.change(2))
    leased.has(2)
    mortal.dies([('DELETE', '^/clusters/')], moment, leased.end_soon)
    leased.wait('terminated')
    assert magnum.named(leased.name) == []


@pytest.mark.parametrize('moment', ['before', 'after'])
def test_a_manager_may_die_at_any_call_for_further_nodes(
        lease, magnum, users_cluster, mortal, moment):
    made = []
    mortal.dies([('POST', '/nodegroups$')], moment,
                lambda: made.append(lease(resource_id=users_cluster)))
    [leased] = made
    leased.wait()
    mortal.dies([('DELETE', '/nodegroups/')], moment, leased.end_soon)
    leased.wait('terminated')
    assert sorted(magnum.groups(users_cluster)) == ['default-master', 'default-worker']
