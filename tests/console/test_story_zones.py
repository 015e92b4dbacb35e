# SPDX-License-Identifier: Apache-2.0
"""Stories of time zones, in a real browser in Berlin: what is shown, typed and drawn, and DST."""
import datetime

import pytest
from selenium.webdriver.support.select import Select

BERLIN = 'Europe/Berlin'


@pytest.fixture
def berlin(page):
    """A Page in a browser in Berlin that shows UTC."""
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': BERLIN})
    page.go('/leases')
    yield page
    page.script('localStorage.clear()')
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': ''})


def choose(page, zone):
    Select(page.one('#zone')).select_by_visible_text(zone)


def in_times(page, code, *given):
    """Run a script that has the module of times as `times`."""
    return page.script(f"""
        const [given, times] = [arguments, await import('/static/js/times.js')];
        {code}""", *given)


def test_times_are_in_utc_until_somebody_chooses_otherwise(berlin):
    lease = berlin.standalone.lease('in summer', start='2030-07-01T08:00:00Z', duration='2h')
    berlin.go('/leases')
    berlin.reads('2030-07-01 08:00 UTC')
    choose(berlin, BERLIN)
    berlin.reads('2030-07-01 10:00 UTC+2')
    berlin.go(f'/leases/{lease["id"]}')
    berlin.reads('2030-07-01 10:00 UTC+2', 'dl.facts')
    choose(berlin, 'UTC')
    berlin.reads('2030-07-01 08:00 UTC', 'dl.facts')


def test_a_form_says_its_zone_and_keeps_the_moment_when_it_changes(berlin):
    berlin.go('/leases/new')
    berlin.fill('[name=name]', 'at nine in berlin')
    choose(berlin, BERLIN)
    berlin.reads('Start (Europe/Berlin)', '.fields')
    berlin.script("""const field = document.querySelector('[name=start]');
        field.value = '2031-01-15T09:00';
        field.dispatchEvent(new Event('input', {bubbles: true}))""")
    choose(berlin, 'UTC')
    assert berlin.one('[name=start]').get_attribute('value') == '2031-01-15T08:00'
    choose(berlin, BERLIN)
    assert berlin.one('[name=start]').get_attribute('value') == '2031-01-15T09:00'
    berlin.press('Check')
    berlin.reads('2031-01-15 09:00 UTC+1', '#result')
    berlin.picture('zone')
    berlin.press('Create the lease')
    berlin.reads('at nine in berlin', 'h1')
    (lease,) = berlin.standalone.client.leases.list()
    assert lease['start'] == '2031-01-15T08:00:00Z'


def test_a_time_that_the_clocks_skip_is_refused(berlin):
    choose(berlin, BERLIN)
    berlin.go('/leases/new')
    berlin.fill('[name=name]', 'skipped')
    # On 2031-03-30 the clocks go from 02:00 to 03:00.
    berlin.script("""const field = document.querySelector('[name=start]');
        field.value = '2031-03-30T02:30';
        field.dispatchEvent(new Event('input', {bubbles: true}))""")
    berlin.press('Check')
    berlin.reads('2031-03-30 02:30” does not exist', '#problem')


@pytest.mark.parametrize(('text', 'moment'), [
    ('2031-03-30T01:59', '2031-03-30T00:59:00Z'), ('2031-03-30T03:00', '2031-03-30T01:00:00Z'),
    # On 2031-10-26 02:30 comes twice: the first one counts.
    ('2031-10-26T02:30', '2031-10-26T00:30:00Z'), ('2031-10-26T03:00', '2031-10-26T02:00:00Z'),
    ('2031-07-01T00:00', '2031-06-30T22:00:00Z')])
def test_a_typed_time_is_the_moment_of_the_wall_clock(berlin, text, moment):
    choose(berlin, BERLIN)
    assert in_times(berlin, 'return times.iso(times.fromLocal(given[0], String))', text) == moment


def test_days_on_the_timeline_begin_at_midnight_of_the_zone(berlin):
    choose(berlin, BERLIN)
    # The week in which the clocks go forward.
    berlin.go('/?from=2031-03-27T00:00:00Z&to=2031-04-03T00:00:00Z')
    berlin.until(lambda: berlin.script('return window.climateTimeline?.view.rows.length'))
    ticks = berlin.script("""return window.climateTimeline.view.scale.ticks()
        .filter((tick) => tick.strong).map((tick) => [tick.moment, tick.label])""")
    found = {label: datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime('%d %H')
             for moment, label in ticks}
    assert found['03-30'] == '29 23' and found['03-31'] == '30 22' and found['04-02'] == '01 22'


def test_charts_are_in_the_zone_too(berlin):
    berlin.go('/capacity')
    berlin.one('#utilisation canvas')
    berlin.click('#utilisation summary')
    berlin.reads('UTC', '#utilisation tbody th')
    choose(berlin, BERLIN)
    berlin.until(lambda: 'UTC+' in berlin.text('#utilisation tbody th'))
