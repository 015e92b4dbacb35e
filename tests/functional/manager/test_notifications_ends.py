# SPDX-License-Identifier: Apache-2.0
"""Owners are notified of each end of a lease, and never that it ends soon after that."""
import acts
import pytest
from support import builders
from support import delivery_rounds
from support import receivers

from climate.domain import notification_kinds
from climate.domain import notifications
from climate.manager.notifications import subscriptions
from climate.manager.pools import refresh

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN = builders.an_admin()


@pytest.fixture
def hooks(tmp_path, conf):
    with delivery_rounds.hooks(tmp_path, conf) as found:
        yield found


def usual(manager, hooks, **more):
    return delivery_rounds.subscribe(manager, hooks.url, events=notification_kinds.USUAL, **more)


def headlines(hooks):
    return [each['headline'] for each in hooks.bodies]


@pytest.mark.parametrize('start', [None, NOON + hours(1)], ids=['running', 'future'])
def test_the_owner_of_a_lease_that_an_administrator_deletes_is_notified_once(manager, hooks, start):
    manager.enrol(1)
    usual(manager, hooks)
    lease = manager.book(builders.hosts(1), start=start, end=NOON + hours(9))
    manager.run()
    manager.client.delete_lease(ADMIN, lease.id)
    manager.run()
    delivery_rounds.deliver(manager)
    assert headlines(hooks)[-1] == 'Lease a lease was deleted'
    assert [each['kind'] for each in hooks.bodies].count('end') == 1


def test_a_lease_that_is_deleted_after_its_end_has_ended_once(manager, hooks):
    usual(manager, hooks)
    lease = manager.active(acts.dummy(), end=NOON + hours(1))
    manager.run_until(NOON + hours(2))
    manager.client.delete_lease(ADMIN, lease.id)
    manager.run()
    delivery_rounds.deliver(manager)
    assert [each['kind'] for each in hooks.bodies] == ['start', 'end']


@pytest.mark.parametrize('how', ['ended now', 'deleted', 'over during an outage'])
def test_no_reminder_follows_the_end(manager, hooks, how):
    usual(manager, hooks, before_end=(60, 3600))
    lease = manager.active(acts.dummy(), end=NOON + hours(3))
    delivery_rounds.deliver(manager)
    if how == 'ended now':
        manager.run_until(NOON + hours(1))
        manager.change(lease, end_now=True)
    elif how == 'deleted':
        manager.run_until(NOON + hours(2.01))
        manager.delete(lease)
    manager.run_until(NOON + hours(4))
    delivery_rounds.deliver(manager)
    kinds = [each['kind'] for each in hooks.bodies]
    assert kinds[-1] == 'end'
    assert 'before_end' not in kinds


def test_a_reminder_that_waits_for_its_receiver_is_given_up_at_the_end(manager, hooks):
    found = usual(manager, hooks, before_end=(3600,))
    lease = manager.active(acts.dummy(), end=NOON + hours(3))
    delivery_rounds.deliver(manager)
    hooks.statuses = [503]
    manager.run_until(NOON + hours(2))
    delivery_rounds.deliver(manager)
    manager.delete(lease)
    manager.run()
    manager.clock.advance(minutes(5))
    delivery_rounds.deliver(manager)
    assert headlines(hooks)[-1] == 'Lease a lease was deleted'
    assert {each.kind: each.state for each in delivery_rounds.log(manager, found)}[
        'before_end'] == notifications.GIVEN_UP


def test_a_full_calendar_shows_current_and_future_leases_first(manager, monkeypatch):
    monkeypatch.setattr(subscriptions, '_MOST_LEASES', 4)
    delivery_rounds.subscribe(manager, None, events=(), transport='calendar')
    ended = [manager.active(acts.dummy(), end=NOON + hours(1 + place))
             for place in range(5)]
    manager.run_until(NOON + hours(6))
    current = [manager.book(
        acts.dummy(), start=start, end=NOON + hours(9)) for start in (None, NOON + hours(8))]
    shown = subscriptions.SubscriptionRequests(manager.core).calendar('the-key')
    assert [each.id for each in shown.leases] == [
        ended[3].id, ended[4].id, *sorted(each.id for each in current)]


def test_a_relay_that_defers_all_mail_switches_no_subscription_off(manager, conf, tmp_path):
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context) as box:
        for name, value in {'host': 'localhost', 'port': box.port, 'ca_file': authority,
                            'username': 'climate', 'password': 'pass-word',
                            'sender': 'climate@example.org'}.items():
            conf.set_override(name, value, group='mail')
        conf.set_override('failure_limit', 2, group='notifications')
        found = delivery_rounds.subscribe(manager, 'ann@example.org', transport='mail')
        manager.active(acts.dummy(), end=NOON + hours(90))
        box.refusals = ['451 Try again later.'] * 6
        for _ in range(8):
            delivery_rounds.deliver(manager)
            manager.clock.advance(hours(1.5))
        shown = manager.client.get_subscription(builders.a_member(), found.id)
        assert (shown.enabled, shown.failures) == (True, 0)
        assert len(box.mails) == 2


def test_the_owner_of_a_running_lease_on_a_broken_host_is_notified_at_the_next_health_check(
        manager, hooks):
    first, _ = manager.enrol(2)
    usual(manager, hooks)
    lease = manager.active(end=NOON + hours(9))
    refresher = refresh.Refresher(manager.core, 'this manager')
    refresher.flag_leases(manager.clock())
    manager.client.set_out_of_order(ADMIN, 'host', first.id, 'a fan is broken')
    refresher.flag_leases(manager.clock())
    delivery_rounds.deliver(manager)
    assert manager.lease(lease).degraded
    assert [each['kind'] for each in hooks.bodies] == ['start', 'sick']
    manager.client.swap_resource(builders.a_member(), lease.id, first.name)
    manager.run()
    assert not manager.lease(lease).degraded
    assert not manager.lease(lease).reservations[0].missing_resources
    assert 'restored' in acts.history(manager, lease)
