# SPDX-License-Identifier: Apache-2.0
"""Climate is killed while a user of the console waits for it, and started again.

Nothing is lost, nothing is done twice, and the page says what happened.
"""
import pytest
from support import browser

SILENT = 'The reservation service does not answer'


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    """A standalone whose cloud needs eight seconds to delete a server."""
    found = browser.Program(tmp_path_factory.mktemp('killed'), SIMULATED__DELETE_SECONDS='8')
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope='module')
def console(program):
    """A console that lives on when the standalone is killed."""
    with browser.console_of(program.standalone, 'demo', 'demo', 'admin', 'member',
                            'reader') as found:
        yield found


@pytest.fixture
def page(program, console, chromium):
    """A Page of that console, logged in, with no lease there."""
    # A story that failed may have left it dead.
    program.start()
    program.standalone.end_all()
    found = browser.Page(chromium, console)
    chromium.set_window_size(1280, 800)
    found.leave()
    found.log_in()
    yield found
    # Without Climate, answers have status 502.
    assert [each for each in found.leave() if 'status of 502' not in each] == []


def test_a_lease_whose_answer_was_lost_is_created_once(page, program):
    page.go('/leases/new')
    page.fill('[name=name]', 'once')
    page.press('Check')
    page.reads('It fits', '#result')
    # The lease is stored, but Climate dies before its answer arrives.
    page.hold('/rest/v1/leases$', 'POST')
    page.press('Create the lease')
    page.until_held()
    program.kill()
    page.release(lost=True)
    page.reads('The console does not answer', '#problem')
    page.press('Create the lease')
    page.reads(SILENT, '#problem')
    page.reads('no second one is created', '#problem')
    program.start()
    page.press('Create the lease')
    page.reads('once', 'h1')
    page.reads('active', 'h1')
    (lease,) = program.standalone.client.leases.list(all_projects=True)
    assert lease['name'] == 'once'


def test_a_request_that_a_dead_service_never_got_is_sent_again_by_the_same_button(page, program):
    page.go('/leases/new')
    page.fill('[name=name]', 'later')
    page.press('Check')
    page.reads('It fits', '#result')
    program.kill()
    page.press('Create the lease')
    page.reads(SILENT, '#problem')
    # A page that is loaded meanwhile offers to load it again.
    window = page.driver.current_window_handle
    page.driver.switch_to.new_window('tab')
    page.go('/leases?which=past')
    page.reads(SILENT)
    program.start()
    page.press('Try again')
    page.reads('Leases', 'h1')
    page.driver.close()
    page.driver.switch_to.window(window)
    # Another check has the same request, so the lease is not created twice either.
    page.press('Check')
    page.press('Create the lease')
    page.reads('later', 'h1')
    (lease,) = program.standalone.client.leases.list(all_projects=True)
    assert lease['name'] == 'later'


def test_an_extension_whose_answer_was_lost_is_not_made_twice(page, program):
    client = program.standalone.client
    lease = client.leases.wait(program.standalone.lease('long', 1, duration='1h')['id'])
    page.go(f'/leases/{lease["id"]}')
    page.reads('active', 'h1')
    page.press('Extend…')
    page.fill('dialog [name=by]', '2h')
    page.reads('2h, until', '#by-understood')
    # The dry run before the change has a query.
    page.hold(f'{lease["id"]}$', 'PUT')
    page.click('dialog .main')
    page.until_held()
    program.kill()
    page.release(lost=True)
    page.reads('The console does not answer', 'dialog')
    program.start()
    extended = client.leases.get(lease['id'])['end']
    assert extended > lease['end']
    page.click('dialog .main')
    page.reads('changed', 'dialog .refusal')
    assert client.leases.get(lease['id'])['end'] == extended
    page.press('Cancel')
    page.reads('left', 'dl.facts')


def test_an_end_with_losses_goes_on_after_the_kill(page, program):
    standalone = program.standalone
    client = standalone.client
    lease = client.leases.wait(standalone.lease('with servers', 2, duration='1h')['id'])
    for number in range(3):
        standalone.boot(f'web-{number}', lease)
    page.go(f'/leases/{lease["id"]}')
    page.reads('active', 'h1')
    page.press('End it now')
    page.reads('Objects that are lost (3)', 'dialog')
    page.click('dialog button[value=yes]')
    page.reads('ending', 'h1')
    assert standalone.servers()
    program.kill()
    page.reads(SILENT, '#messages')
    program.start()
    page.reads('ended', 'h1')
    page.until(lambda: SILENT not in page.text('#messages'))
    assert standalone.servers() == []
    events = [each['what'] for each in client.leases.history(lease['id'])]
    assert events.count('update') == events.count('end_lease') == 1, events
