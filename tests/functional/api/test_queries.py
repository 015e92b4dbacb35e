# SPDX-License-Identifier: Apache-2.0
"""Each route that knows its query refuses all other queries, in the same words."""
import pytest
from support import builders
from support import thinning

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
# The routes, each with a parameter that it knows.
ROUTES = [
    ('/v1/usage', 'start'), ('/v1/utilisation', 'pool'), ('/v1/energy', 'pool'),
    ('/v1/subscriptions', 'limit'), ('/v1/statements', 'month'), ('/v1/maintenances', 'limit'),
    ('/v1/timeline', 'pool'), ('/v1/forecast', 'pool'), ('/v1/availability', 'earliest'),
    ('/v1/leases', 'name'),
]


def refused(api, query):
    answer = api.get(query, **ADMIN)
    assert answer.status_int == 400, answer.json
    return answer.json['error_message']


@pytest.mark.parametrize(('route', 'known'), ROUTES)
def test_an_unknown_parameter_is_named_with_those_that_are_known(api, route, known):
    text = refused(api, f'{route}?{known}=1&limits=9')
    assert text.startswith('limits: no such parameter; known are ')
    assert known in text.partition('known are ')[2].rstrip('.').split(', ')


def test_a_route_without_parameters_says_so(api):
    assert refused(api, '/v1/price-books?limit=9').startswith(
        'limit: no such parameter; the route has none.')


@pytest.mark.parametrize(('route', 'known'), ROUTES)
def test_a_parameter_that_is_given_twice_is_refused(api, route, known):
    assert refused(api, f'{route}?{known}=1&{known}=2').startswith(
        f'{known}: it is given more than once.')


@pytest.mark.parametrize(('route', 'known'), thinning.few(ROUTES, 4))
def test_characters_that_no_database_keeps_are_refused(api, route, known):
    assert refused(api, f'{route}?{known}=a%07b').startswith(
        f'{known}: the character U+0007 is not allowed in text.')


def test_groups_may_be_given_one_by_one(api):
    answer = api.get('/v1/usage?group_by=project&group_by=day', **ADMIN)
    assert answer.status_int == 200, answer.json


def changing(api):
    """Yield (method, path, whether the route has dry runs) of all that changes something."""
    for path, operations in sorted(api.get('/v1/openapi').json['paths'].items()):
        for method, operation in operations.items():
            if method in ('post', 'put', 'patch', 'delete'):
                names = [each['name'] for each in operation.get('parameters', ())]
                yield method.upper(), f'/v1{path}'.replace('{id}', '1'), 'dry_run' in names


def test_no_route_without_dry_runs_takes_one_for_the_real_thing(api):
    routes = list(changing(api))
    of_pools = {f'/v1/resources/{pool}/1' for pool in ('address', 'backend', 'host', 'segment')}
    assert {path for _, path, has_dry_runs in routes if has_dry_runs} == {
        '/v1/leases', '/v1/leases/1', '/v1/leases/1/swap', '/v1/leases/1/give-back',
        '/v1/maintenances', '/v1/os-hosts/1',
        '/v1/floatingips/1', '/v1/networks/1', '/v1/leases/1/shares/{share_id}', '/v1/series',
        '/v1/series/1', '/v1/transfers/1/accept', '/v1/leases/1/sub-leases', *of_pools}
    for method, path, has_dry_runs in routes:
        for name in ('dry_run', 'dry-run', 'force'):
            answer = api.call(method, f'{path}?{name}=true', {}, **ADMIN)
            text = answer.json['error_message']
            assert (answer.status_int == 400 and text.startswith(f'{name}: no such parameter')) != (
                has_dry_runs and name == 'dry_run'), (method, path, text)


def test_a_dry_run_changes_neither_a_lease_nor_a_host(api, manager):
    manager.enrol(2)
    lease = manager.active()
    manager.clock.advance(builders.minutes(10))
    place = f'/v1/leases/{lease.id}'
    before = api.get(place, version='1.1').json
    for method, path, sent in (('DELETE', place, None), ('POST', f'{place}/swap', {'host': '1'}),
                               ('PUT', place, {'end': 'now'})):
        for version, status in (('1.1', 200), ('1.0', 400)):
            answer = api.call(method, f'{path}?dry_run=true', sent, version=version)
            assert answer.status_int == status, answer.json
    assert api.get(place, version='1.1').json == before
    for version, status in (('1.1', 200), ('1.0', 400)):
        assert api.delete('/v1/os-hosts/2?dry_run=true', **{
            **ADMIN, 'version': version}).status_int == status
    assert api.get('/v1/os-hosts/2', **ADMIN).status_int == 200


@pytest.mark.parametrize('query', ['dry_run', 'dry_run=', 'dry_run=false&dry_run=true',
                                   'dry_run=maybe', 'dryrun=true', 'dry_run[]=1'])
def test_a_dry_run_that_is_not_clear_creates_nothing(api, query):
    answer = api.post(f'/v1/leases?{query}', {'name': 'x', 'duration': '1h'}, version='1.1')
    assert answer.status_int == 400, answer.json
    assert api.get('/v1/leases', version='1.1').json == {'leases': []}


def test_rest_1_0_has_no_dry_run_and_creates_nothing(api, manager):
    manager.enrol(1)
    answer = api.post('/v1/leases?dry_run=true', builders.a_body(), version='1.0')
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith('dry_run: REST 1.0 has no dry runs')
    assert api.get('/v1/leases').json == {'leases': []}
    assert api.post('/v1/leases?trace=1', builders.a_body()).status_int == 201
