# SPDX-License-Identifier: Apache-2.0
"""Stories of people who use the console, in a real browser."""
import json

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


def lane_point(page, lane, moment):
    """Return the offset of a moment on a lane from the middle of the canvas."""
    return page.script("""
        const {view} = window.climateTimeline;
        const box = view.canvas.getBoundingClientRect();
        return [view.painter.labels + view.scale.x(arguments[1]) - box.width / 2,
                34 + arguments[0] * 24 + 12 - view.scroll - box.height / 2];""", lane, moment)


def shown(page):
    """Return whether the timeline has been drawn."""
    return page.script('return window.climateTimeline?.view.rows.length')


def bar(page, name):
    """The bar of the first lease with a name, as (lane, start, end); None: it is not there."""
    return page.script("""
        const rows = window.climateTimeline?.view.rows ?? [];
        for (const [place, {lane}] of rows.entries()) {
          const index = lane?.leases.findIndex((lease) => lease?.name === arguments[0]) ?? -1;
          if (index >= 0) return [place, lane.starts[index], lane.ends[index]];
        }
        return null;""", name)


def drag(page, lane, start, end):
    canvas = page.one('#timeline')
    first, last = lane_point(page, lane, start), lane_point(page, lane, end)
    (ActionChains(page.driver).move_to_element_with_offset(canvas, *map(round, first))
     .click_and_hold().move_by_offset(round((last[0] - first[0]) / 2), 0)
     .move_by_offset(round(last[0] - first[0]) - round((last[0] - first[0]) / 2), 0)
     .release().perform())


def now(page):
    return page.script('return Date.now() / 1000')


def test_timeline_shows_a_new_lease_by_itself_and_opens_it(page):
    page.go('/')
    page.until(lambda: shown(page))
    lease = page.standalone.lease('seen', 1, duration='2h')
    page.standalone.client.leases.wait(lease['id'])
    lane, start, end = page.until(lambda: bar(page, 'seen'))
    page.click('#span-day')
    at = lane_point(page, lane, (start + end) / 2)
    canvas = page.one('#timeline')
    ActionChains(page.driver).move_to_element_with_offset(canvas, *map(round, at)).perform()
    page.reads('seen', '#said')
    ActionChains(page.driver).click().perform()
    page.reads('seen', 'h1')


def test_a_lease_is_drawn_checked_and_made(page):
    page.go('/')
    page.until(lambda: shown(page))
    page.click('#span-day')
    page.click('#makes')
    drag(page, 2, now(page) + 3 * 3600, now(page) + 6 * 3600)
    page.reads('New lease', 'h1')
    page.until(lambda: page.one('[name=duration]').get_attribute('value') == '3h')
    page.reads('8 enrolled', '#counts')
    page.fill('[name=name]', 'drawn')
    page.press('Check')
    page.reads('It fits', '#result')
    page.picture('new-lease')
    page.press('Create the lease')
    page.reads('drawn', 'h1')
    (lease,) = page.standalone.client.leases.list()
    assert (lease['name'], lease['status']) == ('drawn', 'inactive')


def test_a_refusal_says_why_and_offers_what_fits(page):
    page.go('/leases/new')
    page.fill('[name=name]', 'too many')
    page.fill('[name=min]', '9')
    page.fill('[name=max]', '9')
    page.reads('It fits with 8', '#offers')
    page.press('Check')
    page.reads('of 9 hosts are free', '#problem')
    page.press('It fits with 8')
    page.until(lambda: page.one('[name=min]').get_attribute('value') == '8')
    page.fill('[name=resource_properties]', 'vcpus>=64')
    page.reads('2 meet this', '#counts')


def test_a_lease_is_extended_renamed_made_smaller_and_ended(page):
    client = page.standalone.client
    lease = page.standalone.lease('mine', 2, duration='1h')
    client.leases.wait(lease['id'])
    page.go('/leases')
    page.click(f'a[href="/leases/{lease["id"]}"]')
    page.press('Extend…')
    page.reads('Nothing prevents a later end', 'dialog')
    page.fill('dialog [name=by]', '2h')
    page.click('dialog .main')
    page.reads('2h 59m left')
    page.reads('The end of the lease was changed.', '#messages')
    page.press('Undo')
    page.until(lambda: not page.one('#messages').text)
    assert client.leases.get(lease['id'])['end'] == lease['end']
    page.press('Rename…')
    page.fill('dialog [name=name]', 'wrong')
    page.click('dialog .main')
    page.reads('name was “mine”.', '#messages')
    page.press('Undo')
    page.reads('mine', 'h1')
    page.press('Rename…')
    page.fill('dialog [name=name]', 'renamed')
    page.click('dialog .main')
    page.reads('renamed', 'h1')
    page.press('Change the size…')
    page.fill('dialog [name=min]', '1')
    page.fill('dialog [name=max]', '1')
    page.click('dialog .main')
    page.reads('1 × host', 'dl.facts')
    # What changes of itself would refuse the end as stale.
    page.reads('active', 'h1')
    page.press('End it now')
    page.press('Cancel')
    assert client.leases.get(lease['id'])['status'] in ('active', 'updating')
    page.press('End it now')
    page.reads('End “renamed” now?', 'dialog')
    page.click('dialog button[value=yes]')
    page.until(lambda: client.leases.get(lease['id'])['status'] in ('terminating', 'terminated'))


def test_a_lease_is_extended_as_far_as_another_lease_allows(page):
    client = page.standalone.client
    lease = page.standalone.lease('first', 8, duration='1h')
    client.leases.wait(lease['id'])
    after = page.standalone.lease('second', 8, start='+5h', duration='1h')
    page.go(f'/leases/{lease["id"]}')
    page.press('Extend…')
    page.reads('compute-3 and 5 more: the lease “second” from', 'dialog')
    page.fill('dialog [name=by]', '9h')
    page.click('dialog .main')
    page.reads('of 8 hosts', 'dialog .problem')
    page.press('Extend until then')
    page.click('dialog .main')
    page.until(lambda: client.leases.get(lease['id'])['end'][:19] == after['start'][:19])


def test_the_end_of_a_lease_is_dragged(page):
    client = page.standalone.client
    lease = page.standalone.lease('dragged', 1, duration='4h')
    client.leases.wait(lease['id'])
    page.go('/')
    lane, _, end = page.until(lambda: bar(page, 'dragged'))
    page.click('#span-day')
    drag(page, lane, end, end + 2 * 3600)
    page.reads('Extend “dragged” until', 'dialog')
    page.click('dialog button[value=yes]')
    page.until(lambda: client.leases.get(lease['id'])['end'] > lease['end'])


def test_capacity_has_pictures_numbers_and_csv(page):
    page.standalone.lease('used', 3, duration='5h')
    page.go('/capacity')
    page.one('#utilisation canvas')
    page.one('#forecast canvas')
    page.click('#utilisation summary')
    assert len(page.all('#utilisation tbody tr')) > 100
    page.picture('capacity')
    csv = page.script("""return (await fetch(
        document.querySelector('#utilisation a.csv').href)).text()""")
    assert csv.startswith('pool,start,end')


def test_an_operator_takes_a_host_out_and_puts_it_back(page):
    page.go('/operator')
    page.click('tr[data-name=compute-8] [data-action=take_out]')
    page.reads('Take compute-8 out of use?', 'dialog')
    page.click('dialog button[value=yes]')
    page.reads('out of use', 'tr[data-name=compute-8] .state')
    page.picture('operator')
    page.click('tr[data-name=compute-8] [data-action=put_back]')
    page.until(lambda: page.all('tr[data-name=compute-8] [data-action=take_out]'))


def test_a_broken_host_of_a_lease_is_named_and_swapped(page):
    client = page.standalone.client
    lease = page.standalone.lease('with a broken host', 1, duration='1h')
    lease = client.leases.wait(lease['id'])
    (broken,) = lease['reservations'][0]['resources']
    name = client.pool('host').get(broken)['name']
    client.pool('host').update(broken, out_of_order='fan 2 has failed')
    page.go(f'/leases/{lease["id"]}')
    page.reads(f'{name} is out of service since', '.advice')
    page.reads('fan 2 has failed', '#resources')
    page.picture('lease')
    page.press(f'Swap {name}')
    page.reads(f'Swap {name} for another free resource', 'dialog')
    page.click('dialog .danger')
    page.until(lambda: broken not in client.leases.get(lease['id'])['reservations'][0]['resources'])
    # An operator has mended it.
    page.go('/operator')
    page.reads('out of service', f'tr[data-resource="{broken}"]')
    page.click(f'tr[data-resource="{broken}"] [data-action=in_order]')
    page.until(lambda: page.all('#resources') and not page.all('[data-action=in_order]'))


def test_an_operator_previews_plans_and_deletes_a_maintenance(page):
    lease = page.standalone.lease('blocking', start='+2h', duration='4h')
    (place,) = lease['reservations'][0]['resources']
    page.go('/operator')
    page.fill('#maintenance [name=resources]', place)
    page.fill('#maintenance [name=reason]', 'new firmware')
    page.fill('#maintenance [name=start]', '+3h')
    page.fill('#maintenance [name=end]', '+5h')
    page.press('Preview')
    page.reads('moves to other resources', '#preview')
    page.picture('maintenance')
    page.press('Plan this maintenance')
    page.reads('new firmware', '#maintenances')
    page.click('#maintenances button')
    page.click('dialog button[value=yes]')
    page.reads('No maintenance is planned', '#maintenances')


def test_by_keyboard_alone_a_lease_is_found_opened_and_ended(page):
    client = page.standalone.client
    lease = page.standalone.lease('by keys', 1, duration='1h')
    client.leases.wait(lease['id'])
    page.go('/')
    lane, _, _ = page.until(lambda: bar(page, 'by keys'))
    for _ in range(40):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        if page.script('return document.activeElement.id') == 'timeline':
            break
    page.reads('Arrow keys', '#said')
    for _ in range(lane + 1):
        ActionChains(page.driver).send_keys(Keys.ARROW_DOWN).perform()
    for _ in range(40):
        if 'by keys' in page.text('#said'):
            break
        ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
    page.reads('by keys', '#said')
    ActionChains(page.driver).send_keys(Keys.ENTER).perform()
    page.reads('by keys', 'h1')
    for _ in range(40):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        if 'End it now' in page.script('return document.activeElement.textContent'):
            break
    ActionChains(page.driver).send_keys(Keys.ENTER).perform()
    page.reads('End “by keys” now?', 'dialog')
    ActionChains(page.driver).send_keys(Keys.TAB, Keys.ENTER).perform()
    page.until(lambda: client.leases.get(lease['id'])['status'] in ('terminating', 'terminated'))


def test_on_a_phone_no_page_is_wider_than_the_screen(page):
    lease = page.standalone.lease('x' * 80, 1, duration='1h')
    page.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': 390, 'height': 844, 'deviceScaleFactor': 2, 'mobile': True})
    try:
        for name, path in (('timeline', '/'), ('leases', '/leases'), ('new', '/leases/new'),
                           ('lease', f'/leases/{lease["id"]}'), ('capacity', '/capacity'),
                           ('operator', '/operator')):
            page.go(path)
            page.one('h1')
            page.picture(f'phone-{name}')
            assert page.script('return document.documentElement.scrollWidth') <= 390, path
    finally:
        page.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


def test_a_script_in_a_name_does_nothing_on_any_page(page):
    name = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
    lease = page.standalone.lease(name, 1, duration='1h')
    for path in ('/', '/leases', f'/leases/{lease["id"]}', '/capacity', '/operator'):
        page.go(path)
        page.one('h1')
    page.go('/')
    lane, start, end = page.until(lambda: bar(page, name))
    page.click('#span-day')
    ActionChains(page.driver).move_to_element_with_offset(page.one('#timeline'), *map(
        round, lane_point(page, lane, (start + end) / 2))).perform()
    page.reads('<img', '#said')


def test_logged_out_means_out(page):
    page.go('/leases')
    page.press('Log out')
    page.go('/leases')
    assert '/login' in page.driver.current_url
    assert json.dumps(page.script('return {...localStorage}')) == '{}'
