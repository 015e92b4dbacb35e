# SPDX-License-Identifier: Apache-2.0
"""Stories of leases that repeat, in a real browser in Berlin."""
import datetime
import zoneinfo

import pytest
from selenium.webdriver.support.select import Select
import test_accessible

BERLIN = 'Europe/Berlin'
WINDOWS = ((390, 844), (1400, 900))


@pytest.fixture
def berlin(page):
    """A Page in a browser in Berlin, and no series."""
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': BERLIN})
    yield page
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': ''})
    client = page.standalone.client
    for series in client.series.list(status='active'):
        client.series.cancel(series['id'])


@pytest.fixture
def conflict(page):
    """A lease that takes all hosts the day after tomorrow, in Berlin."""
    zone = zoneinfo.ZoneInfo(BERLIN)
    day = datetime.datetime.now(zone).date() + datetime.timedelta(days=2)
    start = datetime.datetime.combine(day, datetime.time(), zone)
    return page.standalone.lease('takes all', 8, start=start, duration='24h')


def fill(page, **fields):
    page.go('/leases/new')
    for name, text in {'name': 'lab', 'start': 'tomorrow 12:00', **fields}.items():
        page.fill(f'[name={name}]', text)


def test_a_rule_is_checked_by_date_and_makes_a_series_whose_rest_is_cancelled(berlin, conflict):
    client = berlin.standalone.client
    fill(berlin, repeat='every now and then')
    berlin.press('Check')
    berlin.reads('is not understood', 'label:has([name=repeat]) [role=alert]')
    berlin.fill('[name=repeat]', 'every day for 4 times')
    berlin.until(lambda: berlin.one('[name=mode]').is_displayed())
    Select(berlin.one('[name=mode]')).select_by_value('all_or_nothing')
    berlin.press('Check')
    berlin.reads('3 of 4 dates fit', '#result')
    berlin.reads('does not fit', '#result .dates li:nth-child(2)')
    berlin.reads('Nearest start', '#result .dates li:nth-child(2)')
    assert test_accessible.faults(berlin, 'series', WINDOWS) == {}
    berlin.press('Create the series')
    berlin.reads('1 of 4 occurrences are not possible', '#problem')
    assert [*client.series.list(status='active')] == []
    Select(berlin.one('[name=mode]')).select_by_value('what_fits')
    berlin.press('Check')
    berlin.press('Create the series')
    berlin.reads('Leases of the series “lab”', '#series')
    berlin.reads('Dates without a lease', '#series')
    assert len(berlin.all('#leases tbody tr')) == 3
    (series,) = client.series.list(status='active')
    assert (series['time_zone'], series['start'][11:]) == (BERLIN, '12:00:00')
    assert test_accessible.faults(berlin, 'series-list', WINDOWS) == {}
    third = client.series.get(series['id'])['occurrences'][2]
    berlin.go(f'/leases/{third["lease_id"]}')
    berlin.reads('All leases of the series “lab” (number 3)', '#series')
    berlin.press('Cancel this and the following…')
    berlin.reads('all later dates', 'dialog #question')
    assert [each.get_attribute('value') for each in berlin.all('dialog li')] == ['3', '4']
    assert test_accessible.faults(berlin, 'dialog-following', WINDOWS) == {}
    berlin.click('dialog button[value=yes]')
    berlin.until(lambda: len(berlin.all('#leases tbody tr')) == 1)
    assert [lease['name'] for lease in client.leases.list(series_id=series['id'])] == ['lab']


def test_a_series_whose_answer_was_lost_is_made_once(berlin):
    fill(berlin, repeat='every week for 2 times')
    berlin.press('Check')
    berlin.reads('2 of 2 dates fit', '#result')
    berlin.hold('/series$', 'POST')
    berlin.press('Create the series')
    berlin.until_held()
    berlin.release(lost=True)
    berlin.reads('no second one is created', '#problem')
    berlin.press('Create the series')
    berlin.reads('Leases of the series “lab”', '#series')
    assert len([*berlin.standalone.client.series.list(status='active')]) == 1


def test_a_lease_that_repeats_needs_a_start_and_has_no_steps(berlin):
    fill(berlin, start='', repeat='every week for 2 times')
    berlin.press('Check')
    berlin.reads('Fill in the start', '.field:has([name=start])')
    berlin.fill('[name=start]', 'tomorrow 12:00')
    berlin.fill('[name=while_free]', '1d')
    berlin.press('Check')
    berlin.reads('cannot have this', '.field:has([name=while_free])')
