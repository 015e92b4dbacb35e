# SPDX-License-Identifier: Apache-2.0
"""The frame of every answer: versions, headers, twins of URLs, forms of errors."""
import itertools
import re

import pytest
from support import builders
import webtest

from climate.api import app
from climate.api import openapi
from climate.plugins.compute import host

REQUEST_ID = re.compile(r'req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
HEADER = 'OpenStack-API-Version'


@pytest.fixture
def lease(api):
    return api.post('/v1/leases', builders.a_body(reservations=[])).json['lease']


@pytest.mark.parametrize('path', ['/', '/versions', '/versions.json'])
@pytest.mark.parametrize('token', [None, builders.DEMO])
def test_the_versions_are_told_to_anybody(api, path, token):
    answer = api.get(path, token=token)
    assert answer.status_int == 300
    assert answer.content_type == 'application/json'
    assert answer.json == {'versions': [{
        'id': 'v1.0', 'status': 'CURRENT', 'min_version': '1.0', 'max_version': '1.1',
        'links': [{'rel': 'self', 'href': 'http://localhost/v1'}]}]}


def test_every_route_has_a_twin_that_ends_in_json(api, manager, lease):
    manager.enrol(1)
    for path in ('/v1/leases', f'/v1/leases/{lease["id"]}', '/v1/os-hosts', '/v1/os-hosts/1',
                 '/v1/os-hosts/allocations', '/v1/os-hosts/1/allocation',
                 '/v1/os-hosts/properties'):
        plain = api.get(path, token=builders.ADMIN)
        assert plain.status_int == 200
        assert api.get(f'{path}.json', token=builders.ADMIN).json == plain.json
    assert api.post('/v1/leases.json', builders.a_body(reservations=[])).status_int == 201
    assert api.delete(f'/v1/leases/{lease["id"]}.json').status_int == 204


def test_a_url_that_is_none_is_told_in_the_short_form(api):
    for path in (
            '/v1/leases/', '/v1', '/v1/', '/versions/', '/v1/plugins', '/x',
            '/v2/leases', '/v1/os-hosts/', '/v1/leases/1/2', '/v1/_parts',
            '/__class__', '/versions/__class__', '/v1/__class__/x', '/v1/_lookup', '/v1/_lookup/x',
            '/v1/leases/x/__class__', '/v1/leases/x/_parts', '/v1/os-hosts/__dict__/x'):
        answer = api.get(path, token=builders.ADMIN)
        assert answer.status_int == 404
        assert answer.json == {'error': 404, 'error_message': f'Nothing is at {path}.'}
        assert HEADER not in answer.headers


def test_a_path_with_the_name_of_an_attribute_is_no_path(api):
    nouns = [path for path in openapi.document({})['paths'] if '{' not in path]
    places = [place for noun in nouns for place in (noun, f'{noun}/x')]
    methods = itertools.cycle(('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'GET'))
    for place, name in itertools.product(places, ('__class__', '_parts', 'get_all', 'dry_runs')):
        method = next(methods)
        answer = api.call(method, f'/v1{place}/{name}', {}, token=builders.ADMIN)
        assert answer.status_int in (400, 404, 405), (method, place, name)


@pytest.mark.parametrize('path', ['/v1/floatingips', '/v1/floatingips/7'])
def test_a_path_of_a_type_that_is_not_enabled_names_the_type(conf, manager, path):
    api = builders.Api(conf, manager, plugins={'physical:host': host.HostPlugin})
    for method in ('GET', 'POST', 'DELETE'):
        answer = api.call(method, path, token=builders.ADMIN)
        assert answer.status_int == 404
        assert answer.json['error_code'] == 404
        assert 'virtual:floatingip' in answer.json['error_message']
    assert api.get(path, token=builders.ADMIN, version='1.1').json['error_name'] == 'not_found'


def test_a_method_that_does_nothing_is_told_with_those_that_do(api):
    for method, path, allowed in (
            ('PUT', '/v1/leases', 'GET, POST'),
            ('DELETE', '/v1/leases', 'GET, POST'),
            ('POST', '/v1/leases/7', 'GET, PUT, DELETE'),
            ('PATCH', '/v1/leases/7', 'GET, PUT, DELETE'),
            ('DELETE', '/v1/os-hosts', 'GET, POST'),
            ('PATCH', '/v1/os-hosts/properties', 'GET'),
            ('GET', '/v1/os-hosts/properties/gpu', 'PATCH'),
            ('POST', '/v1/os-hosts/allocations', 'GET')):
        answer = api.call(method, path, {'name': 'x'}, token=builders.ADMIN)
        assert answer.status_int == 405
        assert answer.json == {'error': 405, 'error_message': f'{method} does nothing at {path}.'}
        assert answer.headers['Allow'] == allowed


def test_a_method_cannot_be_hidden_in_another(api, lease):
    place = f'/v1/leases/{lease["id"]}'
    for answer in (api.post(f'{place}?_method=DELETE'), api.get(f'{place}?_method=delete'),
                   api.post(place, {'_method': 'delete'}),
                   api.post(place, raw=b'_method=delete', headers={
                       'Content-Type': 'application/x-www-form-urlencoded'})):
        assert answer.status_int in (200, 405)
    assert api.get(place).status_int == 200


@pytest.mark.parametrize('method', ['GET', 'POST'])
def test_names_of_the_query_and_of_the_body_mean_nothing_to_the_server_itself(api, method):
    names = ('req', 'resp', 'self', 'lease_id', 'host_id', 'name')
    query = '&'.join(f'{name}=1' for name in names)
    answer = api.call(method, f'/v1/leases?{query}', {
        **builders.a_body(reservations=[]), 'req': 1, 'resp': 2, 'self': 3, 'lease_id': {}})
    assert answer.status_int in (200, 201)


def test_the_version_that_is_spoken_is_in_the_answer(api, lease):
    for asked, spoken in (
            (None, '1.0'), ('reservation 1.0', '1.0'), ('reservation 1.1', '1.1'),
            ('reservation latest', '1.1'), ('compute 2.90', '1.0'), ('1.1', '1.0'),
            ('compute 2.90, reservation 1.1', '1.1')):
        headers = {} if asked is None else {HEADER: asked}
        for path, status in (('/v1/leases', 200), (f'/v1/leases/{lease["id"]}', 200),
                             ('/v1/leases/absent', 404)):
            answer = api.get(path, headers=headers)
            assert answer.status_int == status
            assert answer.headers[HEADER] == f'reservation {spoken}'
            assert answer.headers['Vary'] == HEADER


def test_a_version_that_is_not_served_is_told_in_the_short_form(api):
    for asked, status in (
            ('1', 400), ('foo', 400), ('1.x', 400), ('1.1.1', 400), ('-1.0', 400),
            ('1.\u0661', 400),
            ('0.9', 406), ('1.2', 406), ('2.0', 406), ('1.99999999', 406)):
        answer = api.get('/v1/leases', version=asked)
        assert answer.status_int == status
        assert set(answer.json) == {'error', 'error_message'}
        assert answer.json['error'] == status
        assert HEADER not in answer.headers


def test_an_error_has_the_form_of_its_version(api):
    old, new = (api.get('/v1/leases/absent', version=version) for version in ('1.0', '1.1'))
    text = 'Lease absent was not found.'
    assert old.json == {'error_code': 404, 'error_message': text, 'error_name': 404}
    assert new.json == {'error_code': 404, 'error_message': text,
                        'error_name': 'lease_not_found', 'details': {'lease_id': 'absent'},
                        'request_id': new.headers['X-Openstack-Request-Id']}


def test_a_caller_without_a_token_gets_401_with_the_method(api):
    answer = api.get('/v1/leases', token=None)
    assert answer.status_int == 401
    assert answer.content_type == 'application/json'
    assert answer.json['error']['code'] == 401
    assert answer.json['error']['title'] == 'Unauthorized'
    assert 'WWW-Authenticate' in answer.headers
    assert HEADER not in answer.headers


def test_everything_is_json_whatever_is_accepted(api):
    for accept in (
            None, '', '*/*', 'text/html', 'application/xml', 'nonsense'):
        headers = {} if accept is None else {'Accept': accept}
        for path in ('/', '/v1/leases', '/v1/leases/absent', '/nowhere'):
            assert api.get(path, headers=headers).content_type == 'application/json'


def test_a_body_is_json_or_says_nothing_of_itself(api):
    for kind in (
            None, 'application/json', 'application/json; charset=utf-8',
            'Application/JSON'):
        answer = api.post('/v1/leases', builders.a_body(reservations=[]),
                          headers={'Content-Type': kind or ''})
        assert answer.status_int == 201


def test_another_type_of_body_is_refused(api):
    for kind in (
            'text/plain', 'application/x-www-form-urlencoded',
            'multipart/form-data; boundary=x', 'application/xml'):
        answer = api.post('/v1/leases', builders.a_body(), headers={'Content-Type': kind})
        assert answer.status_int == 400
        assert set(answer.json) == {'error', 'error_message'}
        assert 'application/json' in answer.json['error_message']
        answer = api.post('/v1/leases', builders.a_body(), headers={'Content-Type': kind},
                          version='1.1')
        assert answer.json['error_name'] == 'unsupported_media_type'


def test_each_answer_has_a_request_id_of_its_own(api):
    given = 'req-11111111-2222-3333-4444-555555555555'
    ids = [api.get(path, headers={'X-Openstack-Request-Id': given})
           .headers['X-Openstack-Request-Id']
           for path in ('/', '/v1/leases', '/v1/leases/absent', '/nowhere')]
    assert len({given, *ids}) == 5
    assert all(REQUEST_ID.fullmatch(each) for each in ids)


def test_head_says_what_get_would_say(api, lease):
    for path in ('/v1/leases', f'/v1/leases/{lease["id"]}'):
        assert api.call('HEAD', path).status_int == 200
    assert api.call('HEAD', '/v1/leases/absent').status_int == 404


def test_the_service_works_below_a_path_of_the_web_server(conf, manager):
    inner = app.build(conf, manager.client, builders.manager_plugins(conf))

    def mounted(environ, start_response):
        return inner({**environ, 'SCRIPT_NAME': '/reservation'}, start_response)

    service = webtest.TestApp(mounted, extra_environ={'HTTP_X_AUTH_TOKEN': builders.DEMO})
    [version] = service.get('/', status=300).json['versions']
    assert version['links'][0]['href'] == 'http://localhost/reservation/v1'
    made = service.post_json('/v1/leases', builders.a_body(reservations=[]), status=201)
    assert made.headers['Location'] == (
        f'http://localhost/reservation/v1/leases/{made.json["lease"]["id"]}')
    assert service.get('/v1/leases/absent', status=404).json['error_code'] == 404
    service.get('/v1/leases/', status=404)


@pytest.mark.parametrize(('believed', 'scheme'), [(True, 'https'), (False, 'http')])
def test_links_say_https_behind_a_proxy_that_is_believed(conf, manager, believed, scheme):
    api = builders.Api(conf, manager)
    conf.set_override('enable_proxy_headers_parsing', believed, group='oslo_middleware')
    made = api.post('/v1/leases', builders.a_body(reservations=[]), headers={
        'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'api.example.org'})
    host = 'api.example.org' if believed else 'localhost'
    assert made.headers['Location'] == f'{scheme}://{host}/v1/leases/{made.json["lease"]["id"]}'
