# SPDX-License-Identifier: Apache-2.0
"""The history of a lease says what Climate did to which servers, and on whose request."""
import acts
import pytest
from support import builders

from climate.domain import lifecycle

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN = builders.an_admin()


def _hosts(manager, count=1, **options):
    """A lease of `count` hosts with a server on each; returns it and its Servers."""
    manager.enrol(count)
    lease = manager.active(builders.hosts(count, **options), end=NOON + hours(4))
    return lease, [manager.cloud.boot('demo', f'vm-{number}', {
        'reservation': lease.reservations[0].id}) for number in range(count)]


def _leased(manager, on_end, sleeps=False):
    """A lease of a server that exists; returns it and the Server."""
    manager.enrol(1)
    server = manager.cloud.boot('demo', 'web', host='compute-2', flavor='2')
    when = {'start': NOON + hours(1)} if sleeps else {}
    lease = manager.book(builders.a_server(server, on_end=on_end), end=NOON + hours(4), **when)
    manager.run()
    return lease, server


def _told(manager, lease, *what):
    """The entries of these kinds in the history of a lease, as (who, what, why)."""
    return [(each.who, each.what, each.why)
            for each in manager.client.lease_history(builders.a_member(), lease.id)
            if each.what in what]


def _at_its_time(manager, lease):
    manager.run_until(NOON + hours(5))
    return 'climate', 'The lease is over'


def _ended_by_its_owner(manager, lease):
    manager.clock.now = NOON + minutes(10)
    manager.change(lease, end_now=True)
    manager.run_until(NOON + minutes(30))
    return 'demo', 'The lease is over'


def _deleted_by_its_owner(manager, lease):
    manager.delete(lease)
    manager.run_until(NOON + minutes(30))
    return 'demo', 'The lease is deleted'


def _deleted_by_an_administrator(manager, lease):
    manager.client.delete_lease(ADMIN, lease.id)
    manager.run_until(NOON + minutes(30))
    return ADMIN.user_id, 'The lease is deleted'


def _after_a_change_of_its_name(manager, lease):
    manager.change(lease, name='other')
    manager.change(lease, end=NOON + hours(3))
    return _at_its_time(manager, lease)


def _after_an_end_that_was_given_up(manager, lease):
    manager.cloud.fail('nova.delete_aggregate', 99, acts.NO)
    manager.expect(lease, lifecycle.ERROR, NOON + hours(6))
    manager.cloud.fail('nova.delete_aggregate', 0, acts.NO)
    manager.delete(lease)
    manager.run_until(NOON + hours(7))
    return 'climate', 'The lease is over'


WAYS = [_at_its_time, _ended_by_its_owner, _deleted_by_its_owner, _deleted_by_an_administrator,
        _after_a_change_of_its_name, _after_an_end_that_was_given_up]


@pytest.mark.parametrize('leave', WAYS)
def test_the_servers_that_are_deleted_with_their_hosts_are_named_on_every_way_out(manager, leave):
    lease, servers = _hosts(manager, 2)
    who, because = leave(manager, lease)
    assert _told(manager, lease, 'delete server') == [(who, 'delete server', (
        f'{because}: vm-0 ({servers[0].id}); vm-1 ({servers[1].id})'))]


@pytest.mark.parametrize('leave', WAYS[1:4])
def test_each_deleted_server_is_named_with_its_image(manager, leave):
    lease, [server] = _hosts(manager, before_end='snapshot')
    who, because = leave(manager, lease)
    [image] = manager.cloud.images()
    assert _told(manager, lease, 'delete server') == [(who, 'delete server', (
        f'{because}: vm-0 ({server.id}), saved as image {image["name"]} ({image["id"]})'))]


def test_a_lease_that_shrinks_names_the_servers_that_go(manager):
    lease, servers = _hosts(manager, 2)
    manager.change_reservation(lease, min=1, max=1)
    manager.run_until(NOON + minutes(30))
    [left] = manager.cloud.servers()
    [gone] = [each for each in servers if each.id != left.id]
    assert _told(manager, lease, 'delete server') == [
        ('demo', 'delete server', f'The lease was changed: {gone.name} ({gone.id})')]


def test_images_are_named_once_when_all_are_made_and_again_after_a_prolongation(manager):
    lease, [server] = _hosts(manager, before_end='snapshot')
    manager.run_until(NOON + hours(3) + minutes(5))
    [image] = manager.cloud.images()
    first = ('climate', 'image made', (
        f'The lease ends soon: {image["name"]} ({image["id"]}) of server vm-0 ({server.id})'))
    assert _told(manager, lease, 'image made') == [first]
    manager.change(lease, end=NOON + hours(24))
    manager.run_until(NOON + hours(25))
    both = _told(manager, lease, 'image made')
    assert len(both) == 2 and both[0] == first
    [(_, _, deleted)] = _told(manager, lease, 'delete server')
    assert f'saved as image {image["name"]} ({manager.cloud.images()[1]["id"]})' in deleted


@pytest.mark.proof
def test_a_server_that_is_kept_without_its_image_is_named(manager):
    lease, [server] = _hosts(manager, before_end='snapshot')
    manager.cloud.spoil_images(server.id, 'refused')
    manager.run_until(NOON + hours(6))
    assert _told(manager, lease, 'keep server', 'delete server') == [(
        'climate', 'keep server',
        f'The lease is over: vm-0 ({server.id}), stopped and without an image')]


def test_servers_of_other_projects_are_counted_and_not_named(manager):
    lease, [server] = _hosts(manager)
    acts.nova(manager).set_aggregate_metadata(acts.aggregate(manager, lease), {'friends': 'yes'})
    theirs = manager.cloud.boot('friends', 'secret', {'reservation': lease.reservations[0].id})
    manager.run_until(NOON + hours(5))
    [(_, _, why)] = _told(manager, lease, 'delete server')
    assert why == f'The lease is over: vm-0 ({server.id}); 1 of other projects'
    text = str(manager.client.lease_history(builders.a_member(), lease.id))
    assert theirs.id not in text and 'secret' not in text


def test_the_servers_of_instance_capacity_are_named(manager):
    manager.enrol(1)
    lease = manager.active(builders.instances(2), end=NOON + hours(4))
    server = manager.cloud.boot('demo', 'small', flavor=lease.reservations[0].id)
    manager.run_until(NOON + hours(5))
    assert manager.cloud.servers() == []
    assert _told(manager, lease, 'delete server') == [
        ('climate', 'delete server', f'The lease is over: small ({server.id})')]


@pytest.mark.parametrize(('on_end', 'what'), [
    ('delete', 'delete server'), ('suspend', 'suspend server'), ('shelve', 'shelve server')])
def test_the_history_has_each_change_of_a_leased_server(manager, on_end, what):
    lease, server = _leased(manager, on_end)
    manager.run_until(NOON + hours(5))
    told = _told(manager, lease, 'delete server', 'suspend server', 'shelve server')
    assert told == [('climate', what, f'The lease is over: web ({server.id})')]


def test_a_move_off_the_pool_is_in_the_history_without_hosts(manager):
    manager.enrol(1)
    server = manager.cloud.boot('demo', 'web', host='compute-1', flavor='2', forced=True)
    lease = manager.book(builders.a_server(server, on_end='migrate'), end=NOON + hours(4))
    manager.run_until(NOON + hours(5))
    assert _told(manager, lease, 'move server') == [
        ('climate', 'move server', f'The lease is over: web ({server.id})')]


def test_a_leased_server_that_is_imaged_is_named_with_its_image(manager):
    lease, server = _leased(manager, 'snapshot')
    who, because = _ended_by_its_owner(manager, lease)
    [image] = manager.cloud.images()
    assert _told(manager, lease, 'delete server') == [(who, 'delete server', (
        f'{because}: web ({server.id}), saved as image {image["name"]} ({image["id"]})'))]


def test_a_server_that_is_shelved_until_its_lease_starts_is_named(manager):
    lease, server = _leased(manager, 'suspend', sleeps=True)
    manager.run_until(NOON + minutes(30))
    assert _told(manager, lease, 'shelve server') == [
        ('climate', 'shelve server', f'The lease starts later: web ({server.id})')]


@pytest.mark.proof
def test_many_servers_need_few_entries_of_limited_length_and_no_statement_each(manager):
    lease, [one] = _hosts(manager)
    with builders.statements() as few:
        _ended_by_its_owner(manager, lease)
    assert [each for _, _, each in _told(manager, lease, 'delete server')] == [
        f'The lease is over: vm-0 ({one.id})']
    manager.clock.now = NOON + hours(1)
    lease = manager.active(start=manager.clock.now, end=NOON + hours(4))
    servers = [manager.cloud.boot('demo', f'vm-{number}-{"x" * 60}', {
        'reservation': lease.reservations[0].id}) for number in range(300)]
    manager.clock.now += minutes(1)
    with builders.statements() as many:
        manager.change(lease, end_now=True)
        manager.run_until(NOON + hours(1) + minutes(20))
    assert len(many) <= len(few)
    told = [why for _, _, why in _told(manager, lease, 'delete server')]
    assert all(sum(each.id in why for why in told) == 1 for each in servers)
    assert len(told) < 20 and max(map(len, told)) < 5_000


def test_the_history_has_a_deletion_once_although_it_is_tried_again(manager):
    lease, [server] = _hosts(manager)
    manager.cloud.fail('nova.delete_server', 5, acts.NO)
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(5))
    assert _told(manager, lease, 'delete server') == [
        ('climate', 'delete server', f'The lease is over: vm-0 ({server.id})')]


def _shown(manager, lease):
    """The names of the servers of a lease, as REST shows them."""
    found = manager.lease(lease)
    plugin = manager.core.registry.plugin('virtual:instance')
    return [plugin.fields(each)['resource_name'] for each in found.reservations]


def test_a_leased_server_keeps_its_name_when_it_is_gone(manager):
    lease, _ = _leased(manager, 'delete')
    assert _shown(manager, lease) == ['web']
    manager.run_until(NOON + hours(5))
    assert manager.cloud.servers() == []
    assert _shown(manager, lease) == ['web']


@pytest.mark.parametrize('is_bound', [True, False])
def test_a_server_that_was_booted_with_its_lease_keeps_its_name_when_it_is_gone(manager, is_bound):
    lease = manager.book(builders.a_server(flavor_id='2', on_end='delete'), end=NOON + hours(4))
    [reservation] = lease.reservations
    server = manager.cloud.boot('demo', 'booted', {'reservation': reservation.id}, flavor='2',
                                metadata={'climate:lease_id': lease.id})
    if is_bound:
        manager.client.bind_reservation(builders.a_member(), reservation.id, server.id)
        assert _shown(manager, lease) == ['booted']
        [(_, _, why)] = _told(manager, lease, 'bind')
        assert why == f'{reservation.id} leases booted ({server.id})'
    manager.run_until(NOON + minutes(5))
    assert _shown(manager, lease) == ['booted']
    manager.cloud.delete_server(server.id)
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(5))
    assert _shown(manager, lease) == ['booted']
