# SPDX-License-Identifier: Apache-2.0
"""What an audit may do with the room of a reservation that is over."""
import pytest
import volume_scene

from climate import errors


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
    assert [each.name for each in scene.volumes.types()] == ['ordinary']
    assert [each.id for each in scene.volumes.every()] == [volume.id]
