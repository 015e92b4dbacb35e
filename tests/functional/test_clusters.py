# SPDX-License-Identifier: Apache-2.0
"""virtual:cluster on the simulated cloud: new clusters, and further nodes of existing ones."""
import collections

import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import records

pytestmark = pytest.mark.usefixtures('rare_polls')

HOUR = builders.hours(1)
NOON = builders.NOON


def a_cluster(workers=2, **more):
    """A ReservationRequest for a new cluster."""
    return records.ReservationRequest('virtual:cluster', {
        'cluster_template_id': 'kubernetes', 'node_count': workers, **more})


def nodes_of(cluster_id, workers=2, **more):
    """A ReservationRequest for further nodes of a cluster."""
    return records.ReservationRequest('virtual:cluster', {
        'resource_id': cluster_id, 'node_count': workers, **more})


def settle(manager, minutes=3):
    """Carry out what is due in the next minutes."""
    manager.run_until(manager.clock() + builders.minutes(minutes))


def started(manager, *reservations, **more):
    """A running lease."""
    lease = manager.book(*reservations, **more)
    settle(manager)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    return lease


def flavors_of(manager, project_id='demo'):
    """{id of the flavor: how many servers of the project have it}."""
    found = manager.cloud.as_service().nova.servers_on(
        [each.host for each in manager.cloud.servers(project_id)])
    ids = {each.name: each.id for each in manager.cloud.as_service().flavors.every()}
    return collections.Counter(ids[each.flavor.name] for each in found)


def the_clusters(manager, project_id='demo'):
    service = manager.cloud.as_service().clusters
    return [service.cluster(each) for each in service.names()
            if service.cluster(each).project_id == project_id]


def of_user(manager, user='demo', project='demo'):
    """The faces of a user, for what the user does beside Climate."""
    trust = manager.cloud.as_service().keystone.create_trust(
        builders.a_member(user, project))
    return manager.cloud.as_user(trust.id), lambda: (
        manager.cloud.as_service().keystone.delete_trust(trust.id))


@pytest.fixture
def users_cluster(manager):
    """The id of a cluster of the project demo, on hosts that are not enrolled."""
    services, forget = of_user(manager)
    cluster_id = services.clusters.create('mine', {
        'cluster_template_id': 'kubernetes', 'node_count': 1, 'master_count': 1,
        'flavor_id': '1', 'master_flavor_id': '1'})
    assert services.clusters.cluster(cluster_id).status == 'CREATE_COMPLETE'
    yield cluster_id
    # Its owner may be gone.
    clusters = manager.cloud.as_service().clusters
    clusters.delete(cluster_id)
    assert clusters.cluster(cluster_id) is None
    forget()


@pytest.mark.usefixtures('as_before')
def test_a_cluster_is_made_at_the_start_on_the_hosts_of_the_lease_and_deleted_at_its_end(
        manager, enrol_hosts):
    enrol_hosts(2)
    lease = started(manager, a_cluster(3, master_count=1))
    [reservation] = lease.reservations
    [cluster] = the_clusters(manager)
    assert (cluster.project_id, cluster.status) == ('demo', 'CREATE_COMPLETE')
    assert cluster.name == f'reservation-{reservation.id}'
    assert reservation.binding['cluster_id'] == cluster.id
    assert {each.host for each in manager.cloud.servers('demo')} <= {'small-0', 'small-1'}
    assert flavors_of(manager) == {reservation.id: 3, f'{reservation.id}-masters': 1}
    assert {key: len(ids) for key, ids in reservation.allocated.items()} == {
        'masters': 1, 'workers': 3}
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOUR + builders.minutes(5))
    assert the_clusters(manager) == []


@pytest.mark.usefixtures('as_before')
def test_no_other_server_gets_the_capacity_of_a_cluster(manager, enrol_hosts):
    enrol_hosts(1)
    [reservation] = started(manager, a_cluster(1)).reservations
    for flavor in (reservation.id, f'{reservation.id}-masters'):
        with pytest.raises(errors.Conflict, match='No valid host'):
            manager.cloud.boot('demo', 'one more', flavor=flavor)
        with pytest.raises(errors.NotFound):
            manager.cloud.boot('other', 'stranger', flavor=flavor)


@pytest.mark.usefixtures('as_before')
def test_a_cluster_for_later_has_its_capacity_until_then(manager, enrol_hosts):
    enrol_hosts(1)
    later = manager.book(a_cluster(5), start=NOON + HOUR, end=NOON + 2 * HOUR)
    with pytest.raises(errors.NotEnough):
        manager.book(a_cluster(2), start=NOON + HOUR, end=NOON + 2 * HOUR)
    assert the_clusters(manager) == []
    manager.expect(later, lifecycle.ACTIVE, NOON + HOUR + builders.minutes(3))
    assert len(the_clusters(manager)) == 1


def test_masters_and_workers_are_two_needs(manager, enrol_hosts):
    enrol_hosts(1)
    # 8 VCPU: a master of flavor 3 takes 2, a worker of flavor 2 takes 1.
    with pytest.raises(errors.NotEnough):
        manager.book(a_cluster(1, master_count=4))
    with pytest.raises(errors.NotEnough):
        manager.book(a_cluster(7))
    manager.book(a_cluster(7, master_flavor_id='m1.small'))


@pytest.mark.usefixtures('as_before')
def test_a_cluster_grows_and_shrinks_with_its_lease(manager, enrol_hosts):
    enrol_hosts(3)
    lease = started(manager, a_cluster(2))
    [before] = the_clusters(manager)
    for count in (12, 1, 9):
        manager.change_reservation(lease, node_count=count)
        settle(manager)
        [reservation] = manager.lease(lease).reservations
        assert manager.lease(lease).state == lifecycle.ACTIVE
        assert flavors_of(manager) == {reservation.id: count, f'{reservation.id}-masters': 1}
        [cluster] = the_clusters(manager)
        assert (cluster.id, cluster.status) == (before.id, 'UPDATE_COMPLETE')
        slots = collections.Counter(reservation.allocated['workers'])
        assert sorted(slots.values()) == sorted(collections.Counter(
            each.host for each in manager.cloud.servers('demo')
            if each.name.endswith('worker')).values())


@pytest.mark.parametrize('field', [
    {'master_count': 3}, {'flavor_id': '1'}, {'labels': {'a': 'b'}}, {'keypair': 'other'}])
def test_a_running_cluster_may_change_its_number_of_workers_only(manager, enrol_hosts, field):
    enrol_hosts(2)
    lease = started(manager, a_cluster(1))
    with pytest.raises(errors.Conflict, match=next(iter(field))):
        manager.change_reservation(lease, **field)


def test_values_of_an_answer_may_be_sent_back(manager, enrol_hosts):
    enrol_hosts(2)
    lease = started(manager, a_cluster(1))
    [reservation] = lease.reservations
    manager.change_reservation(
        lease, flavor_id=reservation.id, cluster_template_id='kubernetes',
        master_flavor_id=f'{reservation.id}-masters', node_count=2)
    settle(manager)
    assert manager.lease(lease).reservations[0].request['flavor_id'] == '2'
    assert flavors_of(manager)[reservation.id] == 2


@pytest.mark.usefixtures('as_before')
def test_a_cluster_that_fails_is_deleted_and_made_again(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.as_service().clusters.spoil('CREATE', 1, 'image not found')
    lease = manager.book(a_cluster(1))
    settle(manager, 10)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert [each.status for each in the_clusters(manager)] == ['CREATE_COMPLETE']


@pytest.mark.proof
@pytest.mark.usefixtures('as_before')
def test_a_cluster_that_fails_for_good_ends_in_error_with_a_reason_and_leaves_nothing(
        manager, enrol_hosts):
    enrol_hosts(1)
    lease = manager.book(a_cluster(1, labels={'fail': 'no such image'}))
    settle(manager, 59)
    found = manager.lease(lease)
    assert found.state == lifecycle.ERROR
    assert 'is CREATE_FAILED: no such image' in found.owner_reason
    manager.delete(lease)


@pytest.mark.usefixtures('as_before')
def test_a_failed_delete_is_repeated(manager, enrol_hosts):
    enrol_hosts(1)
    lease = started(manager, a_cluster(1))
    manager.cloud.as_service().clusters.spoil('DELETE', 2)
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOUR + builders.minutes(30))
    assert the_clusters(manager) == []


@pytest.mark.usefixtures('as_before')
def test_a_resize_that_fails_is_repeated(manager, enrol_hosts):
    enrol_hosts(2)
    lease = started(manager, a_cluster(1))
    manager.cloud.as_service().clusters.spoil('UPDATE', 1)
    manager.change_reservation(lease, node_count=3)
    settle(manager, 10)
    assert flavors_of(manager)[lease.reservations[0].id] == 3


@pytest.mark.usefixtures('as_before')
def test_a_cluster_takes_its_time(manager, enrol_hosts, conf):
    conf.set_override('cluster_seconds', 45, group='simulated')
    enrol_hosts(1)
    lease = manager.book(a_cluster(1))
    manager.expect(lease, lifecycle.PENDING, NOON + builders.seconds(30))
    settle(manager)
    assert manager.lease(lease).state == lifecycle.ACTIVE


@pytest.mark.usefixtures('as_before')
def test_a_lease_that_is_deleted_while_its_cluster_is_made_leaves_nothing(
        manager, enrol_hosts, conf):
    conf.set_override('cluster_seconds', 45, group='simulated')
    enrol_hosts(1)
    lease = manager.book(a_cluster(1))
    manager.run_until(NOON + builders.seconds(20))
    manager.delete(lease)
    settle(manager, 10)
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert manager.lease(lease).deleted_at is not None


@pytest.mark.usefixtures('as_before')
def test_a_lease_that_ends_at_the_moment_of_its_change_is_only_ended(manager, enrol_hosts, conf):
    enrol_hosts(2)
    lease = started(manager, a_cluster(1))
    conf.set_override('cluster_seconds', 6, group='simulated')
    conf.set_override('delete_seconds', 5, group='simulated')
    manager.change_reservation(lease, node_count=4)
    manager.change(lease, end_now=True)
    settle(manager)
    lease = manager.lease(lease)
    assert (lease.state, lease.reason) == (
        lifecycle.TERMINATED, 'It could not be changed before its end.')
    assert [each.what for each in manager.client.lease_history(builders.a_member(), lease.id)
            if 'failed' in each.what or 'given up' in each.what] == []


@pytest.mark.usefixtures('as_before')
def test_the_cluster_of_an_owner_who_is_gone_is_deleted(manager, enrol_hosts):
    enrol_hosts(1)
    lease = started(manager, a_cluster(1))
    manager.cloud.delete_trustor('demo')
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOUR + builders.minutes(5))


@pytest.mark.usefixtures('as_before')
def test_a_cluster_that_its_user_deleted_is_gone_at_the_end(manager, enrol_hosts):
    enrol_hosts(1)
    lease = started(manager, a_cluster(1))
    manager.cloud.as_service().clusters.delete(lease.reservations[0].binding['cluster_id'])
    assert the_clusters(manager) == []
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOUR + builders.minutes(5))


def test_a_full_quota_is_said_when_the_lease_is_made(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.as_service().clusters.set_quota('demo', 0)
    with pytest.raises(errors.Conflict, match='quota of clusters in Magnum is full'):
        manager.book(a_cluster(1))


@pytest.mark.proof
def test_a_quota_that_fills_before_the_start_is_said(manager, enrol_hosts):
    enrol_hosts(1)
    lease = manager.book(a_cluster(1), start=NOON + HOUR, end=NOON + 3 * HOUR)
    manager.cloud.as_service().clusters.set_quota('demo', 0)
    manager.run_until(NOON + 2 * HOUR)
    assert 'quota of clusters in Magnum is full' in manager.lease(lease).reason


@pytest.mark.parametrize(('quota', 'most'), [('instances', 2), ('cores', 3), ('ram', 8191)])
def test_a_full_quota_of_nova_is_said_when_the_lease_is_made(manager, enrol_hosts, quota, most):
    enrol_hosts(1)
    # A master of 2 cores and 4096 MB, two workers of 1 core and 2048 MB each.
    manager.cloud.set_quota('demo', quota, most)
    with pytest.raises(errors.Conflict, match=f'quota "{quota}" in Nova, and the project has'):
        manager.book(a_cluster(2))
    manager.cloud.set_quota('demo', quota, most + 1)
    manager.book(a_cluster(2))


@pytest.mark.proof
def test_present_servers_count_in_a_quota_only_for_a_lease_that_starts_now(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.set_quota('demo', 'instances', 3)
    manager.cloud.boot('demo', 'mine', flavor='1')
    with pytest.raises(errors.Conflict, match='3, of which 1 are used'):
        manager.book(a_cluster(2))
    later = {'start': NOON + HOUR, 'end': NOON + 3 * HOUR}
    with pytest.raises(errors.Conflict, match='"instances"'):
        manager.book(a_cluster(3), **later)
    lease = manager.book(a_cluster(2), **later)
    manager.run_until(NOON + 2 * HOUR)
    assert 'quota "instances" in Nova' in manager.lease(lease).owner_reason
    assert the_clusters(manager) == []


@pytest.mark.usefixtures('as_before')
def test_a_change_compares_only_the_added_nodes_with_the_quota(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.set_quota('demo', 'instances', 4)
    lease = started(manager, a_cluster(2))
    with pytest.raises(errors.Conflict, match='needs 2 of the quota "instances"'):
        manager.change_reservation(lease, node_count=4)
    manager.change_reservation(lease, node_count=3)
    settle(manager)
    assert flavors_of(manager)[lease.reservations[0].id] == 3
    manager.change(lease, end=NOON + 2 * HOUR)
    manager.expect(lease, lifecycle.ACTIVE, NOON + 2 * HOUR - builders.minutes(1))


@pytest.mark.usefixtures('as_before')
def test_nodes_of_a_cluster_count_in_the_quotas_too(manager, enrol_hosts, users_cluster):
    enrol_hosts(1)
    manager.cloud.set_quota('demo', 'instances', 3)
    with pytest.raises(errors.Conflict, match='quota "instances" in Nova'):
        manager.book(nodes_of(users_cluster, 2))
    started(manager, nodes_of(users_cluster, 1))


@pytest.mark.usefixtures('as_before')
def test_a_cluster_that_magnum_accepts_and_shows_later_is_made_once(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.as_service().clusters.queue(90)
    lease = manager.book(a_cluster(1))
    manager.run_until(NOON + builders.seconds(60))
    assert the_clusters(manager) == []
    assert 'accepted the creation of cluster' in manager.lease(lease).owner_reason
    settle(manager, 10)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    [cluster] = the_clusters(manager)
    assert cluster.status == 'CREATE_COMPLETE'


@pytest.mark.usefixtures('as_before')
def test_a_lease_that_ends_before_magnum_shows_its_cluster_waits_for_it(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.as_service().clusters.queue(90)
    lease = manager.book(a_cluster(1))
    manager.run_until(NOON + builders.seconds(30))
    manager.delete(lease)
    manager.run_until(NOON + builders.seconds(80))
    assert manager.lease(lease).deleted_at is None
    settle(manager, 10)
    assert manager.lease(lease).deleted_at is not None
    assert the_clusters(manager) == []


def test_a_cluster_that_magnum_never_shows_is_asked_for_again_and_does_not_keep_a_lease(
        manager, enrol_hosts, conf):
    conf.set_override('wait_minutes', 5, group='virtual:cluster')
    enrol_hosts(1)
    clusters = manager.cloud.as_service().clusters
    clusters.queue(9_000_000)
    lease = manager.book(a_cluster(1), end=NOON + 2 * HOUR)
    manager.run_until(NOON + builders.minutes(4))
    clusters.queue(0)
    settle(manager, 30)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    clusters.queue(9_000_000)
    lost = manager.book(a_cluster(1), end=NOON + 3 * HOUR)
    settle(manager)
    manager.delete(lost)
    settle(manager, 10)
    assert manager.lease(lost).deleted_at is not None


@pytest.mark.proof
@pytest.mark.usefixtures('as_before')
def test_magnum_that_does_nothing_for_too_long_is_a_failure_that_says_so(
        manager, enrol_hosts, conf):
    conf.set_override('cluster_seconds', 3000, group='simulated')
    conf.set_override('wait_minutes', 5, group='virtual:cluster')
    enrol_hosts(1)
    lease = manager.book(a_cluster(1), end=NOON + 2 * HOUR)
    manager.expect(lease, lifecycle.PENDING, NOON + builders.minutes(4))
    manager.expect(lease, lifecycle.ERROR, NOON + builders.minutes(20))
    assert 'longer than 5 minutes' in manager.lease(lease).owner_reason
    manager.expect(lease, lifecycle.ACTIVE, NOON + HOUR)
    conf.set_override('cluster_seconds', 0, group='simulated')
    manager.delete(lease)


@pytest.mark.usefixtures('as_before')
def test_nodes_are_added_to_a_cluster_and_taken_from_it(manager, enrol_hosts, users_cluster):
    enrol_hosts(2)
    clusters = manager.cloud.as_service().clusters
    lease = started(manager, nodes_of(users_cluster, 2, flavor_id='m1.small'))
    [reservation] = lease.reservations
    group = clusters.groups(users_cluster)[-1]
    assert (group.name, group.node_count) == (f'reservation-{reservation.id}', 2)
    assert reservation.binding['node_group_id'] == group.id
    assert flavors_of(manager) == {reservation.id: 2, '1': 2}
    for count in (4, 1):
        manager.change_reservation(lease, node_count=count)
        settle(manager)
        assert flavors_of(manager) == {reservation.id: count, '1': 2}
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOUR + builders.minutes(5))
    assert [each.name for each in clusters.groups(users_cluster)] == [
        'default-master', 'default-worker']
    assert flavors_of(manager) == {'1': 2}


@pytest.mark.usefixtures('as_before')
def test_the_nodes_of_an_owner_who_is_gone_are_deleted_and_their_group_is_named(
        manager, enrol_hosts, users_cluster):
    enrol_hosts(1)
    lease = started(manager, nodes_of(users_cluster, 2, flavor_id='m1.small'))
    group_id = lease.reservations[0].binding['node_group_id']
    manager.cloud.delete_trustor('demo')
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOUR + builders.minutes(5))
    assert flavors_of(manager) == {'1': 2}
    assert f'node group {group_id} of cluster' in manager.lease(lease).owner_reason


def test_nodes_of_a_cluster_that_is_deleted_before_the_start_end_the_reservation(
        manager, enrol_hosts, users_cluster):
    enrol_hosts(1)
    lease = manager.book(nodes_of(users_cluster, 1), start=NOON + HOUR, end=NOON + 2 * HOUR)
    manager.cloud.as_service().clusters.delete(users_cluster)
    manager.run_until(NOON + HOUR + builders.minutes(10))
    assert manager.lease(lease).state in (lifecycle.TERMINATED, lifecycle.ERROR)
    assert 'not in the cloud any more' in manager.lease(lease).reason


@pytest.mark.parametrize(('request_', 'field'), [
    ({'node_count': 1}, 'cluster_template_id, resource_id'),
    ({'node_count': 1, 'cluster_template_id': 'kubernetes', 'resource_id': 'x'},
     'cluster_template_id, resource_id'),
    ({'node_count': 1, 'cluster_template_id': 'unknown'}, 'cluster_template_id'),
    ({'node_count': 1, 'cluster_template_id': '../clusters'}, 'cluster_template_id'),
    ({'node_count': 1, 'cluster_template_id': 'of another'}, 'cluster_template_id'),
    ({'node_count': 1, 'cluster_template_id': 'twice'}, 'cluster_template_id'),
    ({'node_count': 1, 'cluster_template_id': 'kubernetes', 'flavor_id': 'none'}, 'flavor_id'),
    ({'node_count': 1, 'cluster_template_id': 'kubernetes', 'master_flavor_id': 'none'},
     'master_flavor_id'),
    ({'node_count': 1, 'resource_id': 'x'}, 'resource_id'),
    ({'node_count': 1, 'resource_id': '00000000-0000-0000-0000-000000000000'}, 'resource_id'),
    ({'node_count': 1, 'resource_id': 'x', 'labels': {'a': 'b'}}, 'labels'),
])
def test_an_error_names_the_field_whose_object_the_project_cannot_use(
        manager, enrol_hosts, request_, field):
    enrol_hosts(1)
    clusters = manager.cloud.as_service().clusters
    clusters.add_template('of another', project_id='other')
    clusters.add_template('twice')
    clusters.add_template('twice')
    with pytest.raises(errors.BadField) as caught:
        manager.book(records.ReservationRequest('virtual:cluster', request_))
    assert caught.value.kwargs['field'] == field


@pytest.mark.parametrize('count', [0, -1, 10**9, '2', None])
def test_a_count_outside_its_range_is_refused(manager, enrol_hosts, count):
    enrol_hosts(1)
    with pytest.raises(errors.BadRequest, match='node_count'):
        manager.book(a_cluster(count))


def test_the_cluster_of_another_project_gets_no_nodes(manager, enrol_hosts, users_cluster):
    enrol_hosts(1)
    with pytest.raises(errors.BadField, match='no cluster'):
        manager.create(builders.a_lease(nodes_of(users_cluster)),
                       builders.a_member('eve', 'other'))


@pytest.mark.usefixtures('as_before')
def test_16_requests_for_the_last_master_get_one(manager, enrol_hosts):
    enrol_hosts(1)
    made = 0
    for _ in range(16):
        try:
            manager.book(a_cluster(5))
        except errors.NotEnough:
            continue
        made += 1
    assert made == 1
    settle(manager)
