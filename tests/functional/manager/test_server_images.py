# SPDX-License-Identifier: Apache-2.0
"""Servers on leased hosts are deleted only with the image that their lease requests."""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle

pytestmark = pytest.mark.usefixtures('rare_polls')

NOON, hours, minutes, seconds = builders.NOON, builders.hours, builders.minutes, builders.seconds


@pytest.fixture
def slow(conf, database, clock):
    """A manager on a cloud whose images take ten minutes."""
    conf.set_override('image_seconds', 600, group='simulated')
    conf.set_override('image_seconds', 3600, group='physical:host')
    return builders.Manager(conf, database, clock)


def _lease(manager, count=1, **options):
    """A lease of `count` hosts, with a server on each, that asks for images; its Servers."""
    manager.enrol(count)
    request = builders.hosts(count, before_end='snapshot', **options)
    lease = manager.active(request, end=NOON + hours(4))
    return lease, [_boot(manager, lease, f'vm-{number}') for number in range(count)]


def _boot(manager, lease, name, project='demo'):
    return manager.cloud.boot(project, name, {'reservation': lease.reservations[0].id})


def _imaged(manager, status='active'):
    """The ids of the servers that have an image, once for each image."""
    return sorted(each['server_id'] for each in manager.cloud.images()
                  if each['status'] == status)


def _ids(servers):
    return sorted(each.id for each in servers)


def _why(manager, lease):
    """All lines of the history of a lease, as one text."""
    found = manager.client.lease_history(builders.a_member(), lease.id)
    return '\n'.join(f'{each.what}: {each.why}' for each in found)


def _end(manager, lease):
    manager.change(lease, end_now=True)


def _delete(manager, lease):
    manager.delete(lease)


def _shrink(manager, lease):
    manager.change_reservation(lease, min=1, max=1)


def _run_out(manager, lease):
    manager.clock.now = NOON + hours(4)


@pytest.mark.parametrize('leave', [_end, _delete, _shrink, _run_out])
def test_on_every_way_out_no_server_goes_before_its_image_is_active(slow, leave):
    lease, servers = _lease(slow, 2)
    slow.clock.now = NOON + minutes(10)
    leave(slow, lease)
    slow.run_until(slow.clock.now + minutes(9))
    assert _ids(slow.cloud.servers()) == _ids(servers)
    slow.run_until(slow.clock.now + minutes(3))
    left = _ids(slow.cloud.servers())
    assert len(left) == (1 if leave is _shrink else 0)
    assert sorted(_imaged(slow) + left) == _ids(servers)
    lease = slow.lease(lease) if leave is not _delete else None
    if leave is _shrink:
        assert lease.state == lifecycle.ACTIVE, lease.reason
        assert len(acts.freepool(slow)) == 1
    elif lease is not None:
        assert lease.state == lifecycle.TERMINATED, lease.reason
    if leave is not _shrink:
        assert acts.is_clean(slow, 2)


def test_an_image_that_is_queued_at_the_end_is_waited_for(slow):
    lease, servers = _lease(slow)
    slow.change(lease, before_end=NOON + hours(4) - minutes(1))
    slow.run_until(NOON + hours(4) + minutes(8))
    assert _ids(slow.cloud.servers()) == _ids(servers)
    assert slow.lease(lease).task == 'end'
    slow.run_until(NOON + hours(4) + minutes(12))
    assert _imaged(slow) == _ids(servers)
    assert slow.lease(lease).state == lifecycle.TERMINATED


def test_before_end_is_done_when_all_images_are_active(slow):
    lease, servers = _lease(slow)
    slow.run_until(NOON + hours(3) + minutes(5))
    assert slow.lease(lease).event('before_end_lease').status == lifecycle.EVENT_UNDONE
    assert _imaged(slow, 'queued') == _ids(servers)
    slow.run_until(NOON + hours(3) + minutes(12))
    assert slow.lease(lease).event('before_end_lease').status == lifecycle.EVENT_DONE
    slow.run_until(NOON + hours(5))
    assert _imaged(slow) == _ids(servers)


def test_a_refused_image_keeps_no_other_server_from_its_image(manager):
    lease, servers = _lease(manager, 3)
    manager.cloud.spoil_images(servers[0].id, 'refused')
    manager.run_until(NOON + hours(3) + minutes(1))
    assert _imaged(manager) == _ids(servers[1:])
    assert manager.lease(lease).event('before_end_lease').status == lifecycle.EVENT_UNDONE
    manager.cloud.spoil_images(servers[0].id, None)
    manager.run_until(NOON + hours(3) + minutes(3))
    assert _imaged(manager) == _ids(servers)
    assert manager.lease(lease).event('before_end_lease').status == lifecycle.EVENT_DONE


def test_a_lost_image_is_made_again(slow):
    _, servers = _lease(slow)
    slow.cloud.spoil_images(servers[0].id, 'lost')
    slow.run_until(NOON + hours(3) + minutes(11))
    slow.cloud.spoil_images(servers[0].id, None)
    slow.run_until(NOON + hours(3) + minutes(40))
    assert _imaged(slow) == _ids(servers)


def test_a_prolonged_lease_gets_new_images(manager):
    lease, servers = _lease(manager)
    manager.run_until(NOON + hours(3) + minutes(5))
    assert _imaged(manager) == _ids(servers)
    manager.change(lease, end=NOON + hours(24 * 30))
    manager.run_until(NOON + hours(24 * 30) + minutes(5))
    assert _imaged(manager) == _ids(servers * 2)
    assert acts.is_clean(manager, 1)


def test_a_prolonged_lease_that_is_ended_early_gets_new_images(manager):
    lease, servers = _lease(manager)
    manager.run_until(NOON + hours(3) + minutes(5))
    manager.change(lease, end=NOON + hours(24 * 30))
    manager.run_until(NOON + hours(24 * 3))
    _end(manager, lease)
    manager.run_until(NOON + hours(24 * 3) + minutes(5))
    assert _imaged(manager) == _ids(servers * 2)


def _delete_days_later(manager, lease):
    manager.clock.now = NOON + hours(24 * 3)
    _delete(manager, lease)
    manager.run_until(NOON + hours(24 * 3) + minutes(5))


@pytest.fixture
def ill(manager):
    """callable(whether): Nova refuses to delete servers, or does so again."""
    return lambda is_ill: manager.cloud.fail('nova.delete_server', 999 if is_ill else 0, acts.NO)


@pytest.mark.parametrize('moment', [minutes(10), hours(3) + minutes(10)])
def test_a_deletion_that_was_given_up_and_is_repeated_makes_new_images(manager, ill, moment):
    """Servers with an image from the moment before the end get new images, too."""
    lease, servers = _lease(manager)
    manager.run_until(NOON + moment)
    ill(True)
    _delete(manager, lease)
    manager.expect(lease, lifecycle.ERROR, NOON + moment + minutes(30))
    # The retries of one order had one image.
    assert _imaged(manager) == _ids(servers)
    ill(False)
    _delete_days_later(manager, lease)
    assert _imaged(manager) == _ids(servers * 2)
    assert acts.is_clean(manager, 1)


def test_a_lease_that_is_deleted_after_its_end_was_given_up_gets_new_images(manager, ill):
    lease, servers = _lease(manager)
    ill(True)
    manager.expect(lease, lifecycle.ERROR, NOON + hours(5))
    assert _imaged(manager) == _ids(servers)
    ill(False)
    _delete_days_later(manager, lease)
    assert _imaged(manager) == _ids(servers * 2)


def test_a_lease_that_is_deleted_while_it_ends_keeps_the_images_of_that_end(slow):
    lease, servers = _lease(slow)
    slow.run_until(NOON + minutes(10))
    _end(slow, lease)
    slow.run_until(NOON + minutes(15))
    _delete(slow, lease)
    slow.run_until(NOON + minutes(40))
    assert _imaged(slow) == _ids(servers)
    assert acts.is_clean(slow, 1)


def test_images_of_the_moment_before_the_end_serve_a_deletion_after_it(manager):
    lease, servers = _lease(manager)
    manager.run_until(NOON + hours(3) + minutes(10))
    _delete(manager, lease)
    manager.run_until(NOON + hours(3) + minutes(20))
    assert _imaged(manager) == _ids(servers)
    assert acts.is_clean(manager, 1)


@pytest.mark.proof
def test_a_lease_in_error_gets_its_images(manager):
    lease, servers = _lease(manager, 2)
    manager.cloud.fail('nova.remove_host', 99, acts.NO)
    _shrink(manager, lease)
    manager.expect(lease, lifecycle.ERROR, NOON + hours(1))
    manager.cloud.fail('nova.remove_host', 0, acts.NO)
    manager.run_until(NOON + hours(3) + minutes(1))
    assert set(_imaged(manager)) == set(_ids(servers))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(5))


def test_servers_of_a_project_that_the_hosts_are_shared_with_get_images_of_their_own(manager):
    lease, servers = _lease(manager)
    nova = acts.nova(manager)
    nova.set_aggregate_metadata(acts.aggregate(manager, lease), {'friends': 'yes'})
    theirs = _boot(manager, lease, 'theirs', 'friends')
    manager.run_until(NOON + hours(5))
    assert _imaged(manager) == _ids([*servers, theirs])
    assert {each['server_id']: each['project_id'] for each in manager.cloud.images()} == {
        servers[0].id: 'demo', theirs.id: 'friends'}
    assert manager.lease(lease).state == lifecycle.TERMINATED


@pytest.mark.parametrize('leave', [
    _end, *(pytest.param(each, marks=pytest.mark.proof) for each in (_delete, _run_out))])
def test_a_cell_that_does_not_answer_has_no_empty_hosts(manager, leave):
    lease, servers = _lease(manager)
    manager.cloud.silence_cell('compute-1')
    manager.clock.now = NOON + minutes(10)
    leave(manager, lease)
    manager.run_until(manager.clock.now + minutes(5))
    assert _ids(manager.cloud.servers()) == _ids(servers)
    assert acts.freepool(manager) == ()
    manager.cloud.silence_cell()
    manager.run_until(manager.clock.now + minutes(5))
    assert _imaged(manager) == _ids(servers)
    assert acts.is_clean(manager, 1)


@pytest.mark.parametrize('fault', [
    'lost', *(pytest.param(each, marks=pytest.mark.proof) for each in ('refused', 'stuck'))])
def test_a_server_without_an_image_in_time_is_stopped_and_kept_with_its_host(slow, fault):
    lease, servers = _lease(slow, 2)
    slow.cloud.spoil_images(servers[0].id, fault)
    slow.run_until(NOON + hours(6))
    [kept] = slow.cloud.servers()
    assert kept.id == servers[0].id
    assert kept.status == 'SHUTOFF' or fault == 'stuck'
    lease = slow.lease(lease)
    assert lease.state == lifecycle.ERROR
    assert f'no image of server {kept.name} ({kept.id})' in lease.reason
    assert servers[1].id not in lease.reason
    assert kept.id in _why(slow, lease)
    # The other host is free again.
    assert len(acts.holders(slow)) == 1
    assert acts.freepool(slow) == tuple({'compute-1', 'compute-2'} - {kept.host})
    assert acts.aggregate(slow, lease).hosts == (kept.host,)
    assert f'its resources {kept.host}.' in lease.reason
    other = slow.active(start=NOON + hours(6), end=NOON + hours(8))
    slow.delete(other)
    # The way out: the owner deletes the server, and the lease.
    slow.cloud.delete_server(kept.id)
    slow.delete(lease)
    slow.run_until(NOON + hours(7))
    assert acts.is_clean(slow, 2)


@pytest.mark.proof
def test_a_server_without_an_image_in_time_is_deleted_if_the_lease_says_so(slow):
    lease, servers = _lease(slow, 2, on_image_failure='delete')
    slow.cloud.spoil_images(servers[0].id, 'stuck')
    slow.run_until(NOON + hours(6))
    assert _imaged(slow) == [servers[1].id]
    assert len(slow.cloud.images()) == 1
    lease = slow.lease(lease)
    assert lease.state == lifecycle.TERMINATED
    told = f'Server vm-0 ({servers[0].id}) is deleted without an image'
    assert lease.reason.count(told) == 1
    assert _why(slow, lease).count(told) == 1
    assert acts.is_clean(slow, 2)


@pytest.mark.proof
def test_the_operator_chooses_for_leases_that_do_not(slow, conf):
    conf.set_override('on_image_failure', 'delete', group='physical:host')
    lease, servers = _lease(slow)
    slow.cloud.spoil_images(servers[0].id, 'refused')
    slow.expect(lease, lifecycle.TERMINATED, NOON + hours(6))
    assert 'Quota exceeded' in slow.lease(lease).reason


@pytest.mark.parametrize('status', ['ERROR', 'RESCUE', 'VERIFY_RESIZE', 'SUSPENDED', 'PAUSED'])
def test_a_server_in_a_status_from_which_nova_makes_no_image_gets_one(manager, status):
    lease, servers = _lease(manager)
    manager.cloud.mark_server(servers[0].id, status)
    manager.run_until(NOON + hours(5))
    assert _imaged(manager) == _ids(servers)
    assert manager.lease(lease).state == lifecycle.TERMINATED


@pytest.mark.parametrize('status', ['ERROR', 'RESCUE', 'SUSPENDED', 'PAUSED', 'SHELVED'])
def test_a_lease_without_images_ends_in_any_state_of_its_servers(manager, status):
    manager.enrol(1)
    lease = manager.active(builders.hosts(1), end=NOON + hours(4))
    manager.cloud.mark_server(_boot(manager, lease, 'vm').id, status)
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(5))
    assert acts.is_clean(manager, 1)


@pytest.mark.parametrize('wish', ['snapshot', 'default'])
def test_a_server_that_its_owner_has_shelved_outlives_its_lease(manager, wish):
    manager.enrol(1)
    lease = manager.active(builders.hosts(1, before_end=wish), end=NOON + hours(4))
    server = _boot(manager, lease, 'vm')
    manager.cloud.as_service().servers.shelve(server.id)
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(5))
    [left] = manager.cloud.servers()
    assert (left.id, left.status, left.host) == (server.id, 'SHELVED_OFFLOADED', None)
    assert acts.freepool(manager) == ('compute-1',)


@pytest.mark.proof
def test_a_server_that_is_never_built_has_nothing_to_lose_when_its_time_is_over(slow):
    lease, servers = _lease(slow, 2)
    slow.cloud.mark_server(servers[0].id, 'BUILD')
    slow.run_until(NOON + hours(4) + minutes(50))
    assert servers[0].id in _ids(slow.cloud.servers())
    slow.run_until(NOON + hours(5) + minutes(10))
    assert _imaged(slow) == [servers[1].id]
    assert slow.lease(lease).state == lifecycle.TERMINATED
    assert f'vm-0 ({servers[0].id})' in _why(slow, lease)
    assert acts.is_clean(slow, 2)


def test_a_server_that_its_user_deletes_meanwhile_is_not_missed(slow):
    lease, servers = _lease(slow)
    slow.clock.now = NOON + minutes(10)
    _end(slow, lease)
    slow.run_until(NOON + minutes(15))
    slow.cloud.delete_server(servers[0].id)
    slow.expect(lease, lifecycle.TERMINATED, NOON + minutes(16))
    assert acts.is_clean(slow, 1)


def test_a_lease_without_before_end_makes_no_image(manager):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(4))
    _boot(manager, lease, 'vm')
    manager.run_until(NOON + hours(5))
    assert manager.cloud.images() == []
    assert acts.is_clean(manager, 1)


def test_an_unknown_choice_is_refused_by_name(manager):
    manager.enrol(1)
    with pytest.raises(errors.BadRequest, match='on_image_failure'):
        manager.book(builders.hosts(1, on_image_failure='lose it'))
