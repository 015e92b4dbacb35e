# SPDX-License-Identifier: Apache-2.0
"""Moments in arguments are understood in the zone of the user, who sees how before any request."""
import argparse
import datetime
import time

import canned
import pytest
from support import moment_texts

from climate.client import errors
from climate.client import time_zones
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import moment_arguments

BERLIN = ('--time-zone', 'Europe/Berlin')
LEASE = canned.a_lease(start='2030-05-01T08:00:00Z', end='2030-05-01T20:30:00Z')


@pytest.fixture
def created(requests_mock):
    """The requests-mock with a service that creates and shows a lease."""
    for method in ('POST', 'GET'):
        requests_mock.register_uri(method, f'{canned.URL}/leases', json={
            'lease': LEASE, 'leases': [LEASE]})
    return requests_mock


@pytest.fixture
def at(monkeypatch):
    """Return a function that sets the clock of this machine for times."""
    return lambda now: monkeypatch.setattr(times, 'utcnow', lambda: now)


@pytest.mark.parametrize('case', moment_texts.CASES, ids=lambda case: case.text[:30])
def test_an_argument_is_the_moment_that_a_person_means_or_is_refused(case, at):
    at(case.at)
    given = argparse.Namespace(start=arguments.moment(case.text))
    if case.moment is None:
        with pytest.raises(errors.BadValue, match=r'^--start: "') as caught:
            moment_arguments.understand(given, time_zones.named(case.zone))
        assert case.refusal in caught.value.message
        return
    moment_arguments.understand(given, time_zones.named(case.zone))
    assert times.moment(given.start, case.at) == case.moment


@pytest.mark.parametrize('case, start', moment_texts.AFTER)
def test_an_end_follows_the_start_in_any_order_of_arguments(case, start, at):
    at(case.at)
    given = argparse.Namespace(end=arguments.moment(case.text), start=arguments.moment(start))
    if case.moment is None or case.moment <= times.moment(start, case.at):
        with pytest.raises(errors.BadValue, match=r'^--end: '):
            moment_arguments.understand(given, time_zones.named(case.zone))
        return
    moment_arguments.understand(given, time_zones.named(case.zone))
    assert times.moment(given.end, case.at) == case.moment


def test_a_lease_is_created_in_the_zone_of_the_user_who_sees_the_moments(run, created):
    outcome = run(*BERLIN, 'lease', 'create', 'demo', '--hosts', '2', '--start', '2030-05-01 9:00',
                  '--end', '17:00', '-f', 'json')
    assert outcome.err.splitlines() == [
        '--start is Wed 2030-05-01 09:00 UTC+2 (Europe/Berlin).',
        '--end is Wed 2030-05-01 17:00 UTC+2 (Europe/Berlin).']
    sent = created.request_history[0].json()
    assert (sent['start'], sent['end']) == ('2030-05-01T07:00:00Z', '2030-05-01T15:00:00Z')
    # JSON has UTC, as the service sends it.
    assert '"start": "2030-05-01T08:00:00Z"' in outcome.out


@pytest.mark.parametrize('text', ['now', '+2h', '2030-05-01T08:00:00Z', '2030-05-01 08:00+02:00'])
def test_a_moment_with_nothing_to_understand_is_not_repeated(run, created, text):
    outcome = run(*BERLIN, 'lease', 'create', 'demo', '--hosts', '2', '--start', text,
                  '--duration', '1.5h')
    assert outcome.code == 0 and outcome.err == ''
    assert created.request_history[0].json()['duration'] == 5400


def test_a_quiet_command_repeats_no_moment_and_a_wrong_one_sends_no_request(run, created):
    quiet = run('-q', 'lease', 'create', 'demo', '--hosts', '2', '--end', 'tomorrow 9:00')
    assert quiet.code == 0 and quiet.err == ''
    count = created.call_count
    outcome = run(*BERLIN, 'lease', 'create', 'demo', '--hosts', '2', '--end', '2030-03-31 2:30')
    assert outcome.code == 2 and created.call_count == count
    assert '--end: "2030-03-31 2:30" is not a time: 02:30 does not exist' in outcome.err


@pytest.mark.parametrize('words, environ, shown', [
    (BERLIN, {}, '2030-05-01 10:00 UTC+2'),
    ((), {'TZ': 'Asia/Kolkata'}, '2030-05-01 13:30 UTC+5:30'),
    ((), {'TZ': ':America/New_York'}, '2030-05-01 04:00 UTC-4'),
    (('--time-zone', 'UTC'), {'TZ': 'Asia/Kolkata'}, '2030-05-01 08:00 UTC'),
    # POSIX counts offsets to the west.
    ((), {'TZ': 'UTC+3'}, '2030-05-01 08:00 UTC'),
    (('--time-zone', 'UTC+3'), {}, '2030-05-01 11:00 UTC+3'),
    ((), {}, '2030-05-01 08:00 UTC'), ((), {'TZ': 'nonsense'}, '2030-05-01 08:00 UTC')])
def test_tables_are_in_the_zone_of_the_option_or_of_tz(run, created, words, environ, shown):
    outcome = run(*words, 'lease', 'list', '--long', environ={
        'OS_AUTH_TYPE': 'admin_token', 'OS_ENDPOINT': canned.URL, 'OS_TOKEN': 'a-token', **environ})
    assert f' {shown} |' in outcome.out
    outcome = run(*words, 'lease', 'list', '--long', '-f', 'csv')
    assert '2030-05-01T08:00:00Z' in outcome.out


def test_the_arguments_of_blazarclient_are_in_utc_as_there(run, created):
    outcome = run(*BERLIN, 'lease', 'create', 'demo', '--hosts', '2',
                  '--start-date', '2030-05-01 09:00', '--before-end-date', '2030-05-01 09:30',
                  '--end-date', '2030-05-01 10:00')
    assert outcome.code == 0, outcome.err
    sent = canned.last_change(created).json()
    assert (sent['start'], sent['before_end'], sent['end']) == (
        '2030-05-01T09:00:00Z', '2030-05-01T09:30:00Z', '2030-05-01T10:00:00Z')


def test_an_end_after_the_last_year_of_the_zone_is_refused(run, created):
    outcome = run(*BERLIN, 'lease', 'create', 'demo', '--hosts', '2', '--end',
                  '9999-12-31 23:30 UTC')
    assert outcome.code == 2 and not created.called
    assert '--end: "9999-12-31 23:30 UTC" is not a time: the year must be from' in outcome.err


def test_an_unknown_zone_is_refused_with_the_nearest_one(run, created):
    outcome = run('--time-zone', 'Europe/Berln', 'lease', 'list')
    assert outcome.code == 2 and not created.called
    assert outcome.err.startswith('--time-zone: "Europe/Berln" is not a time zone; write UTC, or a '
                                  'name such as Europe/Berlin.\n')


@pytest.mark.parametrize(('text', 'is_clear'), [
    ('monday', False), ('1 may', False), ('17:00', False), ('Fri 9:00 UTC+0530', False),
    ('1 may 2028', True), ('2027-05-01', True), ('tomorrow', True), ('next monday', True),
    ('+7d', True), ('in 2h', True), ('2h from now', True), ('today 17:00', True), ('now', True),
    ('yesterday 9:00', True), ('2h ago', True), ('25 march', True)])
def test_a_moment_of_a_report_is_not_silently_in_the_future(at, text, is_clear):
    # A Thursday.
    at(datetime.datetime(2027, 3, 25, 14, 20, tzinfo=datetime.UTC))
    given = argparse.Namespace(start=arguments.moment_of_report(text))
    if is_clear:
        moment_arguments.understand(given, datetime.UTC)
        return
    with pytest.raises(errors.BadValue, match=r'^--start: .* write the date with its year'):
        moment_arguments.understand(given, datetime.UTC)


@pytest.mark.parametrize('report', ['usage', 'utilisation', 'energy'])
def test_reports_ask_for_the_year(run, requests_mock, report, at):
    at(datetime.datetime(2027, 3, 25, 14, 20, tzinfo=datetime.UTC))
    outcome = run(report, '--start', 'monday')
    assert outcome.code == 2 and not requests_mock.called
    assert '"monday" may be in the past or in the future' in outcome.err


def test_the_end_of_a_report_follows_its_start(at):
    at(datetime.datetime(2027, 3, 25, 14, 20, tzinfo=datetime.UTC))
    given = argparse.Namespace(start=arguments.moment_of_report('tomorrow'),
                               end=arguments.moment_of_report('monday'))
    moment_arguments.understand(given, datetime.UTC)
    assert given.end == '2027-03-29T00:00:00Z'


def test_a_span_that_ends_before_its_start_is_refused_with_both_moments(at):
    at(datetime.datetime(2027, 3, 25, 14, 20, tzinfo=datetime.UTC))
    given = argparse.Namespace(since=arguments.moment('monday'), until=arguments.moment('friday'))
    moment_arguments.understand(given, datetime.UTC)
    assert given.until == '2027-04-02T00:00:00Z'
    given = argparse.Namespace(since=arguments.moment('monday'), until=arguments.moment('tomorrow'))
    with pytest.raises(errors.BadValue, match='--to: Fri 2027-03-26 00:00 UTC is not after --from, '
                                              'Mon 2027-03-29 00:00 UTC'):
        moment_arguments.understand(given, datetime.UTC, {'since': '--from', 'until': '--to'})


@pytest.fixture
def posix_zone(monkeypatch):
    """The zone of this machine is of a form that only the C library reads."""
    monkeypatch.setenv('TZ', 'XXX-1YYY,M3.5.0,M10.5.0/3')
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_without_a_name_the_clock_of_the_machine_counts(posix_zone):
    zone = moment_arguments.zone(argparse.Namespace(), {'TZ': 'XXX-1YYY,M3.5.0,M10.5.0/3'})
    assert zone is None
    (summer,) = time_zones.moments_at(datetime.datetime(2027, 7, 1, 9), zone)
    assert time_zones.words(summer, zone) == '2027-07-01 09:00 UTC+2'
    assert time_zones.moments_at(datetime.datetime(2027, 3, 28, 2, 30), zone) == []
    assert len(time_zones.moments_at(datetime.datetime(2027, 10, 31, 2, 30), zone)) == 2
