# SPDX-License-Identifier: Apache-2.0
"""Pages of the console, read without scripts, and what it does where others fail."""
import html
import json
import re

import console_world
import pytest
from support import builders


@pytest.fixture
def lease(manager):
    manager.enrol(2)
    return manager.book()


def test_lists_can_be_read_without_scripts(browser, lease):
    browser.log_in()
    page = browser.client.get('/leases').text
    assert f'/leases/{lease.id}' in page and 'starts soon' in page and '1 × host' in page


def test_a_lease_has_its_history_and_the_command_to_boot_with(browser, manager, lease):
    manager.run()
    browser.log_in()
    page = browser.client.get(f'/leases/{lease.id}').text
    assert f'--hint reservation={lease.reservations[0].id}' in page
    assert '>created<' in page and 'state active' in page


def test_a_user_returns_to_the_page_after_the_login(browser, lease):
    answer = browser.client.get('/leases?which=past')
    assert answer.headers['Location'] == '/login?next=/leases?which%3Dpast'
    assert browser.log_in('/leases?which=past').headers['Location'] == '/leases?which=past'


def test_a_member_has_no_page_of_operators(browser, manager):
    browser.log_in()
    assert '/operator' not in browser.client.get('/leases').text
    assert browser.client.get('/operator').status_code == 403


def test_an_operator_sees_resources_and_managers(conf, url, manager):
    manager.enrol(2, rack='r7')
    browser = console_world.Browser(conf, console_world.an_identity(url, roles=('admin',)))
    browser.log_in()
    page = browser.client.get('/operator').text
    assert 'compute-1' in page and 'rack=r7' in page


def test_a_lease_is_made_through_the_console_with_its_version_and_key(browser, manager):
    manager.enrol(1)
    browser.log_in()
    body = {'name': 'from the console', 'duration': '1h', 'reservations': [
        {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
    made = [browser.send('POST', '/rest/v1/leases', body, Idempotency_Key='one') for _ in range(2)]
    assert [each.status_code for each in made] == [201, 201]
    assert made[0].json['lease']['id'] == made[1].json['lease']['id']


def test_a_refusal_comes_as_climate_words_it(browser, manager):
    manager.enrol(1)
    browser.log_in()
    answer = browser.send('POST', '/rest/v1/leases', {
        'name': 'a', 'duration': '1h', 'reservations': [
            {'resource_type': 'physical:host', 'min': 2, 'max': 2}]})
    assert (answer.status_code, answer.json['details']['free']) == (409, 1)


def test_an_api_that_does_not_answer_is_told_and_the_session_stays(conf):
    nowhere = f'http://127.0.0.1:{builders.a_free_port()}/v1'
    browser = console_world.Browser(conf, console_world.an_identity(nowhere))
    browser.client.get(f'/login?key={browser.key.key}')
    assert browser.client.get('/rest/v1/leases').status_code == 502
    page = browser.client.get('/leases?which=past')
    assert (page.status_code, 'role="alert"' in page.text) == (502, True)
    # The page offers the same address again, and does not show that of climate-api.
    assert 'href="/leases?which=past"' in page.text and nowhere not in page.text


def test_a_token_that_is_over_leads_to_the_login(conf, url):
    browser = console_world.Browser(conf, console_world.an_identity(url, user='', project=''))
    browser.client.get(f'/login?key={browser.key.key}')
    assert browser.client.get('/rest/v1/leases').status_code == 401
    assert browser.client.get('/leases').headers['Location'].startswith('/login')


@pytest.mark.parametrize(('text', 'criteria'), [
    ('vcpus>=16', '[">=", "$vcpus", "16"]'),
    ('vcpus>=16 gpu=A100', '["and", [">=", "$vcpus", "16"], ["==", "$gpu", "A100"]]'),
    ('vcpus >= 16  gpu = "A 100"',
     '["and", [">=", "$vcpus", "16"], ["==", "$gpu", "A 100"]]'),
    ("rack='r 1' vcpus< 64", '["and", ["==", "$rack", "r 1"], ["<", "$vcpus", "64"]]'),
    ('["==", "$gpu", "A100"]', '["==", "$gpu", "A100"]'), ('', '')])
def test_criteria_are_written_as_for_the_command(browser, text, criteria):
    browser.log_in()
    assert browser.client.get('/criteria', query_string={'text': text}).json == {
        'criteria': criteria}


@pytest.mark.parametrize(('text', 'problem'), [
    ('vcpus', '"vcpus" is not a condition'), ('gpu=A100 vcpus >=', 'has the operator ">"'),
    ('vcpus >> 16', 'The operators are = != < <= > >='), ('[1', 'It is not JSON')])
def test_criteria_that_are_none_are_explained(browser, text, problem):
    browser.log_in()
    found = browser.client.get('/criteria', query_string={'text': text}).json
    assert problem in found['problem']


def test_a_form_is_filled_like_another_lease(browser, manager):
    manager.enrol(1)
    lease = manager.book(builders.hosts(1), name="O'Brien <b>")
    browser.log_in()
    page = browser.client.get(f'/leases/new?like={lease.id}').text
    (text,) = re.findall("data-like='([^']*)'", page)
    repeated = json.loads(html.unescape(text))
    assert repeated['name'] == "O'Brien <b>" and repeated['reservations'][0]['min'] == 1
    assert "data-like='null'" in browser.client.get('/leases/new').text
    assert f'href="/leases/new?like={lease.id}" aria-label="Repeat O&#39;Brien &lt;b&gt;"' in (
        browser.client.get('/leases').text)
    assert browser.client.get('/leases/new?like=nothing').status_code == 404


def test_every_text_of_the_pages_is_in_the_catalogue(browser, manager, lease, conf, url):
    manager.run()
    browser = console_world.Browser(conf, console_world.an_identity(url, roles=('admin',)))
    browser.log_in()
    for path in ('/', '/leases', '/leases/new', f'/leases/{lease.id}', '/capacity', '/operator'):
        page = browser.client.get(path).text
        for prefix in ('leases.', 'lease.', 'timeline.', 'capacity.', 'operator.', 'nav.', 'new.',
                       'status.', 'acquire.', 'field.', 'waiting.', 'offers.', 'audit.', 'idle.',
                       'energy.', 'power.', 'manager.', 'zone.', 'health.', 'one.', 'type.'):
            assert f'>{prefix}' not in page, (path, prefix)
