# SPDX-License-Identifier: Apache-2.0
"""A manager is killed before and after each change in Heat, and another one takes over."""
import leaks
import mortal as mortals
import pytest
import scene as scenes
import stack_scene as stacks

pytestmark = pytest.mark.services

# Of Heat, and of Keystone when a trust is made for a stack.
CHANGES = '/stacks|/OS-TRUST/trusts$'


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.STACK)


@pytest.fixture
def heat(demo):
    return stacks.Heat(demo)


def test_a_manager_that_is_killed_at_any_change_makes_one_stack_and_leaves_none(
        scene, mortal, heat, admin):
    made = []

    def start():
        made.append(stacks.leased(scene, stacks.with_room(1), status=None))

    def started():
        lease = scene.wait(made[-1]['id'], 'active', mortals.SECONDS)
        assert [each['stack_status'] for each in heat.every()] == ['CREATE_COMPLETE']
        [reservation] = lease['reservations']
        [server] = heat.servers(reservation['stack_id'])
        assert admin.compute.get_server(server).compute_host in scene.hosts_in(reservation['id'])

    def end():
        scene.climate('admin').leases.end(made[-1]['id'])

    def ended():
        scene.wait(made[-1]['id'], 'terminated', mortals.SECONDS)
        assert heat.every() == []

    of_start = mortal.changes(CHANGES, lambda: (start(), started()))
    of_end = mortal.changes(CHANGES, lambda: (end(), ended()))
    assert {method for method, _ in of_start} == {'POST'}
    assert [method for method, _ in of_end] == ['DELETE']
    for moment in mortals.MOMENTS:
        mortal.dies(of_start, moment, start)
        started()
        mortal.dies(of_end, moment, end)
        ended()
    print(f'killed at {of_start} and {of_end}')


@pytest.mark.usefixtures('open_host')
@pytest.mark.parametrize('moment', mortals.MOMENTS)
def test_a_manager_that_is_killed_with_an_existing_stack_brings_it_to_its_end(
        scene, mortal, heat, moment):
    stack_id = heat.create(scene, scene.name(), stacks.placed(1))
    change = [('POST', '/actions$')]
    made = []

    def prepare():
        made.append(stacks.leased(
            scene, {'resource_type': stacks.TYPE, 'resource_id': stack_id, 'on_end': 'suspend'},
            status=None, start=scenes.in_seconds(60), end=scenes.in_seconds(900)))
    mortal.dies(change, moment, prepare)
    scenes.until(lambda: heat.status(stack_id) == 'SUSPEND_COMPLETE', 'it to sleep', 60)
    # The next change wakes it up.
    mortal.dies(change, moment, lambda: None)
    scene.wait(made[0]['id'], 'active', mortals.SECONDS)
    assert heat.status(stack_id) == 'RESUME_COMPLETE'
    mortal.dies(change, moment, lambda: scene.climate('admin').leases.end(made[0]['id']))
    scene.wait(made[0]['id'], 'terminated', mortals.SECONDS)
    assert heat.status(stack_id) == 'SUSPEND_COMPLETE'
