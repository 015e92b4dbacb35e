# SPDX-License-Identifier: Apache-2.0
"""Subscriptions over REST: created, shown, changed, tested, limited; calendars without a token."""
import datetime
import logging

import pytest
from support import builders
import vobject

NOON = builders.NOON
VERSION = {'version': '1.1'}
HOOK = {'transport': 'webhook', 'address': 'https://example.org/hook'}
COLLEAGUE = 'carl:demo:member,reader'


def subscribe(api, token=builders.DEMO, **fields):
    answer = api.post('/v1/subscriptions', {**HOOK, **fields}, token=token, **VERSION)
    assert answer.status_int == 201, answer.text
    return answer.json['subscription']


def calendar(api, **fields):
    answer = api.post('/v1/subscriptions', {'transport': 'calendar', **fields}, **VERSION)
    assert answer.status_int == 201, answer.text
    found = answer.json['subscription']
    return found, found['calendar_url'].removeprefix('http://localhost')


def test_a_secret_is_shown_once(api):
    made = subscribe(api, before_end=['1h', '1d', 86400])
    assert len(made['secret']) >= 40
    assert made['before_end'] == ['1d', '1h']
    assert made['events'] == ['start', 'end', 'error', 'waiting', 'idle', 'extension',
                              'limits', 'moved', 'sick', 'maintenance', 'sharing', 'series']
    place = f'/v1/subscriptions/{made["id"]}'
    shown = api.get(place, **VERSION).json['subscription']
    assert shown == {name: value for name, value in made.items() if name != 'secret'}
    assert api.get('/v1/subscriptions', **VERSION).json == {'subscriptions': [shown]}
    renewed = api.put(place, {'renew_secret': True}, **VERSION).json['subscription']
    assert renewed['secret'] != made['secret']


def test_own_subscriptions_are_hidden_from_colleagues_and_those_of_the_project_are_not(api):
    own, whole = subscribe(api), subscribe(api, scope='project')
    listed = api.get('/v1/subscriptions', token=COLLEAGUE, **VERSION).json['subscriptions']
    assert [each['id'] for each in listed] == [whole['id']]
    for token, statuses in ((COLLEAGUE, (404, 200)), (builders.STRANGER, (404, 404)),
                            (builders.ADMIN, (200, 200))):
        assert tuple(api.put(f'/v1/subscriptions/{each["id"]}', {'name': 'x'}, token=token,
                             **VERSION).status_int for each in (own, whole)) == statuses
    everything = api.get('/v1/subscriptions?all_projects=true', token=builders.ADMIN, **VERSION)
    assert len(everything.json['subscriptions']) == 2
    assert api.get('/v1/subscriptions?all_projects=true', **VERSION).status_int == 403


@pytest.mark.parametrize(('fields', 'field'), [
    ({'before_end': [0]}, 'before_end'), ({'before_end': [-1]}, 'before_end'),
    ({'before_end': ['-1h']}, 'before_end'), ({'before_end': ['36500d']}, 'before_end'),
    ({'before_end': ['10s']}, 'before_end'), ({'before_end': ['soon']}, 'before_end'),
    ({'before_end': ['1h'] * 11}, 'before_end'),
    ({'events': ['nothing']}, 'events'), ({'events': ['before_end']}, 'events'),
    ({'address': 'https://127.0.0.1/'}, 'address'), ({'address': 'https://localhost/'}, 'address'),
    ({'address': 'http://example.org/'}, 'address'), ({'transport': 'pigeon'}, 'transport'),
    ({'transport': 'mail', 'address': 'a@example.org'}, 'transport'),
    ({'transport': 'calendar'}, 'address'), ({'scope': 'world'}, 'scope'),
    ({'other': 1}, 'body'), ({'events': []}, 'events'), ({'name': 'two\r\nlines'}, 'name')])
def test_an_unusable_subscription_is_refused_with_its_field(api, fields, field):
    answer = api.post('/v1/subscriptions', {**HOOK, **fields}, **VERSION)
    assert (answer.status_int, answer.json['error_name']) == (400, 'bad_field')
    assert answer.json['details']['field'] == field


def test_a_subscription_that_would_never_tell_anything_is_refused(api):
    made = subscribe(api, events=[], before_end=['1h'])
    place = f'/v1/subscriptions/{made["id"]}'
    answer = api.put(place, {'before_end': []}, **VERSION)
    assert (answer.status_int, answer.json['details']['field']) == (400, 'events')
    assert api.put(place, {'before_end': [], 'events': ['end']}, **VERSION).status_int == 200


def test_an_unknown_or_doubled_parameter_of_the_lists_is_refused(api):
    place = f'/v1/subscriptions/{subscribe(api)["id"]}/log'
    for path in ('/v1/subscriptions', place):
        for query in ('other=1', 'limit=1&limit=2'):
            answer = api.get(f'{path}?{query}', **VERSION)
            assert (answer.status_int, answer.json['details']['field']) == (
                400, query.partition('=')[0])


def test_a_mail_address_with_a_line_break_is_refused(conf, manager):
    conf.set_override('host', 'mx', group='mail')
    api = builders.Api(conf, manager)
    for address in ('a@example.org\r\nBcc: b@example.org', 'a@example.org\n'):
        answer = api.post('/v1/subscriptions', {'transport': 'mail', 'address': address},
                          **VERSION)
        assert (answer.status_int, answer.json['details']['field']) == (400, 'address')


def test_a_project_has_a_limit(conf, api):
    conf.set_override('subscriptions_per_project', 2, group='notifications')
    first, _ = subscribe(api), subscribe(api)
    answer = api.post('/v1/subscriptions', HOOK, **VERSION)
    assert (answer.status_int, answer.json['error_name']) == (409, 'too_many_subscriptions')
    subscribe(api, token=builders.STRANGER)
    assert api.delete(f'/v1/subscriptions/{first["id"]}', **VERSION).status_int == 204
    subscribe(api)


def test_a_user_has_a_limit_in_each_project(conf, api):
    conf.set_override('subscriptions_per_user', 2, group='notifications')
    first, _ = subscribe(api), subscribe(api)
    answer = api.post('/v1/subscriptions', HOOK, **VERSION)
    assert (answer.status_int, answer.json['error_name']) == (409, 'too_many_own_subscriptions')
    subscribe(api, token='ann:demo:member,reader')
    subscribe(api, token='demo:other:member,reader')
    assert api.delete(f'/v1/subscriptions/{first["id"]}', **VERSION).status_int == 204
    subscribe(api)


def test_a_list_has_pages(api):
    made = [subscribe(api)['id'] for _ in range(5)]
    found, path = [], '/v1/subscriptions?limit=2'
    while path:
        page = api.get(path, **VERSION).json
        found += [each['id'] for each in page['subscriptions']]
        links = page.get('subscriptions_links')
        path = links and links[0]['href'].removeprefix('http://localhost')
    assert sorted(found) == sorted(made)


@pytest.mark.proof
def test_a_test_is_in_the_log_and_not_repeated_at_once(api, manager):
    made = subscribe(api)
    place = f'/v1/subscriptions/{made["id"]}'
    assert api.post(f'{place}/test', **VERSION).status_int == 202
    [entry] = api.get(f'{place}/log', **VERSION).json['log']
    assert (entry['kind'], entry['state'], entry['attempts']) == ('test', 'waiting', 0)
    again = api.post(f'{place}/test', **VERSION)
    assert (again.status_int, again.json['error_name']) == (429, 'tested_too_often')
    assert again.headers['Retry-After'] == '61'
    manager.clock.advance(builders.minutes(2))
    assert api.post(f'{place}/test', **VERSION).status_int == 202
    api.put(place, {'enabled': False}, **VERSION)
    assert {each['state'] for each in api.get(f'{place}/log', **VERSION).json['log']} == {
        'given_up'}
    off = api.post(f'{place}/test', **VERSION)
    assert (off.status_int, off.json['error_name']) == (409, 'subscription_off')


def test_a_calendar_needs_no_token_and_is_read_by_another_library(api, manager):
    manager.enrol(1)
    lease = api.post('/v1/leases', {'name': 'Über, "all"; 1', 'start': '2030-05-02T08:00:00Z',
                                    'end': '2030-05-03T10:30:00Z'}, **VERSION).json['lease']
    api.post('/v1/leases', {'name': 'of another', 'duration': '1h'}, token=COLLEAGUE, **VERSION)
    _, address = calendar(api, before_end=['1d', '1h'], name='Mine')
    answer = api.get(address, token=None)
    assert (answer.status_int, answer.content_type) == (200, 'text/calendar')
    [event] = vobject.readOne(answer.text).vevent_list
    assert event.summary.value == 'Über, "all"; 1'
    assert event.dtstart.value == datetime.datetime(2030, 5, 2, 8, tzinfo=datetime.UTC)
    assert event.dtend.value == datetime.datetime(2030, 5, 3, 10, 30, tzinfo=datetime.UTC)
    assert event.uid.value == f'{lease["id"]}@climate'
    assert 'Status: inactive' in event.description.value
    assert [alarm.trigger.value for alarm in event.valarm_list] == [
        -builders.hours(24), -builders.hours(1)]
    _, whole = calendar(api, scope='project')
    assert len(vobject.readOne(api.get(whole, token=None).text).vevent_list) == 2


def test_the_name_of_a_calendar_is_one_escaped_line(api, database):
    _, path = calendar(api, name='a; b, c')
    assert 'X-WR-CALNAME:a\\; b\\, c\r\n' in api.get(path, token=None).text
    # A name that an earlier release took.
    with database.writer() as connection:
        connection.exec_driver_sql("UPDATE subscriptions SET name = 'a\r\nX-EVIL:b\rc'")
    assert 'X-WR-CALNAME:a X-EVIL:b c\r\n' in api.get(path, token=None).text


def test_a_renewed_calendar_has_one_address(api):
    found, old = calendar(api)
    renewed = api.put(f'/v1/subscriptions/{found["id"]}', {'renew_secret': True},
                      **VERSION).json['subscription']
    assert api.get(old, token=None).status_int == 404
    new = renewed['calendar_url'].removeprefix('http://localhost')
    assert api.get(new, token=None).status_int == 200
    api.delete(f'/v1/subscriptions/{found["id"]}', **VERSION)
    assert api.get(new, token=None).status_int == 404


def test_no_secret_is_in_a_log_and_that_of_a_calendar_is_in_no_table(api, database, caplog):
    caplog.set_level(logging.DEBUG)
    _, address = calendar(api)
    secret = address.rpartition('/')[2].removesuffix('.ics')
    hook = subscribe(api)
    api.get(address, token=None)
    api.get(address.replace(secret, secret[::-1]), token=None)
    api.put(f'/v1/subscriptions/{hook["id"]}', {'address': 'https://127.0.0.1/'}, **VERSION)
    with database.reader() as connection:
        rows = repr(connection.exec_driver_sql('SELECT * FROM subscriptions').all())
        [stored] = connection.exec_driver_sql(
            'SELECT secret_hash FROM subscriptions WHERE secret_hash IS NOT NULL').scalars()
    assert secret not in rows
    # What is stored is no address.
    assert api.get(f'/v1/calendars/{stored}.ics', token=None).status_int == 404
    assert secret not in caplog.text
    assert secret[::-1] not in caplog.text
    assert hook['secret'] not in caplog.text


@pytest.mark.parametrize('path', ['x', 'x.ics', '', '%00.ics', 'a/b.ics', '.ics'])
def test_an_address_that_no_calendar_has_is_not_found(api, path):
    assert api.get(f'/v1/calendars/{path}', token=None).status_int in (400, 404)
