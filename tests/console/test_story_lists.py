# SPDX-License-Identifier: Apache-2.0
"""The story of somebody who looks for one of many leases, in a real browser."""
from selenium.webdriver.common.keys import Keys


def names(page):
    return [each.text for each in page.all('#leases tbody th a')]


def address(page):
    """The query of the address, {parameter: text}."""
    return page.script('return Object.fromEntries(new URL(location).searchParams)')


def until_named(page, *expected):
    page.until(lambda: names(page) == [f'run {number:02}' for number in expected],
               f'{expected} never came')


def test_a_lease_among_many_is_found_by_pages_order_and_search(page):
    client = page.standalone.client
    for number in range(1, 26):
        client.leases.create(f'run {number:02}', reservations=[], start=f'+{100 - number}h',
                             duration='1h')
    page.go('/leases?rows=10')
    until_named(page, *range(25, 15, -1))
    page.click('[rel=next]')
    page.reads('Page 2', '.pager')
    page.click('[rel=next]')
    page.reads('Page 3', '.pager')
    until_named(page, *range(5, 0, -1))
    page.driver.refresh()
    until_named(page, *range(5, 0, -1))
    page.driver.back()
    until_named(page, *range(15, 5, -1))
    page.click('[rel=prev]')
    until_named(page, *range(25, 15, -1))

    page.fill('[name=search]', f'RUN 1{Keys.ENTER}')
    until_named(page, *range(19, 9, -1))
    # Empty fields are not in the address.
    assert address(page) == {'search': 'RUN 1', 'rows': '10'}
    page.click('th:first-child .sort')
    until_named(page, *range(10, 20))
    page.click('th:first-child .sort')
    until_named(page, *range(19, 9, -1))
    page.picture('lease-list')
    page.driver.back()
    until_named(page, *range(10, 20))
    page.driver.refresh()
    until_named(page, *range(10, 20))
    assert page.one('[name=search]').get_attribute('value') == 'RUN 1'

    page.script("""const status = document.querySelector('#filters [name=status]');
        status.value = 'active'; status.dispatchEvent(new Event('change', {bubbles: true}))""")
    page.reads('No lease meets these filters.', '#leases')
    page.press('Clear filters')
    page.reads('Page 1', '.pager')
    assert address(page) == {'rows': '10', 'sort': 'name'}


def test_a_span_is_chosen_in_the_zone_of_the_user_and_stays_in_its_field(page):
    client = page.standalone.client
    for name, start in (('soon', '+2h'), ('later', '+50h')):
        client.leases.create(name, reservations=[], start=start, duration='1h')
    page.go('/leases')
    page.click('#filters summary')
    page.fill('[data-for=to]', f'tomorrow 12:00{Keys.ENTER}')
    page.until(lambda: names(page) == ['soon'])
    shown = page.one('[data-for=to]').get_attribute('value').replace(' ', 'T')
    assert address(page) == {'to': f'{shown}:00Z'}
    page.fill('[data-for=to]', f'someday{Keys.ENTER}')
    page.reads('"someday" is not a time', '#to-understood')


def test_the_list_shows_who_has_a_host_in_a_week(page):
    client = page.standalone.client
    for name, start, duration in (('before', '+1h', '1h'), ('that week', '+4d', '4d'),
                                  ('after', '+30d', '1h')):
        client.leases.create(name, start=start, duration=duration, reservations=[
            {'resource_type': 'physical:host', 'min': 8, 'max': 8}])
    page.go('/leases')
    page.press('All projects')
    page.click('#filters summary')
    page.fill('[name=resource]', 'compute-7')
    page.fill('[data-for=from]', '+2d')
    page.fill('[data-for=to]', '+9d')
    page.press('Search')
    page.until(lambda: names(page) == ['that week'])
    page.reads('demo', '#leases tbody')
    page.fill('[data-for=to]', f'+1d{Keys.ENTER}')
    page.reads('must be after the time in “From”', '.field:has([data-for=to])')
