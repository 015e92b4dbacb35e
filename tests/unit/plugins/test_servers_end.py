# SPDX-License-Identifier: Apache-2.0
"""A leased server in a status from which its lease cannot be ended as it should be."""
import leased_scene
import pytest
from support import builders

from climate import errors

ASLEEP = ('SHELVED_OFFLOADED', None)
IMAGED = [('reserved_vm', 'p', 'active')]
LIVING_ON = ['suspend', 'shelve', 'migrate']


@pytest.fixture
def scene(conf):
    return leased_scene.Scene(conf)


@pytest.mark.parametrize('on_end, after', [
    ('suspend', 'SUSPENDED'), ('shelve', 'SHELVED_OFFLOADED'), ('migrate', 'ACTIVE'),
    ('snapshot', None), ('delete', None)])
def test_one_that_its_user_locked_is_ended_by_the_service(scene, on_end, after):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    scene.cloud.lock_server(server.id)
    scene.run('end')
    found = scene.look(server)
    assert (found and found.status) == after
    assert not found or found.host not in ('compute-1', 'compute-2')


def test_one_that_its_user_locked_is_put_to_sleep_by_the_service(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.cloud.lock_server(server.id)
    scene.run('prepare')
    assert scene.place(server) == ASLEEP


@pytest.fixture
def building(conf):
    """A scene in which whatever is built is never ready."""
    conf.set_override('server_seconds', 1000000, group='simulated')
    return leased_scene.Scene(conf)


@pytest.mark.parametrize('status', ['RESCUE', 'ERROR'])
@pytest.mark.parametrize('later', [True, False])
def test_it_is_brought_back_to_be_imaged(scene, status, later):
    server = scene.hand_over(scene.boot(), later=later)
    scene.put(server, status)
    scene.run('end')
    assert (scene.place(server), scene.images()) == (None, IMAGED)


@pytest.mark.parametrize('on_end, status, after', [
    ('suspend', 'RESCUE', 'SUSPENDED'), ('suspend', 'ERROR', 'SHUTOFF'),
    ('shelve', 'RESCUE', 'SHELVED_OFFLOADED'), ('shelve', 'ERROR', 'SHELVED_OFFLOADED'),
    ('migrate', 'RESCUE', 'ACTIVE'), ('migrate', 'ERROR', 'SHUTOFF')])
@pytest.mark.parametrize('speed', [0, 2])
def test_it_is_brought_back_and_leaves_the_pool(scene, on_end, status, after, speed):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    scene.conf.set_override('server_seconds', speed, group='simulated')
    scene.put(server, status)
    scene.run('end')
    found = scene.look(server)
    assert found.status == after
    assert found.host not in ('compute-1', 'compute-2')


@pytest.mark.parametrize('status', ['RESCUE', 'ERROR'])
def test_one_that_is_to_live_on_outside_the_pool_stays_as_it_is(scene, status):
    server = scene.hand_over(scene.boot(), on_end='migrate')
    scene.put(server, status)
    scene.run('end')
    assert scene.place(server) == (status, 'compute-3')


@pytest.mark.parametrize('on_end', ['snapshot', *LIVING_ON])
def test_one_in_error_that_cannot_be_stopped_stays_and_each_try_is_told(scene, on_end):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    scene.cloud.break_server(server.id)
    for _ in range(3):
        with pytest.raises(errors.CloudError, match=r'ERROR on host compute-1.*delete it') as told:
            scene.run('end')
        assert not isinstance(told.value, errors.StillBusy)
        scene.failures += 1
    assert scene.place(server) == ('ERROR', 'compute-1')


def test_one_that_was_only_just_woken_and_fell_into_error_sleeps_again(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.run('prepare')
    with pytest.raises(errors.StillBusy):
        scene.call('start')
    scene.put(server, 'ERROR')
    scene.run('end')
    assert scene.place(server) == ASLEEP


@pytest.mark.parametrize('on_end, after', [('snapshot', None), ('shelve', ('ERROR', None))])
def test_one_in_error_that_is_on_no_host_has_nothing_that_could_be_imaged(scene, on_end, after):
    server = scene.hand_over(scene.boot(), on_end=on_end)
    scene.put(server, 'SHELVED_OFFLOADED')
    scene.put(server, 'ERROR')
    scene.run('end')
    assert (scene.place(server), scene.images()) == (
        after, [] if after is None else [('vm-shelved', 'p', 'active')])


@pytest.mark.proof
@pytest.mark.parametrize('on_end', ['snapshot', *LIVING_ON])
def test_it_is_waited_for_while_it_is_built_and_deleted_when_that_takes_too_long(building, on_end):
    server = building.boot()
    building.hand_over_in_build(server, on_end)
    for _ in range(3600):
        with pytest.raises(errors.StillBusy, match='being built') as wait:
            building.call('end')
        assert wait.value.kwargs['has_own_limit']
        building.clock.advance(leased_scene.SECOND)
    building.run('end')
    assert (building.place(server), building.images()) == (None, [])


def test_where_an_image_may_take_for_ever_the_manager_limits_how_long_it_may_be_built(building):
    building.conf.set_override('image_seconds', 0, group='virtual:instance')
    building.hand_over_in_build(building.boot(), 'snapshot')
    building.clock.advance(builders.hours(9))
    with pytest.raises(errors.StillBusy, match='being built') as wait:
        building.call('end')
    assert not wait.value.kwargs['has_own_limit']


def test_one_that_was_never_built_nor_handed_over_is_left(building):
    server = building.boot()
    building.lease(server, later=True)
    with pytest.raises(errors.StillBusy, match='being built'):
        building.call('end')
    building.clock.advance(builders.hours(1))
    building.run('end')
    assert building.place(server) == ('BUILD', 'compute-3')


@pytest.mark.parametrize('on_end', ['delete', 'snapshot', *LIVING_ON])
@pytest.mark.parametrize('started', [True, False])
def test_one_of_a_cell_that_does_not_answer_is_not_taken_for_one_on_no_host(
        scene, on_end, started):
    server = scene.lease(scene.boot(), later=True, on_end=on_end)
    scene.run('prepare')
    if started:
        scene.run('start')
    scene.put(server, 'UNKNOWN')
    with pytest.raises(errors.CloudError, match='ended while its status is UNKNOWN'):
        scene.run('end')
