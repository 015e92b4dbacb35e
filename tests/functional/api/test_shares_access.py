# SPDX-License-Identifier: Apache-2.0
"""Every combination of a route of a lease and a caller who owns it, has a share of it, or neither.

The routes come from the OpenAPI document, so a new route of leases needs a row here.
"""
import itertools

import pytest
from support import builders

from climate.domain import shares

Access = shares.Access
VIEWER, USER, MANAGER, OWNER = Access.VIEWER, Access.USER, Access.MANAGER, Access.OWNER
BOOK = {'reservations': [{'resource_type': 'virtual:dummy'}]}
# {(method, path): (the least access that the route needs, body)}.
ROUTES = {
    ('get', '/leases/{id}'): (VIEWER, None),
    ('put', '/leases/{id}'): (MANAGER, {'name': 'another'}),
    ('delete', '/leases/{id}'): (MANAGER, None),
    ('get', '/leases/{id}/history'): (VIEWER, None),
    ('get', '/leases/{id}/request'): (VIEWER, None),
    ('get', '/leases/{id}/resources'): (VIEWER, None),
    ('get', '/leases/{id}/latest_end'): (MANAGER, None),
    ('post', '/leases/{id}/swap'): (MANAGER, {'host': 'compute-1'}),
    ('post', '/leases/{id}/give-back'): (MANAGER, {}),
    ('get', '/leases/{id}/shares'): (VIEWER, None),
    ('post', '/leases/{id}/shares'): (OWNER, {'project_id': 'third', 'role': 'viewer'}),
    ('get', '/leases/{id}/sub-leases'): (OWNER, None),
    ('post', '/leases/{id}/sub-leases'): (
        OWNER, {'project': 'third', 'name': 'x', 'hosts': 1}),
    ('get', '/leases/{id}/availability'): (OWNER, None),
    # A receiver leaves its own share.
    ('delete', '/leases/{id}/shares/{share_id}'): (VIEWER, None),
    # test_transfers_access.py has the receivers of transfers.
    ('get', '/leases/{id}/transfers'): (OWNER, None),
    ('post', '/leases/{id}/transfers'): (OWNER, {'project_id': 'third'}),
    ('delete', '/leases/{id}/transfers/{transfer_id}'): (OWNER, None),
    ('put', '/reservations/{id}'): (MANAGER, {'resource_id': 'x'}),
}
# Only services and administrators, and clients of another dialect, use these.
NOT_OF_LEASES = {('get', '/reservations/{id}/hosts'), ('get', '/leases/{id}/hosts'),
                 ('get', '/leases/{id}/networks'), ('get', '/leases/{id}/devices')}
GUEST = 'gus:guests:member,reader'
CALLERS = {
    'owner': (builders.DEMO, None, OWNER),
    'viewer': (GUEST, ('project_id', 'guests', 'viewer'), VIEWER),
    'user': (GUEST, ('project_id', 'guests', 'user'), USER),
    'manager': (GUEST, ('project_id', 'guests', 'manager'), MANAGER),
    'single viewer': (GUEST, ('user_id', 'gus', 'viewer'), VIEWER),
    'single manager': (GUEST, ('user_id', 'gus', 'manager'), MANAGER),
    'reader with a share of a manager': (
        'rita:guests:reader', ('project_id', 'guests', 'manager'), VIEWER),
    'stranger': (builders.STRANGER, ('project_id', 'guests', 'manager'), Access.NONE),
    'administrator': (builders.ADMIN, None, OWNER),
}


@pytest.fixture
def shared(api, manager):
    """callable(share): (id of a future lease of a host, its reservation, the id of its share)."""
    manager.enrol(1)
    starts = itertools.count(1)

    def make(share):
        start = builders.NOON + builders.hours(next(starts))
        lease = api.post('/v1/leases', {
            'name': 'x', 'start': start.isoformat(), 'duration': '30m', 'reservations': [
                {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}, version='1.1'
        ).json['lease']
        share_id = 'none'
        if share is not None:
            kind, receiver, role = share
            answer = api.post(f'/v1/leases/{lease["id"]}/shares', {kind: receiver, 'role': role},
                              version='1.1')
            assert answer.status_int == 201, answer.json
            share_id = answer.json['share']['id']
        return lease['id'], lease['reservations'][0]['id'], share_id
    return make


def expected(route, access, has_share):
    """Return the kinds of answers that a caller with an access may get."""
    least, _ = ROUTES[route]
    if access is Access.NONE:
        return 'hidden'
    if route[1].endswith('{share_id}') and not has_share:
        return 'no such share'
    return 'done' if access >= least else 'refused'


def kind_of(answer):
    if answer.status_int == 403:
        return 'refused'
    if answer.status_int == 404:
        if answer.json['error_name'] == 'transfer_not_found':
            return 'done'
        return 'no such share' if answer.json['error_name'] == 'share_not_found' else 'hidden'
    # The state of the lease does not allow a swap, and the reservation waits for no server.
    assert answer.status_int in (200, 201, 202, 204, 409), (answer.status_int, answer.text)
    return 'done'


@pytest.mark.parametrize('route', ROUTES, ids='-'.join)
def test_a_route_of_a_lease_needs_the_access_of_the_table(api, shared, route):
    method, path = route
    outcomes = {}
    for name, (token, share, access) in CALLERS.items():
        lease_id, reservation_id, share_id = shared(share)
        place = path.replace('{share_id}', share_id).replace('{transfer_id}', 'none').replace(
            '{id}', reservation_id if path.startswith('/reservations') else lease_id)
        answer = api.call(method.upper(), f'/v1{place}', ROUTES[route][1], token=token,
                          version='1.1')
        outcomes[name] = kind_of(answer), expected(route, access, share is not None)
        if name.startswith('reader') and path.endswith('{share_id}'):
            # A reader of the project may not leave for all of it.
            outcomes[name] = kind_of(answer), 'refused'
    assert {name: pair[0] for name, pair in outcomes.items()} == {
        name: pair[1] for name, pair in outcomes.items()}


def test_the_table_has_every_route_of_a_lease(api):
    document = api.get('/v1/openapi.json').json
    documented = {(method, path) for path, item in document['paths'].items()
                  if path.startswith(('/leases/{id}', '/reservations/{id}'))
                  for method in item if method != 'parameters'}
    assert documented == ROUTES.keys() | NOT_OF_LEASES


def test_a_client_of_1_0_lists_a_shared_lease_as_an_ordinary_one(api, shared):
    lease_id, _, _ = shared(('project_id', 'guests', 'viewer'))
    [own] = api.get('/v1/leases').json['leases']
    [theirs] = api.get('/v1/leases', token=GUEST).json['leases']
    assert theirs == own
    assert 'shared' not in theirs
    assert api.get(f'/v1/leases/{lease_id}', token=GUEST).json['lease'] == own


def test_a_list_marks_a_shared_lease_and_hides_private_data_of_its_owner(api, shared):
    shared(('project_id', 'guests', 'viewer'))
    [lease] = api.get('/v1/leases', token=GUEST, version='1.1').json['leases']
    assert (lease['shared']['role'], lease['shared']['by']) == ('viewer', 'demo')
    assert (lease['has_trust'], lease['share_count'], lease['actions']) == (
        None, None, ['leave'])
    [read] = api.get('/v1/leases', token='rita:guests:reader', version='1.1').json['leases']
    assert (read['shared']['role'], read['actions']) == ('viewer', [])
    for token in (builders.DEMO, 'rita:demo:reader'):
        [own] = api.get('/v1/leases', version='1.1', token=token).json['leases']
        assert (own['shared'], own['share_count']) == (None, 1)


def test_pages_of_a_list_contain_shared_leases(api, shared):
    ids = {shared(('user_id', 'gus', 'viewer'))[0] for _ in range(3)}
    page = api.get('/v1/leases?limit=2', token=GUEST, version='1.1').json
    rest = api.get(page['leases_links'][0]['href'], token=GUEST, version='1.1').json
    assert {lease['id'] for lease in (*page['leases'], *rest['leases'])} == ids


def test_a_receiver_does_not_see_with_whom_else_a_lease_is_shared(api, shared):
    lease_id, _, share_id = shared(('project_id', 'guests', 'manager'))
    other = api.post(f'/v1/leases/{lease_id}/shares', {'user_id': 'hidden', 'role': 'viewer'},
                     version='1.1').json['share']
    history = api.get(f'/v1/leases/{lease_id}/history', version='1.1').text
    assert 'user hidden' in history
    for place in ('', '/history', '/shares'):
        assert 'hidden' not in api.get(f'/v1/leases/{lease_id}{place}', token=GUEST,
                                       version='1.1').text
    listed = api.get(f'/v1/leases/{lease_id}/shares', token=GUEST, version='1.1').json['shares']
    assert [share['id'] for share in listed] == [share_id]
    assert api.delete(f'/v1/leases/{lease_id}/shares/{other["id"]}', token=GUEST,
                      version='1.1').status_int == 404


def test_a_timeline_names_the_leases_that_are_shared_with_the_caller(api, shared):
    lease_id, _, share_id = shared(('project_id', 'guests', 'viewer'))
    answer = api.get('/v1/timeline', token=GUEST, version='1.1')
    assert answer.status_int == 200, answer.text
    [lease] = answer.json['timeline']['leases']
    assert lease['id'] == lease_id
    api.delete(f'/v1/leases/{lease_id}/shares/{share_id}', version='1.1')
    assert api.get('/v1/timeline', token=GUEST, version='1.1').json['timeline']['leases'] == []


def test_a_calendar_has_the_leases_that_are_shared_with_its_project(api, shared):
    lease_id, _, share_id = shared(('project_id', 'guests', 'viewer'))
    made = api.post('/v1/subscriptions', {'transport': 'calendar', 'scope': 'project'},
                    token=GUEST, version='1.1').json['subscription']
    place = made['calendar_url'].removeprefix('http://localhost').removeprefix(':80')
    assert lease_id in api.get(place, token=None).text
    api.delete(f'/v1/leases/{lease_id}/shares/{share_id}', version='1.1')
    assert lease_id not in api.get(place, token=None).text


@pytest.mark.parametrize('body', [
    {'role': 'viewer'}, {'project_id': 'p', 'user_id': 'u', 'role': 'viewer'},
    {'project_id': '', 'role': 'viewer'}, {'project_id': 'p', 'role': 'owner'},
    {'project_id': 'p', 'role': 'user', 'until': 'soon'},
    {'project_id': 'p', 'role': 'user', 'notice': 'long'},
    {'project_id': 'p', 'role': 'user', 'on_withdrawal': 'explode'},
    {'project_id': 'p', 'role': 'user', 'extra': 1}, [], None])
def test_a_malformed_share_is_refused(api, shared, body):
    lease_id, _, _ = shared(None)
    answer = api.post(f'/v1/leases/{lease_id}/shares', body, version='1.1')
    assert answer.status_int == 400, answer.text
    assert api.get(f'/v1/leases/{lease_id}/shares', version='1.1').json == {'shares': []}


@pytest.mark.parametrize('end', ['withdrawn', 'left', 'expired'])
@pytest.mark.parametrize('route', ROUTES, ids='-'.join)
def test_nobody_sees_a_lease_after_the_end_of_its_share(api, manager, shared, route, end):
    method, path = route
    lease_id, reservation_id, share_id = shared(('project_id', 'guests', 'manager'))
    place = f'/v1/leases/{lease_id}/shares/{share_id}'
    if end == 'expired':
        api.delete(place, version='1.1')
        until = (manager.clock() + builders.minutes(5)).isoformat()
        share_id = api.post(f'/v1/leases/{lease_id}/shares', {
            'project_id': 'guests', 'role': 'manager', 'until': until},
            version='1.1').json['share']['id']
        assert api.get(f'/v1/leases/{lease_id}', token=GUEST, version='1.1').status_int == 200
        manager.clock.advance(builders.minutes(5))
    else:
        assert api.delete(place, token=GUEST if end == 'left' else builders.DEMO,
                          version='1.1').status_int == 200
    answer = api.call(
        method.upper(), '/v1' + path.replace('{share_id}', share_id).replace(
            '{id}', reservation_id if path.startswith('/reservations') else lease_id),
        ROUTES[route][1], token=GUEST, version='1.1')
    assert kind_of(answer) == 'hidden'
    assert api.get('/v1/leases', token=GUEST, version='1.1').json['leases'] == []
