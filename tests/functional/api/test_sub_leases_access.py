# SPDX-License-Identifier: Apache-2.0
"""The paths of sub-leases, and what each of both projects sees and may do."""
import pytest
from support import builders

GUEST = 'sue:students:member,reader'
THIRD = 'tim:third:member,reader'
VIEWER = 'vic:viewers:member,reader'
CALLERS = {'owner': builders.DEMO, 'receiver': GUEST, 'viewer of the parent': VIEWER,
           'stranger': THIRD, 'administrator': builders.ADMIN,
           'reader of the owner': 'rita:demo:reader'}
BODY = {'project': 'students', 'name': 'lab', 'hosts': 1}


@pytest.fixture
def parent(api, manager):
    """The id of a running lease of four hosts for an hour, which a project may see."""
    manager.enrol(4)
    lease_id = post(api, '/leases', {
        'name': 'parent', 'start': 'now', 'end': '2030-05-01 13:00', 'reservations': [
            {'resource_type': 'physical:host', 'min': 4, 'max': 4}]}).json['lease']['id']
    post(api, f'/leases/{lease_id}/shares', {'project_id': 'viewers', 'role': 'manager'})
    manager.run()
    return lease_id


def post(api, path, body, status=201, token=builders.DEMO):
    answer = api.post(f'/v1{path}', body, version='1.1', token=token)
    assert answer.status_int == status, answer.text
    return answer


def get(api, path, token=builders.DEMO, version='1.1'):
    return api.get(f'/v1{path}', version=version, token=token)


def lend(api, parent, **fields):
    return post(api, f'/leases/{parent}/sub-leases', {**BODY, **fields}).json['lease']


def test_a_sub_lease_is_a_lease_of_the_other_project(api, manager, parent):
    lease = lend(api, parent)
    manager.run()
    read = get(api, f'/leases/{lease["id"]}', GUEST).json['lease']
    assert (read['project_id'], read['parent_id'], read['parent_name'], read['sub_leases']) == (
        'students', parent, 'parent', [])
    assert read['status'] == 'active'
    assert [each['id'] for each in get(api, '/leases', GUEST).json['leases']] == [lease['id']]
    assert lease['id'] not in {each['id'] for each in get(api, '/leases').json['leases']}
    assert get(api, f'/leases/{parent}', GUEST).status_int == 404


def test_a_parent_names_its_sub_leases(api, parent):
    lease = lend(api, parent)
    listed = get(api, f'/leases/{parent}/sub-leases').json['sub_leases']
    assert [(each['id'], each['name'], each['project_id'], len(each['resources']))
            for each in listed] == [(lease['id'], 'lab', 'students', 1)]
    assert get(api, f'/leases/{parent}').json['lease']['sub_leases'] == listed
    assert get(api, f'/leases/{parent}', VIEWER).json['lease']['sub_leases'] is None


def test_a_client_of_1_0_sees_an_ordinary_lease(api, parent):
    lease = lend(api, parent)
    old = get(api, f'/leases/{lease["id"]}', GUEST, version=None).json['lease']
    assert not {'parent_id', 'parent_name', 'sub_leases'} & old.keys()
    assert get(api, f'/leases/{parent}/sub-leases', version=None).status_int == 404


def test_free_hosts_of_a_lease_are_listed_for_a_time(api, parent):
    lend(api, parent, hosts=3, end='2030-05-01 12:30')
    early = get(api, f'/leases/{parent}/availability?end=2030-05-01T12:20').json['hosts']
    late = get(api, f'/leases/{parent}/availability?start=2030-05-01T12:30').json['hosts']
    assert (len(early), len(late)) == (1, 4)
    assert early[0].keys() == {'id', 'name', 'reservation_id', 'in_use'}
    assert get(api, f'/leases/{parent}/availability?until=x').status_int == 400


# {(method, path): {caller: status}}; {id} is the parent, {sub} the sub-lease.
STATUSES = {
    ('GET', '/leases/{id}/sub-leases'): (200, 404, 403, 404, 200, 200),
    ('POST', '/leases/{id}/sub-leases'): (201, 404, 403, 404, 201, 403),
    ('GET', '/leases/{id}/availability'): (200, 404, 403, 404, 200, 200),
    ('GET', '/leases/{sub}'): (200, 200, 404, 404, 200, 200),
    ('GET', '/leases/{sub}/history'): (200, 200, 404, 404, 200, 200),
    ('PUT', '/leases/{sub}'): (403, 200, 404, 404, 200, 403),
    ('POST', '/leases/{sub}/shares'): (403, 201, 404, 404, 201, 403),
    ('DELETE', '/leases/{sub}'): (204, 204, 404, 404, 204, 403),
}
BODIES = {'PUT': {'name': 'other'}, 'POST': BODY}


@pytest.mark.parametrize('route', STATUSES, ids='-'.join)
def test_a_route_answers_each_caller_by_its_rights(api, manager, parent, route):
    method, path = route
    answers = []
    for token in CALLERS.values():
        sub = '' if '{sub}' not in path else lend(api, parent)['id']
        body = ({'project_id': 'third', 'role': 'viewer'} if path.endswith('shares')
                else BODIES.get(method))
        answer = api.call(method, '/v1' + path.format(id=parent, sub=sub), body, token=token,
                          version='1.1')
        answers.append(answer.status_int)
        made = answer.json['lease']['id'] if answer.status_int == 201 and (
            path.endswith('sub-leases')) else sub
        if made:
            api.delete(f'/v1/leases/{made}', token=builders.ADMIN, version='1.1')
        manager.run()
    assert answers == list(STATUSES[route])


@pytest.mark.parametrize(('fields', 'message'), [
    ({'resources': ['compute-1']}, 'hosts'), ({'hosts': 0}, 'hosts'),
    ({'start': 'sometime'}, 'start'), ({'end': '2030-05-01 15:00'}, 'end'),
    ({'project': ''}, 'project'), ({'color': 'red'}, 'color'), ({'hosts': '2'}, 'hosts'),
])
def test_a_wrong_body_is_refused_with_the_field(api, parent, fields, message):
    answer = post(api, f'/leases/{parent}/sub-leases', {**BODY, **fields}, 400)
    assert message in answer.json['error_message']


def test_a_dry_run_shows_the_hosts_and_makes_nothing(api, parent):
    answer = post(api, f'/leases/{parent}/sub-leases?dry_run=true', BODY, 200).json['lease']
    assert len(answer['reservations'][0]['resources']) == 1
    assert get(api, f'/leases/{parent}/sub-leases').json['sub_leases'] == []


def test_a_conflict_names_the_sub_leases(api, parent):
    lease = lend(api, parent)
    answer = api.call('PUT', f'/v1/leases/{parent}', {'end': '2030-05-01 12:30'}, version='1.1')
    assert (answer.status_int, answer.json['error_name']) == (409, 'sub_leases_open')
    assert lease['id'] in answer.json['error_message']
