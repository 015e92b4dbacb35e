# SPDX-License-Identifier: Apache-2.0
"""Servers and images of the simulated cloud behave as those of Nova and Glance do."""
import datetime
import sqlite3

import pytest

from climate import context
from climate import errors
from climate.nova import host_rules

LONG_AGO = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class Scene:
    """A cloud, Climate's own services in it, and those of the user u of the project p."""

    def __init__(self, cloud, clock):
        self.cloud = cloud
        self.clock = clock
        self.service = cloud.as_service()
        caller = context.RequestContext(user_id='u', project_id='p', roles=['member'],
                                        overwrite=False)
        trust = self.service.keystone.create_trust(caller)
        self.user = cloud.as_user(trust.id)

    def look(self, server):
        return self.service.servers.server(server.id)

    def status(self, server):
        return self.look(server).status

    def boot(self, status='ACTIVE', **more):
        server = self.cloud.boot('p', 'vm', **more)
        if status == 'SHELVED_OFFLOADED':
            self.user.servers.shelve(server.id)
        elif status != 'ACTIVE':
            self.cloud.mark_server(server.id, status)
        return server

    def images(self):
        return [(each['name'], each['project_id'], each['status'])
                for each in self.cloud.images()]

    def fence(self, *names):
        self.service.nova.add_hosts(self.service.nova.ensure_aggregate('freepool'), names)


@pytest.fixture
def scene_of(simulate, clock):
    """callable(further conf lines of [simulated]) → Scene with three hosts."""
    def build(settings=''):
        return Scene(simulate(f'hosts = 3\n{settings}', clock=clock), clock)
    return build


@pytest.fixture
def scene(scene_of):
    return scene_of()


def test_a_server_is_shown_with_its_flavor_and_metadata(scene):
    server = scene.boot(flavor='2', metadata={'a': '1'})
    found = scene.user.servers.server(server.id)
    assert (found.flavor.name, found.flavor.ram, found.metadata) == (
        'm1.small', 2048, {'a': '1'})
    assert scene.service.servers.server('nobody') is None


def test_users_see_the_servers_of_their_project_only(scene):
    other = scene.cloud.boot('q', 'other')
    assert scene.user.servers.server(other.id) is None
    with pytest.raises(errors.TargetGone):
        scene.user.servers.shelve(other.id)
    with pytest.raises(errors.TargetGone):
        scene.user.servers.mark(other.id, {'a': '1'})


def test_a_soft_deleted_server_is_not_found(scene):
    assert scene.service.servers.server(scene.boot('SOFT_DELETED').id) is None


def test_metadata_are_set_and_removed_and_found(scene):
    server, other = scene.boot(metadata={'kept': 'x'}), scene.boot()
    scene.user.servers.mark(server.id, {'lease': 'l', 'gone': 'y'})
    scene.service.servers.mark(server.id, {'gone': None, 'unknown': None})
    assert scene.look(server).metadata == {'kept': 'x', 'lease': 'l'}
    assert [each.id for each in scene.service.servers.marked('p', 'lease', 'l')] == [server.id]
    assert scene.service.servers.ids() == {server.id, other.id}


@pytest.mark.parametrize('status', ['BUILD', 'SHELVED_OFFLOADED', 'VERIFY_RESIZE', 'ERROR'])
def test_metadata_are_not_changed_in_any_status(scene, status):
    server = scene.boot(status)
    with pytest.raises(errors.StillBusy, match=status):
        scene.user.servers.mark(server.id, {'a': '1'})
    # What is so already is no change, as with the real one.
    scene.user.servers.mark(server.id, {'unknown': None})


@pytest.mark.parametrize('call', [
    lambda servers: servers.marked('p', 'a', 'b'), lambda servers: servers.ids(),
    lambda servers: servers.migrate('x'), lambda servers: servers.offload('x'),
    lambda servers: servers.unshelve('x', 'compute-1'),
    lambda servers: servers.failures('x', 'unshelve', LONG_AGO)])
def test_a_user_may_not_make_calls_of_an_administrator(scene, call):
    with pytest.raises(errors.CloudError, match='administrators only'):
        call(scene.user.servers)


@pytest.mark.parametrize('status', ['ACTIVE', 'SHUTOFF', 'SUSPENDED'])
def test_a_shelved_server_has_no_host_and_comes_back_active(scene, status):
    server = scene.boot(status)
    scene.user.servers.shelve(server.id)
    assert (scene.status(server), scene.look(server).host) == ('SHELVED_OFFLOADED', None)
    scene.user.servers.unshelve(server.id)
    assert (scene.status(server), scene.look(server).host) == ('ACTIVE', 'compute-1')


@pytest.mark.parametrize('status, refused', [
    ('BUILD', ['shelve', 'offload', 'unshelve', 'suspend', 'migrate', 'unrescue', 'stop']),
    ('ACTIVE', ['offload', 'unshelve', 'unrescue']),
    ('RESCUE', ['shelve', 'offload', 'unshelve', 'suspend', 'migrate', 'stop']),
    ('SHUTOFF', ['offload', 'unshelve', 'suspend', 'unrescue', 'stop']),
    ('SUSPENDED', ['offload', 'unshelve', 'suspend', 'migrate']),
    ('SHELVED', ['shelve', 'suspend', 'migrate']),
    ('SHELVED_OFFLOADED', ['shelve', 'offload', 'suspend', 'migrate']),
    ('ERROR', ['shelve', 'offload', 'unshelve', 'suspend', 'migrate', 'unrescue'])])
def test_a_change_that_the_state_forbids_is_refused(scene, status, refused):
    server = scene.boot(status)
    for change in refused:
        with pytest.raises(errors.StillBusy, match=status):
            getattr(scene.service.servers, change)(server.id)
    if status not in ('ACTIVE', 'SHUTOFF', 'SUSPENDED'):
        with pytest.raises(errors.StillBusy):
            scene.service.servers.create_image(server.id, 'image', 'key')


def test_a_server_leaves_rescue_and_error_unless_it_is_broken(scene):
    rescued, failed, broken = scene.boot('RESCUE'), scene.boot('ERROR'), scene.boot()
    scene.service.servers.unrescue(rescued.id)
    scene.service.servers.stop(failed.id)
    scene.cloud.break_server(broken.id)
    scene.service.servers.stop(broken.id)
    assert [scene.status(each) for each in (rescued, failed, broken)] == [
        'ACTIVE', 'SHUTOFF', 'ERROR']
    assert scene.service.servers.failures(broken.id, 'stop', LONG_AGO) == 1


def test_a_locked_server_is_changed_by_administrators_only(scene):
    server = scene.boot()
    scene.cloud.lock_server(server.id)
    assert scene.look(server).locked
    for change in ('shelve', 'suspend', 'stop'):
        with pytest.raises(errors.StillBusy, match='is locked'):
            getattr(scene.user.servers, change)(server.id)
    scene.user.servers.create_image(server.id, 'image', 'key')
    scene.service.servers.suspend(server.id)
    assert scene.status(server) == 'SUSPENDED'


def test_a_shelved_server_on_its_host_is_offloaded_or_unshelved_there(scene):
    server = scene.boot('SHELVED')
    with pytest.raises(errors.StillBusy, match='offloaded'):
        scene.service.servers.unshelve(server.id, 'compute-2')
    scene.service.servers.unshelve(server.id)
    assert scene.look(server).host == 'compute-1'
    scene.cloud.mark_server(server.id, 'SHELVED')
    scene.service.servers.offload(server.id)
    assert (scene.status(server), scene.look(server).host) == ('SHELVED_OFFLOADED', None)


def test_a_change_takes_time_and_forbids_other_changes(scene_of):
    scene = scene_of('server_seconds = 5')
    server = scene.boot()
    assert (server.status, server.task, server.host) == ('BUILD', 'spawning', 'compute-1')
    with pytest.raises(errors.StillBusy, match='BUILD'):
        scene.user.servers.shelve(server.id)
    scene.clock.now += 5
    scene.user.servers.shelve(server.id)
    assert (scene.status(server), scene.look(server).task) == ('ACTIVE', 'shelving')
    assert scene.images() == [('vm-shelved', 'p', 'queued')]
    with pytest.raises(errors.StillBusy, match='shelving'):
        scene.user.servers.suspend(server.id)
    scene.clock.now += 5
    assert (scene.status(server), scene.look(server).task) == ('SHELVED_OFFLOADED', None)
    scene.user.servers.unshelve(server.id)
    assert scene.look(server).host is None
    scene.clock.now += 5
    assert scene.status(server) == 'ACTIVE'


def test_the_image_of_a_shelved_server_belongs_to_its_owner_until_it_is_unshelved(scene):
    server = scene.boot()
    scene.user.servers.shelve(server.id)
    assert scene.images() == [('vm-shelved', 'p', 'active')]
    scene.service.servers.unshelve(server.id)
    assert scene.images() == []
    scene.user.servers.shelve(server.id)
    scene.user.nova.delete_server(server.id)
    assert (scene.images(), scene.cloud.servers()) == ([], [])


def test_the_image_of_an_administrators_shelve_stays_when_the_owner_unshelves(scene):
    server = scene.boot()
    scene.service.servers.shelve(server.id)
    scene.user.servers.unshelve(server.id)
    assert scene.images() == [('vm-shelved', 'service', 'active')]


def test_a_server_is_unshelved_on_the_named_host(scene):
    server = scene.boot('SHELVED_OFFLOADED', flavor='1')
    scene.service.servers.unshelve(server.id, 'compute-3')
    assert scene.look(server).host == 'compute-3'
    with pytest.raises(errors.CloudError, match='nobody'):
        scene.service.servers.unshelve(server.id, 'nobody')


def test_an_unshelve_without_a_suitable_host_fails_silently(scene):
    server = scene.boot('SHELVED_OFFLOADED')
    for name in scene.cloud.host_names():
        scene.cloud.mark_host(name, enabled=False)
    for _ in range(2):
        scene.service.servers.unshelve(server.id)
    found = scene.look(server)
    assert (found.status, found.task, found.host) == ('SHELVED_OFFLOADED', None, None)
    assert scene.images() == [('vm-shelved', 'p', 'active')]
    now = datetime.datetime.fromtimestamp(scene.clock.now, datetime.UTC)
    failures = scene.service.servers.failures
    assert failures(server.id, 'unshelve', now) == 2
    assert failures(server.id, 'migrate', LONG_AGO) == 0
    assert failures(server.id, 'unshelve', now + datetime.timedelta(seconds=1)) == 0


def test_a_host_takes_servers_up_to_its_capacity(scene):
    scene.cloud.add_flavor('half', 'half', vcpus=1, ram=30 * 1024, disk=1)
    sleeper = scene.boot('SHELVED_OFFLOADED', flavor='half')
    for _ in range(2):
        scene.boot(flavor='half', host='compute-1')
    with pytest.raises(errors.Conflict, match='No valid host'):
        scene.boot(flavor='half', host='compute-1')
    scene.service.servers.unshelve(sleeper.id, 'compute-1')
    assert scene.status(sleeper) == 'SHELVED_OFFLOADED'
    scene.service.servers.unshelve(sleeper.id)
    assert scene.look(sleeper).host == 'compute-2'


def test_a_flavor_with_a_trait_needs_a_host_with_the_trait(scene):
    scene.cloud.add_flavor('fast', 'fast',
                           extra_specs={'trait:HW_CPU_X86_AVX2': 'required'})
    assert scene.boot(flavor='fast').host == 'compute-2'


def test_the_hint_of_a_server_counts_again_when_it_is_unshelved_or_migrated(scene):
    nova = scene.service.nova
    pool = nova.ensure_aggregate('r1', zone='climate_r1', metadata={'climate:owner': 'p'})
    nova.add_hosts(pool, ['compute-2'])
    server = scene.boot(hints={'reservation': ['r1']})
    scene.service.servers.migrate(server.id)
    assert scene.look(server).host == 'compute-2'
    assert scene.service.servers.failures(server.id, 'migrate', LONG_AGO) == 1
    scene.user.servers.shelve(server.id)
    nova.set_aggregate_metadata(pool, {'climate:owner': None})
    scene.user.servers.unshelve(server.id)
    assert scene.status(server) == 'SHELVED_OFFLOADED'


def test_the_hint_of_a_leased_server_is_ignored(scene):
    scene.fence('compute-1', 'compute-2')
    with pytest.raises(errors.Conflict):
        scene.boot(hints={'reservation': 'r'})
    server = scene.boot(hints={'reservation': 'r'}, metadata={'climate:lease_id': 'l'})
    assert server.host == 'compute-3'
    scene.user.servers.shelve(server.id)
    scene.user.servers.unshelve(server.id)
    assert scene.look(server).host == 'compute-3'


@pytest.mark.parametrize('hints', [None, {'reservation': 'r'}])
def test_an_administrator_unshelves_a_leased_server_in_the_freepool_but_not_in_other_leases(
        scene, hints):
    server = scene.boot(hints=hints, metadata={'climate:lease_id': 'l'})
    scene.user.servers.shelve(server.id)
    scene.fence('compute-1')
    nova = scene.service.nova
    nova.add_hosts(nova.ensure_aggregate('r2', zone='climate_r2'), ['compute-2'])
    scene.service.servers.unshelve(server.id, 'compute-2')
    assert scene.status(server) == 'SHELVED_OFFLOADED'
    scene.service.servers.unshelve(server.id, 'compute-1')
    assert scene.look(server).host == 'compute-1'


def test_the_scheduler_asks_climate_about_hints_if_it_can(scene):
    asked = []

    def answers(reservation_id, project_id):
        asked.append((reservation_id, project_id))
        return host_rules.ReservationAnswer(active=True, usable=True,
                                            hosts=frozenset({'compute-3'}))
    scene.cloud.answers = answers
    assert scene.boot(hints={'reservation': 'r'}).host == 'compute-3'
    assert asked == [('r', 'p')]
    scene.cloud.answers = lambda reservation_id, project_id: None
    with pytest.raises(errors.Conflict):
        scene.boot(hints={'reservation': 'r'})


def test_a_suspended_server_is_imaged_and_shelved(scene):
    server = scene.boot()
    scene.user.servers.suspend(server.id)
    assert scene.status(server) == 'SUSPENDED'
    scene.user.servers.create_image(server.id, 'image', 'key')
    assert scene.images() == [('image', 'p', 'active')]


def test_an_image_is_found_by_its_key_and_given_away_and_deleted(scene):
    server = scene.boot()
    image_id = scene.service.servers.create_image(server.id, 'image', 'key')
    glance = scene.service.images
    [found] = glance.made('key', 'p')
    assert (found.id, found.name, found.status, found.owner) == (
        image_id, 'image', 'active', 'service')
    scene.user.images.delete(image_id)
    glance.give(image_id, 'p')
    assert [each.owner for each in glance.made('key', 'p')] == ['p']
    for _ in range(2):
        scene.user.images.delete(image_id)
    assert glance.made('key', 'p') == []


def test_an_image_takes_time_and_no_second_one_is_created_meanwhile(scene_of):
    scene = scene_of('image_seconds = 60')
    server = scene.boot()
    scene.user.servers.create_image(server.id, 'image', 'key')
    assert scene.images() == [('image', 'p', 'queued')]
    for call in (lambda: scene.user.servers.create_image(server.id, 'second', 'key'),
                 lambda: scene.user.servers.suspend(server.id)):
        with pytest.raises(errors.StillBusy, match='image_uploading'):
            call()
    scene.clock.now += 60
    assert [each.status for each in scene.service.images.made('key', 'p')] == ['active']
    scene.user.servers.suspend(server.id)


def test_an_unfinished_image_is_deleted_with_its_server(scene_of):
    scene = scene_of('image_seconds = 60')
    server = scene.boot()
    scene.user.servers.create_image(server.id, 'image', 'key')
    scene.user.nova.delete_server(server.id)
    assert scene.images() == []


def test_deleting_an_image_aborts_its_upload(scene_of):
    scene = scene_of('image_seconds = 60')
    server = scene.boot()
    scene.user.images.delete(scene.user.servers.create_image(server.id, 'image', 'key'))
    assert scene.look(server).task is None


def test_a_server_that_is_being_deleted_cannot_be_changed(scene_of):
    scene = scene_of('delete_seconds = 5')
    server, sleeper = scene.boot(), scene.boot('SHELVED_OFFLOADED')
    for each in (server, sleeper):
        scene.service.nova.delete_server(each.id)
    assert scene.service.servers.ids() == {server.id}
    with pytest.raises(errors.StillBusy, match='deleting'):
        scene.service.servers.suspend(server.id)
    scene.clock.now += 5
    with pytest.raises(errors.TargetGone):
        scene.service.servers.suspend(server.id)


def test_leftovers_of_servers_can_be_compared(scene):
    server = scene.boot(metadata={'a': '1'})
    scene.user.servers.create_image(server.id, 'image', 'key')
    left = scene.cloud.leftovers()
    assert left['server_metadata'] == [('vm', 'a', '1')]
    assert left['images'] == [('image', 'snapshot', 'active', 'p')]


def test_a_state_file_of_the_first_version_is_read(simulate, tmp_path):
    path = tmp_path / 'cloud.sqlite'
    first = sqlite3.connect(path)
    first.executescript("""
        CREATE TABLE servers (id TEXT PRIMARY KEY, name TEXT NOT NULL, host TEXT,
            project_id TEXT NOT NULL, status TEXT NOT NULL, gone_at REAL, flavor_id TEXT);
        CREATE TABLE images (id TEXT PRIMARY KEY, name TEXT NOT NULL, server_id TEXT NOT NULL,
            project_id TEXT NOT NULL);
        INSERT INTO servers VALUES ('s', 'vm', 'compute-1', 'p', 'ACTIVE', NULL, NULL);
        PRAGMA user_version = 1;
    """)
    first.close()
    cloud = simulate(f'state = {path}')
    assert cloud.servers() == [cloud.as_service().servers.server('s')]


def test_a_running_server_moves_at_once_and_a_stopped_one_is_confirmed(scene):
    running, stopped = scene.boot(), scene.boot('SHUTOFF')
    scene.service.servers.migrate(running.id)
    assert (scene.status(running), scene.look(running).host) == ('ACTIVE', 'compute-3')
    scene.service.servers.migrate(stopped.id)
    assert (scene.status(stopped), scene.look(stopped).host) == ('VERIFY_RESIZE', 'compute-1')
    scene.service.servers.migrate(stopped.id)
    assert (scene.status(stopped), scene.look(stopped).host) == ('SHUTOFF', 'compute-1')
