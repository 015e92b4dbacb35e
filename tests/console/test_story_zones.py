# SPDX-License-Identifier: Apache-2.0
"""Stories of time zones, in a real browser in Berlin: what is shown, typed and drawn, and DST."""
import datetime

import pytest
from selenium.webdriver.support.select import Select

BERLIN = 'Europe/Berlin'


@pytest.fixture
def berlin(page):
    """A Page in a browser in Berlin."""
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': BERLIN})
    page.go('/leases')
    yield page
    page.script('localStorage.clear()')
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': ''})


def choose(page, zone):
    Select(page.one('#zone')).select_by_visible_text(zone)


def test_times_are_in_the_zone_of_the_browser_until_somebody_chooses_another(berlin):
    lease = berlin.standalone.lease('in summer', start='2030-07-01T08:00:00Z', duration='2h')
    berlin.go('/leases')
    berlin.reads('2030-07-01 10:00 UTC+2')
    choose(berlin, 'UTC')
    berlin.reads('2030-07-01 08:00 UTC')
    choose(berlin, 'Australia/Lord_Howe')
    berlin.go(f'/leases/{lease["id"]}')
    berlin.reads('2030-07-01 18:30 UTC+10:30', 'dl.facts')
    choose(berlin, BERLIN)
    berlin.reads('2030-07-01 10:00 UTC+2', 'dl.facts')


def test_a_form_says_its_zone_and_keeps_the_moment_when_it_changes(berlin):
    berlin.go('/leases/new')
    berlin.fill('[name=name]', 'at nine in berlin')
    berlin.reads('Start (Europe/Berlin)', '.fields')
    berlin.fill('[name=start]', '2031-01-15 9:00')
    berlin.reads('Wed 2031-01-15 09:00 UTC+1 (Europe/Berlin)', '#start-understood')
    choose(berlin, 'UTC')
    berlin.reads('Wed 2031-01-15 08:00 UTC', '#start-understood')
    assert berlin.one('[name=start]').get_attribute('value') == '2031-01-15 08:00'
    choose(berlin, BERLIN)
    berlin.reads('09:00 UTC+1', '#start-understood')
    berlin.press('Check')
    berlin.reads('2031-01-15 09:00 UTC+1', '#result')
    berlin.picture('zone')
    berlin.press('Create the lease')
    berlin.reads('at nine in berlin', 'h1')
    (lease,) = berlin.standalone.client.leases.list()
    assert lease['start'] == '2031-01-15T08:00:00Z'


def test_a_time_that_the_clocks_skip_or_repeat_is_refused_or_noted_at_the_field(berlin):
    berlin.go('/leases/new')
    berlin.fill('[name=name]', 'skipped')
    # On 2031-03-30 the clocks go from 02:00 to 03:00.
    berlin.fill('[name=start]', '2031-03-30 2:30')
    berlin.reads('02:30 does not exist on 2031-03-30', '#start-understood')
    berlin.press('Check')
    berlin.reads('write 01:30 or 03:30', '.field')
    assert berlin.text('#result') == ''
    berlin.fill('[name=start]', '2031-10-26 2:30')
    berlin.reads('the second is "2031-10-26 02:30 UTC+1"', '#start-understood')


def test_days_on_the_timeline_begin_at_midnight_of_the_zone(berlin):
    # The week in which the clocks go forward.
    berlin.go('/?from=2031-03-27T00:00:00Z&to=2031-04-03T00:00:00Z')
    berlin.until(lambda: berlin.script('return window.climateTimeline?.view.rows.length'))
    ticks = berlin.script('return window.climateTimeline.view.scale.ticks()')
    found = [datetime.datetime.fromtimestamp(tick['moment'], datetime.UTC).strftime('%d %H')
             for tick in ticks]
    assert {'29 23', '30 22', '01 22'} <= set(found) and '30 23' not in found


def test_charts_are_in_the_zone_too(berlin):
    berlin.go('/capacity')
    berlin.one('#utilisation canvas')
    berlin.click('#utilisation summary')
    choose(berlin, 'UTC')
    berlin.until(lambda: 'UTC+' not in berlin.text('#utilisation tbody th'))
    choose(berlin, BERLIN)
    berlin.until(lambda: 'UTC+' in berlin.text('#utilisation tbody th'))
