# SPDX-License-Identifier: Apache-2.0
"""A leased server is shelved, handed over and ended as its lease says, despite all faults."""
import leased_scene
import pytest
from support import builders
from support import crashing

from climate import errors

AWAKE = ['ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED']
ENDINGS = ['snapshot', 'delete', 'suspend', 'shelve', 'migrate']
ASLEEP = ('SHELVED_OFFLOADED', None)
RESERVED = {'climate:lease_id': 'l', 'climate:reservation_id': 'r', 'climate:status': 'RESERVED'}
RUNNING = {**RESERVED, 'climate:status': 'ACTIVE'}


@pytest.fixture
def scene(conf):
    return leased_scene.Scene(conf)


@pytest.fixture
def slow(conf):
    """A scene in which each change takes some seconds."""
    for name, seconds in (('server_seconds', 2), ('delete_seconds', 2), ('image_seconds', 5)):
        conf.set_override(name, seconds, group='simulated')
    return leased_scene.Scene(conf)


def test_a_server_sleeps_until_its_lease_starts_and_wakes_on_its_reserved_host(scene):
    server = scene.lease(scene.boot(), later=True)
    assert scene.run('prepare') == {
        'resource_id': server.id, 'resource_name': 'vm', 'asleep': True}
    assert (scene.place(server), scene.marks(server)) == (ASLEEP, RESERVED)
    assert scene.images() == [('vm-shelved', 'p', 'active')]
    assert scene.run('start') == {
        'resource_id': server.id, 'resource_name': 'vm', 'handed_over': True}
    assert (scene.place(server), scene.marks(server)) == (('ACTIVE', 'compute-1'), RUNNING)
    assert scene.images() == []


def test_a_server_whose_lease_starts_at_once_stays_on_its_host(scene):
    server = scene.hand_over(scene.boot())
    assert (scene.place(server), scene.marks(server)) == (('ACTIVE', 'compute-3'), RUNNING)


@pytest.mark.parametrize('status', [*AWAKE, 'SHELVED', 'SHELVED_OFFLOADED'])
def test_a_server_is_put_to_sleep_from_each_status(scene, status):
    server = scene.boot(status)
    scene.lease(server, later=True)
    scene.run('prepare')
    assert scene.place(server) == ASLEEP
    scene.run('start')
    assert (scene.place(server), scene.marks(server)) == (('ACTIVE', 'compute-1'), RUNNING)


def test_the_preparation_waits_for_a_build(slow):
    server = slow.cloud.boot('p', 'vm', host='compute-3', flavor='2')
    slow.lease(server, later=True)
    assert server.status == 'BUILD'
    slow.run('prepare')
    assert (slow.place(server), slow.marks(server)) == (ASLEEP, RESERVED)


@pytest.mark.parametrize('method', ['prepare', 'start'])
@pytest.mark.parametrize('status', ['ERROR', 'RESCUE'])
def test_a_status_that_forbids_the_change_is_reported(scene, method, status):
    server = scene.lease(scene.boot(), later=True)
    scene.put(server, status)
    with pytest.raises(errors.CloudError, match=f'{status}.*openstack server show') as caught:
        scene.run(method)
    assert not isinstance(caught.value, errors.StillBusy)


def test_a_server_that_failed_before_its_start_is_reported(scene):
    server = scene.lease(scene.boot())
    scene.put(server, 'ERROR')
    with pytest.raises(errors.CloudError, match='ERROR'):
        scene.run('start')


def test_a_server_without_held_capacity_wakes_outside_the_pool(scene):
    server = scene.hand_over(scene.boot(), later=True, room=False)
    assert scene.look(server).host in ('compute-3', 'compute-4')


def test_each_failed_wake_is_reported_once_and_tried_again(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.run('prepare')
    scene.cloud.mark_host('compute-1', enabled=False)
    for count in (1, 2):
        with pytest.raises(errors.CloudError, match='on host compute-1'):
            scene.run('start')
        scene.failures += 1
        assert scene.service.servers.failures(server.id, 'unshelve', builders.NOON) == count
    scene.cloud.mark_host('compute-1', enabled=True)
    scene.run('start')
    assert scene.place(server) == ('ACTIVE', 'compute-1')


def test_a_server_that_was_not_put_to_sleep_in_time_stays_on_its_host(scene):
    server = scene.lease(scene.boot('SHUTOFF'), later=True)
    scene.run('start')
    assert (scene.place(server), scene.marks(server)) == (('SHUTOFF', 'compute-3'), RUNNING)


@pytest.mark.parametrize(('project_id', 'stays'), [('p', True), ('other', False)])
def test_an_awake_server_stays_on_a_host_that_its_own_project_has_leased(
        scene, project_id, stays):
    nova = scene.service.nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-2'])
    nova.add_hosts(nova.ensure_aggregate('leased', 'climate_leased', {
        'climate:owner': project_id}), ['compute-2'])
    forced = scene.cloud.boot('p', 'vm', host='compute-2', forced=True, flavor='2')
    server = scene.lease(forced, later=True)
    scene.run('start')
    assert (scene.look(server).host == 'compute-2') is stays


def test_a_server_leaves_the_host_that_its_reservation_lost(scene):
    server = scene.hand_over(scene.boot(), later=True)
    scene.resources = [scene.pool[1]]
    scene.run('start')
    assert scene.look(server).host != 'compute-1'


@pytest.mark.parametrize('status', ['SHUTOFF', 'SUSPENDED', 'SHELVED_OFFLOADED'])
def test_changes_of_the_owner_after_the_start_stay(scene, status):
    server = scene.hand_over(scene.boot())
    scene.put(server, status)
    scene.run('start')
    assert scene.look(server).status == status


@pytest.mark.parametrize('status', AWAKE)
def test_a_server_is_imaged_for_its_owner_and_then_deleted(slow, status):
    server = slow.boot('BUILD')
    slow.clock.advance(builders.minutes(1))
    slow.lease(server)
    slow.run('start')
    slow.put(server, status)
    slow.run('end')
    assert slow.place(server) is None
    assert slow.images() == [('reserved_vm', 'p', 'active')]


def test_a_server_is_not_deleted_before_its_image_is_active(scene):
    scene.conf.set_override('image_seconds', 60, group='simulated')
    server = scene.hand_over(scene.boot())
    for _ in range(60):
        with pytest.raises(errors.StillBusy):
            scene.call('end')
        scene.clock.advance(leased_scene.SECOND)
        assert scene.place(server) == ('ACTIVE', 'compute-3')
    scene.run('end')
    assert scene.place(server) is None


def _end_with_an_image_that_takes_for_ever(scene, status):
    scene.conf.set_override('image_seconds', 100000, group='simulated')
    server = scene.hand_over(scene.boot())
    scene.cloud.mark_server(server.id, status)
    scene.run('end', times=60 + 3, pause=builders.minutes(1))
    return server


@pytest.mark.parametrize('status, after', [
    ('ACTIVE', 'SUSPENDED'), ('SUSPENDED', 'SUSPENDED'), ('SHUTOFF', 'SHUTOFF'),
    ('PAUSED', 'SHELVED_OFFLOADED')])
def test_an_image_that_is_not_active_in_time_saves_the_server(scene, status, after):
    server = _end_with_an_image_that_takes_for_ever(scene, status)
    assert scene.look(server).status == after
    assert [name for name, _, _ in scene.images()] == (
        ['vm-shelved'] if after == 'SHELVED_OFFLOADED' else [])
    assert scene.marks(server) == {}


def test_the_end_waits_without_a_limit_if_image_seconds_is_zero(scene):
    scene.conf.set_override('image_seconds', 0, group='virtual:instance')
    with pytest.raises(AssertionError, match='never came'):
        _end_with_an_image_that_takes_for_ever(scene, 'ACTIVE')


def test_a_lost_image_of_a_server_is_made_again(scene):
    scene.conf.set_override('image_seconds', 60, group='simulated')
    scene.hand_over(scene.boot())
    with pytest.raises(errors.StillBusy):
        scene.call('end')
    [image] = scene.service.images.made('r', 'p')
    scene.user.images.delete(image.id)
    scene.run('end')
    assert scene.images() == [('reserved_vm', 'p', 'active')]


def test_a_sleeping_server_is_woken_for_its_image(scene):
    server = scene.hand_over(scene.boot())
    scene.put(server, 'SHELVED_OFFLOADED')
    scene.run('end')
    assert (scene.place(server), scene.images()) == (None, [('reserved_vm', 'p', 'active')])


def test_a_server_is_woken_for_its_image_outside_the_pool(scene):
    server = scene.hand_over(scene.boot(), later=True)
    scene.put(server, 'SHELVED_OFFLOADED')
    with pytest.raises(errors.StillBusy):
        scene.call('end')
    assert scene.look(server).host in ('compute-3', 'compute-4')
    scene.run('end')
    assert (scene.place(server), scene.images()) == (None, [('reserved_vm', 'p', 'active')])


def test_a_server_that_cannot_be_woken_for_its_image_is_left_asleep(scene):
    server = scene.hand_over(scene.boot())
    scene.put(server, 'SHELVED_OFFLOADED')
    for name in scene.cloud.host_names():
        scene.cloud.mark_host(name, enabled=False)
    with pytest.raises(errors.CloudError, match='could not be woken'):
        scene.run('end')
    scene.failures += 1
    scene.run('end')
    assert scene.place(server) == ASLEEP
    assert scene.images() == [('vm-shelved', 'p', 'active')]


@pytest.mark.parametrize('on_end, status, after', [
    *(('delete', status, None) for status in ('ACTIVE', 'SHELVED_OFFLOADED', 'ERROR')),
    ('suspend', 'ACTIVE', 'SUSPENDED'), ('suspend', 'SUSPENDED', 'SUSPENDED'),
    ('suspend', 'SHUTOFF', 'SHUTOFF'), ('suspend', 'PAUSED', 'SHELVED_OFFLOADED'),
    ('suspend', 'SHELVED', 'SHELVED_OFFLOADED'), ('suspend', 'VERIFY_RESIZE', 'SHUTOFF'),
    *(('shelve', status, 'SHELVED_OFFLOADED') for status in ('ACTIVE', 'VERIFY_RESIZE')),
    *((on_end, 'SHELVED_OFFLOADED', 'SHELVED_OFFLOADED') for on_end in (
        'suspend', 'shelve', 'migrate')),
    *(('migrate', status, status) for status in ('ACTIVE', 'ERROR'))])
def test_a_server_has_the_requested_state_at_the_end(scene, on_end, status, after):
    server = scene.hand_over(scene.boot(), on_end=on_end)
    scene.put(server, status)
    scene.run('end')
    seen = scene.look(server)
    assert (seen and seen.status) == after
    if seen and seen.host and status != 'ERROR':
        # Nova refuses to change the metadata in other statuses.
        assert (seen.host, scene.marks(server)) == ('compute-3', {})


@pytest.mark.parametrize('on_end, status, after', [
    ('suspend', 'ACTIVE', 'SUSPENDED'), ('suspend', 'SHUTOFF', 'SHUTOFF'),
    ('migrate', 'ACTIVE', 'ACTIVE'), ('migrate', 'PAUSED', 'PAUSED'),
    ('migrate', 'SHUTOFF', 'SHUTOFF'), ('shelve', 'ACTIVE', 'SHELVED_OFFLOADED'),
    ('suspend', 'SUSPENDED', 'SHELVED_OFFLOADED'), ('migrate', 'SUSPENDED', 'SHELVED_OFFLOADED')])
@pytest.mark.parametrize('speed', [0, 2])
def test_a_server_uses_no_capacity_of_the_pool_after_the_end(scene, on_end, status, after, speed):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    scene.conf.set_override('server_seconds', speed, group='simulated')
    scene.put(server, status)
    scene.run('end')
    seen = scene.look(server)
    assert seen.status == after
    assert seen.host in (('compute-3', 'compute-4') if after != 'SHELVED_OFFLOADED' else (None,))
    assert scene.marks(server) == {}


@pytest.mark.parametrize('on_end', ['suspend', 'migrate'])
def test_a_server_that_cannot_leave_the_pool_is_shelved(scene, on_end):
    server = scene.hand_over(scene.boot(), later=True, on_end=on_end)
    for name in ('compute-3', 'compute-4'):
        scene.cloud.mark_host(name, enabled=False)
    scene.run('end')
    assert scene.place(server) == ASLEEP


@pytest.mark.parametrize('on_end, call', [('suspend', 'nova.suspend'), ('migrate', 'nova.migrate')])
def test_a_server_that_nova_refuses_to_suspend_or_move_is_shelved(scene, on_end, call):
    later = on_end == 'migrate'
    server = scene.hand_over(scene.boot(), later=later, on_end=on_end)
    scene.cloud.fail(call, 9, errors.CloudError(service='Nova', reason='not with this driver'))
    scene.run('end')
    assert scene.place(server) == ASLEEP


@pytest.mark.parametrize('error', [
    errors.CloudUnreachable(service='Nova', reason='away'),
    errors.TrustDead(service='Keystone', reason='gone')])
def test_a_call_that_did_not_reach_nova_is_repeated(scene, error):
    server = scene.hand_over(scene.boot(), on_end='suspend')
    scene.cloud.fail('nova.suspend', 1, error)
    with pytest.raises(type(error)):
        scene.run('end')
    scene.run('end')
    assert scene.place(server) == ('SUSPENDED', 'compute-3')


def test_a_server_that_nova_silently_fails_to_suspend_is_shelved(scene):
    server = scene.hand_over(scene.boot(), on_end='suspend')
    with pytest.raises(errors.StillBusy):
        scene.call('end')
    scene.put(server, 'SUSPENDED')
    scene.cloud.mark_server(server.id, 'ACTIVE')
    scene.run('end')
    assert (scene.place(server), scene.marks(server)) == (ASLEEP, {})


@pytest.mark.parametrize('on_end', ENDINGS)
@pytest.mark.parametrize('prepared', [True, False])
def test_a_server_that_was_never_handed_over_stays_as_it_is(scene, on_end, prepared):
    server = scene.lease(scene.boot(), later=True, on_end=on_end)
    if prepared:
        scene.run('prepare')
    scene.run('end')
    assert scene.place(server) == (ASLEEP if prepared else ('ACTIVE', 'compute-3'))
    assert prepared or scene.marks(server) == {}
    assert [name for name, _, _ in scene.images()] == (['vm-shelved'] if prepared else [])


def test_a_server_that_was_just_woken_sleeps_again(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.run('prepare')
    with pytest.raises(errors.StillBusy):
        scene.call('start')
    assert scene.look(server).host == 'compute-1'
    scene.run('end')
    assert scene.place(server) == ASLEEP


@pytest.mark.parametrize('method', ['prepare', 'start'])
def test_a_server_that_is_gone_before_the_end_is_reported(scene, method):
    server = scene.lease(scene.boot(), later=True)
    scene.put(server, 'SOFT_DELETED')
    with pytest.raises(errors.TargetGone):
        scene.run(method)
    scene.cloud.delete_server(server.id)
    with pytest.raises(errors.TargetGone):
        scene.run(method)


def test_the_end_of_a_server_that_is_gone_does_nothing(scene):
    server = scene.hand_over(scene.boot())
    scene.cloud.delete_server(server.id)
    scene.run('end')
    assert scene.images() == []


def test_a_start_without_a_stored_binding_can_be_ended(scene):
    server = scene.lease(scene.boot(), on_end='delete')
    scene.call('start')
    scene.run('end')
    assert scene.place(server) is None


@pytest.mark.parametrize(('on_end', 'after', 'image'), [
    ('snapshot', None, ('reserved_vm', 'p', 'active')),
    ('shelve', ASLEEP, ('vm-shelved', 'service', 'active'))])
def test_the_service_ends_a_lease_with_a_dead_trust(scene, on_end, after, image):
    server = scene.hand_over(scene.boot(), on_end=on_end)
    scene.cloud.delete_trustor('u')
    scene.run('end')
    assert (scene.place(server), scene.images()) == (after, [image])


def test_a_server_with_a_dead_trust_is_not_put_to_sleep_before_the_start(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.cloud.delete_trustor('u')
    with pytest.raises(errors.TrustDead):
        scene.call('prepare')
    scene.run('start')
    assert (scene.place(server), scene.images()) == (('ACTIVE', 'compute-3'), [])


def test_a_sleeping_server_with_a_dead_trust_wakes(scene):
    server = scene.lease(scene.boot(), later=True)
    scene.run('prepare')
    scene.cloud.delete_trustor('u')
    scene.run('start')
    assert scene.place(server) == ('ACTIVE', 'compute-1')


def test_the_owner_gets_the_image_of_the_service_even_if_the_server_is_gone(scene):
    server = scene.hand_over(scene.boot())
    scene.cloud.delete_trustor('u')
    with pytest.raises(errors.StillBusy):
        scene.call('end')
    scene.cloud.delete_server(server.id)
    scene.run('end')
    assert scene.images() == [('reserved_vm', 'p', 'active')]


@pytest.mark.parametrize('bound', [True, False])
def test_servers_that_were_never_bound_lose_their_marks(scene, bound):
    marks = {'climate:lease_id': 'l'}
    stray, foreign = scene.boot(metadata=marks), scene.boot(metadata={
        **marks, 'climate:reservation_id': 'another'})
    server = scene.lease(scene.boot())
    scene.reservation.request['resource_id'] = None
    if bound:
        scene.reservation.binding['resource_id'] = server.id
        scene.run('start')
    scene.run('end')
    assert (scene.marks(stray), len(scene.marks(foreign))) == ({}, 2)
    assert scene.place(server) == (None if bound else ('ACTIVE', 'compute-3'))


def _story(conf, steps, later, on_end, on_point=None):
    """Run the steps, which `on_point` may interrupt; return the picture and whether it did."""
    scene = leased_scene.Scene(conf)
    server = scene.lease(scene.boot(), later=later, on_end=on_end)
    scene.cloud.faults.on_point = on_point and (lambda name, when: on_point(scene, server))
    cut_short = False
    for step in steps:
        for _ in range(2):
            try:
                scene.run(step)
            except crashing.Crash:
                cut_short = True
                scene.cloud.faults.on_point = None
                continue
            except errors.TargetGone:
                break
            break
    scene.cloud.faults.on_point = None
    return scene.picture(), cut_short


def _each_point(conf, *story, deed):
    """Run the story once for each of its points, and call `deed(scene, server)` there."""
    for place in range(1, 200):
        left = place

        def on_point(scene, server):
            nonlocal left
            left -= 1
            if left == 0:
                deed(scene, server)
        picture, cut_short = _story(conf, *story, on_point=on_point)
        if left > 0:
            return
        yield picture, cut_short
    raise AssertionError('The story never came to its end.')


STEPS = ('prepare', 'start', 'end')


@pytest.mark.parametrize('later, on_end', [
    (True, 'snapshot'), (False, 'migrate'),
    *(pytest.param(later, on_end, marks=pytest.mark.proof) for later in (True, False)
      for on_end in ENDINGS if (later, on_end) not in ((True, 'snapshot'), (False, 'migrate')))])
def test_a_crash_between_any_two_calls_makes_no_difference(conf, later, on_end):
    def die(scene, server):
        raise crashing.Crash
    steps = STEPS if later else STEPS[1:]
    expected, _ = _story(conf, steps, later, on_end)
    count = 0
    for picture, cut_short in _each_point(conf, steps, later, on_end, deed=die):
        assert cut_short
        assert picture == expected
        count += 1
    assert count > 5


@pytest.mark.parametrize('on_end', [
    'delete', *(pytest.param(on_end, marks=pytest.mark.proof) for on_end in ENDINGS
                if on_end != 'delete')])
def test_a_server_may_be_deleted_at_any_moment(conf, on_end):
    def delete(scene, server):
        scene.cloud.delete_server(server.id)
    for (servers, left), _ in _each_point(conf, STEPS, True, on_end, deed=delete):
        assert servers == []
        assert {row[0] for row in left['images']} <= {'reserved_vm'}
        assert {row[3] for row in left['images']} <= {'p'}
