# SPDX-License-Identifier: Apache-2.0
"""Stories of two projects that share a lease, in a real browser."""
import pytest
from selenium.webdriver.support.select import Select
from support import browser
import test_accessible

WINDOWS = ((390, 844), (1400, 900))


@pytest.fixture(scope='module')
def console(standalone):
    """The console of eve, a member of the project physics."""
    with browser.console_of(standalone, 'eve', 'physics', 'member', 'reader') as found:
        yield found


@pytest.fixture
def lease(page):
    """A running lease of two hosts."""
    found = page.standalone.lease('team', 2, duration='3h')
    return page.standalone.client.leases.wait(found['id'])


def choose(page, name, value):
    Select(page.one(f'dialog [name={name}]')).select_by_value(value)


def shares(page, lease):
    return [(share['name'], share['role']) for share in
            page.standalone.client.shares.list(lease['id'])]


def test_an_owner_shares_a_lease_and_withdraws_it_after_a_list_of_servers(page, lease):
    page.go(f'/leases/{lease["id"]}')
    page.press('Share…')
    page.one('dialog[open]')
    assert test_accessible.faults(page, 'dialog-share', WINDOWS) == {}
    page.fill('dialog [name=project_id]', 'physics')
    choose(page, 'role', 'user')
    page.fill('dialog [name=until]', '2020-01-01 9:00')
    page.click('dialog .main')
    page.reads('the moment has passed', 'dialog .field:has([name=until])')
    page.fill('dialog [name=until]', 'tomorrow 9:00')
    page.click('dialog .main')
    page.reads('project physics', '#shares')
    assert shares(page, lease) == [('physics', 'user')]
    page.press('Share…')
    page.fill('dialog [name=project_id]', 'physics')
    page.click('dialog .main')
    page.reads('project physics', 'dialog .refusal')
    page.press('Cancel')
    with page.standalone.cloud() as cloud:
        cloud.boot('physics', 'web-guest', {'reservation': lease['reservations'][0]['id']})
    page.press('Withdraw')
    page.reads('Running servers (1)', 'dialog')
    page.reads('Server web-guest', 'dialog li')
    page.reads('kept', 'dialog li')
    assert test_accessible.faults(page, 'dialog-withdraw-share', WINDOWS) == {}
    page.click('dialog:has(#question) button:not([value=yes])')
    page.until(lambda: not page.all('dialog'))
    assert shares(page, lease) == [('physics', 'user')]
    page.press('Withdraw')
    page.click('dialog button[value=yes]')
    page.until(lambda: not page.all('#shares'))
    assert shares(page, lease) == []


def test_a_single_user_is_no_user_of_resources_and_leaves_the_lease(page, console, lease):
    page.go(f'/leases/{lease["id"]}')
    page.press('Share…')
    Select(page.one('dialog label select')).select_by_value('user_id')
    assert [each.get_attribute('value') for each in page.all('dialog [name=role] option')] == [
        'viewer', 'manager']
    page.fill('dialog [name=user_id]', 'eve')
    page.click('dialog .main')
    page.reads('user eve', '#shares')
    member = browser.Page(page.driver, console)
    member.log_in()
    member.go('/leases')
    member.reads('shared', '#leases')
    member.go(f'/leases/{lease["id"]}')
    member.reads('as viewer', '#shared')
    assert [each.text for each in member.all('.actions button')] == ['Leave the lease']
    assert not member.all('#shares')
    member.press('Leave the lease')
    member.reads('Leave “team”?', 'dialog #question')
    member.click('dialog button[value=yes]')
    member.reads('There are no leases yet.', '#leases')
    assert shares(page, lease) == []
