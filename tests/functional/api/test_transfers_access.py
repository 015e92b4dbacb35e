# SPDX-License-Identifier: Apache-2.0
"""Every route of a transfer, called by every kind of caller, in every state of the offer."""
import itertools

import pytest
from support import builders

OWNER, RECEIVER = builders.DEMO, 'gus:guests:member,reader'
READER = 'rita:guests:reader'
#: {caller: token}.
CALLERS = {'owner': OWNER, 'receiver': RECEIVER, 'reader': READER, 'stranger': builders.STRANGER,
           'administrator': builders.ADMIN, 'reader of the owner': 'rita:demo:reader'}
DONE, REFUSED, HIDDEN = 'done', 'refused', 'hidden'
# {(method, path): (body, {caller: the kind of answer}, for all other callers)}.
ROUTES = {
    ('get', '/leases/{lease}/transfers'): (None, {
        'owner': DONE, 'administrator': DONE, 'reader of the owner': DONE}, HIDDEN),
    ('delete', '/leases/{lease}/transfers/{id}'): (None, {
        'owner': DONE, 'administrator': DONE, 'reader of the owner': REFUSED}, HIDDEN),
    ('get', '/transfers/{id}'): (None, {'receiver': DONE, 'reader': DONE}, HIDDEN),
    ('post', '/transfers/{id}/accept'): (
        {}, {'receiver': DONE, 'reader': REFUSED, 'reader of the owner': REFUSED}, HIDDEN),
    ('post', '/transfers/{id}/decline'): (
        {}, {'receiver': DONE, 'reader': REFUSED, 'reader of the owner': REFUSED}, HIDDEN),
}


@pytest.fixture
def offered(api, manager):
    """callable(**body): a new transfer of a future lease of a host, as the API shows it."""
    manager.enrol(1)
    starts = itertools.count(1)

    def make(token=OWNER, **body):
        start = builders.NOON + builders.hours(next(starts))
        lease = api.post('/v1/leases', {
            'name': 'x', 'start': start.isoformat(), 'duration': '30m', 'reservations': [
                {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}, version='1.1',
            token=token).json['lease']
        answer = api.post(f'/v1/leases/{lease["id"]}/transfers', body or {'project_id': 'guests'},
                          version='1.1', token=token)
        assert answer.status_int == 201, answer.json
        return answer.json['transfer']
    return make


def call(api, route, transfer, token, body=None):
    method, path = route
    return api.call(method.upper(), '/v1' + path.replace('{lease}', transfer['lease_id']).replace(
        '{id}', transfer['id']), ROUTES[route][0] if body is None else body, token=token,
        version='1.1')


def kind_of(answer):
    assert answer.status_int < 500, answer.text
    return {403: REFUSED, 404: HIDDEN}.get(answer.status_int, DONE)


@pytest.mark.parametrize('route', ROUTES, ids='-'.join)
def test_a_route_of_a_transfer_answers_each_caller_as_the_table_says(api, offered, route):
    _, wanted, others = ROUTES[route]
    found = {name: kind_of(call(api, route, offered(), token)) for name, token in CALLERS.items()}
    assert found == {name: wanted.get(name, others) for name in CALLERS}


def test_the_table_has_every_route_of_a_transfer(api):
    paths = api.get('/v1/openapi.json').json['paths']
    documented = {(method, path.replace('{id}', '{lease}', path.startswith('/leases')).replace(
        '{transfer_id}', '{id}')) for path in paths if 'transfers' in path
        for method in paths[path] if method != 'parameters'}
    assert documented - ROUTES.keys() == {('post', '/leases/{lease}/transfers'),
                                          ('get', '/transfers')}


@pytest.mark.parametrize('route', [('get', '/transfers/{id}'),
                                   ('post', '/transfers/{id}/decline'),
                                   ('post', '/transfers/{id}/accept')], ids='-'.join)
def test_an_offer_with_a_key_is_hidden_from_callers_without_it(api, offered, route):
    transfer = offered(key=True)
    assert kind_of(call(api, route, transfer, RECEIVER)) == HIDDEN
    headers = {'X-Transfer-Key': 'wrong'}
    assert api.get(f'/v1/transfers/{transfer["id"]}', token=RECEIVER, version='1.1',
                   headers=headers).status_int == 404
    if route[0] == 'post':
        assert kind_of(call(api, route, transfer, RECEIVER, {'key': 'wrong'})) == HIDDEN
        answer = call(api, route, transfer, RECEIVER, {'key': transfer['key']})
    else:
        answer = api.get(f'/v1/transfers/{transfer["id"]}', token=RECEIVER, version='1.1',
                         headers={'X-Transfer-Key': transfer['key']})
    assert answer.status_int in (200, 201), answer.text


def test_a_key_is_shown_once(api, offered):
    transfer = offered(key=True)
    listed = api.get(f'/v1/leases/{transfer["lease_id"]}/transfers', version='1.1')
    assert transfer['key'] not in listed.text
    [known] = listed.json['transfers']
    assert (known['by_key'], 'key' in known) == (True, False)


def test_the_receiver_sees_what_it_would_get(api, offered):
    transfer = offered()
    [listed] = api.get('/v1/transfers', token=RECEIVER, version='1.1').json['transfers']
    assert listed['id'] == transfer['id']
    shown = api.get(f'/v1/transfers/{transfer["id"]}', token=RECEIVER, version='1.1')
    lease = shown.json['transfer']['lease']
    assert (lease['project_id'], len(lease['reservations'][0]['resources'])) == ('guests', 1)
    assert shown.json['transfer']['problem'] is None
    dry = api.post(f'/v1/transfers/{transfer["id"]}/accept?dry_run=true', {}, token=RECEIVER,
                   version='1.1').json['lease']
    assert (dry['start'], dry['end']) == (lease['start'], lease['end'])
    assert api.get('/v1/transfers', token=RECEIVER, version='1.1').json['transfers'] == [listed]


def test_an_accepted_lease_belongs_to_its_receiver_only(api, offered):
    transfer = offered()
    place = f'/v1/transfers/{transfer["id"]}'
    seen = api.get(place, token=RECEIVER, version='1.1')
    answer = api.post(f'{place}/accept', {}, token=RECEIVER, version='1.1',
                      headers={'If-Match': seen.headers['ETag']})
    assert answer.status_int == 201, answer.text
    lease_id = answer.json['lease']['id']
    assert answer.headers['Location'].endswith(f'/v1/leases/{lease_id}')
    assert api.get(f'/v1/leases/{lease_id}', token=RECEIVER).json['lease']['project_id'] == 'guests'
    assert api.get(f'/v1/leases/{lease_id}').status_int == 404
    assert api.get('/v1/leases').json['leases'] == []
    again = api.post(f'{place}/accept', {}, token=RECEIVER, version='1.1')
    assert (again.status_int, again.json['error_name']) == (409, 'transfer_closed')


def test_an_offer_of_a_changed_lease_is_not_accepted_as_it_was_seen(api, offered):
    transfer = offered()
    seen = api.get(f'/v1/transfers/{transfer["id"]}', token=RECEIVER, version='1.1')
    api.put(f'/v1/leases/{transfer["lease_id"]}', {'name': 'other'}, version='1.1')
    answer = api.post(f'/v1/transfers/{transfer["id"]}/accept', {}, token=RECEIVER, version='1.1',
                      headers={'If-Match': seen.headers['ETag']})
    assert answer.status_int == 412


def test_a_receiver_of_a_share_does_not_see_to_whom_a_lease_is_offered(api, offered):
    transfer = offered(project_id='hidden')
    place = f'/v1/leases/{transfer["lease_id"]}'
    api.post(f'{place}/shares', {'project_id': 'guests', 'role': 'manager'}, version='1.1')
    assert 'hidden' in api.get(f'{place}/history', version='1.1').text
    assert 'hidden' not in api.get(f'{place}/history', version='1.1', token=RECEIVER).text
    assert api.get(f'{place}/transfers', version='1.1', token=RECEIVER).status_int == 403


@pytest.mark.parametrize('body', [
    {}, {'project_id': 'p', 'key': True}, {'key': False}, {'project_id': ''},
    {'project_id': 'p', 'hosts': 0}, {'project_id': 'p', 'expires_at': 'soon'},
    {'project_id': 'p', 'notice': 'long'}, {'project_id': 'p', 'on_withdrawal': 'explode'},
    {'project_id': 'p', 'extra': 1}, [], None])
def test_a_malformed_offer_is_refused(api, offered, body):
    lease_id = offered()['lease_id']
    answer = api.post(f'/v1/leases/{lease_id}/transfers', body, version='1.1')
    assert answer.status_int == 400, answer.text
