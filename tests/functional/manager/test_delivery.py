# SPDX-License-Identifier: Apache-2.0
"""Notifications reach real receivers at least once, over every crash of a manager."""
import dataclasses
import ipaddress
import socket

import acts
import builders
import pytest
import receivers
import sqlalchemy as sa

from climate.db import deliveries
from climate.db import tables
from climate.domain import subscriptions
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.manager.notifications import reminders
from climate.notifiers import mail
from climate.notifiers import webhook

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def resolve(host, port, type):
    return [(socket.AF_INET, type, 6, '', ('127.0.0.1', port))]


@pytest.fixture
def hooks(tmp_path, conf):
    context, authority = receivers.certificate(tmp_path, receivers.NAME)
    conf.set_override('ca_file', authority, group='webhook')
    conf.set_override('allowed_networks', [ipaddress.ip_network('127.0.0.1/32')],
                      group='webhook')
    with receivers.hooks(context) as found:
        yield found


def subscribe(manager, address, events=('start', 'end', 'change'), before_end=(),
              transport='webhook', scope='own', caller=None):
    return manager.client.create_subscription(
        caller or builders.a_member(), subscriptions.Request(
            scope=scope, transport=transport, address=address, events=events,
            before_end=before_end, secret='the-key'))


def deliver(manager, owner='this manager', clock=None):
    """Let a manager do once what it does each second."""
    now = manager.clock()
    fan_out.fan_out(manager.core, now)
    reminders.remind(manager.core, now)
    delivery.Deliverer(manager.core, owner, 'webhook',
                       webhook.Webhook(manager.core.conf, resolve)).deliver(now)
    delivery.Deliverer(manager.core, owner, 'mail', mail.Mail(manager.core.conf)).deliver(now)


def log(manager, found):
    return manager.client.subscription_log(builders.a_member(), found.id)


def test_the_life_of_a_lease_is_told_in_order(manager, hooks):
    subscribe(manager, hooks.url)
    lease = acts.active(manager, acts.dummy(), end=NOON + hours(2))
    manager.run_until(NOON + hours(2))
    deliver(manager)
    assert [each['kind'] for each in hooks.bodies] == ['change', 'start', 'end']
    assert {each['lease']['id'] for each in hooks.bodies} == {lease.id}
    assert hooks.bodies[1]['lease']['status'] == 'active'
    deliver(manager)
    assert len(hooks.requests) == 3


def test_only_those_whom_it_concerns_are_told(manager, hooks):
    subscribe(manager, hooks.url, caller=builders.a_member('ann'))
    whole = subscribe(manager, hooks.url, caller=builders.a_member('ann'), scope='project')
    subscribe(manager, hooks.url, caller=builders.a_member('eve', 'other'), scope='project')
    acts.active(manager, acts.dummy(), end=NOON + hours(2))
    deliver(manager)
    assert {each['subscription_id'] for each in hooks.bodies} == {whole.id}


def test_several_moments_before_the_end_are_told_once_also_after_an_outage(manager, hooks):
    manager.create(builders.a_lease(acts.dummy(), end=NOON + hours(30)))
    subscribe(manager, hooks.url, events=(), before_end=(86400, 3600))
    manager.create(builders.a_lease(acts.dummy(), end=NOON + minutes(30)))
    for moment in (hours(5), hours(6), hours(6), hours(29.5), hours(29.6)):
        manager.clock.now = NOON + moment
        for owner in ('one', 'another'):
            deliver(manager, owner)
    assert [each['seconds_before_end'] for each in hooks.bodies] == [86400, 3600]
    assert [each['at'][11:16] for each in hooks.bodies] == ['18:00', '17:00']


def test_a_prolonged_lease_is_told_of_again_before_its_new_end(manager, hooks):
    lease = acts.active(manager, acts.dummy(), end=NOON + hours(2))
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
    acts.active(manager, acts.dummy(), end=NOON + hours(2))
    for moment in (0, 1, 29, 30, 31, 89, 90):
        manager.clock.now = NOON + builders.seconds(moment)
        deliver(manager)
    assert [each['kind'] for each in hooks.bodies] == ['change', 'change', 'change', 'start']
    assert len({each['id'] for each in hooks.bodies}) == 2
    assert [each.state for each in log(manager, found)] == [subscriptions.DELIVERED] * 2
    assert log(manager, found)[1].attempts == 3


def test_what_waits_behind_a_failure_is_neither_sent_nor_written(manager, hooks, database):
    for _ in range(2):
        subscribe(manager, hooks.url)
    acts.active(manager, acts.dummy())
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
        due = deliveries.due(connection, 'webhook', manager.clock(), 10)
        only = deliveries.due(connection, 'webhook', manager.clock(), 1)
        assert deliveries.due(connection, 'mail', manager.clock(), 10) == []
    assert len(due) == 2 and only == due[:1]
    until = manager.clock() + hours(1)
    with database.writer() as connection:
        [claimed, _] = deliveries.claim(connection, due, 'one', manager.clock(), until)
    # Another manager that saw them due, too, gets none of them.
    with database.writer() as connection:
        assert deliveries.claim(connection, due, 'two', manager.clock(), until) == []
        deliveries.change(connection, claimed.id, state=subscriptions.DELIVERED, next_at=None)
    with database.reader() as connection:
        [following] = deliveries.due(connection, 'webhook', manager.clock(), 10)
    assert following not in due


def test_a_pass_ends_before_its_claims_are_old(manager, hooks):
    subscribe(manager, hooks.url)
    acts.active(manager, acts.dummy())
    fan_out.fan_out(manager.core, manager.clock())
    own = [0]
    hooks.before = lambda: own.append(own[-1] + 40)
    core = dataclasses.replace(manager.core, monotonic=lambda: own[-1])
    deliverer = delivery.Deliverer(core, 'this manager', 'webhook',
                                   webhook.Webhook(manager.core.conf, resolve))
    acts.active(manager, acts.dummy())
    fan_out.fan_out(manager.core, manager.clock())
    # Four wait. Each takes 40 seconds, and claims of later passes count from later moments.
    assert [deliverer.deliver(manager.clock()) for _ in range(3)] == [2, 2, 0]


def next_moments(database):
    """Return {id: when it is tried next} of all deliveries."""
    with database.reader() as connection:
        return {each.id: each.next_at for each in connection.execute(
            sa.select(tables.DELIVERIES.c.id, tables.DELIVERIES.c.next_at))}


def test_a_notification_is_given_up_with_its_reason_after_some_days(manager, hooks, conf):
    conf.set_override('failure_limit', 1000, group='notifications')
    found = subscribe(manager, hooks.url, events=('start',))
    hooks.statuses = [503] * 1000
    acts.active(manager, acts.dummy(), end=NOON + hours(200))
    for hour in range(76):
        manager.clock.now = NOON + hours(hour)
        deliver(manager)
    [entry] = log(manager, found)
    assert (entry.state, entry.reason) == (subscriptions.GIVEN_UP, 'The receiver answered 503.')


def test_a_subscription_with_many_failures_is_switched_off_and_its_user_told_by_mail(
        manager, hooks, conf, tmp_path):
    conf.set_override('failure_limit', 3, group='notifications')
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context) as box:
        receivers.use_mail(conf, box, authority)
        made = builders.Manager(conf, manager.database, manager.clock, cloud=manager.cloud)
        found = subscribe(made, hooks.url)
        subscribe(made, 'ann@example.org', transport='mail', events=())
        hooks.statuses = [500] * 9
        acts.active(made, acts.dummy(), end=NOON + hours(2))
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
    assert {each.state for each in log(made, found)} == {subscriptions.GIVEN_UP}


def test_a_mail_server_that_is_down_blames_no_subscription(manager, conf):
    conf.set_override('host', '127.0.0.1', group='mail')
    conf.set_override('port', builders.a_free_port(), group='mail')
    conf.set_override('failure_limit', 1, group='notifications')
    made = builders.Manager(conf, manager.database, manager.clock, cloud=manager.cloud)
    found = subscribe(made, 'ann@example.org', transport='mail')
    acts.active(made, acts.dummy(), end=NOON + hours(2))
    for minute in range(5):
        made.clock.now = NOON + minutes(minute)
        deliver(made)
    assert made.client.get_subscription(builders.a_member(), found.id).enabled
    assert {each.state for each in log(made, found)} == {subscriptions.WAITING}
    assert 'mail server cannot be used' in log(made, found)[-1].reason


class Death(BaseException):
    """The process dies."""


class Crashes:
    """Lets the process die before the statement or the request with a number."""

    def __init__(self, at):
        self.left = at

    def __call__(self, *_):
        self.left -= 1
        if self.left == 0:
            raise Death


def story(manager):
    """What happens to a lease, and the moments at which a manager looks."""
    manager.create(builders.a_lease(acts.dummy(), end=NOON + hours(2)))
    manager.run_until(NOON + hours(1.5))
    manager.run_until(NOON + hours(2))


@pytest.mark.proof
def test_no_notification_is_lost_over_any_crash(conf, tmp_path, migrated, hooks):
    import shutil

    from climate.db import engine
    number, crashed = 0, True
    while crashed:
        number += 1
        path = tmp_path / f'{number}.sqlite'
        shutil.copy(migrated, path)
        database = engine.Database(f'sqlite:///{path}')
        clock = builders.Clock()
        manager = builders.Manager(conf, database, clock)
        subscribe(manager, hooks.url, before_end=(3600,))
        subscribe(manager, hooks.url, before_end=(1800,), scope='project')
        story(manager)
        hooks.requests.clear()
        crashes = Crashes(number)

        def note(_connection, _cursor, statement, *_more, crashes=crashes):
            crashes()
        sa.event.listen(sa.Engine, 'before_cursor_execute', note)
        sa.event.listen(sa.Engine, 'commit', crashes)
        try:
            deliver(manager, 'the one that dies')
            crashed = False
        except Death:
            pass
        finally:
            sa.event.remove(sa.Engine, 'before_cursor_execute', note)
            sa.event.remove(sa.Engine, 'commit', crashes)
        for _ in range(3):
            clock.advance(minutes(6))
            deliver(manager, 'another')
        kinds = sorted((each['subscription_id'], each['kind'], each['id'])
                       for each in {each['id']: each for each in hooks.bodies}.values())
        assert len(kinds) == 8, (number, kinds)
        with database.reader() as connection:
            assert connection.exec_driver_sql(
                "SELECT count(*) FROM deliveries WHERE state = 'delivered'").scalar() == 8
        database.dispose()
    assert number > 20
