# SPDX-License-Identifier: Apache-2.0
"""Times and durations as people write and read them."""
import datetime

import pytest

from climate.client import errors
from climate.client import times

NOW = datetime.datetime(2030, 5, 1, 8, 0, tzinfo=datetime.UTC)


@pytest.mark.parametrize('text, expected', [
    ('now', '2030-05-01T08:00:00Z'),
    ('+2h', '2030-05-01T10:00:00Z'),
    ('+1d12h', '2030-05-02T20:00:00Z'),
    ('2030-5-1 9:05', '2030-05-01T09:05:00Z'),
    ('2030-05-01 09:05:07', '2030-05-01T09:05:07Z'),
    ('2030-05-01T09:05', '2030-05-01T09:05:00Z'),
    ('2030-05-01T09:05:00Z', '2030-05-01T09:05:00Z'),
    ('2030-05-01T09:05:00+02:00', '2030-05-01T07:05:00Z'),
])
def test_a_moment_can_be_written_in_many_ways(text, expected):
    assert times.iso(times.moment(text, NOW)) == expected


@pytest.mark.parametrize('text', ['', 'tomorrow', '+', '+2x', '2030-13-01 08:00', '-2h',
                                  '2030-05-01 25:00', '+99999999999d'])
def test_a_malformed_moment_is_refused_with_examples(text):
    with pytest.raises(errors.BadValue, match=r'is not a time.*\+2h.*2030-5-1 08:00'):
        times.moment(text, NOW)


def test_now_is_left_to_the_clock_of_the_service():
    assert times.on_the_wire('now', NOW) == 'now'
    assert times.on_the_wire('+2h', NOW) == times.on_the_wire('+PT120M', NOW) == '+7200s'
    assert times.on_the_wire('+7200s', NOW) == '+7200s'


@pytest.mark.parametrize('text, seconds', [
    ('90m', 5400), ('1h30m', 5400), ('2d', 172800), ('1w', 604800), ('PT1H', 3600),
    ('P1DT30M', 88200), ('60', 60), (60, 60), (datetime.timedelta(minutes=1), 60),
])
def test_a_duration_can_be_written_in_many_ways(text, seconds):
    assert times.span(text) == datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize('text', ['', '0', '-5', '2 horas', 'P', 'PT', 'h', 0])
def test_a_malformed_duration_is_refused_with_examples(text):
    with pytest.raises(errors.BadValue, match=(
            r'is not a duration: (write 90m, 2h|it must be longer than zero)')):
        times.span(text)


def test_a_duration_beyond_all_time_is_refused_as_such():
    with pytest.raises(errors.BadValue, match='longer than any duration can be'):
        times.span('9' * 30)


@pytest.mark.parametrize('now, ended_at, expected', [
    ('2030-05-01 06:30', None, 'starts in 1h 30m'),
    ('2030-05-01 08:00', None, '2h left'),
    ('2030-05-01 09:59:50', None, '10s left'),
    ('2030-05-01 10:00', None, 'ended 0s ago'),
    ('2030-05-01 09:10', '2030-05-01T09:00:00Z', 'ended 10m ago'),
    ('2030-05-03 11:05', None, 'ended 2d 1h ago'),
])
def test_the_remaining_time_is_said_in_words(now, ended_at, expected):
    lease = {'start': '2030-05-01T08:00:00Z', 'end': '2030-05-01T10:00:00Z',
             'ended_at': ended_at}
    assert times.remaining(lease, times.moment(now, NOW)) == expected


@pytest.mark.parametrize('now, ended_at, expected', [
    ('2030-05-01 07:00', None, 'starts in 1h'),
    ('2030-05-01 08:05', None, 'due 5m ago'),
    ('2030-05-01 08:05', '2030-05-01T08:04:00Z', 'never began'),
    ('2030-05-01 10:00', None, 'never began'),
])
def test_a_lease_without_a_start_is_due_or_never_began(now, ended_at, expected):
    lease = {'start': '2030-05-01T08:00:00Z', 'end': '2030-05-01T10:00:00Z',
             'ended_at': ended_at, 'started_at': None}
    assert times.remaining(lease, times.moment(now, NOW)) == expected


def test_people_see_that_a_time_is_utc():
    assert times.for_people('2030-05-01T08:00:00Z') == '2030-05-01 08:00 UTC'
    assert times.for_people('2030-05-01T08:00:05.25Z') == '2030-05-01 08:00:05 UTC'
    assert times.for_people(None) == ''
