# SPDX-License-Identifier: Apache-2.0
"""The end of leased servers whose status forbids the requested change."""
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
def test_the_service_ends_the_lease_of_a_locked_server(scene, on_end, after):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    scene.cloud.lock_server(server.id)
    scene.run('end')
    seen = scene.look(server)
    assert (seen and seen.status) == after
    assert not seen or seen.host not in ('compute-1', 'compute-2')


def test_the_service_puts_a_locked_server_to_sleep(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.cloud.lock_server(server.id)
    scene.run('prepare')
    assert scene.place(server) == ASLEEP


@pytest.fixture
def building(conf):
    """A scene in which no build ever finishes."""
    conf.set_override('server_seconds', 1000000, group='simulated')
    return leased_scene.Scene(conf)


@pytest.mark.parametrize('status', ['RESCUE', 'ERROR'])
@pytest.mark.parametrize('later', [True, False])
def test_a_server_in_rescue_or_error_is_recovered_for_its_image(scene, status, later):
    server = scene.hand_over(scene.boot(), later=later)
    scene.put(server, status)
    scene.run('end')
    assert (scene.place(server), scene.images()) == (None, IMAGED)


@pytest.mark.parametrize('on_end, status, after', [
    ('suspend', 'RESCUE', 'SUSPENDED'), ('suspend', 'ERROR', 'SHUTOFF'),
    ('shelve', 'RESCUE', 'SHELVED_OFFLOADED'), ('shelve', 'ERROR', 'SHELVED_OFFLOADED'),
    ('migrate', 'RESCUE', 'ACTIVE'), ('migrate', 'ERROR', 'SHUTOFF')])
@pytest.mark.parametrize('speed', [0, 2])
def test_a_server_in_rescue_or_error_is_recovered_and_leaves_the_pool(
        scene, on_end, status, after, speed):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    scene.conf.set_override('server_seconds', speed, group='simulated')
    scene.put(server, status)
    scene.run('end')
    seen = scene.look(server)
    assert seen.status == after
    assert seen.host not in ('compute-1', 'compute-2')


@pytest.mark.parametrize('status', ['RESCUE', 'ERROR'])
def test_a_server_outside_the_pool_that_is_to_be_moved_stays_as_it_is(scene, status):
    server = scene.hand_over(scene.boot(), on_end='migrate')
    scene.put(server, status)
    scene.run('end')
    assert scene.place(server) == (status, 'compute-3')


@pytest.mark.parametrize('on_end', ['snapshot', *LIVING_ON])
def test_a_failed_server_that_cannot_be_stopped_stays_and_each_try_is_reported(scene, on_end):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    scene.cloud.break_server(server.id)
    for _ in range(3):
        with pytest.raises(errors.CloudError, match=r'ERROR on host compute-1.*delete it') as error:
            scene.run('end')
        assert not isinstance(error.value, errors.StillBusy)
        scene.failures += 1
    assert scene.place(server) == ('ERROR', 'compute-1')


def test_a_server_that_failed_while_it_was_unshelved_sleeps_again(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.run('prepare')
    with pytest.raises(errors.StillBusy):
        scene.call('start')
    scene.put(server, 'ERROR')
    scene.run('end')
    assert scene.place(server) == ASLEEP


@pytest.mark.parametrize('on_end, after', [('snapshot', None), ('shelve', ('ERROR', None))])
def test_a_server_in_error_without_a_host_is_not_imaged(scene, on_end, after):
    server = scene.hand_over(scene.boot(), on_end=on_end)
    scene.put(server, 'SHELVED_OFFLOADED')
    scene.put(server, 'ERROR')
    scene.run('end')
    assert (scene.place(server), scene.images()) == (
        after, [] if after is None else [('vm-shelved', 'p', 'active')])


@pytest.mark.proof
@pytest.mark.parametrize('on_end', ['snapshot', *LIVING_ON])
def test_the_end_waits_for_a_build_and_deletes_a_server_that_is_stuck_in_it(building, on_end):
    server = building.boot()
    building.hand_over_in_build(server, on_end)
    for _ in range(3600):
        with pytest.raises(errors.StillBusy, match='being built') as wait:
            building.call('end')
        assert wait.value.kwargs['has_own_limit']
        building.clock.advance(leased_scene.SECOND)
    building.run('end')
    assert (building.place(server), building.images()) == (None, [])


def test_the_manager_limits_a_build_if_images_have_no_time_limit(building):
    building.conf.set_override('image_seconds', 0, group='virtual:instance')
    building.hand_over_in_build(building.boot(), 'snapshot')
    building.clock.advance(builders.hours(9))
    with pytest.raises(errors.StillBusy, match='being built') as wait:
        building.call('end')
    assert not wait.value.kwargs['has_own_limit']


def test_a_server_that_was_never_built_nor_handed_over_is_left(building):
    server = building.boot()
    building.lease(server, later=True)
    with pytest.raises(errors.StillBusy, match='being built'):
        building.call('end')
    building.clock.advance(builders.hours(1))
    building.run('end')
    assert building.place(server) == ('BUILD', 'compute-3')


@pytest.mark.parametrize('on_end', ['delete', 'snapshot', *LIVING_ON])
@pytest.mark.parametrize('started', [True, False])
def test_a_server_of_a_silent_cell_does_not_count_as_without_a_host(
        scene, on_end, started):
    server = scene.lease(scene.boot(), later=True, on_end=on_end)
    scene.run('prepare')
    if started:
        scene.run('start')
    scene.put(server, 'UNKNOWN')
    with pytest.raises(errors.CloudError, match='ended while its status is UNKNOWN'):
        scene.run('end')
