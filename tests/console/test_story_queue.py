# SPDX-License-Identifier: Apache-2.0
"""Stories of leases that wait, in a real browser: the wait queue, held offers, past leases."""
from selenium.webdriver.common.keys import Keys

HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


def wait_for_hosts(page, name):
    """Take all hosts, and let another lease wait for two of them; return the one that waits."""
    page.standalone.lease('takes all', 8, duration='3h')
    return page.standalone.client.leases.create(
        name, reservations=[{**HOST, 'min': 2, 'max': 2}], duration='1h',
        acquire={'type': 'wait', 'not_after': '+2d'})


def test_the_timeline_lists_who_waits_and_a_click_opens_the_lease(page):
    page.go('/')
    page.reads('No request waits for this pool', '#waiting-rows')
    lease = wait_for_hosts(page, 'patient')
    page.reads('patient', '#waiting-rows')
    page.reads('2 × host', '#waiting-rows')
    page.reads('Only 0 of 2 hosts are free', '#waiting-rows')
    assert page.text('#waiting-count') == '(1)'
    page.script("document.getElementById('waiting-title').scrollIntoView()")
    page.picture('queue')
    page.click(f'#waiting-rows a[href="/leases/{lease["id"]}"]')
    page.reads('patient', 'h1')
    page.reads('waits for resources')


def test_a_served_lease_leaves_the_queue_by_itself(page):
    lease = wait_for_hosts(page, 'soon served')
    page.go('/')
    page.reads('soon served', '#waiting-rows')
    page.standalone.client.leases.delete(lease['id'])
    page.reads('No request waits for this pool', '#waiting-rows')


def test_a_script_in_the_name_of_a_waiting_lease_is_text(page):
    name = '<img src=x onerror=alert(1)>'
    wait_for_hosts(page, name)
    for path, selector in (('/', '#waiting-rows'), ('/capacity', '#queue')):
        page.go(path)
        page.reads(name, selector)
        assert not page.all(f'{selector} img')


def test_an_offer_is_held_taken_and_another_one_dropped(page):
    client = page.standalone.client
    page.standalone.lease('training', 2, duration='6h')
    page.standalone.lease('night run', 3, start='+9h', duration='8h')
    page.go('/leases/new')
    page.fill('[name=name]', 'held')
    page.reads('6 are free then', '#counts')
    page.press('Hold for me')
    page.reads('is held for your project', '#messages')
    client.availability.hold([HOST], duration='2h')
    page.go('/leases')
    assert len(page.all('#offers tbody tr')) == 2
    page.picture('leases')
    page.fill('#offers [name=name]', 'taken')
    page.press('Create the lease')
    page.reads('taken', 'h1')
    page.go('/leases')
    page.press('Release')
    page.until(lambda: not page.all('#offers'))
    assert client.offers.list() == []


def test_past_leases_and_those_of_all_projects_are_a_click_away(page):
    lease = page.standalone.lease('of yesterday', duration='1h')
    client = page.standalone.client
    client.leases.wait(lease['id'])
    client.leases.end(lease['id'])
    client.leases.wait(lease['id'], 'terminated')
    page.go('/leases')
    assert 'of yesterday' not in page.text()
    page.press('Past')
    page.reads('of yesterday')
    page.reads('ended', 'tbody')
    page.press('All projects')
    page.reads('Project', 'thead')


def test_by_keyboard_alone_a_lease_is_made_and_renamed(page):
    page.go('/leases')
    page.tab_to('a[href="/leases/new"]')
    page.keys(Keys.ENTER)
    page.reads('New lease', 'h1')
    page.reads('8 are free then', '#counts')
    page.tab_to('[name=name]')
    page.keys('by keys alone')
    page.tab_to('#check')
    page.keys(Keys.ENTER)
    page.reads('It fits', '#result')
    # The button that makes it has the focus already.
    page.until(lambda: page.script('return document.activeElement.id') == 'create')
    page.keys(Keys.ENTER)
    page.reads('by keys alone', 'h1')
    page.reads('active', 'h1')
    page.tab_to('[data-action=rename]')
    page.keys(Keys.ENTER)
    # The dialog has selected the name.
    page.reads('Rename', 'dialog')
    page.keys('renamed by keys', Keys.ENTER)
    page.reads('renamed by keys', 'h1')


def test_long_names_in_the_queue_fit_a_narrow_window(page):
    wait_for_hosts(page, 'x' * 60)
    page.standalone.client.availability.hold(
        [HOST], duration='1h', earliest='+4h')
    page.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': 390, 'height': 844, 'deviceScaleFactor': 2, 'mobile': True})
    try:
        for name, path, selector in (('queue', '/', '#waiting-rows a'),
                                     ('offers', '/leases', '#offers'),
                                     ('capacity-queue', '/capacity', '#queue a')):
            page.go(path)
            found = page.one(selector)
            page.script('arguments[0].scrollIntoView({block: "center"})', found)
            page.picture(f'phone-{name}')
            assert page.script('return document.documentElement.scrollWidth') <= 390, path
    finally:
        page.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
        for offer in page.standalone.client.offers.list():
            page.standalone.client.offers.delete(offer['id'])
