# SPDX-License-Identifier: Apache-2.0
"""Leases of stacks on the real cloud: Heat, Nova, Keystone and Climate."""
import time

import leaks
import pytest
import scene as scenes
import stack_scene as stacks

from climate.client import errors

pytestmark = pytest.mark.services


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.STACK, *leaks.NETWORK, *leaks.VOLUME)


@pytest.fixture
def heat(demo):
    return stacks.Heat(demo)


def compute_of(admin, server_ids):
    """{host} on which these servers are."""
    return {admin.compute.get_server(each).compute_host for each in server_ids}


def of(lease):
    """The only reservation of a lease."""
    [found] = lease['reservations']
    return found


def end(scene, lease, person='demo'):
    scene.climate(person).leases.end(lease['id'])
    return scene.wait(lease['id'], 'terminated', 300)


def test_a_stack_is_created_on_leased_room_prolonged_and_deleted(scene, admin, heat):
    lease = stacks.leased(scene, stacks.with_room(2))
    reservation = of(lease)
    stack_id = reservation['stack_id']
    assert heat.status(stack_id) == 'CREATE_COMPLETE'
    servers = heat.servers(stack_id)
    assert len(servers) == 2
    assert compute_of(admin, servers) <= scene.hosts_in(reservation['id'])
    assert {admin.compute.get_server(each).project_id for each in servers} == {
        lease['project_id']}
    before = lease['end']
    scene.climate().leases.extend(lease['id'], by='10m')
    assert scene.climate().leases.get(lease['id'])['end'] > before
    end(scene, lease)
    assert heat.status(stack_id) is None
    assert not any(scene.exists(each) for each in servers)


def test_servers_of_two_flavors_have_room_for_each(scene, admin, heat):
    template = stacks.template(
        {'small': {'type': 'string', 'default': 'm1.nano'},
         'large': {'type': 'string', 'default': 'm1.micro'}},
        a=stacks.server({'get_param': 'small'}), b=stacks.server({'get_param': 'large'}))
    lease = stacks.leased(scene, {
        'resource_type': stacks.TYPE, 'template': template, 'hold_room': 'required',
        'flavor_parameter': ['small', 'large']})
    reservation = of(lease)
    assert len(set(reservation['flavor_ids'].values())) == 2
    servers = heat.servers(reservation['stack_id'])
    assert compute_of(admin, servers) <= scene.hosts_in(reservation['id'])
    end(scene, lease)
    assert heat.every() == []


def test_a_lease_for_later_starts_and_ends_by_itself(scene, heat):
    lease = stacks.leased(scene, stacks.with_room(1), status=None,
                          start=scenes.in_seconds(30), end=scenes.in_seconds(150))
    assert heat.every() == []
    scene.wait(lease['id'], 'active', 110)
    assert [each['stack_status'] for each in heat.every()] == ['CREATE_COMPLETE']
    scene.wait(lease['id'], 'terminated', 300)
    assert heat.every() == []


@pytest.mark.usefixtures('open_host')
@pytest.mark.parametrize(('on_end', 'left'), [('suspend', 'SUSPEND_COMPLETE'),
                                              ('leave', 'RESUME_COMPLETE'), ('delete', None)])
def test_an_existing_stack_sleeps_until_its_lease(scene, admin, heat, on_end, left):
    stack_id = heat.create(scene, scene.name(), stacks.placed(1))
    [server] = heat.servers(stack_id)
    lease = stacks.leased(
        scene, {'resource_type': stacks.TYPE, 'resource_id': stack_id, 'on_end': on_end},
        status=None, start=scenes.in_seconds(45), end=scenes.in_seconds(600))
    scenes.until(lambda: heat.status(stack_id) == 'SUSPEND_COMPLETE', 'it to sleep', 40)
    assert admin.compute.get_server(server).status == 'SUSPENDED'
    scene.wait(lease['id'], 'active', 120)
    assert heat.status(stack_id) == 'RESUME_COMPLETE'
    assert admin.compute.get_server(server).status == 'ACTIVE'
    end(scene, lease)
    assert heat.status(stack_id) == left


def test_a_lease_that_is_deleted_while_its_stack_is_created_leaves_nothing(scene, heat):
    lease = stacks.leased(scene, stacks.with_room(3), status=None)
    scenes.until(heat.every, 'the stack to be begun', 60)
    scene.climate().leases.delete(lease['id'])
    scenes.until(lambda: heat.every() == [], 'the stack to be gone', 180)
    scenes.until(lambda: scene.climate('admin').leases.get(lease['id'])['deleted_at'],
                 'the lease to be deleted', 60)


def test_the_stack_of_an_owner_who_is_gone_is_deleted(scene, guest, admin, heat):
    lease = stacks.leased(scene, stacks.with_room(1), person='guest')
    assert [each['stack_status'] for each in heat.every()] == ['CREATE_COMPLETE']
    admin.identity.delete_user(guest)
    end(scene, lease, 'admin')
    assert heat.every() == []


def test_a_stack_of_an_owner_who_is_gone_before_the_start_is_not_created(scene, guest, admin, heat):
    lease = stacks.leased(scene, stacks.word(), person='guest', status=None,
                          start=scenes.in_seconds(20), end=scenes.in_seconds(600))
    admin.identity.delete_user(guest)
    scenes.until(lambda: 'trust' in str(scene.climate('admin').leases.get(
        lease['id'])['status_reason']).lower(), 'the reason', 150)
    assert heat.every() == []
    service = admin.identity.find_project('service').id
    assert not [what for _, project, what in leaks.stacks(admin) if project == service]


@pytest.fixture
def quota(scene, admin, demo):
    """callable(**limits): set quotas of Nova for project demo; undone after the test."""
    def limit(**limits):
        admin.compute.update_quota_set(demo.current_project_id, **limits)
    scene.afterwards(lambda: admin.compute.revert_quota_set(demo.current_project_id))
    return limit


def test_a_full_quota_is_said_early_and_again_before_the_start(scene, heat, quota):
    quota(instances=1)
    with pytest.raises(errors.Conflict, match='quota "instances" in Nova'):
        stacks.leased(scene, stacks.with_room(2), status=None)
    lease = stacks.leased(scene, stacks.with_room(1), status=None,
                          start=scenes.in_seconds(20), end=scenes.in_seconds(900))
    quota(instances=0)

    def told():
        return 'quota "instances"' in str(
            scene.climate('admin').leases.get(lease['id'])['status_reason'])
    # It is the reason of the lease when the tries of the start are used up.
    scenes.until(told, 'the quota to be named', 150)
    assert heat.every() == []
    quota(instances=1)
    scene.wait(lease['id'], 'active', 180)
    end(scene, lease)


@pytest.mark.parametrize(('changed', 'words'), [
    ({'template': 'no template'}, 'Heat refuses the stack'),
    ({'template': stacks.template(x={'type': 'OS::No::Such'})}, 'OS::No::Such'),
    ({'template': stacks.template(vm=stacks.server('m9.huge')), 'flavor_parameter': None},
     'm9.huge'),
    ({'parameters': {'colour': 'red'}}, 'colour'),
    ({'flavor_parameter': 'taste'}, 'declares no parameter "taste"'),
    ({'template': stacks.template(inner={'type': 'OS::Blazar::Lease', 'properties': {
        'name': 'x', 'start_date': '2031-01-01 10:00', 'end_date': '2031-01-01 11:00',
        'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]}}),
      # Heat asks Climate for hosts as the member, and is refused.
      'flavor_parameter': None}, 'lease itself|Blazar'),
    ({'template': stacks.template(vm=stacks.server('m1.nano')), 'flavor_parameter': None},
     'hold_room=preferred'),
])
def test_bad_input_is_refused_in_words(scene, heat, changed, words):
    with pytest.raises(errors.BadRequest, match=words):
        stacks.leased(scene, {**stacks.with_room(1), **changed}, status=None)
    assert heat.every() == []


def test_the_stack_of_another_project_is_not_there(scene, alt):
    stack_id = stacks.Heat(alt).create(scene, scene.name(), stacks.word()['template'])
    with pytest.raises(errors.BadRequest, match='no stack'):
        stacks.leased(scene, {'resource_type': stacks.TYPE, 'resource_id': stack_id}, status=None)


def test_a_delete_that_fails_is_tried_again_and_explained(scene, admin, heat):
    lease = stacks.leased(scene, {'resource_type': stacks.TYPE, 'template': stacks.template(
        net={'type': 'OS::Neutron::Net'})})
    [network] = heat.made(of(lease)['stack_id'], 'OS::Neutron::Net')
    # Neutron deletes no network with a port.
    port = admin.network.create_port(network_id=network)
    scene.afterwards(lambda: admin.network.delete_port(port))
    scene.climate().leases.end(lease['id'])

    def told():
        history = scene.climate().leases.history(lease['id'])
        return 'could not be deleted, and Climate tries again' in str(history)
    scenes.until(told, 'the notification of the failure', 240, 1)
    admin.network.delete_port(port)
    scene.wait(lease['id'], 'terminated', 300)
    assert heat.every() == []


def test_a_stack_is_created_after_heat_was_down_for_a_while(scene, cloud, heat):
    lease = stacks.leased(scene, stacks.word(), status=None,
                          start=scenes.in_seconds(10), end=scenes.in_seconds(900))
    with scenes.frozen(cloud, 'heat-api'):
        time.sleep(60)
        assert scene.climate('admin').leases.get(lease['id'])['status'] != 'active'
    scene.wait(lease['id'], 'active', 240)
    assert [each['stack_status'] for each in heat.every()] == ['CREATE_COMPLETE']
    end(scene, lease)
    assert heat.every() == []


def test_a_lease_has_as_many_stacks_as_it_asks_for(scene, heat):
    lease = stacks.leased(scene, stacks.word(), stacks.word(), stacks.word())
    assert {each['id'] for each in heat.every()} == {
        each['stack_id'] for each in lease['reservations']}
    history = str(scene.climate('admin').leases.history(lease['id']))
    assert 'failed' not in history
    end(scene, lease)
    assert heat.every() == []


def test_a_stack_that_could_not_be_created_is_created_again(scene, heat, request):
    bare = stacks.template(vm=stacks.server('m1.nano'))
    lease = stacks.leased(scene, {'resource_type': stacks.TYPE, 'template': bare,
                                  'hold_room': 'preferred'}, status=None)

    def told():
        return 'could not be created' in str(scene.climate('admin').leases.history(lease['id']))
    # All hosts are enrolled, so that Nova finds none for a server without a reservation.
    scenes.until(told, 'the notification of the failure', 150)
    request.getfixturevalue('open_host')
    scene.wait(lease['id'], 'active', 300)
    assert [each['stack_status'] for each in heat.every()] == ['CREATE_COMPLETE']
    end(scene, lease)
