# SPDX-License-Identifier: Apache-2.0
"""Authentication of callers, and answers when a token is not valid any more."""
import base64
import sys

import bcrypt
from keystoneauth1 import fixture as tokens
from keystoneauth1 import loading
from keystonemiddleware import fixture as middleware
import pytest
from support import builders
from support import keystone_standin
from support import loopback
import webtest

from climate import errors
from climate import policies
from climate.api import app


@pytest.fixture
def basic_app(conf, manager, tmp_path):
    """The REST service with a password file that knows ann, whose password is "secret"."""
    hashed = bcrypt.hashpw(b'secret', bcrypt.gensalt(4)).decode()
    (tmp_path / 'htpasswd').write_text(f'ann:{hashed}\n')
    conf.set_override('auth_strategy', 'http_basic', group='api')
    conf.set_override('http_basic_file', str(tmp_path / 'htpasswd'), group='api')
    return webtest.TestApp(app.build(conf, manager.client, builders.manager_plugins(conf)))


def password(text):
    return {'Authorization': f'Basic {base64.b64encode(text.encode()).decode()}'}


def test_a_password_logs_in_with_http_basic(basic_app):
    assert basic_app.get('/v1/os-hosts', headers=password('ann:secret')).json == {'hosts': []}


@pytest.mark.parametrize('headers', [
    {}, password('ann:wrong'), password('bob:secret'), {'Authorization': 'Basic !!'},
    {'Authorization': 'Bearer x'}, {'X-User-Id': 'ann', 'X-Roles': 'admin',
                                    'X-Project-Id': 'ann'}])
def test_other_credentials_do_not_log_in(basic_app, headers):
    answer = basic_app.get('/v1/os-hosts', headers=headers, status=401)
    assert answer.headers['WWW-Authenticate'] == 'Basic realm="Climate"'
    assert answer.json['error']['code'] == 401


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_token_that_expires_mid_way_makes_no_lease(api, manager):
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, errors.NotAuthenticated())
    assert api.post('/v1/leases', builders.a_body()).status_int == 401
    assert api.get('/v1/leases').json == {'leases': []}
    assert api.post('/v1/leases', builders.a_body()).status_int == 201


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_cloud_that_fails_while_a_lease_is_made_leaves_nothing(api, manager):
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, errors.CloudUnreachable(
        service='Keystone', reason='connection refused'))
    answer = api.post('/v1/leases', builders.a_body())
    assert answer.status_int == 503
    assert 'Keystone is not available' in answer.json['error_message']
    assert api.get('/v1/leases').json == {'leases': []}


SCOPES = {'the scope "system"': tokens.V3Token.set_system_scope,
          'a domain': tokens.V3Token.set_domain_scope, 'without a scope': lambda token: None}


def use_keystone(conf, port, **more):
    """Set the options of the API for tokens of a Keystone on that port."""
    loading.register_auth_conf_options(conf, 'keystone_authtoken')
    conf.register_opts(loading.get_auth_plugin_conf_options('password'), 'keystone_authtoken')
    conf.set_override('auth_strategy', 'keystone', group='api')
    for name, value in {'auth_type': 'password', 'auth_url': f'http://127.0.0.1:{port}/v3',
                        'username': 'climate', 'password': keystone_standin.PASSWORD,
                        'user_domain_name': 'Default', 'project_name': 'service',
                        'project_domain_name': 'Default', **more}.items():
        conf.set_override(name, value, group='keystone_authtoken')


@pytest.fixture
def of_keystone(conf, manager):
    """callable(method, path, token): the answer to a token that keystonemiddleware knows."""
    use_keystone(conf, builders.a_free_port())
    with middleware.AuthTokenFixture() as known:
        served = webtest.TestApp(app.build(conf, manager.client, builders.manager_plugins(conf)))

        def call(path, token):
            known.add_token(token, token_id='id')
            return served.get(path, expect_errors=True, headers={
                'X-Auth-Token': 'id', 'OpenStack-API-Version': 'reservation 1.1'})
        yield call


@pytest.mark.parametrize('scope', SCOPES)
def test_a_token_that_belongs_to_no_project_is_refused_with_the_reason(of_keystone, api, scope):
    token = tokens.V3Token()
    SCOPES[scope](token)
    token.add_role(name='admin')
    paths = [path for path, methods in api.get('/v1/openapi.json').json['paths'].items()
             if 'get' in methods and path != '/calendars/{id}']
    assert len(paths) > 20
    for path in paths:
        answer = of_keystone(f'/v1{path}'.replace('{id}', '1'), token)
        assert (answer.status_int, answer.json['error_name']) == (403, 'wrong_scope'), path
        assert scope in answer.json['error_message']
        assert 'OS_PROJECT_NAME' in answer.json['error_message']
    assert of_keystone('/v1/openapi.json', token).status_int == 200


def test_the_token_of_an_administrator_of_a_project_is_accepted(of_keystone):
    token = tokens.V3Token()
    token.set_project_scope()
    token.add_role(name='admin')
    assert of_keystone('/v1/os-hosts', token).status_int == 200


def test_every_rule_is_for_tokens_of_a_project():
    assert {tuple(rule.scope_types) for rule in policies.list_rules() if rule.scope_types} == {
        ('project',)}


@pytest.fixture
def keystone_app(conf, manager):
    """callable(port, **options of [keystone_authtoken]): the REST service that asks Keystone."""
    def build(port, **more):
        use_keystone(conf, port, **more)
        return webtest.TestApp(app.build(conf, manager.client, builders.manager_plugins(conf)))
    return build


def test_a_login_that_keystone_refuses_is_an_error_of_the_api_and_of_its_health(keystone_app,
                                                                                caplog):
    keystone = keystone_standin.Keystone(None)
    with loopback.serving(keystone) as port:
        service = keystone_app(port, password='wrong-secret')
        for version, name in (('1.0', 503), ('1.1', 'cloud_unreachable')):
            answer = service.get('/v1/leases', status=503, headers={
                'X-Auth-Token': 't', 'OpenStack-API-Version': f'reservation {version}'})
            assert answer.content_type == 'application/json'
            assert answer.headers['Retry-After'] == '5'
            assert answer.json['error_name'] == name
            assert answer.json['error_message'].startswith('Keystone is not available now.')
        for _ in range(3):
            answer = service.get('/healthcheck', status=503)
            assert answer.text == 'Keystone refuses the login of the API'
        assert caplog.text.count('[keystone_authtoken]: Keystone refuses the login of the API') == 1
    assert 'wrong-secret' not in caplog.text


def test_a_keystone_that_is_down_is_told_by_the_health_of_the_api(keystone_app):
    service = keystone_app(builders.a_free_port())
    assert service.get('/healthcheck', status=503).text == 'Keystone does not answer the API'


def test_an_accepted_login_is_healthy(keystone_app):
    with loopback.serving(keystone_standin.Keystone(None)) as port:
        service = keystone_app(port)
        assert service.get('/healthcheck').text == 'OK'
        # Without an endpoint of Keystone in the catalog, no token can be checked.
        assert service.get('/v1/leases', status=503, headers={
            'X-Auth-Token': 't'}).content_type == 'application/json'


def test_a_cache_of_tokens_that_cannot_be_used_ends_the_start(keystone_app, monkeypatch):
    keystone_app(9)  # It registers the option.
    keystone_app(9, memcached_servers=['127.0.0.1:11211'])
    with pytest.raises(errors.ConfigurationError, match='memcached_servers: Unable to parse'):
        keystone_app(9, memcached_servers=['nowhere:port'])
    monkeypatch.setitem(sys.modules, 'memcache', None)
    with pytest.raises(errors.ConfigurationError, match='memcached_servers needs'):
        keystone_app(9, memcached_servers=['127.0.0.1:11211'])
