# SPDX-License-Identifier: Apache-2.0
"""Authentication of callers, and answers when a token is not valid any more."""
import base64

import bcrypt
import pytest
from support import builders
import webtest

from climate import errors
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


def test_a_password_opens_the_door_of_http_basic(basic_app):
    assert basic_app.get('/v1/os-hosts', headers=password('ann:secret')).json == {'hosts': []}


@pytest.mark.parametrize('headers', [
    {}, password('ann:wrong'), password('bob:secret'), {'Authorization': 'Basic !!'},
    {'Authorization': 'Bearer x'}, {'X-User-Id': 'ann', 'X-Roles': 'admin',
                                    'X-Project-Id': 'ann'}])
def test_nothing_else_does(basic_app, headers):
    answer = basic_app.get('/v1/os-hosts', headers=headers, status=401)
    assert answer.headers['WWW-Authenticate'] == 'Basic realm="Climate"'
    assert answer.json['error']['code'] == 401


def test_identity_headers_are_not_believed_without_a_token(api):
    answer = api.get('/v1/leases', token=None, headers={
        'X-User-Id': 'root', 'X-Project-Id': 'admin', 'X-Roles': 'admin'})
    assert answer.status_int == 401


def test_a_token_that_expires_mid_way_makes_no_lease(api, manager):
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, errors.NotAuthenticated())
    assert api.post('/v1/leases', builders.a_body()).status_int == 401
    assert api.get('/v1/leases').json == {'leases': []}
    assert api.post('/v1/leases', builders.a_body()).status_int == 201


def test_a_cloud_that_fails_while_a_lease_is_made_leaves_nothing(api, manager):
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, errors.CloudUnreachable(
        service='Keystone', reason='connection refused'))
    answer = api.post('/v1/leases', builders.a_body())
    assert answer.status_int == 503
    assert 'Keystone is not available' in answer.json['error_message']
    assert api.get('/v1/leases').json == {'leases': []}
