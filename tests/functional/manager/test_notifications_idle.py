# SPDX-License-Identifier: Apache-2.0
"""Owners of idle leases are notified by mail, by webhook and in their calendars."""
import pytest
from support import builders
from support import delivery_rounds
from support import receivers
import vobject

from climate.api import subscription_views
from climate.manager.idle import detection

NOON, hours = builders.NOON, builders.hours
# A new week begins on Monday, 2030-05-06.
TO_MONDAY = 109


@pytest.fixture
def conf(conf):
    for name, value in {'sample_minutes': 60, 'idle_hours': 2, 'idle_grace_hours': 200,
                        'action': 'end'}.items():
        conf.set_override(name, value, group='idle')
    return conf


@pytest.fixture
def box(tmp_path, conf):
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context) as found:
        receivers.use_mail(conf, found, authority)
        yield found


@pytest.fixture
def idle(manager, box, hooks):
    """A lease of ann that is idle since noon; ann and a colleague subscribed."""
    manager.enrol(2)
    for user in ('ann', 'ben'):
        delivery_rounds.subscribe(manager, f'{user}@example.org', ('idle',), transport='mail',
                                  caller=builders.a_member(user))
    delivery_rounds.subscribe(manager, hooks.url, ('idle',), caller=builders.a_member('ann'))
    lease = manager.create(builders.a_lease(end=NOON + hours(400), name='farm <1>'),
                           builders.a_member('ann'))
    manager.run()
    look(manager, NOON)
    return lease


def look(manager, *moments):
    for moment in moments:
        manager.run_until(moment)
        detection.IdleDetection(manager.core, 'this manager').step(manager.clock())
    delivery_rounds.deliver(manager)


def text(mail, kind='plain'):
    return mail.get_body((kind,)).get_content()


def test_the_owner_of_an_idle_lease_is_notified_of_the_time_of_reclaim(
        manager, idle, box, hooks):
    look(manager, *(NOON + hours(each) for each in (1, 2, 3)))
    delivery_rounds.deliver(manager)
    [mail], [body] = box.mails, hooks.bodies
    assert (mail['To'], mail['Subject']) == ('ann@example.org', 'Lease farm <1> is hardly used')
    assert 'Idle:     since 2030-05-01 12:00 UTC' in text(mail)
    assert 'Unused resources will be reclaimed at 2030-05-09 22:00 UTC' in text(mail)
    assert 'farm &lt;1&gt;' in text(mail, 'html')
    assert 'will be reclaimed at 2030-05-09 22:00 UTC' in text(mail, 'html')
    assert (body['kind'], body['headline']) == ('idle', mail['Subject'])
    assert body['lease']['idle_since'] == '2030-05-01T12:00:00+00:00'
    assert body['lease']['reclaim_at'] == '2030-05-09T22:00:00+00:00'


@pytest.mark.proof
def test_the_weekly_summary_has_all_idle_leases_of_its_reader(manager, idle, box, hooks):
    look(manager, *(NOON + hours(each) for each in (1, 2, 3)))
    box.mails.clear(), hooks.requests.clear()
    look(manager, *(NOON + hours(each) for each in range(4, TO_MONDAY)))
    delivery_rounds.deliver(manager)
    [mail], [body] = box.mails, hooks.bodies
    assert (mail['To'], mail['Subject']) == ('ann@example.org', 'Leases that are hardly used: 1')
    assert f'- farm <1> ({idle.id}): idle since 2030-05-01 12:00 UTC' in text(mail)
    assert 'Lease:' not in text(mail) and '[{' not in text(mail)
    assert '<td>2030-05-01 12:00 UTC</td>' in text(mail, 'html')
    assert (body['lease'], body['event_type']) == (None, 'project.idle_summary')
    [entry] = body['details']['leases']
    assert (entry['id'], entry['name']) == (idle.id, 'farm <1>')


def test_the_owner_is_notified_of_a_reclaimed_lease(manager, idle, box, hooks):
    manager.core.conf.set_override('idle_grace_hours', 1, group='idle')
    look(manager, *(NOON + hours(each) for each in (1, 2, 3, 4)))
    assert [(each['event_type'], each['headline']) for each in hooks.bodies] == [
        ('lease.idle', 'Lease farm <1> is hardly used'),
        ('lease.reclaim', 'Lease farm <1> was ended or made smaller because it was idle')]
    assert [each['Subject'] for each in box.mails] == [each['headline'] for each in hooks.bodies]


def test_a_calendar_shows_when_an_idle_lease_is_reclaimed(manager, idle):
    hash_of = 'a' * 64
    request = delivery_rounds.subscriptions.SubscriptionRequest(
        scope='own', transport='calendar', address=None, events=(), before_end=(), secret=hash_of)
    manager.client.create_subscription(builders.a_member('ann'), request)

    def shown():
        found = manager.client.get_calendar(builders.a_member('ann'), hash_of)
        read = vobject.readOne(subscription_views.calendar(found).decode())
        return {each.uid.value: each for each in read.vevent_list}
    assert shown().keys() == {f'{idle.id}@climate'}
    look(manager, *(NOON + hours(each) for each in (1, 2, 3)))
    events = shown()
    taken = events[f'{idle.id}-reclaim@climate']
    assert taken.dtstart.value == NOON + hours(202)
    assert taken.summary.value == 'Idle lease farm <1> is reclaimed'
    assert 'Idle since 2030-05-01T12:00:00Z' in events[f'{idle.id}@climate'].description.value
