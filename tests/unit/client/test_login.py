# SPDX-License-Identifier: Apache-2.0
"""The login of the command: which cloud it talks to, and as which user."""
import json
import os
import subprocess
import sys

import pytest
from unit.client import canned

from climate.client import standalone as standalone_note

URL = canned.URL


def headers(requests_mock):
    return requests_mock.last_request.headers


def standalone(tmp_path, pid):
    file = tmp_path / 'standalone.json'
    file.write_text(json.dumps({'url': URL, 'token': 'demo:demo:member', 'pid': pid}))
    return {'CLIMATE_STANDALONE_FILE': str(file)}


def test_without_any_cloud_a_running_standalone_is_found(run, listing, tmp_path):
    outcome = run('lease', 'list', environ=standalone(tmp_path, os.getpid()))
    assert outcome.code == 0, outcome.err
    assert headers(listing)['X-Auth-Token'] == 'demo:demo:member'


@pytest.mark.parametrize('words, more', [
    (['--os-compute-endpoint-override', canned.NOVA], {}),
    ([], {'OS_COMPUTE_ENDPOINT_OVERRIDE': canned.NOVA})])
def test_a_standalone_can_have_a_nova_beside_it(run, listing, tmp_path, words, more):
    listing.get(f'{URL}/leases', json={'leases': [canned.a_lease(
        reservations=[canned.a_leased_server()])]})
    listing.get(f'{canned.NOVA}/servers/detail', json={'servers': [canned.a_server()]})
    outcome = run(*words, 'server', 'list', '-f', 'value', '-c', 'name',
                  environ={**standalone(tmp_path, os.getpid()), **more})
    assert (outcome.code, outcome.out) == (0, 'web-1\n'), outcome.err


def test_a_standalone_is_found_in_the_state_directory(run, listing, tmp_path):
    (tmp_path / 'climate').mkdir()
    standalone(tmp_path / 'climate', os.getpid())
    assert run('lease', 'list', environ={'XDG_STATE_HOME': str(tmp_path)}).code == 0


@pytest.mark.parametrize('content', [None, '{', '[]', '{"url": "http://x/v1"}'])
def test_without_cloud_and_standalone_the_way_out_is_said(run, tmp_path, content):
    file = tmp_path / 'standalone.json'
    if content is not None:
        file.write_text(content)
    outcome = run('lease', 'list', environ={'CLIMATE_STANDALONE_FILE': str(file)})
    assert outcome.code == 1
    assert all(word in outcome.err for word in ('OS_CLOUD', 'OS_AUTH_URL', 'make run'))


def test_a_user_without_a_home_has_no_standalone(monkeypatch):
    # As in a container whose user is in no list of users.
    monkeypatch.delenv('HOME')
    monkeypatch.setattr('os.getuid', lambda: 987654)
    assert standalone_note.find({}) is None


def test_a_proxy_does_not_stand_between_the_command_and_its_standalone(
        run, listing, tmp_path, monkeypatch):
    monkeypatch.setenv('http_proxy', 'http://127.0.0.1:9')
    assert run('lease', 'list', environ=standalone(tmp_path, os.getpid())).code == 0
    assert not listing.last_request.proxies


def test_a_standalone_that_has_died_is_not_asked(run, listing, tmp_path):
    dead = subprocess.Popen([sys.executable, '-c', ''])
    dead.wait()
    assert run('lease', 'list', environ=standalone(tmp_path, dead.pid)).code == 1
    assert listing.call_count == 0


def test_a_given_cloud_wins_over_a_standalone(run, listing, tmp_path):
    environ = standalone(tmp_path, os.getpid())
    assert run('--os-auth-type', 'none', '--os-endpoint', URL, 'lease', 'list',
               environ=environ).code == 0
    assert headers(listing)['X-Auth-Token'] != 'demo:demo:member'


def test_http_basic(run, listing):
    assert run('lease', 'list', '--os-auth-type', 'http_basic', '--os-endpoint', URL,
               '--os-username', 'a', '--os-password', 'b', environ={'HOME': '/nowhere'}).code == 0
    assert headers(listing)['Authorization'] == 'Basic YTpi'


KEYSTONE = canned.KEYSTONE
LOGIN = {'OS_AUTH_URL': KEYSTONE, 'OS_USERNAME': 'u', 'OS_PASSWORD': 'p', 'OS_PROJECT_NAME': 'x',
         'OS_USER_DOMAIN_NAME': 'Default', 'OS_PROJECT_DOMAIN_NAME': 'Default'}


def test_plain_variables_log_in_with_a_password(run, keystone):
    outcome = run('lease', 'list', environ=LOGIN)
    assert outcome.code == 0, outcome.err
    assert headers(keystone)['X-Auth-Token'] == 'fresh'


def test_names_of_servers_come_from_the_compute_service_of_the_catalogue(run, keystone):
    keystone.get(f'{URL}/leases', json={'leases': [canned.a_lease(
        reservations=[canned.a_leased_server()])]})
    keystone.get(f'{canned.NOVA}/servers/detail', json={'servers': [canned.a_server()]})
    outcome = run('server', 'list', '-f', 'value', '-c', 'name', environ=LOGIN)
    assert (outcome.out, outcome.err) == ('web-1\n', '')
    assert 'OpenStack-API-Version' not in headers(keystone)
    outcome = run('--os-region-name', 'two', 'server', 'lease', 'web-1', '--duration', '1h',
                  environ=LOGIN)
    assert (outcome.code, 'give the id of the server' in outcome.err) == (1, True)


def test_region_and_interface_choose_the_endpoint(run, keystone):
    keystone.get('http://two/v1/leases', json={'leases': []})
    assert run('--os-region-name', 'two', '--os-interface', 'internal', 'lease', 'list',
               environ=LOGIN).code == 0
    assert keystone.last_request.hostname == 'two'


def test_a_region_without_the_service_is_said_so(run, keystone):
    outcome = run('--os-region-name', 'mars', 'lease', 'list', environ=LOGIN)
    assert outcome.code == 1
    assert 'no "reservation" service for this region' in outcome.err


def test_a_cloud_of_clouds_yaml(run, keystone, tmp_path):
    file = tmp_path / 'clouds.yaml'
    file.write_text(f"""
clouds:
  lab:
    auth: {{auth_url: '{KEYSTONE}', username: u, password: p, project_name: x,
           user_domain_name: Default, project_domain_name: Default}}
    region_name: one
""")
    environ = {'OS_CLIENT_CONFIG_FILE': str(file), 'OS_CLOUD': 'lab'}
    outcome = run('lease', 'list', environ=environ)
    assert outcome.code == 0, outcome.err
    outcome = run('--os-cloud', 'moon', 'lease', 'list', environ=environ)
    assert (outcome.code, 'moon' in outcome.err) == (1, True)


@pytest.mark.parametrize('content', [
    'clouds: 1', 'clouds:', 'clouds: [lab]', 'clouds: {lab: 1}', 'clouds: {lab: {auth: x}}',
    'clouds: {lab: {auth: {auth_url: 5}}}', '[1]', 'lab', ''])
def test_a_clouds_yaml_of_another_form_is_refused_with_its_name(run, tmp_path, content):
    file = tmp_path / 'clouds.yaml'
    file.write_text(content)
    outcome = run('lease', 'list', environ={'OS_CLIENT_CONFIG_FILE': str(file),
                                            'OS_CLOUD': 'lab'})
    assert outcome.code == 1
    assert str(file) in outcome.err or outcome.err.startswith('Cloud lab was not found')


@pytest.mark.parametrize('as_option', [True, False])
@pytest.mark.parametrize(('settings', 'url'), [
    ({'OS_REGION_NAME': 'two', 'OS_INTERFACE': 'internal'}, 'http://two/v1'),
    ({'OS_RESERVATION_ENDPOINT_OVERRIDE': 'http://three/v1'}, 'http://three/v1'),
    ({}, URL)])
def test_variables_and_options_choose_the_endpoint_of_a_cloud_of_clouds_yaml(
        run, keystone, lab, settings, url, as_option):
    keystone.get(f'{url}/leases', json={'leases': []})
    words = [each for name, value in settings.items()
             for each in ('--' + name.lower().replace('_', '-'), value)] if as_option else []
    outcome = run(*words, 'lease', 'list', environ={**lab, **({} if as_option else settings)})
    assert outcome.code == 0, outcome.err
    assert keystone.last_request.url.startswith(f'{url}/leases')


@pytest.mark.parametrize(('settings', 'verify'), [
    ({'OS_CACERT': '/etc/ca.pem'}, '/etc/ca.pem'), ({'OS_INSECURE': '1'}, False)])
def test_variables_choose_the_certificates_of_a_cloud_of_clouds_yaml(
        run, keystone, lab, settings, verify):
    outcome = run('lease', 'list', environ={**lab, **settings})
    assert outcome.code == 0, outcome.err
    assert keystone.last_request.verify == verify


@pytest.mark.parametrize(('name', 'expected'), [
    ('OS_USERNAME', {'user': {'name': 'x', 'password': 'p', 'domain': {'name': 'Default'}}}),
    ('OS_PASSWORD', {'user': {'name': 'u', 'password': 'x', 'domain': {'name': 'Default'}}})])
def test_a_variable_of_the_login_wins_over_clouds_yaml(run, keystone, lab, name, expected):
    outcome = run('lease', 'list', environ={**lab, name: 'x'})
    assert outcome.code == 0, outcome.err
    [login] = [each.json() for each in keystone.request_history if each.method == 'POST']
    assert login['auth']['identity']['password'] == expected


def test_the_region_of_a_variable_that_has_no_service_is_refused(run, keystone, lab):
    outcome = run('host', 'list', environ={**lab, 'OS_REGION_NAME': 'mars'})
    assert outcome.code == 1
    assert 'mars' in outcome.err


def test_an_option_wins_over_clouds_yaml(run, listing, tmp_path):
    file = tmp_path / 'clouds.yaml'
    file.write_text("clouds: {lab: {auth_type: none, auth: {endpoint: 'http://wrong/v1'}}}")
    outcome = run('--os-cloud', 'lab', '--os-endpoint', URL, 'lease', 'list',
                  environ={'OS_CLIENT_CONFIG_FILE': str(file)})
    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize('changes, expected', [
    ({'OS_USERNAME': ''}, 'OS_USERNAME'), ({'OS_PASSWORD': ''}, 'OS_PASSWORD'),
    ({'OS_AUTH_TYPE': 'magic'}, 'no authentication type "magic"')])
def test_an_incomplete_login_says_what_is_missing(run, requests_mock, changes, expected):
    outcome = run('lease', 'list', environ={**LOGIN, **changes})
    assert outcome.code == 1
    assert expected in outcome.err and 'Traceback' not in outcome.err


def test_a_wrong_password_is_a_message(run, keystone):
    keystone.post(f'{KEYSTONE}/auth/tokens', status_code=401, headers={
        'Content-Type': 'application/json'}, json={'error': {
            'code': 401, 'title': 'Unauthorized', 'message': 'Wrong password.'}})
    outcome = run('lease', 'list', environ=LOGIN)
    assert outcome.code == 1
    assert 'identity service refused: Wrong password.' in outcome.err


def test_options_of_rare_ways_to_log_in_are_known(run):
    outcome = run('--os-auth-type', 'v3oidcpassword', '--os-identity-provider', 'idp',
                  '--os-auth-url', KEYSTONE, '--os-protocol', 'p', 'lease', 'list', environ={})
    assert outcome.code == 1
    assert 'Logging in needs more options' in outcome.err
