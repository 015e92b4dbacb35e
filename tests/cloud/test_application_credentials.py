# SPDX-License-Identifier: Apache-2.0
"""Leases of a program that logs in with an application credential, on the real Keystone."""
import addressed
import leaks
import network_scene
import openstack
import pytest
import scene as scenes
import stack_scene as stacks

from climate.client import errors
from tools.cloud import settings


@pytest.fixture(params=[False, True], ids=['restricted', 'unrestricted'])
def program(scene, demo, request):
    """The name of a person of project demo who logs in with an application credential."""
    owner = demo.current_user_id
    credential = demo.identity.create_application_credential(
        owner, scene.name(), unrestricted=request.param)
    scene.afterwards(lambda: demo.identity.delete_application_credential(owner, credential))
    scene.people['program'] = openstack.connect(
        auth_type='v3applicationcredential', auth_url=settings.url('keystone', '/v3'),
        application_credential_id=credential.id,
        application_credential_secret=credential.secret, region_name='RegionOne')
    before = scene.trusts()
    yield 'program'
    assert scene.trusts() == before
    scene.people.pop('program').close()


def _lease(scene, person, reservation, **more):
    lease = scene.climate(person).leases.create(
        scene.name(), reservations=[reservation], **{'duration': '10m', **more})
    scene.remember(lease['id'])
    return lease if 'start' in more else scene.wait(lease['id'], 'active')


def _prolong_and_end(scene, person, lease):
    leases = scene.climate(person).leases
    assert leases.extend(lease['id'], by='10m')['end'] > lease['end']
    leases.end(lease['id'])
    return scene.wait(lease['id'], 'terminated', 120)


def test_a_program_leases_hosts(scene, program, demo, image_of):
    lease = _lease(scene, program, {'resource_type': 'physical:host', 'min': 1, 'max': 1,
                                    'before_end': 'snapshot'})
    [reservation] = lease['reservations']
    server = scene.boot(program, reservation['id'])
    assert (server.status, server.project_id) == ('ACTIVE', demo.current_project_id)
    scene.climate(program).leases.update(lease['id'], reservations=[
        {'id': reservation['id'], 'min': 2, 'max': 2}])
    scenes.until(lambda: len(scene.hosts_in(reservation['id'])) == 2, 'a second host', 60)
    lease = _prolong_and_end(scene, program, scene.wait(lease['id'], 'active'))
    assert lease['has_trust'] is False
    assert not scene.exists(server.id)
    assert image_of(server).owner == demo.current_project_id


@pytest.mark.parametrize('asked', [
    {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 256, 'disk_gb': 1},
    {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 256, 'disk_gb': 1,
     'affinity': False},
    {'resource_type': 'flavor:instance'}], ids=['sizes', 'anti-affinity', 'flavor'])
def test_a_program_leases_instances(scene, program, demo, asked):
    if asked['resource_type'] == 'flavor:instance':
        asked = {**asked, 'flavor_id': demo.compute.find_flavor('m1.nano').id, 'affinity': None}
    lease = _lease(scene, program, {'affinity': None, **asked, 'amount': 1})
    [reservation] = lease['reservations']
    compute = scene.people[program].compute
    group_id = reservation['server_group_id']
    assert (group_id is not None) == (asked.get('affinity') is not None)
    if group_id is not None:
        assert compute.get_server_group(group_id).project_id == demo.current_project_id
    scene.climate(program).leases.update(lease['id'], reservations=[
        {'id': reservation['id'], 'amount': 2}])
    lease = scene.wait(lease['id'], 'active')
    hints = {'scheduler_hints': {'group': group_id}} if group_id else {}
    for _ in range(2):
        made = compute.create_server(
            name=scene.name(), image_id=demo.image.find_image('tiny').id,
            flavor_id=reservation['id'], networks='none', **hints)
        scene.remember_server(made.id)
        assert scene.booted(made.id).status == 'ACTIVE'
    lease = _prolong_and_end(scene, program, lease)
    assert lease['has_trust'] is False


@pytest.mark.usefixtures('open_host')
def test_a_program_leases_a_server_from_now_but_not_for_later(scene, program):
    server = scene.boot(program)
    asked = {'resource_type': 'virtual:instance', 'resource_id': server.id, 'on_end': 'suspend'}
    with pytest.raises(errors.BadRequest, match=r'^start: .*application credential'):
        _lease(scene, program, asked, start=scenes.in_seconds(600))
    lease = _lease(scene, program, asked)
    lease = _prolong_and_end(scene, program, lease)
    assert lease['has_trust'] is False
    assert scene.people['admin'].compute.get_server(server.id).status == 'SUSPENDED'


def test_a_program_deletes_a_lease_that_has_not_started(scene, program):
    lease = _lease(scene, program, {'resource_type': 'physical:host', 'min': 1, 'max': 1},
                   start=scenes.in_seconds(3600))
    scene.climate(program).leases.delete(lease['id'])
    scenes.until(lambda: scene.climate('admin').leases.get(lease['id'])['deleted_at'],
                 'the lease to be deleted')


class TestServices:
    """Types that need services of their own."""

    pytestmark = pytest.mark.services

    @pytest.fixture
    def kinds(self):
        return (*leaks.COMPUTE, *leaks.NETWORK, *leaks.VOLUME, *leaks.STACK)

    def test_a_program_leases_addresses(self, scene, program, demo):
        addresses = addressed.Addresses(scene)
        scene.afterwards(addresses.withdraw)
        addresses.enrol()
        lease = _lease(scene, program, {'resource_type': 'virtual:floatingip', 'amount': 2,
                                        'network_id': addresses.network_id})
        assert {each.project_id for each in addresses.there().values()} == {
            demo.current_project_id}
        scene.climate(program).leases.update(lease['id'], reservations=[
            {'id': lease['reservations'][0]['id'], 'amount': 3}])
        scenes.until(lambda: len(addresses.there()) == 3, 'a third address', 60)
        lease = _prolong_and_end(scene, program, scene.wait(lease['id'], 'active'))
        assert (lease['has_trust'], addresses.there()) == (False, {})

    def test_a_program_leases_a_network_without_a_subnet(self, scene, program, admin, demo):
        neutron = network_scene.Neutron(scene, admin, demo)
        neutron.enrol()
        asked = {'resource_type': 'virtual:network'}
        with pytest.raises(errors.BadRequest, match=r'^subnet: .*application credential'):
            _lease(scene, program, {**asked, 'subnet': '10.42.0.0/24'})
        lease = _lease(scene, program, asked)
        network = neutron.one()
        assert network.project_id == demo.current_project_id
        assert scene.people[program].network.create_subnet(
            network_id=network.id, cidr='10.43.0.0/24', ip_version=4)
        lease = _prolong_and_end(scene, program, lease)
        assert lease['has_trust'] is False
        assert neutron.nothing()

    def test_a_program_leases_part_of_a_back_end_but_no_volumes(self, scene, program, storage):
        asked = {'resource_type': 'virtual:volume', 'size_gb': 2, 'amount': 1, 'on_end': 'delete'}
        with pytest.raises(errors.BadRequest, match=r'^give: .*application credential'):
            _lease(scene, program, {**asked, 'give': 'volumes'})
        lease = _lease(scene, program, {**asked, 'give': 'type'})
        made = scene.people[program].block_storage.create_volume(
            size=2, volume_type=storage.types()[0])
        scenes.until(lambda: scene.people['admin'].block_storage.get_volume(
            made.id).status == 'available', 'the volume')
        lease = _prolong_and_end(scene, program, lease)
        assert (lease['has_trust'], storage.exists(made.id)) == (False, False)

    def test_a_program_leases_no_stack(self, scene, program):
        with pytest.raises(errors.BadRequest, match=r'^template: .*application credential'):
            stacks.leased(scene, stacks.with_room(1), person=program)
