# SPDX-License-Identifier: Apache-2.0
"""Texts of times and durations mean what a person reads in them, or are refused.

The service and the command line accept the same texts and give them the same meaning.
"""
import datetime
import re

import hypothesis
from hypothesis import strategies
import pytest
from support import builders

from climate import errors
from climate import moments
from climate.api import times as api
from climate.client import errors as client_errors
from climate.client import times as client

NOW = builders.NOON
REFUSED = None
HOUR, DAY = 3600, 86400

DURATIONS = {
    '90': 90, '90s': 90, '90m': 5400, '2h': 2 * HOUR, '1d': DAY, '1w': 7 * DAY,
    '1d12h': 36 * HOUR, '1d 12h': 36 * HOUR, ' 2h ': 2 * HOUR, '30m1h': 5400, '2H': 2 * HOUR,
    '2H30M': 9000, '007m': 420,
    'PT1H': HOUR, 'PT1H30M': 5400, 'P1D': DAY, 'P1W': 7 * DAY, 'P1DT12H': 36 * HOUR,
    'pt90m': 5400, 'PT1.5H': 5400, 'P0.5D': DAY // 2, 'PT0.25S': REFUSED,
    '1.5h': 5400, '0.1h': 360, '1.5 hours': 5400, '2.5d': 60 * HOUR, '.5h': REFUSED, '1.h': REFUSED,
    '1.3333h': REFUSED, '1h30': 5400, '1h 30': 5400, '1d1h15': 90900, '1h05': 3900,
    '1h5': REFUSED, '1h60': REFUSED, '1h300': REFUSED, '1d12': REFUSED, '5m30': REFUSED,
    '1 hour': HOUR, '2 hours': 2 * HOUR, '1hr': HOUR, '2 hrs': 2 * HOUR, '90 minutes': 5400,
    '90min': 5400, '90 Mins': 5400, '45 secs': 45, '3 days': 3 * DAY, '2 weeks': 14 * DAY,
    '1wk': 7 * DAY, '1d1h15m': 90900, '1 hour 30 minutes': 5400, '1 hour and 30 minutes': 5400,
    '1 day, 12 hours': 36 * HOUR, '1 day, 2 hours, and 3 minutes': 93780, 'an hour': HOUR,
    'a day': DAY, 'half an hour': 1800, 'half a day': DAY // 2, 'half hour': 1800,
    'a half hour': REFUSED, '2 and 3 hours': REFUSED, '1h,': REFUSED, ', 1h': REFUSED,
    '1 hour 1 h': REFUSED, '2 months': REFUSED, '1 month': REFUSED, '1 year': REFUSED,
    '1h 2mo': REFUSED, '1hh': REFUSED, '1 hou': REFUSED, '1 day ago': REFUSED, 'in 1h': REFUSED,
    '-1.5h': REFUSED, '0h': REFUSED, '0.0h': REFUSED, '1e1h': REFUSED, '1,000h': REFUSED,
    # "M" may be minutes or months, and a second "1h" may be a mistake.
    '3M': REFUSED, '1D3M': REFUSED, 'P3M': REFUSED, '1h1h': REFUSED,
    'P1Y': REFUSED, '1y': REFUSED, '1mo': REFUSED, '1,5h': REFUSED,
    '1:30': REFUSED, '01:30:00': REFUSED, '-1h': REFUSED, '+1h': REFUSED,
    '1e3': REFUSED, '0x10': REFUSED, '1_000': REFUSED, '': REFUSED, ' ': REFUSED, 'P': REFUSED,
    'PT': REFUSED, 'P1DT': REFUSED, 'P1H': REFUSED, 'one hour': REFUSED,
    '２h': REFUSED, '٢h': REFUSED, 'inf': REFUSED, 'nan': REFUSED, '9' * 5000 + 's': REFUSED,
}


@pytest.mark.parametrize('text', DURATIONS, ids=lambda text: repr(text[:20]))
def test_a_duration_means_the_same_to_people_the_service_and_the_command_line(text):
    expected = DURATIONS[text]
    if expected is not REFUSED:
        assert moments.seconds(text) == api.seconds('duration', text) == expected
        assert client.span(text).total_seconds() == expected
        return
    if text not in ('0h', '0.0h'):
        with pytest.raises(moments.NotUnderstoodError):
            moments.seconds(text)
    with pytest.raises(errors.BadField, match='duration'):
        api.seconds('duration', text)
    with pytest.raises(client_errors.BadValue):
        client.span(text)


@pytest.mark.parametrize('text, way_out', [
    ('2 months', 'write days or weeks, such as 60d or 8w'), ('1y', 'write days or weeks'),
    ('3M', 'write 3m, 3 minutes or 90d'), ('-1h', 'longer than zero'),
    ('1h 2h', 'a unit occurs twice'), ('1.0001s', 'whole number of seconds'),
    ('soon', 'write 90m, 2h, 1.5h')])
def test_a_refused_duration_has_the_way_out(text, way_out):
    with pytest.raises(moments.NotUnderstoodError, match=way_out):
        moments.seconds(text)
    with pytest.raises(errors.BadField, match=f'duration.*{way_out}'):
        api.seconds('duration', text)
    with pytest.raises(client_errors.BadValue, match=way_out):
        client.span(text)


@hypothesis.given(strategies.integers(1, 10 ** 10))
def test_the_text_of_a_duration_is_parsed_as_that_duration(seconds):
    text = moments.span(datetime.timedelta(seconds=seconds))
    for words in (text, text.upper() if 'h' in text or 's' in text else text,
                  ' '.join(re.findall(r'\d+\D', text)), f'PT{seconds}S'):
        assert moments.seconds(words) == seconds


def at(*parts):
    return datetime.datetime(*parts, tzinfo=datetime.UTC)


EIGHT = at(2030, 5, 1, 8)
TIMES = {
    '2030-05-01 08:00': EIGHT, '2030-5-1 8:00': EIGHT, '2030-05-01T08:00': EIGHT,
    '2030-05-01t08:00:00': EIGHT, '2030-05-01T08:00:00Z': EIGHT, '2030-05-01T08:00Z': EIGHT,
    '2030-05-01T08': EIGHT, '20300501T0800Z': EIGHT, '20300501T080000': EIGHT,
    '2030-05-01T10:00+02:00': EIGHT, '2030-05-01T10:00+0200': EIGHT,
    '2030-05-01T10:00 +02:00': EIGHT, '2030-05-01T03:00-05:00': EIGHT, '2030-W18-3T08:00': EIGHT,
    '2030-05-01T08:00:00.000Z': EIGHT, '2030-05-01': at(2030, 5, 1), '20300501': at(2030, 5, 1),
    # Python reads the offset of a day as an hour, and any character as the "T".
    '2030-05-01+02:00': REFUSED, '2030-05-01-08:00': REFUSED, '2030-05-01x08:00': REFUSED,
    '2030-05-01_08:00': REFUSED, '2030-05-01.08:00': REFUSED, '2030-05-01/08:00': REFUSED,
    '20300501-0800': REFUSED, '2030-05-01Z': REFUSED, '2030-05-01 +02:00': REFUSED,
    # A week or a month is no moment.
    '2030-W18': REFUSED, '2030-05': REFUSED, '2030': REFUSED, '203005': REFUSED,
    '01.05.2030': REFUSED, '05/01/2030': REFUSED, '1-5-2030': REFUSED, '30-05-01': REFUSED,
    '2030-05-01 8pm': REFUSED, '2030-05-01 08:00 UTC': REFUSED, '2030-05-01 08:00 CEST': REFUSED,
    '2030-05-01T24:00': REFUSED, '2030-05-01T08:60': REFUSED, '2030-02-30': REFUSED,
    '2030-13-01': REFUSED, '2030-05-01T08:00+25:00': REFUSED, '1900000000': REFUSED,
    'tomorrow': REFUSED, '08:00': REFUSED, '': REFUSED, '２030-05-01': REFUSED,
}
RELATIVE = {
    'now': NOW, 'NOW': NOW, '+2h': NOW + builders.hours(2), '+1d 12h': NOW + builders.hours(36),
    '+90': NOW + builders.seconds(90), '+PT1H': NOW + builders.hours(1), '-2h': REFUSED,
    '+0h': REFUSED, '+3M': REFUSED, '+-2h': REFUSED, '++2h': REFUSED, 'now+2h': REFUSED,
    '+2': NOW + builders.seconds(2), '+': REFUSED, 'in 2h': REFUSED,
}


@pytest.mark.parametrize('text', [*TIMES, *RELATIVE], ids=repr)
def test_a_time_means_the_same_to_people_the_service_and_the_command_line(text):
    expected = {**TIMES, **RELATIVE}[text]
    if expected is not REFUSED:
        assert moments.moment(text, NOW) == api.asked('start', text, NOW) == expected
        assert client.moment(text, NOW) == expected
        assert api.asked('start', client.on_the_wire(text, NOW), NOW) == expected
        return
    with pytest.raises(ValueError):
        moments.moment(text, NOW)
    with pytest.raises(errors.BadDate, match='start'):
        api.asked('start', text, NOW)
    for parse in (client.moment, client.on_the_wire):
        with pytest.raises(client_errors.BadValue):
            parse(text, NOW)
