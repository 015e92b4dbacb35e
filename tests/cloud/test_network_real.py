# SPDX-License-Identifier: Apache-2.0
"""Leases of networks on the real cloud: Neutron, Nova, Keystone and Climate."""
import time

import leaks
import network_scene
import pytest
import scene as scenes

from climate.client import errors

pytestmark = pytest.mark.services


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.NETWORK)


@pytest.fixture
def neutron(scene, admin, demo):
    return network_scene.Neutron(scene, admin, demo)


@pytest.fixture
def segment(neutron):
    """The name of the only segment that is enrolled."""
    [name] = neutron.enrol()
    return name


def of(lease):
    """The only reservation of a lease."""
    [found] = lease['reservations']
    return found


def test_a_network_from_now_is_prolonged_and_ended_early(scene, neutron, segment, demo, alt):
    lease = neutron.leased(network_name='lab', **neutron.with_router())
    shown, made = of(lease), neutron.one()
    assert (made.name, made.project_id) == ('lab', demo.current_project_id)
    assert (shown['segment'], shown['segmentation_id']) == (segment, network_scene.FIRST)
    assert (shown['network_id'], [shown['subnet_id']]) == (made.id, made.subnet_ids)
    assert set(made.tags) == {'climate', f'reservation:{shown["id"]}'}
    [router], [port] = neutron.routers(), neutron.interfaces(made.id)
    assert (shown['router_id'], port.device_id) == (router.id, router.id)
    assert router.external_gateway_info['network_id'] == neutron.public()
    # The owner uses it, without seeing the segment, and nobody else sees it.
    mine = demo.network.get_network(made.id)
    assert mine.provider_segmentation_id is None
    assert demo.network.get_subnet(shown['subnet_id']).cidr == '10.42.0.0/24'
    assert alt.network.find_network(made.id) is None

    before = lease['end']
    scene.climate().leases.extend(lease['id'], by='10m')
    assert scene.climate().leases.get(lease['id'])['end'] > before
    assert neutron.one().id == made.id
    neutron.end(lease)
    assert neutron.nothing()
    again = neutron.leased()
    assert of(again)['segment'] == segment
    neutron.end(again)


def test_a_network_for_later_starts_and_ends_by_itself(scene, neutron, segment):
    lease = neutron.leased(active=False, subnet='fd00:42::/64', times={
        'start': scenes.in_seconds(15), 'end': scenes.in_seconds(60)})
    assert neutron.networks() == []
    with pytest.raises(errors.Conflict, match='Only 0 of 1 segments'):
        neutron.leased(active=False)
    scene.wait(lease['id'], 'active', 60)
    assert len(neutron.one().subnet_ids) == 1
    scene.wait(lease['id'], 'terminated', 150)
    assert neutron.nothing()


def test_a_lease_that_is_deleted_while_it_starts_leaves_nothing(scene, neutron, segment):
    lease = neutron.leased(active=False, **neutron.with_router())
    scenes.until(neutron.networks, 'the network', 60, 0.02)
    scene.climate().leases.delete(lease['id'])
    scenes.until(neutron.nothing, 'all to be gone', 120)
    scenes.until(lambda: scene.climate('admin').leases.get(lease['id'])['deleted_at'],
                 'the lease to be deleted', 60)


@pytest.fixture
def server(scene, cloud, demo, admin, request):
    """callable(network_id): a running server of project demo with a port there."""
    if cloud.climate_hosts:
        request.getfixturevalue('open_host')

    def boot(network_id):
        made = demo.compute.create_server(
            name=scene.name(), networks=[{'uuid': network_id}],
            flavor_id=demo.compute.find_flavor('m1.nano').id,
            image_id=demo.image.find_image('tiny').id)
        scene.remember_server(made.id)
        found = scenes.until(lambda: next((each for each in [admin.compute.get_server(made.id)]
                                           if each.status in scenes.OVER), None), 'it to run', 90)
        assert found.status == 'ACTIVE', found.fault
        return found
    return boot


def test_objects_on_the_network_are_removed_at_the_end(
        scene, neutron, segment, server, demo, admin):
    lease = neutron.leased(**neutron.with_router())
    network_id, subnet_id = of(lease)['network_id'], of(lease)['subnet_id']
    vm = server(network_id)
    [port] = demo.network.ports(device_id=vm.id)
    address = demo.network.create_ip(floating_network_id=neutron.public(), port_id=port.id)
    scene.afterwards(lambda: demo.network.delete_ip(address))
    # A router, a network and trunks of the owner's own, which stay.
    own = demo.network.create_network(name=scene.name())
    scene.afterwards(lambda: demo.network.delete_network(own))
    router = demo.network.create_router(name=scene.name())
    scene.afterwards(lambda: demo.network.delete_router(router))
    mine = demo.network.create_port(network_id=network_id, fixed_ips=[{'subnet_id': subnet_id}])
    demo.network.add_interface_to_router(router, port_id=mine.id)
    # A sub-port may have no larger MTU than its trunk, and the owner's network is a tunnel.
    demo.network.update_network(network_id, mtu=own.mtu)
    outer = demo.network.create_port(network_id=own.id)
    scene.afterwards(lambda: demo.network.delete_port(outer))
    sub = demo.network.create_port(network_id=network_id)
    kept = demo.network.create_trunk(port_id=outer.id, sub_ports=[
        {'port_id': sub.id, 'segmentation_type': 'vlan', 'segmentation_id': 7}])
    scene.afterwards(lambda: demo.network.delete_trunk(kept))
    parent = demo.network.create_port(network_id=network_id)
    gone = demo.network.create_trunk(port_id=parent.id)

    neutron.end(lease, 180)
    assert neutron.networks() == []
    assert [each.id for each in neutron.routers()] == [router.id]
    assert demo.network.find_trunk(gone.id) is None
    assert demo.network.get_trunk(kept.id).sub_ports == []
    assert demo.network.get_ip(address.id).port_id is None
    assert admin.compute.get_server(vm.id).status == 'ACTIVE'
    scenes.until(lambda: not list(admin.compute.server_interfaces(vm.id)), 'Nova to know it', 30)
    told = [each for each in scene.climate().leases.history(lease['id'])
            if each['what'] == 'detach server from network']
    assert vm.id in str(told)


def test_a_lease_is_held_back_until_its_owner_has_left_the_network(
        scene, neutron, segment, demo, cloud):
    lease = neutron.leased(on_end='wait', **neutron.with_router())
    port = demo.network.create_port(network_id=of(lease)['network_id'])
    scene.climate().leases.end(lease['id'])
    scenes.until(lambda: port.id in str(scene.climate().leases.history(lease['id'])),
                 'the port to be named', 60)
    assert len(neutron.networks()) == len(neutron.routers()) == 1
    with pytest.raises(errors.Conflict):
        neutron.leased(active=False, times={'start': scenes.in_seconds(1), 'duration': '5m'})
    demo.network.delete_port(port)
    scene.wait(lease['id'], 'terminated', 120)
    assert neutron.nothing()


def test_the_network_of_an_owner_who_is_gone_is_deleted(scene, neutron, segment, guest, admin):
    lease = neutron.leased('guest', **neutron.with_router())
    admin.identity.delete_user(guest)
    neutron.end(lease)
    assert neutron.nothing()


def test_a_lease_of_an_owner_who_is_gone_before_the_start_leaves_nothing(
        scene, neutron, segment, guest, admin):
    lease = neutron.leased('guest', active=False, **neutron.with_router(), times={
        'start': scenes.in_seconds(20), 'end': scenes.in_seconds(600)})
    admin.identity.delete_user(guest)
    neutron.told(lease, 'trust')
    scene.climate('admin').leases.delete(lease['id'])
    scenes.until(neutron.nothing, 'all to be gone', 120)
    service = admin.identity.find_project('service').id
    assert not list(admin.network.networks(project_id=service))


@pytest.fixture
def quota(scene, admin, demo):
    """callable(**limits): set quotas of Neutron for project demo; undone after the test."""
    def limit(**limits):
        admin.network.update_quota(demo.current_project_id, **limits)
    scene.afterwards(lambda: admin.network.delete_quota(
        demo.current_project_id, ignore_missing=True))
    return limit


@pytest.mark.parametrize('name', ['network', 'subnet', 'router', 'port'])
def test_a_full_quota_is_said_early_and_again_before_the_start(
        scene, neutron, segment, quota, admin, demo, name):
    used = admin.network.get_quota(demo.current_project_id, details=True).to_dict(
        original_names=True)[name]['used']
    key = f'{name}s'
    quota(**{key: used})
    with pytest.raises(errors.Conflict, match=f'quota "{name}"'):
        neutron.leased(active=False, **neutron.with_router())
    quota(**{key: used + 1})
    lease = neutron.leased(active=False, **neutron.with_router(), times={
        'start': scenes.in_seconds(15), 'end': scenes.in_seconds(900)})
    quota(**{key: used})
    neutron.told(lease, f'quota "{name}"')
    assert neutron.nothing()
    quota(**{key: used + 1})
    scene.wait(lease['id'], 'active', 180)
    neutron.end(lease)
    assert neutron.nothing()


def test_a_segment_that_an_administrator_took_is_replaced_and_stays(scene, neutron, admin):
    first, second = neutron.enrol(2)
    taken = admin.network.create_network(
        name=scene.name(), provider_network_type='vlan', provider_segmentation_id=(
            network_scene.FIRST), provider_physical_network=network_scene.PHYSICAL)
    scene.afterwards(lambda: admin.network.delete_network(taken))
    lease = neutron.leased(active=False)
    scene.wait(lease['id'], 'active', 120)
    assert of(scene.climate().leases.get(lease['id']))['segment'] == second
    named = neutron.leased(active=False, required_segment=first)
    neutron.told(named, first)
    neutron.end(lease)
    scene.climate().leases.delete(named['id'])
    scenes.until(lambda: scene.climate('admin').leases.get(named['id'])['deleted_at'],
                 'it to be deleted', 60)
    assert [each.id for each in neutron.networks()] == [taken.id]


def test_a_network_that_the_owner_renamed_or_deleted_is_no_problem(scene, neutron, demo):
    neutron.enrol(2)
    leases = [neutron.leased(subnet='10.42.0.0/24') for _ in range(2)]
    one, other = (of(each)['network_id'] for each in leases)
    demo.network.set_tags(demo.network.get_network(one), [])
    demo.network.update_network(one, name='mine', description='')
    demo.network.delete_network(other)
    for each in leases:
        neutron.end(each)
    assert neutron.nothing()


def test_a_network_is_made_and_deleted_after_neutron_was_down(scene, neutron, segment, cloud):
    if cloud.is_guest:
        pytest.skip('Neutron stands still, and others work in this cloud.')
    lease = neutron.leased(active=False, **neutron.with_router(), times={
        'start': scenes.in_seconds(10), 'end': scenes.in_seconds(900)})
    with scenes.frozen(cloud, 'neutron'):
        time.sleep(60)
        assert scene.climate('admin').leases.get(lease['id'])['status'] != 'active'
    scene.wait(lease['id'], 'active', 240)
    assert len(neutron.networks()) == len(neutron.routers()) == 1
    neutron.end(lease, 240)
    assert neutron.nothing()


def test_bad_input_is_refused_in_words(scene, neutron, segment, admin):
    private = admin.network.find_network('private').id
    for request, words in (
            ({'subnet': 'here'}, 'subnet'), ({'router': True}, 'router'),
            ({**neutron.with_router(), 'external_network': private}, 'external_network'),
            ({**neutron.with_router(), 'external_network': 'nowhere'}, 'external_network'),
            ({**neutron.with_router(), 'subnet': '172.24.4.0/25'}, 'subnet'),
            ({'required_segment': 'physnet1:vlan:4095'}, 'required_segment')):
        with pytest.raises(errors.BadRequest, match=words):
            neutron.leased(active=False, **request)
    with pytest.raises(errors.Conflict, match='physnet1:vlan:3999'):
        neutron.leased(active=False, required_segment='physnet1:vlan:3999')
    pool = scene.climate('admin').pool('segment')
    for name, error, words in (
            (segment, errors.Conflict, 'enrolled already'),
            ('physnet1:vlan:2999-3001', errors.Conflict, 'physnet1:vlan:3000 is enrolled'),
            ('physnet9:vlan:3001', errors.BadRequest, 'physnet9'),
            ('physnet1:vlan:4094-4095', errors.BadRequest, '4094'),
            ('physnet1:vxlan:7', errors.BadRequest, 'vxlan')):
        create = pool.create_range if '-' in name else pool.create
        with pytest.raises(error, match=words):
            create(name)
    with pytest.raises(errors.Forbidden):
        scene.climate().pool('segment').create('physnet1:vlan:3009')


def test_segments_have_a_noun_of_their_own_in_the_command_line(scene, neutron, segment):
    listed = scene.command('admin', 'segment', 'list')
    assert segment in str(listed)
    shown = scene.command('admin', 'segment', 'show', segment)
    assert shown['physical_network'] == network_scene.PHYSICAL
