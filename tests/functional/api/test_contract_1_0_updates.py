# SPDX-License-Identifier: Apache-2.0
"""Changes of leases at REST 1.0, in each state; and the sentences that clients look for."""
import datetime
import time

import pytest
from support import builders

from climate import errors


@pytest.fixture
def pending(api, manager):
    manager.enrol(2)
    return api.post('/v1/leases', builders.a_body(
        start='2030-05-02 10:00', end='2030-05-02 12:00')).json['lease']


@pytest.fixture
def active(api, manager):
    manager.enrol(2)
    lease = api.post('/v1/leases', builders.a_body(end='2030-05-01 14:00')).json['lease']
    manager.run()
    manager.clock.advance(datetime.timedelta(minutes=10, seconds=20))
    return lease


@pytest.fixture
def ended(api, manager, active):
    manager.run_until(builders.at(3))
    return active


def put(api, lease, **body):
    return api.put(f'/v1/leases/{lease["id"]}', body)


def dates(answer):
    assert answer.status_int == 200, answer.body
    return answer.json['lease']['start_date'][:16], answer.json['lease']['end_date'][:16]


def test_an_empty_change_changes_nothing(api, active):
    before = api.get(f'/v1/leases/{active["id"]}').json
    assert put(api, active).json == before
    assert put(api, active, before_end_date=None, reservations=[]).json == before


@pytest.mark.parametrize('state', ['pending', 'active', 'ended'])
def test_a_lease_is_renamed_in_each_state(api, request, state):
    lease = request.getfixturevalue(state)
    status = api.get(f'/v1/leases/{lease["id"]}').json['lease']['status']
    answer = put(api, lease, name='another')
    assert answer.status_int == 200
    assert (answer.json['lease']['name'], answer.json['lease']['status']) == ('another', status)


@pytest.fixture
def starting(api, manager):
    """A lease whose start failed for the first time and is tried again."""
    manager.enrol(2)
    manager.cloud.fail('nova.create_aggregate', 1, errors.CloudError(service='Nova', reason='no'))
    lease = api.post('/v1/leases', builders.a_body(end='2030-05-01 14:00')).json['lease']
    manager.run()
    assert api.get(f'/v1/leases/{lease["id"]}').json['lease']['status'] == 'STARTING'
    return lease


def max_of_two(lease):
    return {'reservations': [{'id': lease['reservations'][0]['id'], 'max': 2}]}


CHANGES = pytest.mark.parametrize('change', [
    lambda lease: {'end_date': '2030-05-01 16:00'}, lambda lease: {'end_date': 'now'},
    lambda lease: {'name': 'x', 'end_date': '2030-05-01 13:00'}, max_of_two],
    ids=['prolonged', 'ended', 'renamed and shortened', 'enlarged'])


@CHANGES
def test_a_change_waits_for_the_start(api, manager, starting, change, monkeypatch):
    # The test has one thread: the manager works while the API waits.
    monkeypatch.setattr(time, 'sleep', lambda seconds: manager.run_until(
        manager.clock() + builders.minutes(10)))
    answer = put(api, starting, **change(starting))
    assert answer.status_int == 200, answer.body
    # A change of the size is carried out by an event; the next change waits for that, too.
    assert put(api, starting, end_date='2030-05-01 13:30' if change(starting) != {
        'end_date': 'now'} else 'now').status_int in (200, 400)


@CHANGES
def test_a_change_that_waits_too_long_or_at_a_later_version_is_a_conflict(
        api, conf, starting, change, monkeypatch):
    clock = [0]
    monkeypatch.setattr(time, 'monotonic', lambda: clock[0])
    monkeypatch.setattr(time, 'sleep', lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    answer = put(api, starting, **change(starting))
    assert answer.status_int == 409
    assert 'is STARTING' in answer.json['error_message']
    assert clock[0] == pytest.approx(conf.api.delete_wait_seconds)
    clock[0] = 0
    later = api.put(f'/v1/leases/{starting["id"]}', {'end': '2030-05-01T16:00:00Z'}, version='1.1')
    assert (later.status_int, clock[0]) == (409, 0)


def test_a_lease_that_has_not_started_is_moved_and_stretched(api, pending):
    for body, wanted in (
            ({'end_date': '2030-05-02 13:00'}, ('2030-05-02T10:00', '2030-05-02T13:00')),
            ({'end_date': '2030-05-02 11:30'}, ('2030-05-02T10:00', '2030-05-02T11:30')),
            ({'start_date': '2030-05-02 10:30'}, ('2030-05-02T10:30', '2030-05-02T11:30')),
            ({'start_date': '2030-05-02 09:00'}, ('2030-05-02T09:00', '2030-05-02T11:30')),
            ({'start_date': 'now'}, ('2030-05-01T12:00', '2030-05-02T11:30'))):
        answer = put(api, pending, **body)
        assert dates(answer) == wanted
        assert answer.json['lease']['status'] == 'PENDING'
        times = {event['event_type']: event['time'][:16]
                 for event in answer.json['lease']['events']}
        assert (times['start_lease'], times['end_lease']) == wanted


def test_a_running_lease_is_stretched_and_cut_but_its_start_stays(api, active):
    assert dates(put(api, active, end_date='2030-05-01 16:00'))[1] == '2030-05-01T16:00'
    assert dates(put(api, active, start_date='2030-05-01 12:00', end_date='2030-05-01 13:00')
                 ) == ('2030-05-01T12:00', '2030-05-01T13:00')
    for start in ('2030-05-01 12:20', '2030-05-01 11:00', 'now'):
        answer = put(api, active, start_date=start)
        assert answer.status_int == 400
        assert 'start' in answer.json['error_message']


@pytest.mark.parametrize('end', ['now', '2030-05-01 12:10'])
def test_now_and_the_minute_that_runs_end_a_lease(api, manager, active, end):
    assert dates(put(api, active, end_date=end))[1] == '2030-05-01T12:10'
    manager.run()
    assert api.get(f'/v1/leases/{active["id"]}').json['lease']['status'] == 'TERMINATED'


def test_a_reservation_is_changed_by_what_a_client_was_shown(api, manager, active):
    [shown] = active['reservations']
    answer = put(api, active, reservations=[{**shown, 'max': '2'}])
    assert answer.status_int == 200
    assert answer.json['lease']['reservations'][0]['max'] == 2
    manager.run()
    aggregate = manager.cloud.as_service().nova.aggregate(shown['id'])
    assert len(aggregate.hosts) == 2


def test_a_change_that_does_not_fit_leaves_the_lease_as_it_was(api, manager, active):
    [reservation] = active['reservations']
    before = api.get(f'/v1/leases/{active["id"]}').json
    for body, status in (({'min': 3, 'max': 3}, 400), ({'min': 2, 'max': 1}, 400),
                         ({'min': '', 'max': ''}, 400), ({'resource_type': 'virtual:dummy'}, 400),
                         ({'resource_properties': '["==", "$nope", "1"]'}, 400)):
        answer = put(api, active, name='x', reservations=[{'id': reservation['id'], **body}])
        assert answer.status_int == status, body
        assert api.get(f'/v1/leases/{active["id"]}').json == before


@pytest.mark.parametrize(('reservation', 'told'), [
    ({}, 'Missing parameter id'), ({'id': 'x'}, 'no reservation x'), ({'id': 5}, 'id')])
def test_a_reservation_that_is_changed_must_be_named(api, pending, reservation, told):
    answer = put(api, pending, reservations=[reservation])
    assert answer.status_int == 400
    assert told in answer.json['error_message']


def test_a_lease_that_is_over_can_only_be_renamed(api, ended):
    [reservation] = ended['reservations']
    for body in ({'end_date': '2030-05-01 18:00'}, {'start_date': 'now'}, {'end_date': 'now'},
                 {'before_end_date': '2030-05-01 17:00'},
                 {'reservations': [{'id': reservation['id'], 'max': 2}]}):
        answer = put(api, ended, **body)
        assert answer.status_int == 400
        assert 'only be renamed' in answer.json['error_message']


def test_a_before_end_date_is_between_start_and_end(api, pending):
    moved = put(api, pending, before_end_date='2030-05-02 11:45')
    assert ('before_end_lease', '2030-05-02T11:45:00.000000') in [
        (event['event_type'], event['time']) for event in moved.json['lease']['events']]
    for outside in ('2030-05-02 12:00', '2030-05-02 10:00', '2030-05-03 12:00'):
        refused = put(api, pending, before_end_date=outside)
        assert (refused.status_int, refused.json['error_code']) == (403, 403)
        assert refused.json['error_message'].startswith('before_end_date: ')
    for unreadable in ('now', 'soon'):
        assert put(api, pending, before_end_date=unreadable).status_int == 400


def test_dates_that_cannot_be_are_refused_with_the_words_that_clients_know(api, pending):
    period = 'End date must be later than start date.'
    wrong = ' is an invalid date. Required format: %Y-%m-%d %H:%M'
    for body, told in (
            ({'end_date': '2030-05-02 10:00'}, period), ({'end_date': 'now'}, period),
            ({'start_date': '2030-05-02 12:00'}, period),
            ({'end_date': 'tomorrow'}, 'tomorrow' + wrong),
            ({'start_date': '2030-05-02'}, '2030-05-02' + wrong),
            ({'start_date': '2030-04-30 10:00'}, 'in the past')):
        for answer in (put(api, pending, **body), api.post('/v1/leases', {
                'name': 'x', 'start_date': '2030-05-02 10:00', 'end_date': '2030-05-02 12:00',
                **body})):
            assert answer.status_int == 400
            assert told in answer.json['error_message']


@pytest.mark.parametrize('missing', ['name', 'start_date', 'end_date'])
def test_a_missing_field_is_named_as_clients_expect(api, missing):
    body = builders.a_body()
    del body[missing]
    answer = api.post('/v1/leases', body)
    assert answer.status_int == 400
    assert answer.json['error_message'] == f'Missing parameter {missing}'


def test_a_key_that_is_too_long_is_told_in_the_words_that_clients_know(api):
    answer = api.post('/v1/os-hosts', {'name': 'compute-1', 'x' * 65: 'y'},
                      token=builders.ADMIN)
    assert answer.status_int == 400
    assert 'Extra capability key too long' in answer.json['error_message']
