# SPDX-License-Identifier: Apache-2.0
"""Stories of sessions: another project, a session that ends meanwhile, and a page that is idle."""
from climate.console import session_cookie

# The requests of a page in some seconds: [(path, status, bytes)].
REQUESTS = """
    const [seconds] = arguments;
    const done = arguments[arguments.length - 1];
    performance.clearResourceTimings();
    setTimeout(() => done(performance.getEntriesByType('resource').map(
      (each) => [new URL(each.name).pathname, each.responseStatus, each.encodedBodySize])),
      seconds * 1000);"""


def test_a_user_switches_the_project_and_back(page):
    page.standalone.lease('of demo', 1, duration='2h')
    page.go('/leases')
    page.reads('of demo')
    page.click('.who a')
    page.reads('the current project', 'main li')
    page.picture('projects')
    page.press('lab')
    page.reads('Leases', 'h1')
    page.reads('demo in lab', '.who')
    assert 'of demo' not in page.text()
    page.click('.who a')
    page.press('demo')
    page.reads('of demo')


def test_a_form_survives_the_end_of_the_session(page):
    page.go('/leases/new')
    page.fill('[name=name]', 'kept')
    page.reads('enrolled', '#counts')
    page.driver.delete_cookie(session_cookie.COOKIE)
    # The form counts again while one types.
    page.fill('[name=duration]', '3h')
    page.reads('Your session has ended', 'dialog')
    page.picture('session-ended')
    page.click('#continue')
    page.reads('not logged in yet', 'dialog')
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window('tab')
    page.log_in()
    page.driver.close()
    page.driver.switch_to.window(first)
    page.click('#continue')
    page.press('Check')
    page.reads('It fits', '#result')
    assert page.one('[name=name]').get_attribute('value') == 'kept'
    page.press('Create the lease')
    page.reads('kept', 'h1')
    # Another story may have changed a lease, which can be undone.
    assert not set(page.script('return Object.keys(sessionStorage)')) - {'climate.undo'}


def test_an_idle_timeline_asks_only_whether_something_changed(page):
    lease = page.standalone.lease('idle', 1, duration='2h')
    page.standalone.client.leases.wait(lease['id'])
    page.go('/')
    page.until(lambda: page.script('return document.getElementById("timeline").dataset.bars'))
    page.driver.set_script_timeout(30)
    requests = page.driver.execute_async_script(REQUESTS, 6)
    assert len(requests) in (2, 3), requests
    assert {tuple(each) for each in requests} == {('/rest/v1/timeline', 304, 0)}
