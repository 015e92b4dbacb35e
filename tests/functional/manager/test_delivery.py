# SPDX-License-Identifier: Apache-2.0
"""Notifications reach real receivers at least once, over every crash of a manager."""
import dataclasses
import threading

import acts
import prometheus_client
import pytest
import sqlalchemy as sa
from support import builders
from support import loopback
from support import receivers
from support.delivery_rounds import deliver
from support.delivery_rounds import log
from support.delivery_rounds import subscribe

from climate.db import deliveries
from climate.db import journal
from climate.db import tables
from climate.domain import notifications
from climate.domain import subscriptions
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.events import clock_watch
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.notifiers import webhook

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def test_notifications_of_a_lease_arrive_in_order(manager, hooks):
    subscribe(manager, hooks.url)
    lease = manager.active(acts.dummy(), end=NOON + hours(2))
    manager.run_until(NOON + hours(2))
    deliver(manager)
    assert [each['kind'] for each in hooks.bodies] == ['change', 'start', 'end']
    assert {each['lease']['id'] for each in hooks.bodies} == {lease.id}
    assert hooks.bodies[1]['lease']['status'] == 'active'
    deliver(manager)
    assert len(hooks.requests) == 3


def test_a_notification_reaches_only_the_concerned_subscribers(manager, hooks):
    subscribe(manager, hooks.url, caller=builders.a_member('ann'))
    whole = subscribe(manager, hooks.url, caller=builders.a_member('ann'), scope='project')
    subscribe(manager, hooks.url, caller=builders.a_member('eve', 'other'), scope='project')
    manager.active(acts.dummy(), end=NOON + hours(2))
    deliver(manager)
    assert {each['subscription_id'] for each in hooks.bodies} == {whole.id}


@pytest.mark.proof
def test_each_reminder_is_sent_once_even_after_an_outage(manager, hooks):
    manager.book(acts.dummy(), end=NOON + hours(30))
    subscribe(manager, hooks.url, events=(), before_end=(86400, 3600))
    manager.book(acts.dummy(), end=NOON + minutes(30))
    for moment in (hours(5), hours(6), hours(6), hours(29.5), hours(29.6)):
        manager.clock.now = NOON + moment
        for owner in ('one', 'another'):
            deliver(manager, owner)
    assert [each['seconds_before_end'] for each in hooks.bodies] == [86400, 3600]
    assert [each['at'][11:16] for each in hooks.bodies] == ['18:00', '17:00']


def test_a_prolonged_lease_has_reminders_before_its_new_end(manager, hooks):
    lease = manager.active(acts.dummy(), end=NOON + hours(2))
    subscribe(manager, hooks.url, events=(), before_end=(3600,))
    manager.clock.now = NOON + hours(1)
    deliver(manager)
    acts.update(manager, lease, end=NOON + hours(9)) if hasattr(acts, 'update') else (
        manager.client.update_lease(builders.a_member(), lease.id, builders.records.LeaseChanges(
            end=NOON + hours(9))))
    manager.clock.now = NOON + hours(8)
    deliver(manager)
    assert len({each['id'] for each in hooks.bodies}) == len(hooks.bodies) == 2


def test_a_receiver_that_fails_is_tried_after_growing_pauses_in_order(manager, hooks):
    found = subscribe(manager, hooks.url)
    hooks.statuses = [500, 500]
    manager.active(acts.dummy(), end=NOON + hours(2))
    for moment in (0, 1, 29, 30, 31, 89, 90):
        manager.clock.now = NOON + builders.seconds(moment)
        deliver(manager)
    assert [each['kind'] for each in hooks.bodies] == ['change', 'change', 'change', 'start']
    assert len({each['id'] for each in hooks.bodies}) == 2
    assert [each.state for each in log(manager, found)] == [notifications.DELIVERED] * 2
    assert log(manager, found)[1].attempts == 3


def test_deliveries_behind_a_failure_are_neither_sent_nor_written(manager, hooks, database):
    for _ in range(2):
        subscribe(manager, hooks.url)
    manager.active(acts.dummy())
    hooks.statuses = [500, 500]
    fan_out.fan_out(manager.core, manager.clock())
    before = next_moments(database)
    deliver(manager)
    after = next_moments(database)
    assert len(hooks.requests) == 2
    # One delivery of each subscription waits longer now; the others are as they were.
    assert len(before.items() - after.items()) == 2
    manager.clock.advance(minutes(1))
    with database.reader() as connection:
        waiting = deliveries.due(connection, 'webhook', manager.clock(), 10)
        of_one = deliveries.due(connection, 'webhook', manager.clock(), 1)
        assert deliveries.due(connection, 'mail', manager.clock(), 10) == []
    due = [each.id for each in notifications.sendable(waiting, manager.clock())]
    assert len(due) == 2 and {each.subscription_id for each in of_one} == {
        waiting[0].subscription_id}
    until = manager.clock() + hours(1)
    with database.writer() as connection:
        [claimed, _] = deliveries.claim(connection, due, 'one', manager.clock(), until)
    # Another manager that saw them due, too, gets none of them.
    with database.writer() as connection:
        assert deliveries.claim(connection, due, 'two', manager.clock(), until) == []
        assert deliveries.delivered(connection, [claimed], 'two', manager.clock()) == 0
        assert deliveries.delivered(connection, [claimed], 'one', manager.clock()) == 1
    with database.reader() as connection:
        [following] = notifications.sendable(
            deliveries.due(connection, 'webhook', manager.clock(), 10), manager.clock())
    assert following.id not in due


def test_a_pass_ends_although_more_is_due(manager, hooks):
    subscribe(manager, hooks.url)
    manager.active(acts.dummy())
    fan_out.fan_out(manager.core, manager.clock())
    own = [0]
    hooks.before = lambda: own.append(own[-1] + 20)
    core = dataclasses.replace(manager.core, monotonic=lambda: own[-1])
    deliverer = delivery.Deliverer(core, 'this manager', 'webhook',
                                   webhook.Webhook(manager.core.conf, loopback.resolve))
    assert [deliverer.deliver(manager.clock()) for _ in range(3)] == [1, 1, 0]


def test_a_slow_receiver_does_not_delay_the_others(manager, conf, tmp_path, hooks):
    context, authority = receivers.certificate(tmp_path, receivers.NAME)
    conf.set_override('ca_file', authority, group='webhook')
    with receivers.hooks(context) as slow, receivers.hooks(context) as quick:
        made = [subscribe(manager, each.url) for each in (slow, quick)]
        manager.active(acts.dummy())
        manager.active(acts.dummy())
        quick_has_all = threading.Event()
        quick.before = lambda: quick_has_all.set() if len(quick.requests) == 4 else None
        # Longer than a receiver may take, unless the other one gets all meanwhile.
        slow.before = lambda: quick_has_all.wait(20)
        deliver(manager)
    for each in made:
        assert [entry.state for entry in log(manager, each)] == [notifications.DELIVERED] * 4


def next_moments(database):
    """Return {id: when it is tried next} of all deliveries."""
    with database.reader() as connection:
        return {each.id: each.next_at for each in connection.execute(
            sa.select(tables.DELIVERIES.c.id, tables.DELIVERIES.c.next_at))}


@pytest.mark.proof
def test_a_notification_is_given_up_with_its_reason_after_some_days(manager, hooks, conf):
    conf.set_override('failure_limit', 1000, group='notifications')
    found = subscribe(manager, hooks.url, events=('start',))
    hooks.statuses = [503] * 1000
    manager.active(acts.dummy(), end=NOON + hours(200))
    for hour in range(76):
        manager.clock.now = NOON + hours(hour)
        deliver(manager)
    [entry] = log(manager, found)
    assert (entry.state, entry.reason) == (notifications.GIVEN_UP, 'The receiver answered 503.')


def test_a_subscription_with_many_failures_is_switched_off_and_its_user_notified(
        manager, hooks, conf, tmp_path):
    conf.set_override('failure_limit', 3, group='notifications')
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context) as box:
        receivers.use_mail(conf, box, authority)
        made = builders.Manager(conf, manager.database, manager.clock, cloud=manager.cloud)
        found = subscribe(made, hooks.url)
        subscribe(made, 'ann@example.org', transport='mail', events=())
        hooks.statuses = [500] * 9
        made.active(acts.dummy(), end=NOON + hours(2))
        for minute in range(8):
            made.clock.now = NOON + minutes(minute)
            deliver(made)
        assert len(hooks.requests) == 3
        [told] = box.mails
    off = made.client.get_subscription(builders.a_member(), found.id)
    assert not off.enabled
    assert 'switched off after 3 failures. The last one: The receiver answered 500' in off.reason
    assert told['Subject'] == 'A subscription was switched off'
    assert found.id in told.get_body(('plain',)).get_content()
    assert {each.state for each in log(made, found)} == {notifications.GIVEN_UP}


def test_a_mail_server_that_is_down_blames_no_subscription(manager, conf):
    conf.set_override('host', '127.0.0.1', group='mail')
    conf.set_override('port', builders.a_free_port(), group='mail')
    conf.set_override('failure_limit', 1, group='notifications')
    made = builders.Manager(conf, manager.database, manager.clock, cloud=manager.cloud)
    found = subscribe(made, 'ann@example.org', transport='mail')
    made.active(acts.dummy(), end=NOON + hours(2))
    for minute in range(5):
        made.clock.now = NOON + minutes(minute)
        deliver(made)
    assert made.client.get_subscription(builders.a_member(), found.id).enabled
    assert {each.state for each in log(made, found)} == {notifications.WAITING}
    assert 'mail server cannot be used' in log(made, found)[-1].reason


def test_metrics_count_waiting_deliveries_and_results_of_attempts(manager, hooks):
    subscribe(manager, hooks.url, events=('start', 'end'))
    hooks.statuses = [500, 410]
    manager.active(acts.dummy(), end=NOON + hours(2))
    manager.run_until(NOON + hours(2))
    fan_out.fan_out(manager.core, manager.clock())
    webhooks = delivery.Deliverer(manager.core, 'this manager', 'webhook',
                                  webhook.Webhook(manager.core.conf, loopback.resolve))
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(
        manager.core, manager.event_loop, schedule.AuditSchedule(manager.core, 'this manager'),
        clock_watch.ClockWatch(manager.core, 'this manager'), [webhooks]))

    def shown():
        return {line.removeprefix('climate_notifications_').replace('transport="webhook"', '')
                for line in prometheus_client.generate_latest(registry).decode().splitlines()}
    manager.clock.now = NOON + hours(3)
    assert {'waiting{} 2.0', 'oldest_seconds{} 10800.0',
            'attempts_total{result="failed",} 0.0'} <= shown()
    for _ in range(3):
        webhooks.deliver(manager.clock.advance(minutes(5)))
    assert {'waiting{} 0.0', 'oldest_seconds{} 0.0', 'attempts_total{result="failed",} 1.0',
            'attempts_total{result="given_up",} 1.0',
            'attempts_total{result="delivered",} 1.0'} <= shown()


def test_a_subscription_deleted_during_its_delivery_gets_no_result(manager, hooks):
    found = subscribe(manager, hooks.url)
    manager.active(acts.dummy(), end=NOON + hours(2))
    hooks.statuses = [500]
    hooks.before = lambda: manager.client.delete_subscription(builders.a_member(), found.id)
    deliver(manager)
    hooks.before = lambda: None
    deliver(manager)
    assert len(hooks.requests) == 1


def test_failures_are_counted_although_the_subscription_is_changed_meanwhile(manager, hooks):
    found = subscribe(manager, hooks.url)
    manager.active(acts.dummy(), end=NOON + hours(2))
    hooks.statuses = [500, 500]
    for minute in (0, 1):
        manager.clock.now = NOON + minutes(minute)
        hooks.before = lambda: manager.client.update_subscription(
            builders.a_member(), found.id, subscriptions.SubscriptionChanges(name='another'))
        deliver(manager)
    [shown] = manager.client.list_subscriptions(
        builders.a_member(), subscriptions.SubscriptionQuery())
    assert (shown.failures, shown.name) == (2, 'another')


def test_leases_are_sent_together_and_notifications_of_one_lease_in_order(manager, hooks):
    subscribe(manager, hooks.url)
    leases = [manager.active(acts.dummy()) for _ in range(3)]
    under_way = threading.Barrier(3)
    # The answers come only when a notification of each lease is under way.
    hooks.before = lambda: under_way.wait(20)
    deliver(manager)
    for lease in leases:
        assert [each['kind'] for each in hooks.bodies if each['lease']['id'] == lease.id] == [
            'change', 'start']
    assert len(hooks.bodies) == 6


def test_failures_at_the_same_time_count_once_and_then_one_notification_is_tried(manager, hooks):
    found = subscribe(manager, hooks.url)
    for _ in range(3):
        manager.active(acts.dummy())
    hooks.statuses = [500] * 3
    under_way = threading.Barrier(3)
    hooks.before = lambda: under_way.wait(20)
    deliver(manager)
    assert manager.client.get_subscription(builders.a_member(), found.id).failures == 1
    hooks.before, hooks.statuses = (lambda: None), [500]
    manager.clock.advance(minutes(1))
    deliver(manager)
    assert len(hooks.requests) == 4
    manager.clock.advance(minutes(5))
    deliver(manager)
    assert len(hooks.requests) == 10
    kinds = {}
    for each in hooks.bodies[4:]:
        kinds.setdefault(each['lease']['id'], []).append(each['kind'])
    assert set(map(tuple, kinds.values())) == {('change', 'start')}


def test_two_managers_never_copy_notifications_at_the_same_time(manager, hooks, database):
    if database.dialect == 'sqlite':
        pytest.skip('SQLite has one writer.')
    subscribe(manager, hooks.url)
    manager.active(acts.dummy())
    with database.writer() as one:
        first = journal.lock_not_fanned_out(one, 1)
        with database.writer() as other:
            assert len(first) == 1 and journal.lock_not_fanned_out(other, 10) == []


def test_a_pass_that_lingers_sends_what_a_commit_adds(manager, hooks):
    subscribe(manager, hooks.url, events=('start',))
    deliverer = delivery.Deliverer(manager.core, 'this manager', 'webhook',
                                   webhook.Webhook(manager.core.conf, loopback.resolve))
    first, second = manager.active(acts.dummy()), []

    def may_go_on(now):
        if not second:
            second.append(manager.active(acts.dummy()))
            fan_out.fan_out(manager.core, now)
        return len(hooks.requests) < 2
    fan_out.fan_out(manager.core, manager.clock())
    assert deliverer.deliver(manager.clock(), may_go_on, linger_seconds=60) == 2
    assert [each['lease']['id'] for each in hooks.bodies] == [first.id, second[0].id]
