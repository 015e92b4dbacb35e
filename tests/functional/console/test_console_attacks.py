# SPDX-License-Identifier: Apache-2.0
"""Attacks on the console, and their results."""
import re

import console_world
import pytest
from support import builders

SCRIPT = '<script>alert(1)</script>"\'{{7331*7919}}'


@pytest.fixture
def lease(manager):
    manager.enrol(2)
    return manager.book(name=SCRIPT)


def test_a_script_in_the_name_of_a_lease_is_shown_as_text(browser, lease):
    browser.log_in()
    for path in ('/leases', f'/leases/{lease.id}'):
        page = browser.client.get(path).text
        assert '<script>alert' not in page and '58054189' not in page
        assert '&lt;script&gt;alert(1)' in page


def test_no_page_has_an_inline_script_or_a_foreign_host(browser, lease):
    browser.log_in()
    for path in ('/', '/leases', '/leases?which=past', '/leases/new', f'/leases/{lease.id}',
                 '/capacity', '/operator', '/nowhere'):
        answer = browser.client.get(path)
        policy = answer.headers['Content-Security-Policy']
        assert "default-src 'none'" in policy and 'unsafe' not in policy and 'http' not in policy
        assert not re.search(r'<script(?![^>]*\bsrc="/static/)', answer.text), path
        assert not re.search(r'\son\w+=|style=|(?:src|href|action)="(?:https?:)?//', answer.text)


@pytest.mark.parametrize('origin', [
    'https://evil.example', 'http://localhost.evil.example', 'null', 'http://localhost:81',
    'http://['])
def test_a_change_that_another_site_sends_is_refused(browser, lease, origin):
    browser.log_in()
    answer = browser.send('DELETE', f'/rest/v1/leases/{lease.id}', Origin=origin)
    assert answer.status_code == 403
    assert 'another site' in answer.json['error_message']
    assert browser.client.get(f'/rest/v1/leases/{lease.id}').status_code == 200


@pytest.mark.parametrize('token', [None, '', 'wrong'])
def test_a_change_without_the_csrf_token_is_refused(browser, lease, token):
    browser.log_in()
    answer = browser.send('DELETE', f'/rest/v1/leases/{lease.id}', X_CSRF_Token=token)
    assert answer.status_code == 403
    assert browser.client.get(f'/rest/v1/leases/{lease.id}').status_code == 200


def test_the_csrf_token_of_another_session_is_worth_nothing(browser, lease, conf, url):
    browser.log_in()
    other = console_world.Browser(conf, console_world.an_identity(url))
    other.log_in()
    answer = browser.send('DELETE', f'/rest/v1/leases/{lease.id}', X_CSRF_Token=other.csrf_token)
    assert answer.status_code == 403


def test_a_cookie_is_worth_nothing_after_logout(browser):
    browser.log_in()
    kept = browser.client.get_cookie('climate_session').value
    left = browser.client.post('/logout', data={'csrf_token': browser.csrf_token})
    assert left.status_code == 302
    browser.client.set_cookie('climate_session', kept)
    assert browser.client.get('/rest/v1/leases').status_code == 401
    assert browser.client.get('/leases').headers['Location'].startswith('/login')


def test_the_cookie_is_for_this_site_and_no_script(browser):
    cookie = browser.log_in().headers['Set-Cookie']
    assert 'HttpOnly' in cookie and 'SameSite=Lax' in cookie and 'Secure' not in cookie
    secure = browser.client.get(f'/login?key={browser.key.key}', base_url='https://localhost')
    assert 'Secure' in secure.headers['Set-Cookie']


def test_a_session_id_from_before_the_login_is_worth_nothing(browser):
    browser.client.set_cookie('climate_session', 'chosen-by-an-attacker')
    browser.log_in()
    assert browser.client.get_cookie('climate_session').value != 'chosen-by-an-attacker'
    thief = browser.app.test_client()
    thief.set_cookie('climate_session', 'chosen-by-an-attacker')
    assert thief.get('/rest/v1/leases').status_code == 401


@pytest.mark.parametrize('path', ['https://evil.example', '//evil.example', '/\\evil.example',
                                  '/%0d%0aSet-Cookie:a=b', 'javascript:alert(1)'])
def test_the_login_leads_to_pages_of_the_console_only(browser, path):
    found = browser.log_in(following=path)
    assert found.headers['Location'] == '/' and 'a=b' not in str(found.headers)


def test_a_wrong_key_logs_nobody_in(browser):
    for key in ('wrong', '', 'x' * 100_000):
        assert browser.client.get('/login', query_string={'key': key}).status_code == 401
    assert browser.client.get('/rest/v1/leases').status_code == 401


def test_a_lease_of_another_project_is_not_found(browser, manager, lease, conf, url):
    other = console_world.Browser(conf, console_world.an_identity(url, 'eve', 'elsewhere'))
    other.log_in()
    for method, path in (('GET', f'/leases/{lease.id}'), ('GET', f'/rest/v1/leases/{lease.id}'),
                         ('DELETE', f'/rest/v1/leases/{lease.id}')):
        answer = other.send(method, path)
        assert answer.status_code == 404 and SCRIPT not in answer.text
    assert manager.client.get_lease(builders.a_member(), lease.id).deleted_at is None


@pytest.mark.parametrize('path', [
    '/static/../app.py', '/static/%2e%2e/app.py', '/static/..%2fapp.py', '/static//etc/passwd',
    '/static/js/../../app.py', '/static/....//app.py', '/static/%00', '/static/js'])
def test_no_path_leads_out_of_the_assets(browser, path):
    answer = browser.client.get(path)
    assert answer.status_code in (301, 302, 404) and 'import flask' not in answer.text


@pytest.mark.parametrize('path', ['../../healthcheck', '..%2f..%2f', 'leases/../../', '/etc'])
def test_no_path_leads_out_of_rest(browser, path):
    browser.log_in()
    assert browser.client.get(f'/rest/v1/{path}').status_code in (301, 302, 308, 404)


def test_a_form_of_a_megabyte_is_refused(browser, lease):
    browser.log_in()
    answer = browser.send('POST', '/rest/v1/leases', {'name': 'x' * 1_000_000})
    assert answer.status_code == 413
    assert browser.client.post('/login', data={'key': 'x' * 1_000_000}).status_code == 413


def test_the_token_is_in_no_page_no_cookie_and_no_answer(browser, lease):
    browser.log_in()
    for path in ('/', '/leases', f'/leases/{lease.id}', '/capacity', '/rest/v1/leases'):
        answer = browser.client.get(path)
        assert 'demo:demo:' not in answer.text + str(answer.headers)


def test_the_cache_reveals_no_token_and_no_id(conf, url):
    region = console_world.a_region()
    browser = console_world.Browser(conf, console_world.an_identity(url), region)
    browser.log_in()
    stored = str(region.backend._cache)
    assert 'demo:demo' not in stored
    assert browser.client.get_cookie('climate_session').value not in stored


def test_headers_that_pretend_to_be_somebody_are_not_handed_on(browser, lease):
    browser.log_in()
    answer = browser.client.get('/rest/v1/leases?all_projects=true', headers={
        'X-Auth-Token': 'eve:elsewhere:admin', 'X-Roles': 'admin', 'X-Project-Id': 'elsewhere'})
    assert answer.status_code == 403
