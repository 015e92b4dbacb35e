# SPDX-License-Identifier: Apache-2.0
"""Stories of operators, in a real browser: properties, enrolment, managers, audit, energy."""
import pytest
from selenium.webdriver.common.keys import Keys
from support import browser


def row(name):
    return f'tr[data-name={name}]'


def test_a_property_is_set_and_removed_in_a_dialog(page):
    page.go('/operator')
    page.click(f'{row("compute-7")} [data-action=property]')
    page.reads('Set a property of compute-7', 'dialog')
    page.fill('dialog [name=property]', 'owner')
    page.fill('dialog [name=value]', 'lab 3')
    page.press('Save')
    page.reads('owner=lab 3', row('compute-7'))
    page.click(f'{row("compute-7")} [data-action=property]')
    page.fill('dialog [name=property]', 'owner')
    page.press('Save')
    page.until(lambda: 'owner' not in page.text(row('compute-7')))


def test_a_host_is_withdrawn_and_enrolled_again(page):
    page.go('/operator')
    page.click(f'{row("compute-8")} [data-action=withdraw]')
    page.reads('Withdraw compute-8 from its pool?', 'dialog')
    page.click('dialog button[value=yes]')
    page.until(lambda: page.all('#resources') and not page.all(row('compute-8')))
    page.fill('#enrol [name=name]', 'no-such-host')
    page.press('Enrol')
    # The refusal stands at the button, and is announced.
    page.reads('no-such-host', '#enrol .problem[role=alert]')
    page.fill('#enrol [name=name]', 'compute-8')
    page.press('Enrol')
    page.until(lambda: page.all(row('compute-8')))


def test_another_pool_has_its_own_fields_and_refusals_stand_at_them(page):
    page.go('/operator?pool=address')
    page.reads('No resource is enrolled', '#resources')
    page.fill('#enrol [name=name]', '172.24.4.2000')
    page.fill('#enrol [name=network_id]', '3f5b3a62-6d2e-4d8a-9d0c-6a8e0a1c7b11')
    page.press('Enrol')
    page.reads('172.24.4.2000', '#enrol label .problem')
    assert page.one('#enrol [name=name]').get_attribute('aria-invalid') == 'true'
    page.go('/operator?pool=segment')
    for name in ('physnet1:vlan:3000-3002',):
        page.fill('#enrol [name=name]', name)
        page.press('Enrol')
    page.until(lambda: len(page.all('#resources tr[data-name]')) == 3)
    page.click('#all')
    page.click('[data-many=take_out]')
    page.reads('Take 3 resources out of use?', 'dialog')
    page.click('dialog button[value=yes]')
    page.until(lambda: len(page.all('#resources .state.ended')) == 3)


def test_several_hosts_get_out_of_service_with_a_reason_and_maintenance_by_criteria(page):
    client = page.standalone.client
    for number in (1, 2, 3):
        host = client.hosts.find(f'compute-{number}')
        client.hosts.update(host['id'], {'shelf': 'top'})
    lease = page.standalone.lease('blocking', 8, start='+2h', duration='4h')
    page.go('/operator')
    page.fill('[name=filter]', 'shelf=top')
    page.press('Show')
    page.until(lambda: len(page.all('#resources tr[data-name]')) == 3)
    for number in (1, 2):
        page.click(f'{row(f"compute-{number}")} [name=chosen]')
    page.reads('2 selected', '#selected')
    page.click('[data-many=out_of_service]')
    page.fill('dialog [name=reason]', 'a fan is broken')
    page.click('dialog button[value=yes]')
    page.reads('a fan is broken', row('compute-2'))
    page.reads('out of service', f'{row("compute-1")} .state.out')
    page.click('#all')
    page.click('[data-many=in_order]')
    page.until(lambda: not page.all('#resources .state.out'))
    # The filter is also the criteria of the maintenance.
    page.fill('#maintenance [name=reason]', 'new firmware')
    page.fill('#maintenance [name=start]', '+3h')
    page.fill('#maintenance [name=end]', '+5h')
    page.press('Preview')
    page.reads('Resources in maintenance: 3', '#preview')
    page.reads('blocking', '#preview a')
    page.reads(f'in project {lease["project_id"]}', '#preview')
    page.picture('maintenance')
    page.fill('#maintenance [name=resources]', 'compute-1')
    page.press('Preview')
    page.reads('but not both', '#maintenance label .problem')
    page.go('/operator?filter=nothing-like-this')
    page.reads('No resource matches the filter', '#resources')
    page.go('/operator?filter=color%3Dred')
    page.reads('color', '#filter-problem')


def test_managers_and_idle_leases_are_there(page):
    page.go('/operator')
    page.reads('up', '#managers')
    page.reads('UTC', '#managers tbody')
    page.reads('No lease is idle', '#idle')


def test_by_keyboard_alone_a_host_is_taken_out_and_put_back(page):
    page.go('/operator')
    page.tab_to(f'{row("compute-6")} [data-action=take_out]')
    page.keys(Keys.ENTER)
    page.reads('Take compute-6 out of use?', 'dialog')
    # What changes nothing has the focus first, and Escape leaves.
    page.keys(Keys.ESCAPE)
    page.until(lambda: not page.all('dialog'))
    page.keys(Keys.ENTER)
    page.one('dialog')
    page.keys(Keys.TAB, Keys.ENTER)
    page.reads('out of use', f'{row("compute-6")} .state')
    page.tab_to(f'{row("compute-6")} [data-action=put_back]')
    page.keys(Keys.ENTER)
    page.until(lambda: page.all(f'{row("compute-6")} [data-action=take_out]'))


def test_by_keyboard_alone_the_numbers_of_a_picture_are_opened(page):
    page.go('/capacity')
    page.one('#utilisation canvas')
    page.tab_to('#utilisation summary')
    page.keys(Keys.ENTER)
    page.reads('UTC', '#utilisation tbody')
    page.tab_to('#utilisation a.csv')


@pytest.fixture(scope='module')
def sleepy(tmp_path_factory):
    """A Standalone whose hosts fall asleep at once, and whose manager audits all the time."""
    with browser.running(
            tmp_path_factory.mktemp('sleepy'), ENERGY__DRIVER='simulated', ENERGY__SPARE='0',
            ENERGY__WATTS='200', ENERGY__POLL_SECONDS='1', ENERGY__LEAD_MINUTES='0',
            ENERGY__WAKE_MINUTES='0', ENERGY__MIN_AWAKE_MINUTES='0',
            MANAGER__AUDIT_GRACE_SECONDS='0', MANAGER__AUDIT_INTERVAL_SECONDS='2') as found:
        yield found


def test_energy_and_the_audit_are_shown(sleepy, chromium):
    page = browser.Page(chromium, sleepy)
    chromium.set_window_size(1280, 800)
    page.leave()
    page.log_in()
    page.until(lambda: any(each['power_state'] == 'asleep' and each['hours_asleep'] > 0
                           for each in sleepy.client.energy.report()['resources']))
    page.until(lambda: sleepy.client.audit.newest()['at'])
    page.go('/operator')
    page.reads('The cloud and the database agree', '#audit')
    page.reads('asleep', row('compute-1'))
    page.go('/capacity')
    page.one('#energy canvas')
    page.one('#forecast canvas')
    page.click('#energy summary')
    assert len(page.all('#energy tbody tr')) == 8
    page.script("document.getElementById('energy').scrollIntoView()")
    page.picture('energy')
    for selector, head in (('#energy a.csv', 'pool,name'), ('#queue a.csv', 'id,name'),
                           ('#forecast a.csv', 'start,expected'), ('#usage a.csv', 'resource_type'),
                           ('#statements a.csv', 'project_id,month')):
        csv = page.script('return (await fetch(document.querySelector(arguments[0]).href)).text()',
                          selector)
        assert csv.startswith(head), (selector, csv[:200])
    assert page.leave() == []
