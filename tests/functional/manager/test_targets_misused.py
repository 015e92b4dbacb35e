# SPDX-License-Identifier: Apache-2.0
"""Leased servers that users and clients treat in ways that they should not."""
import acts
import pytest
from support import builders
import test_targets as story

from climate import errors
from climate.domain import lifecycle
from climate.nova import host_rules

END = story.LATER + builders.hours(1)
SECOND = builders.minutes(1 / 60)


def later(manager, *reservations, **more):
    return story.leased(manager, *(reservations or (story.to_come(),)),
                        **{'start': story.LATER, 'end': END, **more})


def statuses(manager, server, seconds):
    """The (status, task) that a server goes through, in order."""
    seen = []
    until = manager.clock() + seconds * SECOND
    while manager.clock() < until:
        manager.run_until(manager.clock() + SECOND / 4)
        found = story.now_on(server)(manager)
        if seen[-1:] != [(found.status, found.task)]:
            seen.append((found.status, found.task))
    return seen


@pytest.mark.parametrize('seconds', [2.5, 4.4, 6.2, 7.9, 8.5])
def test_a_start_that_comes_while_the_server_is_put_to_sleep_wakes_it_for_good(
        manager, conf, seconds):
    conf.set_override('server_seconds', 3.3, group='simulated')
    manager.enrol(1)
    lease = later(manager, start=manager.clock() + seconds * SECOND)
    seen = statuses(manager, story.boot(manager, lease), 40)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert [task for _, task in seen].count('shelving') <= 1


def test_a_server_larger_than_the_held_capacity_is_not_bound(manager):
    manager.enrol(1)
    lease = later(manager, story.to_come(flavor='1'))
    story.boot(manager, lease, flavor='4')
    story.run_for(manager)
    assert story.only(manager.lease(lease)).leased_id is None
    fitting = story.boot(manager, lease, flavor='1')
    story.run_for(manager)
    assert story.only(manager.lease(lease)).leased_id == fitting.id


def test_a_server_that_sleeps_wakes_elsewhere_when_its_host_is_out_of_use(manager):
    hosts = {each.id: each for each in manager.enrol(2)}
    lease = later(manager)
    server = story.boot(manager, lease)
    story.run_for(manager)
    [held] = story.only(manager.lease(lease)).resource_ids
    broken = hosts.pop(held)
    acts.disable(manager, broken)
    manager.cloud.mark_host(broken.name, enabled=False)
    manager.run_until(story.LATER + builders.minutes(1))
    [other] = hosts.values()
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert story.now_on(server)(manager).host == other.facts['service_name']


@pytest.fixture
def preferred(conf):
    conf.set_override('hold_room', 'preferred', group='virtual:instance')


def test_room_in_use_is_not_given_up_for_a_longer_lease(manager, preferred):
    manager.enrol(1)
    lease = later(manager)
    story.boot(manager, lease)
    manager.run_until(story.LATER + builders.minutes(1))
    held = story.only(manager.lease(lease)).resource_ids
    manager.book(start=END + builders.hours(1))
    with pytest.raises(errors.NotEnough):
        manager.change(manager.lease(lease), end=END + builders.hours(2))
    assert story.only(manager.lease(lease)).resource_ids == held != ()


def test_room_that_is_held_is_not_given_up_for_a_longer_lease_before_it_starts(
        manager, preferred):
    [host] = manager.enrol(1)
    lease = later(manager)
    manager.book(start=END + builders.hours(1))
    with pytest.raises(errors.NotEnough):
        manager.change(lease, end=END + builders.hours(2))
    assert story.only(manager.lease(lease)).resource_ids == (host.id,)


def test_a_server_that_runs_without_room_gets_none_by_a_longer_lease(manager, preferred):
    lease = later(manager)
    server = story.boot(manager, lease)
    manager.run_until(story.LATER + builders.minutes(1))
    used = story.now_on(server)(manager).host
    free = next(each for each in manager.cloud.host_names() if each != used)
    manager.client.create_resource(builders.an_admin(), 'host', free, {})
    changed = manager.change(manager.lease(lease), end=END + builders.hours(1))
    assert story.only(changed).resource_ids == ()


def test_an_image_that_others_made_look_like_that_of_the_server_saves_it_not(manager):
    lease = story.leased(manager, story.to_come())
    server = story.boot(manager, lease)
    forged = story.boot(manager, project='other')
    story.run_for(manager)
    manager.cloud.as_service().images.give(
        manager.cloud.as_service().servers.create_image(forged.id, 'x', story.only(lease).id),
        'other')
    manager.change(manager.lease(lease), end_now=True)
    story.run_for(manager)
    assert story.now_on(server)(manager) is None
    assert {(each['server_id'], each['project_id']) for each in manager.cloud.images()} == {
        (server.id, 'demo'), (forged.id, 'other')}


@pytest.mark.parametrize('start', ['now', '2030-05-01 14:00'])
@pytest.mark.parametrize('sent', [{}, {'affinity': 'None', 'resource_properties': ''}])
def test_a_leased_server_does_not_become_room_for_instances(manager, api, start, sent):
    manager.enrol(1)
    server = story.boot(manager)
    lease = api.post('/v1/leases', {
        'name': 'x', 'start_date': start, 'end_date': '2030-05-01 15:00', 'reservations': [
            {'resource_type': 'virtual:instance', 'resource_id': server.id}]}).json['lease']
    manager.run()
    [shown] = lease['reservations']
    answer = api.put(f'/v1/leases/{lease["id"]}', {'reservations': [
        {'id': shown['id'], 'vcpus': 1, 'memory_mb': 1, 'disk_gb': 1, 'amount': 1, **sent}]})
    assert answer.status_int == 400
    assert 'leases a server' in answer.json['error_message']


@pytest.mark.proof
def test_a_server_that_is_bound_at_the_last_moment_keeps_its_lease(manager, demo):
    lease = story.leased(manager, story.to_come())
    server = story.boot(manager)
    story.run_for(manager, 119.5)

    def bind(_name, when):
        if when == 'after':
            # The manager has just seen that no server has come, and will give up.
            manager.cloud.faults.on_point = None
            manager.client.bind_reservation(demo, story.only(lease).id, server.id)
    manager.cloud.faults.on_point = bind
    story.run_for(manager, 10)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert story.only(manager.lease(lease)).leased_id == server.id


@pytest.mark.proof
def test_a_server_that_comes_when_the_lease_was_given_up_is_refused(manager, demo):
    lease = story.leased(manager, story.to_come(), story.to_come())
    story.boot(manager, lease)
    story.run_for(manager, 130)
    [late] = [each for each in manager.lease(lease).reservations if each.state == 'deleted']
    with pytest.raises(errors.ReservationNotFound):
        manager.client.bind_reservation(demo, late.id, story.boot(manager).id)


def asks_climate(manager):
    """Make the simulated scheduler ask as the filter does."""
    def answer(reservation_id, project_id):
        found = manager.client.reservation_hosts(builders.an_admin(), reservation_id, project_id)
        return host_rules.ReservationAnswer(
            found.active, found.usable, found.reason, frozenset(found.service_hosts),
            found.ordinary, found.server_id, found.capacity)
    manager.cloud.answers = answer


def test_no_other_server_is_booted_where_room_is_held_for_one(manager):
    manager.enrol(1)
    asks_climate(manager)
    lease = later(manager)
    server = story.boot(manager, lease)
    manager.run_until(story.LATER + builders.minutes(1))
    assert story.now_on(server)(manager).host in acts.freepool(manager)
    with pytest.raises(errors.Conflict, match='No valid host'):
        manager.cloud.boot('demo', 'other', {'reservation': story.only(lease).id}, flavor='1')


def test_a_server_booted_while_its_lease_starts_is_an_ordinary_server(manager):
    manager.enrol(1)
    asks_climate(manager)
    lease = later(manager, start=manager.clock() + SECOND)
    story.run_for(manager, 5)
    assert manager.lease(lease).task == 'start'
    server = story.boot(manager, lease)
    story.run_for(manager)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert story.now_on(server)(manager).host not in acts.freepool(manager)


def test_a_server_that_runs_where_room_is_held_does_not_grow_into_that_of_others(manager):
    manager.enrol(1)
    asks_climate(manager)
    lease = later(manager)
    server = story.boot(manager, lease)
    manager.run_until(story.LATER + builders.minutes(1))
    with pytest.raises(errors.Conflict, match='No valid host'):
        manager.cloud.resize_server(server.id, '4')
    manager.cloud.resize_server(server.id, '1')
    assert story.now_on(server)(manager).host in acts.freepool(manager)
    assert story.now_on(server)(manager).flavor.name == 'm1.tiny'


def test_a_server_that_grew_before_it_slept_is_not_woken_where_its_room_is_too_small(manager):
    manager.enrol(1)
    asks_climate(manager)
    server = story.boot(manager)
    lease = later(manager, builders.a_server(server))
    manager.cloud.resize_server(server.id, '4')
    lease = manager.expect(lease, lifecycle.ERROR, story.LATER + builders.minutes(10))
    for text in (server.id, 'resized', 'vcpus 4, memory_mb 8192, disk_gb 80', 'Delete the lease'):
        assert text in lease.reason
    assert story.now_on(server)(manager).status == 'SHELVED_OFFLOADED'


demo = story.demo
