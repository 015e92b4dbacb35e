# SPDX-License-Identifier: Apache-2.0
"""The story of a course on the real cloud: one lease of all that it needs, in order, or nothing."""
import datetime

import addressed
import leaks
import network_scene
import pytest
import scene as scenes
import stack_scene as stacks
import stored

from climate.client import errors

pytestmark = pytest.mark.services

# A student's server: on the leased hosts and network, with a leased address and the volume.
_TEMPLATE = stacks.template(
    {'hints': {'type': 'json', 'default': {}},
     'network': {'type': 'string', 'default': 'private'},
     'address': {'type': 'string', 'default': 'known at the start'},
     'data': {'type': 'string'}},
    port={'type': 'OS::Neutron::Port', 'properties': {'network': {'get_param': 'network'}}},
    student=stacks.server('m1.nano', networks=[{'port': {'get_resource': 'port'}}],
                          scheduler_hints={'get_param': 'hints'}),
    door={'type': 'OS::Neutron::FloatingIPAssociation', 'properties': {
        'floatingip_id': {'get_param': 'address'}, 'port_id': {'get_resource': 'port'}}},
    disk={'type': 'OS::Cinder::VolumeAttachment', 'properties': {
        'volume_id': {'get_param': 'data'}, 'instance_uuid': {'get_resource': 'student'}}})


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.NETWORK, *leaks.VOLUME, *leaks.STACK)


@pytest.fixture
def heat(demo):
    return stacks.Heat(demo)


@pytest.fixture
def neutron(scene, admin, demo):
    found = network_scene.Neutron(scene, admin, demo)
    found.enrol(1)
    return found


@pytest.fixture
def addresses(scene):
    found = addressed.Addresses(scene, first=241)
    found.enrol()
    scene.afterwards(found.withdraw)
    return found


@pytest.fixture
def storage(scene):
    return stored.Storage(scene)


@pytest.fixture
def data(storage):
    """The volume with last term's data."""
    return storage.make(2)


@pytest.fixture
def course(scene, neutron, addresses, data):
    """callable(**dates): the lease of the course, as the API answers it."""
    def ask(address='doors.floating_ips.0.id', **dates):
        made = scene.climate().leases.create(scene.name(), reservations=[
            {'resource_type': stacks.TYPE, 'template': _TEMPLATE, 'hint_parameter': 'hints',
             'parameters': {'data': data.id}, 'depends_on': ['hosts', 'lab', 'doors', 'data'],
             'lease_parameters': {'network': 'lab.network_id', 'address': address}},
            {'resource_type': 'physical:host', 'min': 2, 'max': 2, 'label': 'hosts'},
            {'resource_type': network_scene.TYPE, 'label': 'lab', **neutron.with_router()},
            {**addresses.request(3), 'label': 'doors', 'depends_on': ['lab']},
            {'resource_type': 'virtual:volume', 'resource_id': data.id, 'on_end': 'image',
             'label': 'data'}], **dates)
        scene.remember(made['id'])
        return made
    return ask


def next_monday():
    """Next Monday, 9:00 and 17:00 UTC, as the wire has them."""
    now = datetime.datetime.now(scenes.UTC)
    start = now.replace(hour=9, minute=0, second=0, microsecond=0) + datetime.timedelta(
        days=7 - now.weekday())
    return {'start': start.isoformat(), 'end': (start + datetime.timedelta(hours=8)).isoformat()}


def of(lease, label):
    [found] = [each for each in lease['reservations'] if each['label'] == label]
    return found


def test_a_course_starts_by_itself_in_order_is_used_and_ends_by_itself(
        scene, admin, demo, heat, neutron, addresses, storage, data, course):
    lease = course(**next_monday())
    assert lease['status'] == 'inactive'
    with pytest.raises(errors.ClientError, match='Only 3 of 4 addresses are free'):
        scene.climate('alt').leases.create('party', reservations=[addresses.request(4)],
                                           start=lease['start'], end=lease['end'])

    # Nobody here waits for Monday.
    scene.climate().leases.update(lease['id'], start=scenes.in_seconds(20),
                                  end=scenes.in_seconds(150))
    assert (neutron.nothing(), addresses.there(), heat.every()) == (True, {}, [])
    lease = scene.wait(lease['id'], 'active', 120)
    stack_id = lease['reservations'][0]['stack_id']
    [server_id] = heat.servers(stack_id)
    server = admin.compute.get_server(server_id)
    assert server.status == 'ACTIVE'
    assert server.compute_host in scene.hosts_in(of(lease, 'hosts')['id'])
    door = of(lease, 'doors')['floating_ips'][0]
    [port] = admin.network.ports(device_id=server_id)
    assert port.network_id == of(lease, 'lab')['network_id']
    assert demo.network.get_ip(door['id']).port_id == port.id
    assert [each['server_id'] for each in storage.still(data.id).attachments] == [server_id]

    scene.wait(lease['id'], 'terminated', 240)
    assert heat.every() == []
    assert not scene.exists(server_id)
    assert neutron.nothing()
    assert addresses.there() == {}
    assert storage.still(data.id).status == 'available'
    assert [(each.status, each.owner) for each in storage.images(lease)] == [
        ('active', demo.current_project_id)]


def test_a_course_whose_stack_cannot_start_takes_back_what_had_started(
        scene, heat, neutron, addresses, storage, data, course):
    # Heat finds no floating IP with the id of the reservation.
    lease = course(address='doors.id', start=scenes.in_seconds(10), end=scenes.in_seconds(900))
    scenes.until(addresses.there, 'the addresses to be made', 60)
    lease = scene.wait(lease['id'], 'terminated', 400)
    assert 'So the reservations that had started were ended' in ' '.join(
        str(each['why']) for each in scene.climate().leases.history(lease['id']))
    assert heat.every() == []
    assert neutron.nothing()
    assert addresses.there() == {}
    assert scene.hosts_in(of(lease, 'hosts')['id']) == set()
    assert storage.still(data.id).status == 'available'
    storage.images(lease)


def test_a_course_is_prolonged_as_a_whole_or_not_at_all(scene, addresses, storage, course):
    lease = course(start=scenes.in_seconds(5), end=scenes.in_seconds(900))
    scene.wait(lease['id'], 'active', 120)
    later = scene.climate('alt').leases.create(
        scene.name(), reservations=[addresses.request(4)], start=lease['end'],
        end=scenes.in_seconds(1800))
    scene.remember(later['id'])
    with pytest.raises(errors.ClientError, match='addresses'):
        scene.climate().leases.extend(lease['id'], by='5m')
    assert scene.climate().leases.get(lease['id'])['end'] == lease['end']
    scene.climate('alt').leases.delete(later['id'])
    scene.climate().leases.extend(lease['id'], by='5m')
    assert scene.climate().leases.get(lease['id'])['end'] > lease['end']
    scene.wait(lease['id'], 'active', 60)
    scene.climate().leases.end(lease['id'])
    scene.wait(lease['id'], 'terminated', 240)
    assert len(storage.images(lease)) == 1
