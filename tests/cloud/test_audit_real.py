# SPDX-License-Identifier: Apache-2.0
"""Audits of the real cloud: what is put out of order by hand is found, told and repaired."""
import datetime
import uuid

import pytest

from climate.db import engine
from climate.db import trusts
from climate.domain import records
from tools.cloud import configure

SIZES = {'vcpus': 1, 'memory_mb': 256, 'disk_gb': 1}


def lease_of_room(scene):
    made = scene.climate().leases.create(scene.name(), duration='10m', reservations=[
        {'resource_type': 'virtual:instance', **SIZES, 'amount': 2, 'affinity': False}])
    scene.remember(made['id'])
    return scene.wait(made['id'], 'active')


def ended_reservation(scene, lease):
    scene.climate().leases.end(lease['id'])
    scene.wait(lease['id'], 'terminated')
    return lease['reservations'][0]['id']


@pytest.fixture
def trust(scene, admin, demo):
    """callable(): the id of a new trust from the member of project demo to Climate's user."""
    def make():
        answer = demo.session.post('/OS-TRUST/trusts', json={'trust': {
            'trustor_user_id': demo.current_user_id, 'project_id': demo.current_project_id,
            'trustee_user_id': admin.identity.find_user('climate').id, 'impersonation': True,
            'roles': [{'name': 'member'}]}}, endpoint_filter={'service_type': 'identity'})
        return answer.json()['trust']['id']
    return make


@pytest.fixture
def room(scene):
    """The id of the reservation of a running lease for two instances."""
    return lease_of_room(scene)['reservations'][0]['id']


@pytest.fixture
def ended(scene):
    """The id of a reservation of hosts that is over."""
    return ended_reservation(scene, scene.lease())


@pytest.fixture
def ended_room(scene):
    """The id of a reservation of instances that is over."""
    return ended_reservation(scene, lease_of_room(scene))


def test_a_cloud_with_running_leases_agrees_with_the_database(scene, audit, room):
    lease = scene.lease()
    server = scene.boot('demo', lease['reservations'][0]['id'])
    assert server.status == 'ACTIVE'
    before = scene.state()
    assert 'The cloud and the database agree' in audit()
    assert 'The cloud and the database agree' in audit('--fix')
    assert scene.state() == before


def test_the_remains_of_a_lease_are_removed_and_its_hosts_are_in_the_freepool(
        scene, admin, audit, ended, ended_room, cloud):
    host = cloud.compute_hosts[0]
    freepool = scene.aggregate('freepool')
    left = admin.compute.create_aggregate(name=ended, availability_zone=f'climate_{ended}')
    admin.compute.set_aggregate_metadata(left, {'climate:owner': 'somebody'})
    admin.compute.remove_host_from_aggregate(freepool, host)
    admin.compute.add_host_to_aggregate(left, host)
    flavor = admin.compute.create_flavor(name=f'reservation:{ended_room}', id=ended_room, ram=1,
                                         vcpus=1, disk=1, is_public=False)
    name = 'CUSTOM_RESERVATION_' + ended_room.upper().replace('-', '_')
    placement = {'endpoint_filter': {'service_type': 'placement'}, 'microversion': '1.29'}
    admin.session.put(f'/resource_classes/{name}', **placement)
    group = admin.compute.create_server_group(name=f'reservation:{ended_room}', policy='affinity')

    told = audit(code=2)
    for what in (f'aggregate {ended}', f'flavor {ended_room}', f'resource class {name}',
                 f'server group reservation:{ended_room}', f'host {host}'):
        assert what in told
    told = audit('--fix')
    assert 'left' not in told.replace('left behind', '')
    assert scene.aggregate(ended) is None
    assert host in scene.hosts_in('freepool')
    assert admin.compute.find_flavor(flavor.id) is None
    assert admin.compute.find_server_group(group.id, all_projects=True) is None
    assert admin.session.get(f'/resource_classes/{name}', raise_exc=False,
                             **placement).status_code == 404
    audit()


def test_a_missing_part_of_a_running_lease_is_added_beneath_its_server(
        scene, admin, audit, room, cloud):
    lease = scene.lease()
    reservation = lease['reservations'][0]['id']
    server = scene.boot('demo', reservation)
    aggregate = scene.aggregate(reservation)
    admin.compute.set_aggregate_metadata(aggregate, {'climate:owner': None})
    admin.compute.add_host_to_aggregate(scene.aggregate('freepool'), server.compute_host)
    admin.compute.delete_flavor(room)
    told = audit(code=2)
    assert 'its aggregate lacks climate:owner=' in told
    assert f'{server.compute_host} is in the freepool too' in told
    assert f'its flavor {room} is missing' in told
    audit('--fix')
    assert scene.aggregate(reservation).metadata['climate:owner'] == lease['project_id']
    assert server.compute_host not in scene.hosts_in('freepool')
    assert scene.booted(server.id).status == 'ACTIVE'
    flavor = admin.compute.find_flavor(room, get_extra_specs=True)
    assert flavor.extra_specs['aggregate_instance_extra_specs:reservation'] == room
    audit()


def test_an_empty_host_that_is_put_into_the_freepool_is_enrolled(scene, admin, audit, open_host):
    admin.compute.add_host_to_aggregate(scene.aggregate('freepool'), open_host)
    assert f'host {open_host}' in audit(code=2)
    audit('--fix', '--unknown')
    hosts = scene.climate('admin').hosts
    assert hosts.find(open_host)['reservable']
    # The fixture enrols the host again, with its properties.
    hosts.delete(hosts.find(open_host)['id'])


def test_a_host_with_a_server_in_the_freepool_is_left_alone(scene, admin, audit, open_host):
    server = scene.boot('demo')
    assert server.compute_host == open_host
    admin.compute.add_host_to_aggregate(scene.aggregate('freepool'), open_host)
    assert 'servers run on it (1)' in audit('--fix', code=2)
    assert scene.booted(server.id).status == 'ACTIVE'
    scene.remove(server.id)
    admin.compute.remove_host_from_aggregate(scene.aggregate('freepool'), open_host)


def test_a_host_that_somebody_took_from_the_freepool_goes_back(scene, admin, audit, cloud):
    host = cloud.compute_hosts[1]
    admin.compute.remove_host_from_aggregate(scene.aggregate('freepool'), host)
    assert 'enrolled, but not in the freepool' in audit(code=2)
    audit('--fix')
    assert host in scene.hosts_in('freepool')


def test_names_of_others_are_left_alone(scene, admin, audit):
    foreign = str(uuid.uuid4())
    made = admin.compute.create_aggregate(name=foreign)
    scene.afterwards(lambda: admin.compute.delete_aggregate(made))
    group = admin.compute.create_server_group(name=f'reservation:{foreign}', policy='affinity')
    scene.afterwards(lambda: admin.compute.delete_server_group(group))
    assert 'The cloud and the database agree' in audit('--fix')
    assert scene.aggregate(foreign) is not None


def test_metadata_of_a_lease_that_is_over_are_removed_from_a_server(scene, admin, audit, open_host,
                                                                    ended_room):
    server = scene.boot('demo')
    admin.compute.set_server_metadata(server.id, **{'climate:reservation_id': ended_room,
                                                    'mine': 'too'})
    assert f'metadata of server {server.id}' in audit(code=2)
    audit('--fix')
    found = admin.compute.get_server_metadata(server.id).metadata
    assert found == {'mine': 'too'}


def test_a_recorded_trust_without_a_lease_is_dropped_and_that_of_another_service_stays(
        scene, cloud, audit, trust, demo):
    recorded, foreign = trust(), trust()
    scene.afterwards(lambda: demo.session.delete(
        f'/OS-TRUST/trusts/{foreign}', endpoint_filter={'service_type': 'identity'}))
    database = engine.Database(f'{configure.database_url()}/climate')
    record = records.RecordedTrust(
        str(uuid.uuid4()), str(uuid.uuid4()), database.now() - datetime.timedelta(minutes=11),
        trust_id=recorded)
    with database.writer() as connection:
        trusts.add(connection, record)
    database.dispose()
    told = audit(code=2)
    assert f'trust {recorded}' in told
    assert foreign not in told
    audit('--fix', '--unknown')
    assert scene.trusts() & {recorded, foreign} == {foreign}
