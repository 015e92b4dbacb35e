# SPDX-License-Identifier: Apache-2.0
"""Login through Keystone: with a password, with an application credential, and what is refused."""
import console_world
import pytest
from support import keystone_standin
from support import loopback

from climate.console import app

FORM = {'username': 'demo', 'password': keystone_standin.PASSWORD, 'user_domain': 'Default',
        'project': 'demo', 'project_domain': 'Default'}


@pytest.fixture
def server(url):
    found = keystone_standin.Keystone(url)
    with loopback.serving(found):
        yield found


@pytest.fixture
def client(conf, server):
    conf.set_override('auth_url', server.url, group='console')
    return app.build(conf, console_world.a_region()).test_client()


def log_in(client, **changed):
    return client.post('/login', data={**FORM, **changed})


def test_a_password_logs_in_and_the_service_is_found_in_the_catalog(client):
    assert log_in(client, next='/leases').headers['Location'] == '/leases'
    assert 'demo in demo' in client.get('/leases').text


def test_an_application_credential_logs_in(client):
    answer = client.post('/login', data={
        'credential_id': 'robot', 'credential_secret': keystone_standin.PASSWORD})
    assert answer.status_code == 302
    assert 'robot in robot' in client.get('/leases').text


def test_a_wrong_password_is_refused_and_not_shown_again(client):
    answer = log_in(client, password='a wrong one')
    assert (answer.status_code, 'project is wrong' in answer.text) == (401, True)
    assert 'a wrong one' not in answer.text and 'value="demo"' in answer.text


@pytest.mark.parametrize('field', sorted(FORM))
def test_an_empty_field_is_named_as_such(client, field):
    answer = log_in(client, **{field: ''})
    assert (answer.status_code, 'Fill all fields' in answer.text) == (401, True)


def test_a_cloud_without_the_service_says_so(client, server):
    server.reservation_url = None
    answer = log_in(client)
    assert (answer.status_code, 'no reservation service' in answer.text) == (401, True)


def test_a_keystone_that_does_not_answer_is_told(conf, client, server):
    conf.set_override('auth_url', 'http://127.0.0.1:9/v3', group='console')
    answer = log_in(client)
    assert (answer.status_code, 'does not answer' in answer.text) == (401, True)


def test_logout_revokes_the_token(client, server):
    log_in(client)
    token = client.get('/leases').text.partition('data-csrf-token="')[2].partition('"')[0]
    client.post('/logout', data={'csrf_token': token})
    assert server.revoked == ['demo:demo:member,reader']


def switch(client, project):
    page = client.get('/projects').text
    token = page.partition('data-csrf-token="')[2].partition('"')[0]
    return client.post('/projects', data={'project_id': project, 'csrf_token': token})


def test_a_switch_of_the_project_gets_a_new_token_without_a_password(client):
    log_in(client)
    page = client.get('/projects').text
    assert 'value="lab"' in page and '<strong>demo</strong>' in page
    assert switch(client, 'lab').status_code == 302
    assert 'demo in lab' in client.get('/leases').text


def test_a_project_without_a_role_is_refused(client):
    log_in(client)
    answer = switch(client, 'elsewhere')
    assert (answer.status_code, 'Log out, and log in' in answer.text) == (403, True)
    assert 'demo in demo' in client.get('/leases').text


def test_the_page_of_projects_says_that_the_session_is_over(client, server):
    log_in(client)
    server.revoked.append('demo:demo:member,reader')
    assert 'Your session has ended' in client.get('/projects').text


def test_the_page_of_projects_says_that_keystone_does_not_answer(conf, client):
    log_in(client)
    conf.set_override('auth_url', 'http://127.0.0.1:9/v3', group='console')
    assert 'does not answer' in client.get('/projects').text
