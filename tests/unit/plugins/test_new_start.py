# SPDX-License-Identifier: Apache-2.0
"""The start of new volumes."""
import pytest
from support import crashing
import volume_scene

from climate import errors


@pytest.fixture
def build(conf):
    """callable(request) → Scene, in a cloud whose changes of volumes take a second."""
    conf.set_override('volume_seconds', 1, group='simulated')
    return lambda **request: volume_scene.Scene(conf, request)


def test_a_start_that_is_cut_short_anywhere_goes_on_and_makes_each_volume_once(build):
    for place in range(1, 200):
        scene = build(size_gb=10, amount=2)
        scene.allocate(0, copies=2)
        cut_short = crashing.dies_at(scene.cloud, place, lambda scene=scene: scene.finish('start'))
        scene.finish('start')
        assert [(each.project_id, each.status) for each in scene.volumes.every()] == [
            ('demo', 'available')] * 2
        if not cut_short:
            return
    raise AssertionError('The start never came to its end.')


def test_a_volume_moves_with_its_data_to_its_new_back_end(build):
    scene = build(size_gb=10)
    scene.finish('start')
    [before] = scene.volumes.every()
    scene.allocate(1)
    scene.finish('start')
    [after] = scene.volumes.every()
    assert (after.id, after.backend) == (before.id, 'storage@ssd#ssd')
    assert [each.name for each in scene.volumes.types()] == ['ordinary', 'reservation:r:2']


def test_a_start_without_a_trust_creates_no_volume(build):
    scene = build(size_gb=10)
    scene.cloud.delete_trustor('demo')
    with pytest.raises(errors.TrustDead):
        scene.finish('start')
    assert scene.volumes.every() == []
    scene.finish('end')
    assert [each.name for each in scene.volumes.types()] == ['ordinary']


def test_a_leased_volume_in_error_is_not_deleted_as_failed(build):
    scene = build(size_gb=10)
    scene.finish('start')
    [volume] = scene.volumes.every()
    with scene.cloud.state() as connection:
        connection.execute("UPDATE volumes SET status = 'error'")
    scene.finish('start')
    assert [each.id for each in scene.volumes.every()] == [volume.id]
