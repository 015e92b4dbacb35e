# SPDX-License-Identifier: Apache-2.0
"""Sessions: the memory of one console, the project of a session, and a login in another window."""
import console_world
import pytest
from support import builders

from climate.console import session_cookie
from climate.console import session_memory

LAB = {'user': 'demo', 'project': 'lab'}


class Ticks:
    now = 0

    def __call__(self):
        return self.now


def test_sessions_that_are_over_are_removed_from_memory():
    clock = Ticks()
    memory = session_memory.SessionMemory(60, timer=clock)
    for number in range(100):
        memory[number] = 'session'
    assert memory.get(1) == 'session'
    clock.now = 61
    memory['new'] = 'session'
    assert (len(memory), memory.get(1), memory.get('new')) == (1, None, 'session')


def test_memory_of_sessions_has_a_limit():
    memory = session_memory.SessionMemory(60, most=2)
    for number in range(3):
        memory[number] = 'session'
    assert [memory.get(number) for number in range(3)] == [None, 'session', 'session']
    assert (memory.pop(1), memory.pop(1)) == ('session', None)


def test_the_backend_in_memory_forgets_sessions(conf):
    conf.set_override('enabled', True, group='cache')
    conf.set_override('backend', 'dogpile.cache.memory', group='cache')
    region = session_cookie.region(conf)
    region.set('a', 'b')
    assert region.get('a') == 'b'
    assert isinstance(region.actual_backend._cache, session_memory.SessionMemory)
    region.delete('a')
    assert region.get('a', ignore_expiration=True) is region.get('c')


@pytest.fixture
def browser(conf, url):
    """A Browser of a user with two projects."""
    found = console_world.Browser(conf, console_world.an_identity(url),
                                  console_world.an_identity(url, **LAB))
    found.log_in()
    return found


def switch(browser, project, **more):
    return browser.client.post('/projects', data={
        'project_id': project, 'csrf_token': browser.csrf_token, **more})


def test_a_user_switches_to_another_project_and_sees_its_leases(browser, manager):
    manager.enrol(2)
    manager.create(builders.a_lease(name='of lab'), builders.a_member('demo', 'lab'))
    manager.book(name='of demo')
    page = browser.client.get('/projects?next=/leases').text
    assert 'value="lab"' in page and '<strong>demo</strong>' in page
    before = browser.client.get_cookie(session_cookie.COOKIE).value
    answer = switch(browser, 'lab', next='/leases')
    assert (answer.status_code, answer.headers['Location']) == (302, '/leases')
    page = browser.client.get('/leases').text
    assert 'demo in lab' in page and 'of lab' in page and 'of demo' not in page
    assert browser.client.get_cookie(session_cookie.COOKIE).value != before


def test_a_project_of_others_is_refused_and_nothing_changes(browser):
    answer = switch(browser, 'elsewhere')
    assert (answer.status_code, 'cannot be used for this project' in answer.text) == (403, True)
    assert 'demo in demo' in browser.client.get('/leases').text


def test_a_switch_needs_the_csrf_token_and_goes_to_no_foreign_site(browser):
    assert browser.client.post('/projects', data={'project_id': 'lab'}).status_code == 403
    assert switch(browser, 'lab', next='https://evil.example').headers['Location'] == '/'


def test_scripts_of_a_page_of_another_project_are_refused(browser):
    shown = {'X-Climate-Project': 'lab'}
    answer = browser.client.get('/rest/v1/leases', headers=shown)
    assert (answer.status_code, 'changed the project' in answer.json['error_message']) == (
        409, True)
    switch(browser, 'lab')
    assert browser.client.get('/rest/v1/leases', headers=shown).status_code == 200


def test_a_page_learns_the_new_token_after_a_login_in_another_window(browser):
    assert browser.client.get('/rest/session').json == {
        'csrf_token': browser.csrf_token, 'project_id': 'demo'}
    browser.client.delete_cookie(session_cookie.COOKIE)
    assert browser.client.get('/rest/session').status_code == 401
    # A script gets an answer for scripts, at any path.
    answer = browser.client.get('/criteria?text=a', headers={'X-Climate-Project': 'demo'})
    assert (answer.status_code, 'logged out' in answer.json['error_message']) == (401, True)
