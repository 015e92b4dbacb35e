# SPDX-License-Identifier: Apache-2.0
"""Leases from REST 1.1 on: words, times, safe retries, and changes that do not collide."""
from concurrent import futures
import datetime

import pytest
from support import builders
import webtest

from climate import errors
from climate.api import app

LEASE = {'id', 'name', 'project_id', 'user_id', 'start', 'end', 'before_end', 'status',
         'status_reason', 'degraded', 'created_at', 'updated_at', 'ended_at', 'deleted_at',
         'reservations', 'events', 'acquire', 'idle_exempt', 'idle_since', 'reclaim_at',
         'while_free', 'extended_count', 'shared', 'share_count', 'series_id', 'parent_id',
         'parent_name', 'sub_leases',
         'has_trust', 'actions', 'started_at', 'user_name', 'project_name'}
RESERVATION = {
    'id', 'resource_type', 'status', 'missing_resources', 'resources_changed', 'resources',
    'min', 'max', 'hypervisor_properties', 'resource_properties', 'before_end'}
HOSTS = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


@pytest.fixture
def call(api):
    """Makes a request at REST 1.1; returns the answer."""
    return lambda method, path, body=None, **options: api.call(
        method, path, body, **{'version': '1.1', **options})


@pytest.fixture
def create(call):
    """Creates a lease, of an hour without reservations by default; returns it."""
    def make(status=201, **changes):
        body = {'name': 'a lease', 'duration': '1h', **changes}
        answer = call('POST', '/v1/leases', {key: value for key, value in body.items()
                                             if value is not None})
        assert answer.status_int == status, answer.body
        return answer.json['lease']
    return make


def test_a_lease_has_the_documented_fields(create, manager):
    manager.enrol(2)
    lease = create(reservations=[HOSTS])
    assert set(lease) == LEASE
    [reservation] = lease['reservations']
    assert set(reservation) == RESERVATION
    assert reservation['resources'] == ['1']
    assert all(set(event) == {'id', 'type', 'time', 'status'} for event in lease['events'])
    assert {event['type']: event['time'] for event in lease['events']} == {
        'start_lease': '2030-05-01T12:00:00Z', 'before_end_lease': '2030-05-01T12:00:00Z',
        'end_lease': '2030-05-01T13:00:00Z'}


def test_a_host_lease_that_runs_shows_no_id_of_nova(call, create, manager):
    manager.enrol(2)
    lease = create(reservations=[HOSTS])
    manager.run()
    [reservation] = call('GET', f'/v1/leases/{lease["id"]}').json['lease']['reservations']
    assert reservation['status'] == 'active'
    assert set(reservation) == RESERVATION


def test_no_event_is_done_in_the_future(call, create, manager):
    manager.enrol(3)
    for start, change in (('now', {'end': 'now'}), ('now', None), ('+1d', None)):
        lease = create(start=start, duration='6h', reservations=[HOSTS])
        manager.run()
        place = f'/v1/leases/{lease["id"]}'
        manager.clock.advance(builders.minutes(1))
        if change is None:
            call('DELETE', place)
        else:
            call('PUT', place, change)
        for _ in range(2):
            after = call('GET', place, token=builders.ADMIN).json['lease']
            now = f'{manager.clock():%Y-%m-%dT%H:%M:%SZ}'
            assert [each for each in after['events']
                    if each['status'] == 'done' and each['time'] > now] == []
            manager.run()
        assert after['status'] in ('terminated', 'deleted')


def test_a_status_is_told_in_the_words_of_climate(conf, manager, clock):
    service = webtest.TestApp(
        app.build(conf, manager.client, builders.manager_plugins(conf), clock=clock),
        extra_environ={'HTTP_X_AUTH_TOKEN': builders.DEMO,
                       'HTTP_OPENSTACK_API_VERSION': 'reservation 1.1'})
    manager.enrol(2)
    later, now = (service.post_json('/v1/leases', {
        'name': 'x', 'start': start, 'duration': '1h', 'reservations': [HOSTS]}).json['lease']
        for start in ('2030-05-01T13:00:00Z', 'now'))

    def words():
        return [service.get(f'/v1/leases/{each["id"]}').json['lease']['status']
                for each in (later, now)]

    def listed(status):
        return [each['id'] for each in service.get(f'/v1/leases?status={status}').json['leases']]

    assert words() == ['inactive', 'to_be_started']
    assert listed('inactive') == [later['id']]
    assert listed('to_be_started') == [now['id']]
    manager.run()
    assert words() == ['inactive', 'active']
    service.delete(f'/v1/leases/{now["id"]}')
    assert words() == ['inactive', 'deleting']
    assert listed('deleting') == [now['id']]
    manager.run_until(builders.at(3))
    assert service.get(f'/v1/leases/{later["id"]}').json['lease']['status'] == 'terminated'


def test_an_error_has_its_reason_in_words(create, call, manager):
    manager.enrol(1)
    lease = create(reservations=[HOSTS])
    manager.cloud.fail('nova.add_host', 9, errors.CloudError(service='Nova', reason='no'))
    manager.run_until(builders.NOON + builders.minutes(5))
    lease = call('GET', f'/v1/leases/{lease["id"]}', token=builders.ADMIN).json['lease']
    assert lease['status'] == 'error'
    assert 'Nova: no' in lease['status_reason']


def test_a_moment_is_written_in_many_ways_and_shown_in_one(create):
    for written, read in (
            ('2030-05-01T14:00:00Z', '2030-05-01T14:00:00Z'),
            ('2030-05-01T14:00Z', '2030-05-01T14:00:00Z'),
            ('2030-05-01T16:30:00+02:30', '2030-05-01T14:00:00Z'),
            ('2030-05-01T14:00:00', '2030-05-01T14:00:00Z'),
            ('2030-05-01 14:00', '2030-05-01T14:00:00Z'),
            ('2030-05-01 14:00:30', '2030-05-01T14:00:30Z'),
            ('2030-5-2 9:05', '2030-05-02T09:05:00Z'),
            ('2030-05-01T14:00:00.250Z', '2030-05-01T14:00:00.250000Z')):
        assert create(end=written, duration=None)['end'] == read


def test_a_duration_is_seconds_or_readable(create):
    for written, seconds in (
            (5400, 5400), ('5400', 5400), ('90m', 5400), ('1h30m', 5400), ('PT1H30M', 5400),
            ('45s', 45), ('2d', 172800), ('1w', 604800), ('P1DT1H', 90000)):
        lease = create(duration=written)
        start, end = (datetime.datetime.fromisoformat(lease[name]) for name in ('start', 'end'))
        assert (end - start).total_seconds() == seconds


def test_two_of_start_end_and_duration_are_enough_and_three_too_many(create, call):
    span = {'start': '2030-05-02T10:00:00Z', 'end': '2030-05-02T12:00:00Z', 'duration': '2h'}
    for left_out in span:
        lease = create(**{**span, left_out: None})
        assert (lease['start'], lease['end']) == (span['start'], span['end'])
    assert create(duration=None, end=span['end'])['start'] == '2030-05-01T12:00:00Z'
    for body in (span, {'start': span['start']}, {}):
        assert call('POST', '/v1/leases', {'name': 'x', **body}).status_int == 400


def test_now_is_this_moment_to_the_second(create, clock):
    clock.advance(datetime.timedelta(seconds=42))
    assert create(start='now')['start'] == '2030-05-01T12:00:42Z'


def test_a_created_lease_says_where_it_is_and_which_version(call):
    answer = call('POST', '/v1/leases', {'name': 'x', 'duration': '1h'})
    place = f'http://localhost/v1/leases/{answer.json["lease"]["id"]}'
    assert answer.headers['Location'] == place
    assert answer.headers['ETag'] == call('GET', place).headers['ETag']


def test_a_change_with_an_old_etag_is_refused(create, call):
    place = f'/v1/leases/{create()["id"]}'
    old = call('GET', place).headers['ETag']
    renamed = call('PUT', place, {'name': 'first'}, headers={'If-Match': old})
    assert renamed.status_int == 200
    for body in ({'name': 'second'}, {'duration': '2h'}):
        answer = call('PUT', place, body, headers={'If-Match': old})
        assert answer.status_int == 412
        assert answer.json['error_name'] == 'stale_precondition'
    for match in (renamed.headers['ETag'], '*', f'W/{renamed.headers["ETag"]}'):
        assert call('PUT', place, {}, headers={'If-Match': match}).status_int == 200
    assert call('GET', place).json['lease']['name'] == 'first'
    assert call('GET', place).headers['ETag'] == renamed.headers['ETag'] != old


def test_a_deletion_or_a_swap_with_an_old_etag_is_refused(create, call):
    place = f'/v1/leases/{create()["id"]}'
    old = call('GET', place).headers['ETag']
    new = call('PUT', place, {'name': 'second'}).headers['ETag']
    for match in (old, '"x"'):
        for method, path, body in (('DELETE', place, None), (
                'POST', f'{place}/swap', {'host': '1'})):
            answer = call(method, path, body, headers={'If-Match': match})
            assert (answer.status_int, answer.json['error_name']) == (412, 'stale_precondition')
    assert call('POST', f'{place}/swap', {'host': '1'}, headers={'If-Match': new}).status_int != 412
    assert call('DELETE', place, headers={'If-Match': new}).status_int == 204


def test_a_key_makes_one_lease_however_often_it_is_sent(call):
    body = {'name': 'x', 'duration': '1h'}
    first, again = (call('POST', '/v1/leases', body, headers={'Idempotency-Key': 'k'})
                    for _ in range(2))
    assert (first.status_int, again.status_int) == (201, 201)
    assert first.json['lease']['id'] == again.json['lease']['id']
    assert first.headers['Location'] == again.headers['Location']
    other = call('POST', '/v1/leases', {**body, 'name': 'y'}, headers={'Idempotency-Key': 'k'})
    assert other.status_int == 422
    assert other.json['error_name'] == 'key_reused'
    foreign = call('POST', '/v1/leases', body, headers={'Idempotency-Key': 'k'},
                   token=builders.STRANGER)
    assert foreign.json['lease']['id'] != first.json['lease']['id']
    assert len(call('GET', '/v1/leases').json['leases']) == 1


def test_a_key_with_relative_times_makes_one_lease_also_later(call, clock):
    body = {'name': 'x', 'start': '+10m', 'end': '+2h', 'before_end': '+1h30m',
            'events': [{'type': 'notify', 'time': '+1h'}]}
    answers = []
    for _ in range(2):
        answers.append(call('POST', '/v1/leases', body, headers={'Idempotency-Key': 'k'}))
        clock.advance(builders.seconds(70))
    first, again = answers
    assert (first.status_int, again.status_int) == (201, 201), again.body
    lease = again.json['lease']
    assert lease['id'] == first.json['lease']['id']
    assert (lease['start'], lease['end'], lease['before_end']) == (
        '2030-05-01T12:10:00Z', '2030-05-01T14:00:00Z', '2030-05-01T13:30:00Z')
    assert '2030-05-01T13:00:00Z' in [event['time'] for event in lease['events']]
    longer = call('PUT', f'/v1/leases/{lease["id"]}', {'end': '+1d'})
    assert longer.json['lease']['end'] == '2030-05-02T12:02:20Z'


def test_a_relative_time_until_which_a_lease_waits(create, manager):
    manager.enrol(1)
    create(reservations=[HOSTS])
    lease = create(reservations=[HOSTS], status=202,
                   acquire={'type': 'wait', 'not_after': '+PT1H'})
    assert lease['acquire']['not_after'] == '2030-05-01T13:00:00Z'


@pytest.mark.parametrize('text', ['+', '+x', '+-2h', '+0h', '+99999999999d', '+9000w', '+2h '])
def test_a_relative_time_that_is_none_is_refused(call, text):
    answer = call('POST', '/v1/leases', {'name': 'x', 'end': text})
    assert answer.status_int == 400, answer.body
    assert answer.json['error_message'].startswith('end: ')


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_key_that_comes_many_times_at_once_makes_one_lease(call, manager):
    manager.enrol(4)
    body = {'name': 'x', 'duration': '1h', 'reservations': [HOSTS]}
    with futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: call(
            'POST', '/v1/leases', body, headers={'Idempotency-Key': 'k'}), range(6)))
    assert {answer.status_int for answer in answers} == {201}
    assert len({answer.json['lease']['id'] for answer in answers}) == 1
    assert len(manager.cloud.as_service().keystone.trusts()) == 1


def test_a_dry_run_says_what_would_be_and_saves_nothing(create, call, manager):
    manager.enrol(2)
    body = {'name': 'x', 'duration': '1h', 'reservations': [HOSTS]}
    answer = call('POST', '/v1/leases?dry_run=true', body, headers={'Idempotency-Key': 'k'})
    assert answer.status_int == 200
    assert set(answer.json['lease']) == LEASE
    assert answer.json['lease']['reservations'][0]['resources'] == ['1']
    assert call('GET', '/v1/leases').json == {'leases': []}
    assert manager.cloud.as_service().keystone.trusts() == []
    lease = create(reservations=[HOSTS])
    place, [reservation] = f'/v1/leases/{lease["id"]}', lease['reservations']
    before = call('GET', place)
    for change in ({'name': 'y'}, {'duration': '3h'},
                   {'reservations': [{'id': reservation['id'], 'min': 2, 'max': 2}]}):
        answer = call('PUT', f'{place}?dry_run=true', change)
        assert answer.status_int == 200
        assert answer.json != before.json
    assert answer.json['lease']['reservations'][0]['resources'] == ['1', '2']
    assert call('GET', place).json == before.json
    assert call('GET', place).headers['ETag'] == before.headers['ETag']


def test_a_lease_is_changed_and_ended(create, call, manager):
    place = f'/v1/leases/{create(start="2030-05-02T10:00:00Z")["id"]}'
    for body, wanted in (
            ({'duration': '2h'}, ('2030-05-02T10:00:00Z', '2030-05-02T12:00:00Z')),
            ({'start': 'now', 'end': '2030-05-01T14:00:30Z'},
             ('2030-05-01T12:00:00Z', '2030-05-01T14:00:30Z')),
            ({'name': 'y', 'before_end': '2030-05-01T14:00:00Z'},
             ('2030-05-01T12:00:00Z', '2030-05-01T14:00:30Z'))):
        lease = call('PUT', place, body).json['lease']
        assert (lease['start'], lease['end']) == wanted
    assert (lease['name'], lease['before_end']) == ('y', '2030-05-01T14:00:00Z')
    manager.run()
    manager.clock.advance(datetime.timedelta(seconds=90))
    assert call('PUT', place, {'end': 'now'}).json['lease']['end'] == '2030-05-01T12:01:30Z'
    manager.run()
    lease = call('GET', place).json['lease']
    assert (lease['status'], lease['ended_at']) == ('terminated', '2030-05-01T12:01:30Z')


def test_keys_that_nobody_knows_are_refused_and_the_known_ones_named(create, call):
    place = f'/v1/leases/{create()["id"]}'
    for key in ('project_id', 'status', 'id', 'trust_id', 'degraded', 'start_date', 'colour'):
        for answer in (call('POST', '/v1/leases', {'name': 'x', 'duration': '1h', key: 'x'}),
                       call('PUT', place, {key: 'x'})):
            assert answer.status_int == 400
            assert answer.json['error_name'] == 'bad_field'
            assert key in answer.json['error_message']
            assert 'name, start, end, duration' in answer.json['error_message']
    answer = call('POST', '/v1/leases', {'name': 'x', 'duration': '1h',
                                         'reservations': [{**HOSTS, 'colour': 'blue'}]})
    assert answer.status_int == 400
    assert 'colour' in answer.json['error_message']


def test_a_notification_is_added_and_no_other_event(create, call):
    event = {'type': 'notify', 'time': '2030-05-01T12:30:00Z'}
    lease = create(events=[event])
    assert event in [{name: each[name] for name in event} for each in lease['events']]
    for kind in ('start_lease', 'end_lease', 'before_end_lease', 'delete_lease', 'x'):
        answer = call('PUT', f'/v1/leases/{lease["id"]}', {'events': [{**event, 'type': kind}]})
        assert answer.status_int == 400
