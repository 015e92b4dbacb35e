# SPDX-License-Identifier: Apache-2.0
"""The acquisition of leases as clients of REST see it: requests, answers, history."""
import pytest
from support import builders

HOSTS = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


@pytest.fixture
def full(manager):
    """A lease that has the only host until midnight."""
    manager.enrol(1)
    lease = manager.book(end=builders.at(12))
    manager.run()
    return lease


@pytest.fixture
def ask(api):
    """callable(acquire, **more): the answer to a request for a host for an hour, at REST 1.1."""
    def make(acquire, token=builders.DEMO, path='/v1/leases', **more):
        body = {'name': 'x', 'reservations': [HOSTS], **more}
        if 'end' not in body:
            body.setdefault('duration', '1h')
        if acquire is not None:
            body['acquire'] = acquire
        return api.post(path, body, version='1.1', token=token)
    return make


def test_a_lease_acquired_at_once_is_201_with_its_type(api, ask, manager):
    manager.enrol(2)
    answer = ask(None)
    assert answer.status_int == 201
    assert answer.json['lease']['acquire'] == {'type': 'immediate'}
    answer = ask({'type': 'scheduled'}, start='2030-05-01 14:00')
    assert answer.status_int == 201
    assert answer.json['lease']['acquire'] == {'type': 'scheduled'}
    shown = api.get(f'/v1/leases/{answer.json["lease"]["id"]}', version='1.1').json['lease']
    assert shown['acquire'] == {'type': 'scheduled'}


@pytest.mark.parametrize(('acquire', 'shown'), [
    ({'type': 'retries', 'retries': 3, 'retry_pause_seconds': 20},
     {'type': 'retries', 'retries': 3, 'retry_pause_seconds': 20, 'attempts': 1}),
    ({'type': 'retries'},
     {'type': 'retries', 'retries': 5, 'retry_pause_seconds': 30, 'attempts': 1}),
    ({'type': 'wait', 'not_after': '2030-05-02 08:00'},
     {'type': 'wait', 'not_after': '2030-05-02T08:00:00Z', 'priority': 0, 'attempts': 1}),
], ids=lambda value: value['type'])
def test_a_waiting_lease_is_202_with_its_progress(api, ask, full, acquire, shown):
    answer = ask(acquire)
    assert answer.status_int == 202
    lease = answer.json['lease']
    assert answer.headers['Location'].endswith(lease['id'])
    assert lease['status'] == 'in_progress'
    assert lease['events'] == []
    assert lease['acquire'].pop('next_at') > '2030-05-01T12:00'
    assert lease['acquire'] == shown
    assert 'Only 0 of 1 hosts are free' in lease['status_reason']


def test_a_first_retry_that_succeeds_is_202_too(api, ask, manager):
    manager.enrol(1)
    answer = ask({'type': 'retries'})
    assert answer.status_int == 202
    assert answer.json['lease']['status'] == 'to_be_started'
    assert answer.json['lease']['acquire']['next_at'] is None


@pytest.mark.parametrize(('not_after', 'hopeless'), [
    ('2030-05-01 20:00', True), ('2030-05-02 00:00', False), ('2030-05-02 08:00', False)])
@pytest.mark.parametrize('path', ['/v1/leases', '/v1/leases?dry_run=true'])
def test_a_wait_that_ends_before_anything_fits_says_so(conf, ask, full, path, not_after, hopeless):
    conf.set_override('cleaning_minutes', 0, group='manager')
    lease = ask({'type': 'wait', 'not_after': not_after}, path=path).json['lease']
    assert 'It fits from 2030-05-02 00:00 UTC.' in lease['status_reason']
    warning = 'It can only succeed if other leases end earlier.'
    assert (warning in lease['status_reason']) == hopeless


def test_a_dry_run_is_200(api, ask, full):
    answer = ask({'type': 'retries'}, path='/v1/leases?dry_run=true')
    assert answer.status_int == 200
    assert answer.json['lease']['status'] == 'in_progress'
    assert len(api.get('/v1/leases').json['leases']) == 1


def test_a_request_that_fails_at_once_is_409_for_all_types(ask, full):
    assert ask(None).status_int == 409
    assert ask({'type': 'immediate'}).status_int == 409
    assert ask({'type': 'scheduled'}, start='2030-05-01 14:00').status_int == 409
    two = [{**HOSTS, 'min': 2, 'max': 2}]
    for acquire in ({'type': 'retries'}, {'type': 'wait', 'not_after': '2030-05-02 08:00'}):
        answer = ask(acquire, reservations=two)
        assert answer.status_int == 409
        assert 'nothing to wait for' in answer.json['error_message']


def test_lists_are_filtered_by_the_words_of_acquisitions(api, ask, full):
    lease = ask({'type': 'wait', 'not_after': '2030-05-01 12:10'}).json['lease']
    found = api.get('/v1/leases?status=in_progress', version='1.1').json['leases']
    assert [each['id'] for each in found] == [lease['id']]
    assert api.get('/v1/leases?status=timedout', version='1.1').json['leases'] == []


@pytest.mark.parametrize('asked', [{'type': 'wait'}, {'type': 'nonsense'}, 'wait', 5], ids=repr)
def test_rest_1_0_refuses_acquire(api, full, asked):
    answer = api.post('/v1/leases', builders.a_body(acquire=asked))
    assert answer.status_int == 400
    assert 'acquire: REST 1.0 has no such field' in answer.json['error_message']
    assert 'reservation 1.1' in answer.json['error_message']
    for empty in (None, '', {}):
        answer = api.post('/v1/leases', builders.a_body(acquire=empty))
        assert 'hosts are free' in answer.json['error_message']


def test_the_history_has_every_attempt_and_change_with_its_user_and_reason(api, ask, manager, full):
    lease = ask({'type': 'retries', 'retry_pause_seconds': 60}, duration='4h').json['lease']
    manager.run_until(builders.NOON + builders.minutes(2))
    api.put(f'/v1/leases/{full.id}', {'end': 'now'}, version='1.1')
    manager.run()
    api.put(f'/v1/leases/{lease["id"]}', {'name': 'y'}, version='1.1')
    lines = api.get(f'/v1/leases/{lease["id"]}/history', version='1.1').json['history']
    assert [(each['who'], each['what']) for each in lines] == [
        ('demo', 'create'), ('climate', 'attempt'), ('climate', 'attempt'), ('climate', 'acquired'),
        ('climate', 'start_lease'), ('demo', 'rename')]
    assert lines[1]['why'].startswith('Attempt 1 of 6, next at 2030-05-01 12:01:')
    assert lines[2]['why'].startswith('Attempt 2 of 6, next at ')
    assert lines[2]['at'].startswith('2030-05-01T12:01:')
    assert lines[3]['why'] == '2030-05-01 12:02:00 to 2030-05-01 16:02:00 UTC'
    assert lines[-1]['why'] == 'x → y'
    api.delete(f'/v1/leases/{lease["id"]}', version='1.1')
    manager.run()
    lines = api.get(f'/v1/leases/{lease["id"]}/history', version='1.1', token=builders.ADMIN).json
    # Internal actions, such as dropping the trust, are not in the history.
    assert [each['what'] for each in lines['history'][6:]] == ['delete', 'delete_lease']


@pytest.mark.parametrize('query', ['limit=0', 'limit=x', 'marker=x', 'marker=-1',
                                   'marker=9999999999999999999'])
def test_a_malformed_page_of_the_history_is_refused(api, full, query):
    answer = api.get(f'/v1/leases/{full.id}/history?{query}', version='1.1')
    assert answer.status_int == 400
    assert query.partition('=')[0] in answer.json['error_message']


def test_the_history_of_an_invisible_lease_is_404(api, ask, full):
    path = f'/v1/leases/{full.id}/history'
    assert api.get(path, version='1.1', token=builders.STRANGER).status_int == 404
    assert api.get(path, version='1.0').status_int == 404
    assert api.get('/v1/leases/none/history', version='1.1').status_int == 404
    assert api.get(path, version='1.1', token=builders.ADMIN).status_int == 200


WAIT = {'type': 'wait', 'not_after': '2030-05-02 08:00'}


@pytest.mark.parametrize(('acquire', 'more', 'told'), [
    ('retries', {}, ('acquire', "'retries' is not of type 'object'")),
    ({}, {}, ('Missing parameter type', 'acquire')),
    ({'type': 'magic'}, {}, ('acquire.type', 'best-effort')),
    ({'type': 'retries', 'retries': -1}, {}, ('acquire.retries', '-1')),
    ({'type': 'retries', 'retries': 0}, {}, ('acquire.retries', '0')),
    ({'type': 'retries', 'retries': 101}, {}, ('acquire.retries', '100', 'retries_ceiling')),
    ({'type': 'retries', 'retries': '3'}, {}, ('acquire.retries', 'integer')),
    ({'type': 'retries', 'retry_pause_seconds': 0}, {}, ('acquire.retry_pause_seconds', '0')),
    ({'type': 'retries', 'retry_pause_seconds': 601}, {},
     ('acquire.retry_pause_seconds', '600', 'retry_pause_longest_seconds')),
    ({'type': 'retries', 'timeout_seconds': 5}, {},
     ('acquire.timeout_seconds', '"retries"', 'retry_pause_seconds')),
    ({'type': 'retries', 'priority': 0}, {}, ('acquire.priority', '"retries"')),
    ({'type': 'immediate', 'retries': 5}, {}, ('acquire.retries', '"immediate"', 'no fields')),
    ({'type': 'best-effort', 'timeout_seconds': 86401}, {},
     ('acquire.timeout_seconds', '86400', 'best_effort_ceiling_seconds')),
    ({'type': 'best-effort', 'timeout_seconds': -5}, {}, ('acquire.timeout_seconds', '-5')),
    ({'type': 'best-effort', 'strategy': 'luck'}, {}, ('acquire.strategy', '"luck"', 'known are')),
    ({'type': 'wait', 'not_after': '2030-05-01 08:00'}, {}, ('acquire.not_after', 'in the past')),
    ({'type': 'wait', 'not_after': 'now'}, {}, ('acquire.not_after', 'in the future')),
    ({'type': 'wait', 'not_after': 'soon'}, {}, ('acquire.not_after', 'not a moment')),
    ({'type': 'wait', 'not_after': '2031-05-01 08:00'}, {},
     ('acquire.not_after', 'the latest moment', 'wait_longest_seconds')),
    ({'type': 'wait'}, {}, ('acquire.not_after', 'without a limit')),
    ({'type': 'wait', 'not_after': None}, {}, ('acquire.not_after', 'without a limit')),
    ({'type': 'wait', 'not_after': 5}, {}, ('acquire.not_after', '5 is not of type')),
    (WAIT | {'speed': 3}, {}, ('acquire', 'speed')),
    (WAIT, {'start': '2030-05-01 14:00'}, ('start', 'leave start out')),
    (WAIT, {'end': '2030-05-01 14:00', 'duration': '1h'}, ('duration', 'fixed')),
    ({'type': 'immediate'}, {'start': '2030-05-01 14:00'}, ('acquire.type', '"scheduled"')),
    ({'type': 'scheduled'}, {}, ('acquire.type', '"immediate"')),
])
def test_a_malformed_acquisition_is_refused_with_its_field_and_the_remedy(api, ask, full, acquire,
                                                                          more, told):
    answer = ask(acquire, **more)
    assert answer.status_int == 400, answer.body
    for part in told:
        assert part in answer.json['error_message']
    assert len(api.get('/v1/leases').json['leases']) == 1


def test_admins_alone_wait_without_a_limit_or_with_priority(ask, full):
    assert ask({'type': 'wait'}, token=builders.ADMIN).status_int == 202
    answer = ask({'type': 'wait', 'not_after': None}, token=builders.ADMIN)
    assert (answer.status_int, answer.json['lease']['acquire']['not_after']) == (202, None)
    assert ask(WAIT | {'priority': 5}).status_int == 403
    assert ask(WAIT | {'priority': 0}).status_int == 202
    assert ask(WAIT | {'priority': 5}, token=builders.ADMIN).status_int == 202


def test_the_acquisition_of_a_lease_cannot_be_changed(api, ask, full):
    lease = ask(WAIT).json['lease']
    answer = api.put(f'/v1/leases/{lease["id"]}', {'acquire': WAIT}, version='1.1')
    assert answer.status_int == 400
    answer = api.put(f'/v1/leases/{lease["id"]}', {'end': '2030-05-03 08:00'}, version='1.1')
    assert answer.status_int == 409
    assert 'only its name' in answer.json['error_message']
    for version in ('1.0', '1.1'):
        answer = api.put(f'/v1/leases/{lease["id"]}', {'name': 'y'}, version=version)
        assert answer.json['lease']['name'] == 'y'


def test_a_waiting_lease_can_be_deleted_at_both_versions(api, ask, manager, full):
    for version in ('1.0', '1.1'):
        lease = ask(WAIT).json['lease']
        assert api.delete(f'/v1/leases/{lease["id"]}', version=version).status_int == 204
        manager.run()
        assert api.get(f'/v1/leases/{lease["id"]}', version=version).status_int == 404


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('tried', [False, True])
def test_a_finished_acquisition_shows_no_progress(
        api, ask, manager, full, tried):
    gone = ask({'type': 'wait', 'not_after': '2030-05-02 08:00'}).json['lease']
    lucky = ask({'type': 'wait', 'not_after': '2030-05-02 08:00'}).json['lease']
    late = ask({'type': 'wait', 'not_after': '2030-05-01 12:10'}).json['lease']
    if tried:
        manager.run()
    api.delete(f'/v1/leases/{gone["id"]}', version='1.1')
    manager.run_until(builders.NOON + builders.minutes(11))
    api.put(f'/v1/leases/{full.id}', {'end': 'now'}, version='1.1')
    manager.run()
    for lease, reason in ((gone, None), (lucky, None), (late, 'It did not get its resources')):
        now = api.get(f'/v1/leases/{lease["id"]}', version='1.1', token=builders.ADMIN).json
        found = now['lease']
        assert (found['acquire']['next_at'], found['acquire']['not_after']) == (None, None)
        assert (found['status_reason'] or '').startswith(reason or '')
        assert (found['status_reason'] is None) is (reason is None), found['status_reason']


def test_the_history_has_pages_as_lists_have(api, conf, manager, full):
    path = f'/v1/leases/{full.id}/history'
    for name in ('a', 'b', 'c'):
        api.put(f'/v1/leases/{full.id}', {'name': name}, version='1.1')
    whole = api.get(path, version='1.1').json
    assert set(whole) == {'history'}
    for limit in (1, 2, len(whole['history'])):
        seen, page = [], f'{path}?limit={limit}'
        while page:
            answer = api.get(page, version='1.1').json
            assert 0 < len(answer['history']) <= limit
            seen += answer['history']
            page = next((link['href'] for link in answer.get('history_links', [])), None)
        assert seen == whole['history']
    conf.set_override('max_limit', 2, group='api')
    few = builders.Api(conf, manager).get(path, version='1.1').json
    assert len(few['history']) == 2
    marker = few['history'][-1]['id']
    assert few['history_links'][0]['href'].endswith(f'{path}?marker={marker}')
