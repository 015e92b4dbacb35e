# SPDX-License-Identifier: Apache-2.0
"""Leases of volumes on the real Cinder, Nova and Glance: each form from its start to its end."""
import leaks
import openstack
import pytest
import scene as scenes
import stored

from climate.client import errors

pytestmark = pytest.mark.services


@pytest.fixture
def kinds(backend):
    return leaks.COMPUTE + leaks.VOLUME


def with_server(storage, **fields):
    """(A running lease of a server and of volumes that depend on it, the server)."""
    server = storage.server()
    lease = storage.lease(
        {'resource_type': 'virtual:instance', 'resource_id': server.id, 'on_end': 'suspend',
         'label': 'vm'}, {'depends_on': ['vm'], **fields})
    return lease, server


def test_the_room_of_a_back_end_is_what_cinder_has_in_all(backend):
    assert (backend['gb'], backend['volume_backend_name']) == (stored.ROOM_GB, 'lease')


def test_volumes_belong_to_the_owner_and_become_images_of_theirs(scene, storage, demo):
    lease = storage.lease({'size_gb': 2, 'amount': 2, 'on_end': 'image'})
    made = storage.volumes(lease)
    assert [(each.size, each.status, each.project_id, each.user_id, each.host)
            for each in made] == [
        (2, 'available', demo.current_project_id, demo.current_user_id, stored.LEASED)] * 2
    [reservation] = lease['reservations']
    assert sorted(reservation['volume_ids']) == sorted(each.id for each in made)
    storage.end(lease)
    images = storage.images(lease)
    assert [(each.status, each.owner) for each in images] == [
        ('active', demo.current_project_id)] * 2
    assert storage.volumes(lease) == []


def test_a_lease_for_later_starts_and_ends_by_itself_and_is_prolonged(scene, storage):
    lease = storage.lease({'size_gb': 3, 'on_end': 'delete'}, active=False,
                          start=scenes.in_seconds(12), duration='1m')
    assert storage.types() == storage.volumes(lease) == []
    scene.wait(lease['id'], 'active', 60)
    [volume] = storage.volumes(lease)
    before = scene.climate().leases.get(lease['id'])['end']
    assert scene.climate().leases.extend(lease['id'], by='10s')['end'] > before
    scene.wait(lease['id'], 'terminated', 120)
    assert not storage.exists(volume.id)


def test_volumes_are_added_and_those_that_the_owner_deleted_are_given_up(storage, demo):
    lease = storage.lease({'size_gb': 60, 'amount': 1, 'on_end': 'delete'})
    [first] = storage.volumes(lease)
    lease = storage.change(lease, amount=3)
    assert [each.size for each in storage.volumes(lease)] == [60] * 3
    with pytest.raises(errors.Conflict) as refused:
        storage.lease({'size_gb': 60})
    assert 'volume of 60 GB' in refused.value.message
    with pytest.raises(errors.Conflict) as refused:
        storage.change(lease, amount=1)
    assert 'has 3 volumes, and would have capacity for 1' in refused.value.message
    for victim in storage.volumes(lease)[1:]:
        demo.block_storage.delete_volume(victim)
        scenes.until(lambda victim=victim: not storage.exists(victim.id), 'it to be gone')
    storage.change(lease, amount=1)
    assert [each.id for each in storage.volumes(lease)] == [first.id]
    other = storage.lease({'size_gb': 60, 'amount': 2, 'on_end': 'delete'})
    assert len(storage.volumes(other)) == 2


def test_a_type_is_filled_by_its_owner_up_to_its_quota_and_nobody_else(storage, demo, alt):
    lease = storage.lease({'size_gb': 10, 'amount': 2, 'give': 'type', 'on_end': 'delete'})
    [name] = lease['reservations'][0]['volume_types']

    def make(size, person=demo):
        made = person.block_storage.create_volume(name=name[-8:], size=size, volume_type=name)
        return storage.still(made.id)
    assert make(8).host == stored.LEASED
    with pytest.raises(openstack.exceptions.HttpException) as full:
        make(13)
    assert full.value.status_code == 413
    with pytest.raises(openstack.exceptions.NotFoundException):
        make(1, alt)
    lease = storage.change(lease, amount=3)
    more = make(20)
    with pytest.raises(errors.Conflict) as refused:
        storage.change(lease, amount=2)
    assert 'has 28 GB of volumes' in refused.value.message
    storage.drop(more.id)
    storage.change(lease, amount=2)
    with pytest.raises(openstack.exceptions.HttpException):
        make(13)
    demo.block_storage.create_snapshot(volume_id=storage.volumes(lease)[0].id, name='mine')
    storage.end(lease)
    assert storage.volumes(lease) == []


def test_a_volume_moves_to_an_ordinary_type_and_stays(storage, demo):
    lease = storage.lease({'size_gb': 1, 'on_end': 'retype', 'volume_type': stored.ORDINARY})
    [volume] = storage.volumes(lease)
    storage.drop_afterwards(volume.id)
    storage.end(lease)
    found = storage.still(volume.id)
    assert (found.volume_type, found.host, found.status, found.project_id) == (
        stored.ORDINARY, 'cinder1@fake#fake', 'available', demo.current_project_id)


@pytest.mark.usefixtures('open_host')
def test_volumes_are_attached_to_the_server_of_the_lease_and_detached_at_its_end(storage):
    lease, server = with_server(storage, size_gb=1, amount=2, attach=True, on_end='delete')
    assert [(each.status, each.attachments[0]['server_id'])
            for each in storage.volumes(lease)] == [('in-use', server.id)] * 2
    storage.end(lease)
    assert storage.volumes(lease) == []


@pytest.mark.usefixtures('open_host')
@pytest.mark.parametrize('on_end', ['keep', 'snapshot', 'image'])
def test_an_existing_volume_is_attached_and_stays_with_the_copy_of_it(storage, demo, on_end):
    volume = storage.make()
    lease, server = with_server(storage, resource_id=volume.id, attach=True, on_end=on_end)
    assert storage.still(volume.id).attachments[0]['server_id'] == server.id
    with pytest.raises(errors.Conflict):
        storage.lease({'resource_id': volume.id})
    storage.end(lease)
    found = storage.still(volume.id)
    assert (found.status, found.attachments, found.volume_type) == (
        'available', [], stored.ORDINARY)
    assert 'climate_key' not in (found.volume_image_metadata or {})
    copies = list(storage.admin.snapshots(all_projects=True, volume_id=volume.id))
    assert [(each.status, each.project_id) for each in copies] == [
        ('available', demo.current_project_id)] * (on_end == 'snapshot')
    assert [(each.status, each.owner) for each in storage.images(lease)] == [
        ('active', demo.current_project_id)] * (on_end == 'image')
