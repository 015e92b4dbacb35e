# SPDX-License-Identifier: Apache-2.0
"""Users who have left a project get no more notifications of it."""
import hashlib

import acts
import pytest
from support import builders
from support import loopback
from support import receivers
from support.delivery_rounds import deliver
from support.delivery_rounds import log
from support.delivery_rounds import subscribe

from climate import errors
from climate.domain import notifications
from climate.domain import subscriptions
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.notifiers import webhook

NOON, minutes, hours = builders.NOON, builders.minutes, builders.hours
ANN, BOB = builders.a_member('ann'), builders.a_member('bob')


class Round:
    """One change in the project, and its delivery by one manager that keeps its answers."""

    def __init__(self, manager):
        self._manager = manager
        self._deliverer = delivery.Deliverer(manager.core, 'this manager', 'webhook',
                                             webhook.Webhook(manager.core.conf,
                                                             loopback.resolve))

    def __call__(self, after):
        manager = self._manager
        manager.clock.advance(after)
        manager.create(builders.a_lease(acts.dummy(), start=manager.clock(),
                                        end=manager.clock() + hours(1)), ANN)
        fan_out.fan_out(manager.core, manager.clock())
        self._deliverer.deliver(manager.clock())


def shown(manager, found):
    return manager.client.get_subscription(builders.an_admin(), found.id)


@pytest.fixture
def asked(manager):
    """The calls in which Keystone was asked for roles, as a list that grows."""
    found = []
    manager.cloud.faults.on_point = lambda name, when: (
        found.append(name) if (name, when) == ('keystone.has_role', 'after') else None)
    return found


@pytest.mark.parametrize('scope', subscriptions.SCOPES)
def test_the_subscription_of_a_user_who_left_is_switched_off(manager, hooks, scope):
    leavers = subscribe(manager, hooks.url, events=('change',), scope=scope, caller=BOB)
    stays = subscribe(manager, hooks.url, events=('change',), scope='project', caller=ANN)
    manager.cloud.leave('bob', 'demo')
    manager.create(builders.a_lease(acts.dummy()), BOB)
    deliver(manager)
    assert [each['subscription_id'] for each in hooks.bodies] == [stays.id]
    off = shown(manager, leavers)
    assert not off.enabled and 'its user has no role in the project any more' in off.reason
    assert shown(manager, stays).enabled
    [entry] = log(manager, leavers)
    assert (entry.state, entry.reason) == (
        notifications.GIVEN_UP, f'The subscription {off.reason}')


def test_a_user_who_left_another_project_is_notified_of_this_one(manager, hooks):
    subscribe(manager, hooks.url, events=('change',), scope='project', caller=BOB)
    manager.cloud.leave('bob', 'other')
    manager.create(builders.a_lease(acts.dummy()), ANN)
    deliver(manager)
    assert len(hooks.bodies) == 1


def test_a_user_who_left_gets_no_mail_about_their_disabled_webhook(
        manager, hooks, conf, tmp_path):
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context) as box:
        receivers.use_mail(conf, box, authority)
        made = builders.Manager(conf, manager.database, manager.clock, cloud=manager.cloud)
        for address, transport in ((hooks.url, 'webhook'), ('bob@example.org', 'mail')):
            subscribe(made, address, events=('change',), transport=transport, scope='project',
                      caller=BOB)
        made.cloud.delete_trustor('bob')
        made.create(builders.a_lease(acts.dummy()), ANN)
        for _ in range(2):
            deliver(made)
        assert box.mails == [] and hooks.requests == []


def test_a_returning_user_can_switch_the_subscription_on(manager, hooks):
    found = subscribe(manager, hooks.url, events=('change',), scope='project', caller=BOB)
    happens = Round(manager)
    manager.cloud.leave('bob', 'demo')
    happens(minutes(1))
    manager.cloud.join('bob', 'demo')
    manager.client.update_subscription(BOB, found.id,
                                       subscriptions.SubscriptionChanges(enabled=True))
    happens(minutes(1))
    assert len(hooks.bodies) == 1 and shown(manager, found).enabled


def test_keystone_is_asked_once_for_each_user_and_project_for_a_while(
        manager, hooks, conf, asked):
    conf.set_override('role_check_seconds', 600, group='notifications')
    for caller in (ANN, BOB, BOB):
        subscribe(manager, hooks.url, events=('change',), scope='project', caller=caller)
    happens = Round(manager)
    for _ in range(9):
        happens(minutes(1))
    assert len(hooks.bodies) == 27
    # Both subscriptions of one user may ask in the same moment.
    assert len(asked) in (2, 3)
    manager.cloud.leave('bob', 'demo')
    happens(minutes(1))
    assert len(hooks.bodies) == 30
    happens(minutes(1))
    assert len(hooks.bodies) == 31


def test_an_option_switches_off_the_check_of_roles(manager, hooks, conf, asked):
    conf.set_override('role_check_seconds', 0, group='notifications')
    subscribe(manager, hooks.url, events=('change',), scope='project', caller=BOB)
    manager.cloud.leave('bob', 'demo')
    Round(manager)(minutes(1))
    assert len(hooks.bodies) == 1 and asked == []


def test_an_outage_of_keystone_stops_no_notification_and_is_logged_once(
        manager, hooks, caplog):
    found = subscribe(manager, hooks.url, events=('change',), scope='project', caller=BOB)
    manager.cloud.leave('bob', 'demo')
    manager.cloud.fail('keystone.has_role', 1, errors.CloudUnreachable(
        service='Keystone', reason='made for this test'))
    happens = Round(manager)
    for _ in range(3):
        happens(builders.seconds(10))
    assert len(hooks.bodies) == 3 and shown(manager, found).enabled
    assert caplog.text.count('notifications are sent all the same') == 1
    happens(minutes(1))
    assert len(hooks.bodies) == 3 and not shown(manager, found).enabled


@pytest.mark.parametrize('whom', [{'user_id': 'bob'}, {'project_id': 'demo'}])
def test_a_disabled_user_or_project_gets_no_webhook_mail_or_calendar(
        manager, hooks, conf, tmp_path, whom):
    context, authority = receivers.certificate(tmp_path, 'localhost')
    secret = hashlib.sha256(b'secret').hexdigest()
    with receivers.mail_server(context) as box:
        receivers.use_mail(conf, box, authority)
        made = builders.Manager(conf, manager.database, manager.clock, cloud=manager.cloud)
        found = [subscribe(made, address, events=('change',), transport=transport,
                           scope='project', caller=BOB)
                 for address, transport in ((hooks.url, 'webhook'), ('bob@example.org', 'mail'))]
        found.append(made.client.create_subscription(BOB, subscriptions.SubscriptionRequest(
            scope='project', transport='calendar', address=None, events=(), before_end=(),
            secret=secret)))
        made.cloud.leave(**whom)
        made.create(builders.a_lease(acts.dummy()), ANN)
        deliver(made)
        with pytest.raises(errors.CalendarNotFound):
            made.client.get_calendar(ANN, secret)
        assert box.mails == [] and hooks.requests == []
    assert ['is disabled' in shown(made, each).reason for each in found] == [True] * 3
    made.cloud.join(**whom)
    made.client.update_subscription(BOB, found[2].id,
                                    subscriptions.SubscriptionChanges(enabled=True))
    assert len(made.client.get_calendar(ANN, secret).leases) == 1


def test_the_calendar_of_a_user_who_left_shows_nothing(manager):
    secret = hashlib.sha256(b'secret').hexdigest()
    found = manager.client.create_subscription(BOB, subscriptions.SubscriptionRequest(
        scope='project', transport='calendar', address=None, events=(), before_end=(),
        secret=secret))
    manager.create(builders.a_lease(acts.dummy()), ANN)
    assert len(manager.client.get_calendar(ANN, secret).leases) == 1
    manager.cloud.leave('bob', 'demo')
    manager.clock.advance(hours(1))
    with pytest.raises(errors.CalendarNotFound):
        manager.client.get_calendar(ANN, secret)
    assert 'no role in the project' in shown(manager, found).reason
