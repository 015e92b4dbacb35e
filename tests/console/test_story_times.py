# SPDX-License-Identifier: Apache-2.0
"""Stories of people who write times as they say them, in a real browser in Berlin."""
import datetime
import zoneinfo

import pytest

from climate.client import times

BERLIN = zoneinfo.ZoneInfo('Europe/Berlin')


@pytest.fixture
def berlin(page):
    """A Page in a browser in Berlin, and nothing chosen."""
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': BERLIN.key})
    yield page
    page.driver.execute_cdp_cmd('Emulation.setTimezoneOverride', {'timezoneId': ''})


def at(page, days, hour):
    """Return the ISO text of an hour of a day from today on, in Berlin."""
    today = datetime.datetime.now(BERLIN).date() + datetime.timedelta(days=days)
    return times.iso(datetime.datetime.combine(today, datetime.time(hour), BERLIN))


def test_a_lease_for_tomorrow_nine_to_five_is_written_as_it_is_said(berlin):
    berlin.go('/leases/new')
    berlin.fill('[name=name]', 'tomorrow')
    berlin.reads('2h, until', '#duration-understood')
    berlin.fill('[name=start]', 'tomorrow 9:00')
    berlin.reads('09:00 UTC', '#start-understood')
    berlin.fill('[name=end]', '17:00')
    berlin.reads('17:00 UTC', '#end-understood')
    # The end has taken the place of the duration.
    assert berlin.one('[name=duration]').get_attribute('value') == ''
    berlin.reads('17:00 UTC', '#offers')
    berlin.picture('times')
    berlin.press('Check')
    berlin.reads('It fits', '#result')
    berlin.press('Create the lease')
    berlin.reads('tomorrow', 'h1')
    (lease,) = berlin.standalone.client.leases.list()
    assert (lease['start'], lease['end']) == (at(berlin, 1, 9), at(berlin, 1, 17))


def test_a_field_says_how_it_is_understood(berlin):
    berlin.go('/leases/new')
    for name, text, understood in (
            ('duration', '1.5h', '1h30m, until'), ('duration', '1 hour', '1h, until'),
            ('duration', '1d1h15m', '1d1h15m, until'), ('duration', '1h30', '1h30m, until'),
            ('duration', '2 months', 'a month or a year has no fixed length'),
            ('duration', '-1h', 'it must be longer than zero'),
            ('start', 'in 2h', 'UTC'), ('start', 'next monday', 'Mon 20'),
            ('start', '2031-01-11 09:00', 'Sat 2031-01-11 09:00 UTC+1 (Europe/Berlin)'),
            ('start', 'soon', '"soon" is not a time: write "tomorrow 9:00"')):
        berlin.fill(f'[name={name}]', text)
        berlin.reads(understood, f'#{name}-understood')


def test_a_lease_is_extended_by_what_is_written_and_by_nothing_else(berlin):
    client = berlin.standalone.client
    lease = berlin.standalone.lease('longer', start='2031-01-15T08:00:00Z', duration='2h')
    berlin.go(f'/leases/{lease["id"]}')
    berlin.press('Extend…')
    for text, problem in (('2 months', 'no fixed length'), ('-1h', 'longer than zero'),
                          ('1.5', 'is not a duration')):
        berlin.fill('dialog [name=by]', text)
        berlin.reads(problem, '#by-understood')
        berlin.click('dialog .main')
        berlin.until(lambda: not berlin.all('dialog [aria-busy]'))
        assert client.leases.get(lease['id'])['end'] == '2031-01-15T10:00:00Z'
    berlin.fill('dialog [name=until]', '12:00')
    berlin.reads('Wed 2031-01-15 12:00 UTC+1', '#until-understood')
    berlin.fill('dialog [name=until]', '2031-01-15 10:30')
    berlin.click('dialog .main')
    berlin.reads('The new end must be after 2031-01-15 11:00 UTC+1', 'dialog')
    berlin.fill('dialog [name=by]', '1.5h')
    berlin.reads('1h30m, until Wed 2031-01-15 12:30 UTC+1 (Europe/Berlin)', '#by-understood')
    berlin.until(lambda: not berlin.all('dialog .refusal'))
    berlin.picture('extend')
    berlin.click('dialog .main')
    berlin.until(lambda: client.leases.get(lease['id'])['end'] == '2031-01-15T11:30:00Z')
