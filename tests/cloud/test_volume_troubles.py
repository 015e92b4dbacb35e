# SPDX-License-Identifier: Apache-2.0
"""Leases of volumes when something goes wrong at the wrong moment, on the real cloud."""
import contextlib
import time
import uuid

import leaks
from oslo_config import cfg
import pytest
import scene as scenes
from support import builders

from climate import cloud as clouds
from climate import conf as configuration
from climate import errors
from climate.client import errors as client_errors
from climate.cloud import call_guard
from climate.domain import records
from climate.manager import lease_cloud
from climate.plugins import base
from climate.plugins import registry
from tools.cloud import climate_service

pytestmark = pytest.mark.services

NOWHERE = '00000000-0000-4000-8000-000000000009'


@pytest.fixture
def kinds(backend):
    return leaks.COMPUTE + leaks.VOLUME


def test_a_lease_that_is_deleted_while_it_starts_leaves_nothing(scene, storage, cloud):
    with scenes.frozen(cloud, 'cinder-volume'):
        lease = storage.lease({'size_gb': 1, 'amount': 2, 'on_end': 'delete'}, active=False)
        scenes.until(lambda: len(storage.volumes(lease)) == 2, 'the volumes to be made')
        assert {each.status for each in storage.volumes(lease)} == {'creating'}
        scene.climate().leases.delete(lease['id'])
    scenes.until(lambda: not storage.volumes(lease), 'the volumes to be gone', 60)


def test_the_volumes_of_an_owner_who_was_deleted_become_images_of_the_project(
        scene, storage, guest, admin, demo):
    lease = storage.lease({'size_gb': 1, 'on_end': 'image'}, person='guest')
    [volume] = storage.volumes(lease)
    assert volume.user_id == guest.id
    admin.identity.delete_user(guest)
    storage.end(lease)
    assert [(each.status, each.owner) for each in storage.images(lease)] == [
        ('active', demo.current_project_id)]
    assert not storage.exists(volume.id)


def test_without_its_owner_a_lease_makes_no_volume(scene, storage, guest, admin):
    lease = storage.lease({'size_gb': 1}, person='guest', active=False,
                          start=scenes.in_seconds(10))
    admin.identity.delete_user(guest)
    leases = scene.climate('admin').leases
    scenes.until(lambda: 'trust' in (leases.get(lease['id'])['status_reason'] or ''),
                 'the lease to say that it has no trust', 120)
    assert storage.volumes(lease) == []


def test_a_full_quota_is_said_by_its_name_early_and_again_before_the_start(scene, storage):
    later = storage.lease({'size_gb': 5, 'on_end': 'delete'}, active=False,
                          start=scenes.in_seconds(15))
    storage.limit(gigabytes=4, volumes=100)
    with pytest.raises(client_errors.Conflict) as refused:
        storage.lease({'size_gb': 5})
    assert 'the quota "gigabytes" in Cinder, and the project has 4,' in refused.value.message
    found = scene.wait(later['id'], 'error', 120)
    assert 'the quota "gigabytes" in Cinder' in found['status_reason']


@pytest.mark.usefixtures('open_host')
def test_a_volume_in_use_and_volumes_of_others_are_refused(storage):
    server, volume, theirs = storage.server(), storage.make(), storage.make(person='alt')
    storage.scene.people['demo'].compute.create_volume_attachment(server.id, volume_id=volume.id)
    scenes.until(lambda: storage.still(volume.id).status == 'in-use', 'the volume to be in use')
    for volume_id, attach, words in ((volume.id, True, 'detach it first'),
                                     (theirs.id, False, 'no volume'),
                                     (NOWHERE, False, 'no volume')):
        with pytest.raises(client_errors.BadRequest) as refused:
            storage.lease({'resource_id': volume_id, 'attach': attach})
        assert words in refused.value.message
    # It can be leased as it is, and stays attached.
    storage.end(storage.lease({'resource_id': volume.id, 'on_end': 'snapshot'}))
    assert storage.still(volume.id).status == 'in-use'
    assert len(list(storage.admin.snapshots(all_projects=True, volume_id=volume.id))) == 1


@pytest.mark.usefixtures('open_host')
def test_volumes_that_the_owner_attached_are_detached_and_saved_before_they_go(storage, demo):
    lease = storage.lease({'size_gb': 1, 'on_end': 'image'})
    [volume] = storage.volumes(lease)
    server = storage.server()
    demo.compute.create_volume_attachment(server.id, volume_id=volume.id)
    scenes.until(lambda: storage.still(volume.id).status == 'in-use', 'the volume to be in use')
    storage.end(lease)
    assert [each.status for each in storage.images(lease)] == ['active']
    assert not storage.exists(volume.id)


def test_while_cinder_is_silent_nothing_is_lost(scene, storage, cloud):
    lease = storage.lease({'size_gb': 1, 'on_end': 'delete'}, active=False,
                          start=scenes.in_seconds(4))
    with scenes.frozen(cloud, 'cinder-api'):
        time.sleep(30)
    scene.wait(lease['id'], 'active', 120)
    assert len(storage.volumes(lease)) == 1
    with scenes.frozen(cloud, 'cinder-api'):
        scene.climate().leases.end(lease['id'])
        time.sleep(30)
    scene.wait(lease['id'], 'terminated', 120)
    assert storage.volumes(lease) == []


def test_the_manager_is_killed_while_volumes_are_made_saved_and_deleted(scene, storage, cloud):
    def status():
        return {each.status for each in storage.volumes(lease)}
    with scenes.frozen(cloud, 'cinder-volume'):
        lease = storage.lease({'size_gb': 1, 'amount': 2, 'on_end': 'image'}, active=False)
        scenes.until(lambda: status() == {'creating'}, 'the volumes to be made')
        scenes.replace_manager(cloud)
    scene.wait(lease['id'], 'active')
    assert len(storage.volumes(lease)) == 2
    with scenes.frozen(cloud, 'cinder-volume'):
        scene.climate().leases.end(lease['id'])
        scenes.until(lambda: status() == {'uploading'}, 'the images to be begun')
        scenes.replace_manager(cloud)
    scene.wait(lease['id'], 'terminated', 90)
    assert [each.status for each in storage.images(lease)] == ['active'] * 2
    assert storage.volumes(lease) == []


class Dying:
    """The plugin in this process, on the real services, whose calls are cut short on demand."""

    def __init__(self, cloud, backend, person):
        self.conf = configuration.register(cfg.ConfigOpts())
        classes = registry.load(['virtual:volume'])
        registry.register_options(self.conf, classes)
        self.conf([], project='climate', default_config_files=[
            str(climate_service.conf_file(cloud))], default_config_dirs=[])
        found = registry.Registry(self.conf, classes)
        self.plugin = found.plugin('virtual:volume')
        self.cloud = clouds.build(self.conf, dict.fromkeys(self.plugin.services, ('the test',)))
        self.caller = builders.a_member(person.current_user_id, person.current_project_id)
        self.caller.auth_token, self.caller.roles = person.session.get_token(), ['member']
        self.trust = self.cloud.as_service().keystone.create_trust(self.caller)
        self.lease = records.Lease(
            id=str(uuid.uuid4()), name='dying', project_id=self.caller.project_id,
            user_id=self.caller.user_id, trust_id=self.trust.id, start=builders.NOON,
            end=builders.NOON + builders.hours(1))
        resource = records.Resource(
            int(backend['id']), 'backend', backend['name'], {'gb': backend['gb']},
            facts={'volume_backend_name': backend['volume_backend_name']})
        self.resources = {'room': (resource,)}

    def reserve(self, **request):
        """Begin a new reservation."""
        request = self.plugin.resolve(self.cloud, request, base.Occasion(self.caller.project_id))
        self.reservation = records.Reservation(
            str(uuid.uuid4()), self.lease.id, 'virtual:volume', request,
            allocated={'room': (self.resources['room'][0].id,) * request['amount']})

    def finish(self, method, calls=None):
        """Call a method until it is done; False if it died at the call of that number."""
        left = calls

        def check():
            nonlocal left
            if left is not None:
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
        attempt = base.Attempt(now=builders.NOON, since=builders.NOON)
        for _ in range(300):
            own = lease_cloud.ActionCloud(self.cloud, self.lease, attempt)
            with contextlib.suppress(errors.StillBusy), call_guard.before_each_call(check):
                try:
                    getattr(self.plugin, method)(own, self.lease, self.reservation,
                                                 self.resources)
                except KeyboardInterrupt:
                    return False
                return True
            time.sleep(0.2)
        raise AssertionError(f'{method} never came to its end')


@pytest.fixture
def dying(scene, cloud, backend, demo):
    found = Dying(cloud, backend, demo)
    yield found
    found.cloud.as_service().keystone.delete_trust(found.trust.id)


def test_a_start_and_an_end_that_die_before_any_call_are_completed(storage, dying, demo):
    for place in range(1, 200):
        dying.reserve(size_gb=1, on_end='image')
        lease = {'reservations': [{'id': dying.reservation.id}]}
        started = dying.finish('start', place)
        dying.finish('start')
        assert [(each.status, each.user_id) for each in storage.volumes(lease)] == [
            ('available', demo.current_user_id)]
        ended = dying.finish('end', place)
        dying.finish('end')
        assert [(each.status, each.owner) for each in storage.images(lease)] == [
            ('active', demo.current_project_id)]
        assert storage.volumes(lease) == storage.types() == []
        if started and ended:
            print(f'{place - 1} calls')
            return
    raise AssertionError('it never came to its end')
