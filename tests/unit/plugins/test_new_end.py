# SPDX-License-Identifier: Apache-2.0
"""The end of new volumes: no volume is deleted before its copy is safe."""
import pytest
from support import builders
from support import crashing
import volume_scene

from climate import errors


@pytest.fixture
def build(conf):
    """Return a Scene whose reservation with this request has started."""
    conf.set_override('volume_seconds', 1, group='simulated')

    def started(**request):
        scene = volume_scene.Scene(conf, request)
        scene.finish('start')
        return scene
    return started


def test_an_end_that_is_cut_short_anywhere_goes_on_and_makes_one_image(build):
    for place in range(1, 200):
        scene = build(size_gb=10)
        cut_short = crashing.dies_at(scene.cloud, place, lambda scene=scene: scene.finish('end'))
        scene.finish('end')
        assert scene.volumes.every() == []
        assert scene.images() == [('demo', 'active')]
        assert [each.name for each in scene.volumes.types()] == ['ordinary']
        if not cut_short:
            return
    raise AssertionError('The end never came to its end.')


@pytest.mark.parametrize('status', ['error', 'error_extending', 'maintenance', 'backing-up'])
def test_a_volume_that_cannot_be_copied_is_kept_and_the_owner_must_act(build, status):
    scene = build(size_gb=10)
    with scene.cloud.state() as connection:
        connection.execute('UPDATE volumes SET status = ?', (status,))
    with pytest.raises(errors.StillBusy, match=f'it is {status}'):
        scene.call('end')
    scene.clock.advance(builders.hours(2))
    with pytest.raises(errors.CloudError, match='The volumes are kept') as refused:
        scene.call('end', since=builders.NOON)
    assert not isinstance(refused.value, errors.StillBusy)
    assert len(scene.volumes.every()) == 1


def test_a_lost_image_is_made_again(build):
    scene = build(size_gb=10)
    with pytest.raises(errors.StillBusy):
        scene.call('end')
    with scene.cloud.state() as connection:
        connection.execute('DELETE FROM images')
    scene.finish('end')
    assert scene.images() == [('demo', 'active')]


def test_a_volume_that_delays_the_end_does_not_delay_the_others(build):
    scene = build(size_gb=100, give='type', on_end='delete')
    owner = scene.cloud.as_user(scene.lease.trust_id).volumes
    for name in ('one', 'two'):
        owner.create(name, 10, 'reservation:r:1', {})
    scene.clock.advance(builders.seconds(2))
    assert len(scene.volumes.every()) == 2
    with scene.cloud.state() as connection:
        connection.execute("UPDATE volumes SET status = 'maintenance' WHERE name = 'one'")
    for _ in range(2):
        with pytest.raises(errors.StillBusy):
            scene.call('end')
        scene.clock.advance(builders.seconds(2))
    assert [each.name for each in scene.volumes.every()] == ['one']
    with pytest.raises(errors.CloudError, match='could not be found'):
        owner.create('three', 1, 'reservation:r:1', {})


def test_a_volume_with_snapshots_is_not_retyped_and_stays(build):
    scene = build(size_gb=10, on_end='retype', volume_type='ordinary')
    [volume] = scene.volumes.every()
    scene.cloud.as_user(scene.lease.trust_id).volumes.create_snapshot(volume.id, 'mine')
    with pytest.raises(errors.StillBusy):
        scene.call('end')
    assert scene.volumes.volume(volume.id) == volume


def test_an_audit_names_the_volumes_that_are_left_and_deletes_none(conf):
    scene = volume_scene.Scene(conf, {'size_gb': 10})
    scene.finish('start')
    [volume] = scene.volumes.every()
    with pytest.raises(errors.StillBusy, match=f'{volume.id} of project demo'):
        scene.plugin.clear(scene.cloud, 'r', scene.backends)
    assert scene.volumes.every() == [volume]
    owner = scene.cloud.as_user(scene.lease.trust_id).volumes
    with pytest.raises(errors.CloudError, match='could not be found'):
        owner.create('another', 1, volume.type_name, {})

    scene.volumes.retype(volume.id, 'ordinary')
    scene.plugin.clear(scene.cloud, 'r', scene.backends)
    assert [kind.name for kind in scene.volumes.types()] == ['ordinary']
    assert [each.id for each in scene.volumes.every()] == [volume.id]
