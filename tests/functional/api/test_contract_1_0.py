# SPDX-License-Identifier: Apache-2.0
"""Leases at REST 1.0: requests of existing clients, and their answers."""
import datetime
import re

import pytest
from support import builders

from climate import errors
from climate.manager import endpoint
from climate.rpc import client

STAMP = re.compile(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d')
EXACT = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}')
UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
TEXT, FLAG, COUNT = 'text', 'flag', 'count'

LEASE = {'id': UUID, 'name': TEXT, 'user_id': TEXT, 'project_id': TEXT, 'start_date': EXACT,
         'end_date': EXACT, 'trust_id': re.compile('[0-9a-f]{32}'), 'status': TEXT,
         'degraded': FLAG, 'created_at': STAMP, 'updated_at': (STAMP, None),
         'reservations': list, 'events': list}
RESERVATION = {'id': UUID, 'lease_id': UUID, 'resource_id': UUID, 'resource_type': TEXT,
               'status': TEXT, 'missing_resources': FLAG, 'resources_changed': FLAG,
               'created_at': STAMP, 'updated_at': (STAMP, None), 'min': COUNT, 'max': COUNT,
               'hypervisor_properties': TEXT, 'resource_properties': TEXT, 'before_end': TEXT,
               'aggregate_id': (COUNT, None)}
EVENT = {'id': UUID, 'lease_id': UUID, 'event_type': TEXT, 'time': EXACT, 'status': TEXT,
         'created_at': STAMP, 'updated_at': (STAMP, None)}


def fits(value, kind):
    if isinstance(kind, tuple):
        return any(fits(value, each) for each in kind)
    if isinstance(kind, re.Pattern):
        return isinstance(value, str) and kind.fullmatch(value) is not None
    if kind in (None, list):
        return value is None if kind is None else isinstance(value, list)
    return type(value) is {TEXT: str, FLAG: bool, COUNT: int}[kind]


def assert_shape(record, shape):
    assert set(record) == set(shape)
    assert {name: record[name] for name, kind in shape.items()
            if not fits(record[name], kind)} == {}


def create(api, **changes):
    answer = api.post('/v1/leases', builders.a_body(**changes))
    assert answer.status_int == 201, answer.body
    return answer.json['lease']


def place(lease):
    return f'/v1/leases/{lease["id"]}'


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_lease_has_the_fields_of_the_contract_in_each_state(api, manager):
    manager.enrol(2)
    lease = create(api)
    for moment in (builders.NOON, builders.at(2)):
        assert_shape(lease, LEASE)
        for reservation in lease['reservations']:
            assert_shape(reservation, RESERVATION)
            assert reservation['lease_id'] == lease['id']
        for event in lease['events']:
            assert_shape(event, EVENT)
        manager.run_until(moment)
        lease = api.get(place(lease)).json['lease']
    assert_shape(lease, LEASE)
    assert lease['status'] == 'TERMINATED'
    assert {event['status'] for event in lease['events']} == {'DONE'}


def test_statuses_are_in_capitals_but_those_of_reservations_are_not(api, manager):
    manager.enrol(1)
    lease = create(api)
    assert lease['status'] == 'PENDING'
    assert lease['reservations'][0]['status'] == 'pending'
    assert sorted((event['event_type'], event['status']) for event in lease['events']) == [
        ('before_end_lease', 'UNDONE'), ('end_lease', 'UNDONE'), ('start_lease', 'UNDONE')]
    manager.run()
    lease = api.get(place(lease)).json['lease']
    assert lease['status'] == 'ACTIVE'
    assert lease['reservations'][0]['status'] == 'active'
    assert (lease['user_id'], lease['project_id']) == ('demo', 'demo')


def test_dates_are_shown_as_clients_parse_them(api):
    lease = create(api, start='2030-05-02 08:05', end='2030-05-02 10:00', reservations=[])
    assert lease['start_date'] == '2030-05-02T08:05:00.000000'
    assert lease['end_date'] == '2030-05-02T10:00:00.000000'
    assert lease['created_at'] == '2030-05-01 12:00:00'
    times = {event['event_type']: event['time'] for event in lease['events']}
    assert times == {'start_lease': '2030-05-02T08:05:00.000000',
                     'before_end_lease': '2030-05-02T09:00:00.000000',
                     'end_lease': '2030-05-02T10:00:00.000000'}


def test_now_is_the_minute_that_runs(api, clock):
    clock.advance(datetime.timedelta(minutes=3, seconds=42))
    lease = create(api, start='now', reservations=[])
    assert lease['start_date'] == '2030-05-01T12:03:00.000000'
    lease = create(api, start='2030-05-01 12:03', reservations=[])
    assert lease['start_date'] == '2030-05-01T12:03:00.000000'


def test_a_lease_needs_no_reservations_and_lives_all_the_same(api, manager):
    body = builders.a_body()
    del body['reservations']
    lease = api.post('/v1/leases', body).json['lease']
    assert lease['reservations'] == []
    manager.run()
    assert api.get(place(lease)).json['lease']['status'] == 'ACTIVE'
    manager.run_until(builders.at(2))
    assert api.get(place(lease)).json['lease']['status'] == 'TERMINATED'


def test_a_body_of_the_python_client_is_accepted(api, manager):
    manager.enrol(2, gpu='A100')
    answer = api.post('/v1/leases', {
        'name': 'from the client', 'start_date': 'now', 'end_date': '2030-05-01 13:00',
        'before_end_date': None,
        'events': [{'event_type': 'notify', 'event_date': '2030-05-01 12:30'}],
        'reservations': [{'resource_type': 'physical:host', 'min': '1', 'max': '2',
                          'hypervisor_properties': '', 'before_end': 'default',
                          'resource_properties': '["==", "$gpu", "A100"]'}]},
        headers={'Accept': 'application/json', 'User-Agent': 'python-blazarclient'})
    assert answer.status_int == 201
    [reservation] = answer.json['lease']['reservations']
    assert (reservation['min'], reservation['max']) == (1, 2)
    assert reservation['resource_properties'] == '["==", "$gpu", "A100"]'
    assert ('notify', '2030-05-01T12:30:00.000000') in [
        (event['event_type'], event['time']) for event in answer.json['lease']['events']]


def test_properties_that_are_lists_are_shown_as_their_text(api, manager):
    manager.enrol(1)
    lease = create(api, reservations=[{'resource_type': 'physical:host', 'min': 1.0, 'max': 1,
                                       'resource_properties': ['>=', '$vcpus', 4]}])
    [reservation] = lease['reservations']
    assert reservation['resource_properties'] == '[">=", "$vcpus", 4]'
    assert_shape(reservation, RESERVATION)


def test_keys_that_nobody_knows_are_ignored(api, manager):
    manager.enrol(1)
    lease = create(api, colour='blue', reservations=[{
        'resource_type': 'physical:host', 'min': 1, 'max': 1, 'ephemeral_gb': 5,
        'hypervisor_properties': '', 'resource_properties': ''}])
    assert 'colour' not in lease
    assert_shape(lease['reservations'][0], RESERVATION)


def test_a_dry_run_is_refused_and_makes_nothing(api):
    body = builders.a_body(reservations=[])
    refused = api.post('/v1/leases?dry_run=true', body)
    assert refused.status_int == 400
    assert refused.json['error_message'].startswith('dry_run: REST 1.0 has no dry runs')
    assert api.get('/v1/leases').json == {'leases': []}
    lease = api.post('/v1/leases?dry_run=false', body).json['lease']
    assert api.put(f'{place(lease)}?dry_run=1', {'name': 'new'}).status_int == 400
    assert api.get(place(lease)).json['lease']['name'] == lease['name']


def test_an_end_now_is_refused_with_two_moments(api):
    for start in ('now', '2030-05-01 12:00'):
        answer = api.post('/v1/leases', builders.a_body(
            start_date=start, end_date='now', reservations=[]))
        assert answer.status_int == 400
        assert re.fullmatch(
            'End date must be later than start date. end: [0-9: -]{19} UTC is not after the '
            'start, [0-9: -]{19} UTC.', answer.json['error_message'])


def test_nobody_sets_identity_or_state_by_a_body(api, manager):
    manager.enrol(1)
    forged = {'id': '7', 'project_id': 'other', 'user_id': 'eve', 'trust_id': 'mine',
              'degraded': True, 'status': 'ERROR', 'created_at': '2000-01-01 00:00:00'}
    lease = create(api, **forged)
    for answer in (lease, api.put(place(lease), {'end_date': '2030-05-01 14:00', **forged}
                                  ).json['lease'], api.get(place(lease)).json['lease']):
        assert {name: answer[name] for name in forged} == {
            'id': lease['id'], 'project_id': 'demo', 'user_id': 'demo',
            'trust_id': lease['trust_id'], 'degraded': False, 'status': 'PENDING',
            'created_at': '2030-05-01 12:00:00'}
    assert lease['id'] != '7' and lease['trust_id'] != 'mine'


@pytest.mark.parametrize('kind', ['start_lease', 'end_lease', 'before_end_lease'])
def test_nobody_adds_an_event_of_the_kinds_that_climate_has(api, kind):
    for name in ('event_type', 'type'):
        answer = api.post('/v1/leases', builders.a_body(
            reservations=[], events=[{name: kind, 'time': '2030-05-01 12:30'}]))
        assert answer.status_int == 400
        assert kind in answer.json['error_message']


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_the_list_has_the_leases_of_the_project_and_ignores_unknown_parameters(api):
    made = {create(api, name=name, reservations=[])['id'] for name in ('a', 'b', 'c')}
    for query in ('', '?name=zzz&nonsense=1'):
        listed = api.get(f'/v1/leases{query}').json
        assert set(listed) == {'leases'}
        assert {each['id'] for each in listed['leases']} == made
    for lease in listed['leases']:
        assert_shape(lease, LEASE)


def test_a_before_end_date_out_of_range_is_refused_with_403(api):
    answer = api.post('/v1/leases', builders.a_body(before_end_date='2030-05-09 12:00'))
    assert answer.status_int == 403
    assert answer.json['error_message'].startswith('before_end_date: ')


class _Passing(client.ManagerClient):
    """A client for which a day passes in the manager before each answer about a lease."""

    def __init__(self, manager):
        super().__init__(builders.Wire(endpoint.InProcess(endpoint.Endpoint(manager.core))))
        self._manager = manager

    def get_lease(self, caller, lease_id):
        self._manager.run_until(self._manager.clock() + builders.hours(24))
        return super().get_lease(caller, lease_id)


@pytest.mark.proof
def test_a_delete_that_fails_is_reported_and_tried_until_it_succeeds(api, manager, conf):
    manager.enrol(1)
    lease = create(api, reservations=[{
        'resource_type': 'physical:host', 'min': 1, 'max': 1, 'hypervisor_properties': '',
        'resource_properties': ''}])
    manager.run()
    manager.cloud.fail('nova.remove_host', 999, errors.CloudError(service='Nova', reason='no'))
    # The test has one thread: the manager works while the API waits.
    passing = builders.Api(conf, manager, client=_Passing(manager))
    answer = passing.delete(place(lease))
    assert answer.status_int == 409
    assert 'was not deleted' in answer.json['error_message']
    assert api.get(place(lease)).json['lease']['status'] == 'ERROR'
    manager.cloud.fail('nova.remove_host', 0, None)
    manager.run_until(manager.clock() + builders.hours(24))
    assert api.get(place(lease)).status_int == 404


def test_a_deleted_lease_is_gone_and_the_answer_is_empty(api):
    lease = create(api, reservations=[])
    answer = api.delete(place(lease))
    assert (answer.status_int, answer.body) == (204, b'')
    assert 'Content-Type' not in answer.headers
    for gone in (api.get(place(lease)), api.delete(place(lease)), api.put(place(lease), {})):
        assert gone.status_int == 404
    assert api.get('/v1/leases').json == {'leases': []}
