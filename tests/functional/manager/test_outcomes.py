# SPDX-License-Identifier: Apache-2.0
"""Starts and ends when the cloud is slow or fails, and hosts that are late or broken."""
import datetime
import uuid

import acts
import oslo_messaging as messaging
import pytest
from support import builders
from support import cloud_points

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.leases import trust_reaper
from climate.manager.notifications import fan_out
from climate.manager.notifications import outbox

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def _seconds(count):
    return datetime.timedelta(seconds=count)


def test_a_lease_that_is_slow_to_end_does_not_delay_another(conf, database, clock):
    conf.set_override('delete_seconds', 300, group='simulated')
    conf.set_override('busy_seconds', 10, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(2)
    slow = manager.active()
    quick = manager.active()
    manager.cloud.boot('demo', 'one', {'reservation': slow.reservations[0].id})
    manager.run_until(NOON + hours(1) + minutes(1))
    assert manager.lease(slow).task == 'end'
    assert manager.lease(quick).state == lifecycle.TERMINATED
    assert len(acts.holders(manager)) == 1
    manager.expect(slow, lifecycle.TERMINATED, NOON + hours(1) + minutes(6))
    assert acts.is_clean(manager, 2)


def test_a_deletion_that_is_given_up_names_the_hosts_that_nobody_gets(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.cloud.fail('nova.servers_on', 99, acts.NO)
    manager.delete(lease)
    lease = manager.expect(lease, lifecycle.ERROR, NOON + minutes(50))
    assert 'nobody else gets its resources compute-1' in lease.reason


def test_a_host_whose_servers_do_not_die_is_given_up_after_the_limit(conf, database, clock):
    conf.set_override('delete_seconds', 100000, group='simulated')
    conf.set_override('busy_seconds', 10, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    lease = manager.active()
    manager.cloud.boot('demo', 'one', {'reservation': lease.reservations[0].id})
    manager.run_until(NOON + hours(1) + minutes(9))
    assert manager.lease(lease).task == 'end'
    lease = manager.expect(lease, lifecycle.ERROR, NOON + hours(1) + minutes(20))
    assert 'being deleted' in lease.reason
    assert len(acts.holders(manager)) == 1


def test_pauses_grow_until_an_end_is_given_up_and_a_delete_tries_again(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.cloud.fail('nova.delete_aggregate', 99, acts.NO)
    manager.clock.now = NOON + hours(1)
    pauses = []
    while True:
        manager.run()
        event = manager.lease(lease).event('end_lease')
        if manager.lease(lease).state == lifecycle.ERROR:
            break
        pauses.append((event.due_at - manager.clock()).total_seconds())
        manager.clock.now = event.due_at
    assert pauses == [2, 4, 8, 16, 32]
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ERROR
    assert 'Nova: no' in lease.reason
    assert 'lease.error' in acts.news(manager)
    manager.cloud.fail('nova.delete_aggregate', 0, None)
    manager.delete(lease)
    manager.run_until(NOON + hours(2))
    assert acts.is_clean(manager, 1)


@pytest.mark.parametrize('order', [acts.end, builders.Manager.delete])
def test_resources_are_released_when_a_silent_service_is_back(manager, order):
    manager.enrol(1)
    lease = manager.active()
    manager.cloud.fail('nova.delete_aggregate', 99, errors.CloudUnreachable(
        service='Nova', reason='no answer'))
    manager.clock.advance(minutes(1))
    order(manager, lease)
    manager.run_until(NOON + minutes(30))
    assert manager.lease(lease).task is not None
    assert len(acts.holders(manager)) == 1
    manager.cloud.fail('nova.delete_aggregate', 0, None)
    manager.expect(lease, lifecycle.TERMINATED, NOON + minutes(32))
    assert acts.is_clean(manager, 1)


def test_one_reservation_that_fails_does_not_stop_the_end_of_the_others(manager):
    manager.enrol(2)
    lease = manager.active(builders.hosts(1), acts.dummy(), builders.hosts(1))
    manager.cloud.fail('nova.delete_aggregate', 1, acts.NO)
    manager.clock.now = NOON + hours(1)
    manager.run()
    states = [each.state for each in manager.lease(lease).reservations]
    assert states == ['error', 'deleted', 'deleted']
    assert len(acts.holders(manager)) == 1
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(2))
    assert acts.is_clean(manager, 2)


def test_one_reservation_that_fails_does_not_stop_the_start_of_the_others(manager):
    manager.enrol(2)
    lease = manager.book(builders.hosts(1), builders.hosts(1), end=NOON + hours(3))
    manager.cloud.fail('nova.create_aggregate', 1, acts.NO)
    manager.run()
    assert [each.state for each in manager.lease(lease).reservations] == ['error', 'active']
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(1))
    assert [each.state for each in lease.reservations] == ['active', 'active']
    one, two = (acts.aggregate(manager, lease, place).hosts for place in (0, 1))
    assert len(one) == len(two) == 1 and one != two


def test_a_lease_without_reservations_lives_and_ends(manager):
    request = records.LeaseRequest(name='empty', start=None, end=NOON + hours(1))
    lease = manager.create(request)
    manager.expect(lease, lifecycle.ACTIVE)
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(2))
    assert manager.delete(lease)


def test_leases_that_touch_keep_their_hosts_even_when_both_events_run_at_once(manager):
    first, _ = manager.enrol(2)
    manager.active()
    following = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    assert following.reservations[0].resource_ids == (first.id,)
    other = acts.Second(manager)
    manager.clock.now = NOON + hours(1)
    assert other.claim() == 2
    other.submitted.reverse()  # The start is quicker than the end.
    other.finish()
    following = manager.expect(following, lifecycle.ACTIVE, NOON + hours(1) + _seconds(2))
    assert following.reservations[0].resource_ids == (first.id,)
    assert not following.reservations[0].resources_changed


@pytest.mark.usefixtures('polls_each_second')
def test_a_start_whose_host_stays_held_gets_another(manager):
    first, second = manager.enrol(2)
    manager.active()
    following = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    manager.cloud.fail('nova.delete_aggregate', 9, acts.NO)
    following = manager.expect(following, lifecycle.ACTIVE, NOON + hours(1) + _seconds(3))
    assert following.reservations[0].resource_ids == (second.id,)
    assert following.reservations[0].resources_changed
    assert first.id in acts.holders(manager)


@pytest.mark.proof
def test_a_start_whose_only_host_is_held_waits_and_says_who_has_it(conf, database, clock):
    conf.set_override('busy_seconds', 10, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    lease = manager.active()
    following = manager.book(start=NOON + hours(1), end=NOON + hours(9))
    manager.cloud.fail('nova.delete_aggregate', 99, acts.NO)
    following = manager.expect(following, lifecycle.ERROR, NOON + hours(1) + minutes(15))
    assert lease.reservations[0].id in following.reason


def test_a_broken_host_is_replaced_at_the_start(manager):
    first, second = manager.enrol(2)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    acts.disable(manager, first)
    manager.run_until(NOON + hours(1))
    lease = manager.lease(lease)
    assert lease.reservations[0].resource_ids == (second.id,)
    assert acts.aggregate(manager, lease).hosts == ('compute-2',)


def test_after_downtime_what_ended_is_not_started_and_ends_come_first(manager):
    manager.enrol(1)
    noon = NOON
    running = manager.active()
    missed = manager.book(start=noon + hours(1), end=noon + hours(2))
    late = manager.book(start=noon + hours(2), end=noon + hours(4))
    manager.clock.now = noon + hours(3)
    manager.expect(running, lifecycle.TERMINATED, noon + hours(3) + _seconds(5))
    assert manager.lease(missed).state == lifecycle.TERMINATED
    assert 'start_lease' not in acts.news(manager)
    late = manager.lease(late)
    assert late.state == lifecycle.ACTIVE
    assert acts.aggregate(manager, late).hosts == ('compute-1',)


def test_a_lease_whose_owner_is_gone_still_ends_cleanly(manager):
    manager.enrol(1)
    request = builders.hosts(1, before_end='snapshot')
    lease = manager.active(request, end=NOON + hours(3))
    manager.cloud.boot('demo', 'one', {'reservation': lease.reservations[0].id})
    manager.cloud.delete_trustor('demo')
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(4))
    assert [each['project_id'] for each in manager.cloud.images()] == ['demo']
    assert acts.is_clean(manager, 1)


def test_each_server_is_imaged_once_though_some_fail_at_first(manager):
    manager.enrol(1)
    lease = manager.active(builders.hosts(1, before_end='snapshot'), end=NOON + hours(3))
    hints = {'reservation': lease.reservations[0].id}
    booted = [manager.cloud.boot('demo', name, hints) for name in ('one', 'two', 'three')]
    manager.cloud.break_server(booted[0].id)
    manager.cloud.fail('nova.create_image', 1, errors.CloudError(service='Nova', reason='no'))
    manager.run_until(NOON + hours(2) + _seconds(60))
    assert sorted(each['name'] for each in manager.cloud.images()) == [
        'reserved_three', 'reserved_two']
    manager.cloud.mark_server(booted[0].id, 'ACTIVE')
    manager.run_until(NOON + hours(2) + _seconds(120))
    assert sorted(each['name'] for each in manager.cloud.images()) == [
        'reserved_one', 'reserved_three', 'reserved_two']


@pytest.mark.parametrize('required', [True, False])
def test_a_caller_who_cannot_delegate(manager, conf, required):
    conf.set_override('trust_required', required, group='keystone')
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, errors.TrustRefused(reason='no.'))
    if required:
        with pytest.raises(errors.TrustRefused):
            manager.book()
        assert manager.client.list_leases(builders.an_admin(), records.LeaseQuery()) == []
        return
    lease = manager.book()
    assert lease.trust_id is None
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(2))


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_trust_that_cannot_be_dropped_is_left_to_the_reaper(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.cloud.fail('keystone.delete_trust', 6,
                       errors.CloudError(service='Keystone', reason='no'))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(2))
    assert len(acts.trusts(manager)) == 1
    reaper = trust_reaper.TrustReaper(manager.core)
    assert [each.lease_id for each in reaper.reap(NOON + hours(3))] == [lease.id]
    assert acts.trusts(manager) == []
    assert reaper.reap(NOON + hours(3)) == []


def test_news_go_out_once_and_in_order(manager, conf):
    manager.enrol(1)
    manager.active()
    manager.run_until(NOON + hours(2))
    waiting = acts.news(manager)
    assert waiting == ['lease.create', 'lease.event.start_lease',
                       'lease.event.before_end_lease', 'lease.event.end_lease']
    transport = messaging.get_notification_transport(conf, url='fake:/')
    sender = outbox.Sender(manager.core, 'this manager', transport)
    fan_out.fan_out(manager.core, manager.clock())
    assert sender.flush(manager.clock()) == 4
    assert acts.news(manager) == []
    assert sender.flush(manager.clock()) == 0


def test_cleaning_time_is_kept_free_after_a_lease(conf, database, clock):
    conf.set_override('cleaning_minutes', 10, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    manager.book()
    for early in (0, 9):
        with pytest.raises(errors.NotEnough):
            manager.book(start=NOON + hours(1) + minutes(early), end=NOON + hours(2))
    manager.book(start=NOON + hours(1) + minutes(10), end=NOON + hours(2))


@pytest.mark.parametrize('grace', [0, 60])
def test_an_early_end_frees_its_hosts_only_when_they_are_free(conf, database, clock, grace):
    conf.set_override('delete_seconds', 30, group='simulated')
    conf.set_override('release_grace_seconds', grace, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(9))
    manager.cloud.boot('demo', 'one', {'reservation': lease.reservations[0].id})
    clock.advance(minutes(10))
    manager.change(lease, end_now=True)
    manager.run()
    with pytest.raises(errors.NotEnough):
        manager.book(end=NOON + hours(2))
    later = manager.book(start=clock() + minutes(2), end=NOON + hours(2))
    manager.expect(lease, lifecycle.TERMINATED, clock() + minutes(3))
    assert manager.lease(later).state == lifecycle.ACTIVE


def test_a_host_with_servers_or_with_half_a_name_is_not_enrolled(manager):
    admin = builders.an_admin()
    manager.cloud.boot('demo', 'one', host='compute-1')
    with pytest.raises(errors.ResourceInUse):
        manager.client.create_resource(admin, 'host', 'compute-1', {})
    with pytest.raises(errors.ResourceNotFound):
        manager.client.create_resource(admin, 'host', 'compute', {})
    assert manager.client.list_resources(admin, 'host') == []


def test_a_host_to_which_a_server_is_on_its_way_is_not_enrolled(manager):
    admin = builders.an_admin()
    manager.core.conf.set_override('migrate_seconds', 60, group='simulated')
    server = manager.cloud.boot('demo', 'one', host='compute-1', flavor='1')
    manager.run()
    manager.cloud.as_service().servers.migrate(server.id, 'compute-2')
    with pytest.raises(errors.ResourceInUse) as refused:
        manager.client.create_resource(admin, 'host', 'compute-2', {})
    assert 'moved to it (1)' in refused.value.message
    # It may come back, if the move fails.
    with pytest.raises(errors.ResourceInUse):
        manager.client.create_resource(admin, 'host', 'compute-1', {})
    manager.clock.advance(minutes(2))
    with pytest.raises(errors.ResourceInUse) as refused:
        manager.client.create_resource(admin, 'host', 'compute-2', {})
    assert 'servers run on it (1)' in refused.value.message
    manager.client.create_resource(admin, 'host', 'compute-1', {})
    assert acts.freepool(manager) == ('compute-1',)


def test_a_server_that_is_sent_to_a_host_while_it_is_enrolled_is_found(manager):
    manager.core.conf.set_override('migrate_seconds', 60, group='simulated')
    server = manager.cloud.boot('demo', 'one', host='compute-1', flavor='1')
    cloud_points.once_at(
        manager.cloud, 'nova.add_host',
        lambda: manager.cloud.as_service().servers.migrate(server.id, 'compute-2'))
    with pytest.raises(errors.ResourceInUse):
        manager.client.create_resource(builders.an_admin(), 'host', 'compute-2', {})
    assert acts.freepool(manager) == ()


def test_a_property_that_a_lease_asked_for_stays_until_it_is_over(manager):
    admin = builders.an_admin()
    [host] = manager.enrol(1, rack='7')
    manager.book(builders.hosts(1, criteria='["=", "$rack", "7"]'))
    with pytest.raises(errors.PropertyInUse):
        manager.client.update_resource(admin, 'host', host.id, {'rack': None})
    manager.client.update_resource(admin, 'host', host.id, {'row': '1'})
    manager.run_until(NOON + hours(2))
    changed = manager.client.update_resource(admin, 'host', host.id, {'rack': None})
    assert changed.properties == {'row': '1'}


def test_a_start_that_fails_says_why_until_it_succeeds(manager):
    manager.enrol(1)
    manager.cloud.fail('nova.add_host', 3, acts.NO)
    lease = manager.book(end=NOON + hours(2))
    manager.run()
    failing = manager.lease(lease)
    assert failing.reason.startswith('The start failed and is tried again: ')
    assert failing.reason.endswith('Nova: no')
    assert failing.task == 'start'
    manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(30))
    assert manager.lease(lease).reason is None


def test_a_start_that_is_given_up_does_not_say_that_it_is_tried_again(manager):
    manager.enrol(1)
    manager.cloud.fail('nova.add_host', 999, acts.NO)
    lease = manager.book(end=NOON + hours(2))
    manager.expect(lease, lifecycle.ERROR, NOON + hours(1))
    assert 'is tried again' not in manager.lease(lease).reason


def test_a_failure_with_another_request_id_is_not_noted_again(manager):
    manager.enrol(1)
    for number in range(1, 4):
        manager.cloud.fail('nova.add_host', 1, errors.CloudError(service='Nova', reason=(
            f'no (Request-ID: req-{uuid.UUID(int=number)}, 2030-05-0{number} 12:00:00)')))
    lease = manager.book(end=NOON + hours(2))
    manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(30))
    assert acts.history(manager, lease).count('start_lease failed') == 1
