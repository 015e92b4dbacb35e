# SPDX-License-Identifier: Apache-2.0
"""Leases of single servers, booted with their lease or leased later, through their whole life."""
import uuid

import acts
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.manager.leases import target_watch

LATER = builders.at(2)


def to_come(flavor='2', **more):
    """A ReservationRequest for a server that is booted with its lease."""
    return builders.a_server(flavor_id=flavor, **more)


def boot(manager, lease=None, name='vm', flavor='2', project='demo'):
    """A server as Nova makes it for the middleware."""
    metadata = {} if lease is None else {'climate:lease_id': lease.id}
    hints = {} if lease is None else {
        'reservation': [each.id for each in lease.reservations]}
    return manager.cloud.boot(project, name, hints, flavor=flavor, metadata=metadata)


def now_on(server):
    """The server as it is now; None where there is none."""
    def look(manager):
        return manager.cloud.as_service().servers.server(server.id)
    return look


def leased(manager, *reservations, **options):
    return manager.book(*reservations, **options)


def only(lease):
    [reservation] = lease.reservations
    return reservation


def run_for(manager, seconds=30):
    manager.run_until(manager.clock() + builders.minutes(seconds / 60))


@pytest.fixture
def demo(manager):
    """The owner of the leases, who binds servers."""
    return builders.a_member()


def test_a_server_that_is_booted_with_its_lease_is_bound_and_runs(manager, demo):
    lease = leased(manager, to_come())
    server = boot(manager, lease)
    manager.client.bind_reservation(demo, only(lease).id, server.id)
    run_for(manager)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE
    assert only(lease).leased_id == only(lease).binding['resource_id'] == server.id
    assert now_on(server)(manager).metadata['climate:status'] == 'ACTIVE'
    assert 'bind' in acts.history(manager, lease)


def test_the_cloud_is_asked_about_the_flavor_of_many_servers_once(manager):
    asked = []
    manager.cloud.faults.on_point = lambda name, when: asked.append((name, when))
    leased(manager, *[to_come() for _ in range(20)], to_come(flavor='1'))
    assert asked.count(('nova.flavor', 'before')) == 2


def test_a_lease_that_starts_now_needs_no_enrolled_host_and_draws_nothing(manager):
    lease = leased(manager, to_come())
    assert only(lease).resource_ids == ()


def test_a_server_on_a_leased_host_wakes_where_room_is_held_for_it(manager):
    manager.enrol(2)
    around = leased(manager, builders.hosts(1), end=LATER + builders.hours(3))
    run_for(manager)
    server = manager.cloud.boot('demo', 'vm', {'reservation': only(around).id}, flavor='2')
    before = now_on(server)(manager).host
    lease = leased(manager, builders.a_server(server), start=LATER, end=LATER + builders.hours(1))
    manager.expect(lease, lifecycle.ACTIVE, LATER + builders.minutes(1))
    assert now_on(server)(manager).host not in (None, before)


def test_a_server_that_nobody_binds_is_found_by_what_it_says_of_itself(manager):
    lease = leased(manager, to_come())
    manager.run()
    assert manager.lease(lease).task == 'start'
    server = boot(manager, lease)
    run_for(manager)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert only(manager.lease(lease)).leased_id == server.id


def test_a_server_of_another_project_is_not_taken_for_the_one_that_is_awaited(manager):
    lease = leased(manager, to_come())
    manager.cloud.boot('other', 'vm', metadata={'climate:lease_id': lease.id})
    run_for(manager)
    assert only(manager.lease(lease)).leased_id is None


def test_each_of_several_servers_gets_a_reservation_of_its_own(manager):
    lease = leased(manager, to_come(), to_come(), to_come())
    servers = {boot(manager, lease, name).id for name in ('a', 'b', 'c')}
    run_for(manager)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE
    assert {each.leased_id for each in lease.reservations} == servers


@pytest.mark.proof
def test_a_lease_whose_server_never_comes_ends_when_it_has_waited_long_enough(manager):
    lease = leased(manager, to_come())
    run_for(manager, 119)
    assert manager.lease(lease).task == 'start'
    run_for(manager, 10)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.TERMINATED
    assert 'never created' in lease.reason
    assert not acts.trusts(manager)


@pytest.mark.proof
def test_fewer_servers_than_reservations_keep_the_lease_and_free_the_rest(manager):
    manager.enrol(4)
    lease = leased(manager, to_come(), to_come(), start=LATER, end=LATER + builders.hours(1))
    server = boot(manager, lease)
    run_for(manager, 130)
    lease = manager.lease(lease)
    states = {each.state: each for each in lease.reservations}
    assert set(states) == {'pending', 'deleted'}
    assert states['pending'].leased_id == server.id
    assert states['deleted'].resource_ids == ()
    assert lease.state == lifecycle.PENDING


def test_a_server_is_bound_once(manager, demo):
    lease = leased(manager, to_come())
    first, second = boot(manager, lease, 'one'), boot(manager, None, 'two')
    for _ in range(2):
        manager.client.bind_reservation(demo, only(lease).id, first.id)
    with pytest.raises(errors.Conflict, match=first.id):
        manager.client.bind_reservation(demo, only(lease).id, second.id)


@pytest.mark.parametrize('server_id', [
    'no-such-server', 'detail', '../flavors/2', str(uuid.UUID(int=7)),
    '0F1B7A0C-9A5F-4A4E-9F1E-7D6A3F1F0A11', '0f1b7a0c9a5f4a4e9f1e7d6a3f1f0a11'])
def test_a_missing_server_is_not_bound(manager, demo, server_id):
    lease = leased(manager, to_come())
    with pytest.raises(errors.BadField, match='no server'):
        manager.client.bind_reservation(demo, only(lease).id, server_id)


def test_a_server_of_another_project_is_not_bound(manager, demo):
    lease = leased(manager, to_come())
    with pytest.raises(errors.BadField, match='in this project'):
        manager.client.bind_reservation(demo, only(lease).id,
                                        boot(manager, project='other').id)


def test_a_server_is_leased_once_at_a_time(manager, demo):
    server = boot(manager)
    first = leased(manager, builders.a_server(server))
    with pytest.raises(errors.TargetLeased, match=only(first).id) as refusal:
        leased(manager, builders.a_server(server), start=LATER)
    assert f'by lease "{first.name}" ({first.id}, ' in refusal.value.message
    waiting = leased(manager, to_come())
    with pytest.raises(errors.TargetLeased):
        manager.client.bind_reservation(demo, only(waiting).id, server.id)
    run_for(manager)
    manager.change(manager.lease(first), end_now=True)
    run_for(manager)
    assert manager.lease(first).state == lifecycle.TERMINATED


def test_a_server_is_leased_once_also_when_two_ask_at_the_same_moment(manager, other):
    server = boot(manager)
    faster = []
    other.database.before_writer = lambda: faster.append(leased(manager, builders.a_server(server)))
    with pytest.raises(errors.TargetLeased) as refusal:
        leased(other, builders.a_server(server))
    assert only(faster[0]).id in refusal.value.message
    assert len(acts.trusts(manager)) == 1


def test_one_lease_does_not_lease_a_server_twice(manager):
    server = boot(manager)
    with pytest.raises(errors.BadField, match='two of them'):
        leased(manager, builders.a_server(server), builders.a_server(server))


def test_a_server_sleeps_until_its_lease_starts_and_wakes_on_the_host_that_is_held(manager):
    manager.enrol(4)
    lease = leased(manager, to_come(), start=LATER, end=LATER + builders.hours(1))
    held = only(lease).resource_ids
    assert len(held) == 1
    server = boot(manager, lease)
    run_for(manager)
    asleep = now_on(server)(manager)
    assert (asleep.status, asleep.host) == ('SHELVED_OFFLOADED', None)
    assert asleep.metadata['climate:status'] == 'RESERVED'
    assert manager.lease(lease).state == lifecycle.PENDING
    manager.run_until(LATER + builders.minutes(1))
    awake = now_on(server)(manager)
    host = manager.client.get_resource(builders.an_admin(), 'host', held[0])
    assert (awake.status, awake.host) == ('ACTIVE', host.facts['service_name'])
    assert awake.metadata['climate:status'] == 'ACTIVE'
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_the_room_of_a_server_that_sleeps_is_nobody_elses(manager):
    [host] = manager.enrol(1)
    lease = leased(manager, to_come(flavor='4'), start=LATER, end=LATER + builders.hours(1))
    assert only(lease).resource_ids == (host.id,)
    with pytest.raises(errors.NotEnough):
        leased(manager, builders.hosts(1), start=LATER, end=LATER + builders.hours(1))
    rest = host.capacity['MEMORY_MB'] - 8192
    then = {'start': LATER, 'end': LATER + builders.hours(1)}
    with pytest.raises(errors.NotEnough):
        leased(manager, builders.instances(memory_mb=rest + 1), **then)
    leased(manager, builders.instances(memory_mb=rest), **then)


def test_a_server_that_is_to_sleep_is_refused_where_there_is_no_room(manager):
    with pytest.raises(errors.NotEnough):
        leased(manager, to_come(), start=LATER, end=LATER + builders.hours(1))
    assert not acts.trusts(manager)


def test_a_lease_is_made_without_capacity_that_is_only_preferred(manager):
    manager.core.conf.set_override('hold_room', 'preferred', group='virtual:instance')
    lease = leased(manager, to_come(), start=LATER, end=LATER + builders.hours(1))
    assert only(lease).resource_ids == ()
    server = boot(manager, lease)
    manager.run_until(LATER + builders.minutes(1))
    assert now_on(server)(manager).status == 'ACTIVE'
    assert manager.lease(lease).state == lifecycle.ACTIVE


@pytest.mark.proof
def test_a_server_that_cannot_wake_puts_its_lease_in_error_with_the_reason(manager):
    manager.core.conf.set_override('hold_room', 'preferred', group='virtual:instance')
    lease = leased(manager, to_come(), start=LATER, end=LATER + builders.hours(9))
    server = boot(manager, lease)
    run_for(manager)
    for name in manager.cloud.host_names():
        manager.cloud.mark_host(name, enabled=False)
    lease = manager.expect(lease, lifecycle.ERROR, LATER + builders.hours(1))
    assert server.id in lease.reason and 'no host took it' in lease.reason


def test_at_the_end_a_server_is_imaged_and_then_gone(manager):
    lease = leased(manager, to_come())
    server = boot(manager, lease)
    run_for(manager)
    manager.change(manager.lease(lease), end_now=True)
    run_for(manager)
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert now_on(server)(manager) is None
    [image] = manager.cloud.images()
    assert image['project_id'] == 'demo'
    assert only(manager.lease(lease)).leased_id is None


@pytest.mark.parametrize(('on_end', 'status'), [
    ('suspend', 'SUSPENDED'), ('shelve', 'SHELVED_OFFLOADED'), ('migrate', 'ACTIVE')])
def test_a_server_may_live_on_after_its_lease(manager, on_end, status):
    manager.enrol(2)
    lease = leased(manager, to_come(on_end=on_end), start=LATER, end=LATER + builders.hours(1))
    server = boot(manager, lease)
    manager.run_until(LATER + builders.minutes(1))
    pool = set(acts.freepool(manager))
    assert now_on(server)(manager).host in pool
    manager.run_until(LATER + builders.hours(1) + builders.minutes(5))
    after = now_on(server)(manager)
    assert manager.lease(lease).state == lifecycle.TERMINATED, manager.lease(lease).reason
    assert (after.status, after.metadata) == (status, {})
    assert after.host not in pool


@pytest.mark.parametrize(('on_end', 'status'), [('suspend', 'SUSPENDED'), ('migrate', 'ACTIVE')])
def test_a_server_on_hosts_that_its_project_leases_stays_there(manager, on_end, status):
    manager.core.conf.set_override('hold_room', 'preferred', group='virtual:instance')
    manager.enrol(2)
    hosts = leased(manager, builders.hosts(2), end=builders.at(3))
    run_for(manager)
    server = manager.cloud.boot('demo', 'vm', {'reservation': only(hosts).id}, flavor='1')
    lease = leased(manager, builders.a_server(server, on_end=on_end))
    manager.run_until(builders.at(1) + builders.minutes(5))
    assert manager.lease(lease).state == lifecycle.TERMINATED, manager.lease(lease).reason
    after = now_on(server)(manager)
    assert (after.status, after.host) == (status, server.host)
    manager.run_until(builders.at(3) + builders.minutes(1))
    assert now_on(server)(manager) is None


def test_a_lease_is_changed_while_its_server_sleeps(manager):
    manager.enrol(1)
    lease = leased(manager, to_come(), start=LATER, end=LATER + builders.hours(1))
    server = boot(manager, lease)
    run_for(manager)
    lease = manager.change(lease, start=LATER + builders.hours(1), end=LATER + builders.hours(2),
                           reservations=acts.asked(only(lease), on_end='delete'))
    manager.run_until(LATER + builders.minutes(30))
    assert now_on(server)(manager).status == 'SHELVED_OFFLOADED'
    manager.run_until(LATER + builders.hours(1) + builders.minutes(1))
    assert now_on(server)(manager).status == 'ACTIVE'
    manager.run_until(LATER + builders.hours(3))
    assert now_on(server)(manager) is None
    assert not manager.cloud.images()


def test_a_lease_that_is_deleted_before_its_start_leaves_the_server_asleep(manager):
    manager.enrol(1)
    lease = leased(manager, to_come(), start=LATER, end=LATER + builders.hours(1))
    server = boot(manager, lease)
    run_for(manager)
    manager.delete(lease)
    run_for(manager)
    assert manager.lease(lease).deleted_at is not None
    assert now_on(server)(manager).status == 'SHELVED_OFFLOADED'
    assert only(manager.lease(lease)).resource_ids == ()


@pytest.mark.parametrize('later', [False, True], ids=['running', 'asleep'])
def test_a_server_that_its_user_deletes_ends_the_lease(manager, later):
    manager.enrol(1)
    lease = leased(manager, to_come(), start=LATER if later else None,
                   end=LATER + builders.hours(1))
    server = boot(manager, lease)
    run_for(manager)
    manager.cloud.delete_server(server.id)
    watch = target_watch.TargetWatch(manager.core)
    assert watch.check_all(manager.clock()) == {server.id}
    run_for(manager)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.TERMINATED
    assert not acts.trusts(manager)
    assert only(lease).resource_ids == ()
    assert watch.check_all(manager.clock()) == frozenset()


def test_a_server_that_is_deleted_before_it_is_woken_ends_the_lease_at_its_start(manager):
    manager.enrol(1)
    lease = leased(manager, to_come(), start=LATER, end=LATER + builders.hours(1))
    server = boot(manager, lease)
    run_for(manager)
    manager.cloud.delete_server(server.id)
    lease = manager.expect(lease, lifecycle.TERMINATED, LATER + builders.minutes(1))
    assert 'not in the cloud' in lease.reason


def test_the_others_of_a_lease_stay_when_one_server_is_deleted(manager):
    lease = leased(manager, to_come(), to_come())
    servers = [boot(manager, lease, name) for name in ('a', 'b')]
    run_for(manager)
    manager.cloud.delete_server(servers[0].id)
    target_watch.TargetWatch(manager.core).check_all(manager.clock())
    run_for(manager)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE
    assert [each.leased_id for each in lease.reservations if each.state == 'active'] == [
        servers[1].id]


def test_nova_says_that_a_server_is_gone(manager):
    lease = leased(manager, to_come())
    server = boot(manager, lease)
    run_for(manager)
    manager.cloud.delete_server(server.id)
    listener = target_watch.DeletionListener(target_watch.TargetWatch(manager.core), manager.clock)
    for _ in range(2):
        listener.info({}, 'nova-compute:c1', 'instance.delete.end',
                      {'nova_object.data': {'uuid': server.id}}, {})
    listener.info({}, 'nova-compute:c1', 'instance.delete.end',
                  {'nova_object.data': {'uuid': str(uuid.UUID(int=9))}}, {})
    run_for(manager)
    assert manager.lease(lease).state == lifecycle.TERMINATED


def test_nova_is_not_believed_when_the_server_is_there(manager):
    lease = leased(manager, to_come())
    server = boot(manager, lease)
    run_for(manager)
    target_watch.TargetWatch(manager.core).check([server.id], manager.clock())
    run_for(manager)
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_the_answer_to_the_scheduler_follows_the_life_of_the_server(manager):
    [host] = manager.enrol(1)
    nova = builders.an_admin()
    lease = leased(manager, to_come(on_end='shelve'), start=LATER, end=LATER + builders.hours(1))

    def told():
        found = manager.client.reservation_hosts(nova, only(lease).id, 'demo')
        return found.ordinary, found.usable, found.service_hosts

    assert told() == (True, False, ())
    server = boot(manager, lease)
    run_for(manager)
    assert told() == (False, False, ())
    by_server = manager.client.server_hosts(nova, server.id, 'demo')
    assert (by_server.id, by_server.usable) == (only(lease).id, False)
    manager.run_until(LATER + builders.minutes(1))
    assert told() == (False, True, (host.facts['service_name'],))
    manager.run_until(LATER + builders.hours(2))
    assert told() == (True, False, ())
    with pytest.raises(errors.TargetGone):
        manager.client.server_hosts(nova, server.id, 'demo')


@pytest.fixture
def unhurried(conf):
    """A manager looks each half minute at what it waits for, so that an hour is not many looks."""
    conf.set_override('busy_seconds', 30, group='manager')


def test_the_end_waits_for_an_image_longer_than_for_other_things(unhurried, manager, conf):
    conf.set_override('image_seconds', 2000, group='simulated')
    lease = leased(manager, to_come())
    server = boot(manager, lease)
    run_for(manager)
    manager.change(manager.lease(lease), end_now=True)
    run_for(manager, 1990)
    assert manager.lease(lease).task == 'end'
    assert now_on(server)(manager) is not None
    run_for(manager, 60)
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert now_on(server)(manager) is None


def test_an_image_that_takes_too_long_leaves_the_server_suspended(unhurried, manager, conf):
    conf.set_override('image_seconds', 9000, group='simulated')
    lease = leased(manager, to_come())
    server = boot(manager, lease)
    run_for(manager)
    manager.change(manager.lease(lease), end_now=True)
    run_for(manager, 3700)
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert now_on(server)(manager).status == 'SUSPENDED'
    assert not manager.cloud.images()
