# SPDX-License-Identifier: Apache-2.0
"""Texts of times and durations mean what a person reads in them, or are refused.

The service and the command line accept the same texts and give them the same meaning.
"""
import datetime

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
    'pt90m': 5400,
    # "M" may be minutes or months, and a second "1h" may be a mistake.
    '3M': REFUSED, '1D3M': REFUSED, 'P3M': REFUSED, '1h1h': REFUSED, '1h30': REFUSED,
    'P1Y': REFUSED, '1y': REFUSED, '1mo': REFUSED, '1.5h': REFUSED, '1,5h': REFUSED,
    'PT1.5H': REFUSED, '1:30': REFUSED, '01:30:00': REFUSED, '-1h': REFUSED, '+1h': REFUSED,
    '1e3': REFUSED, '0x10': REFUSED, '1_000': REFUSED, '': REFUSED, ' ': REFUSED, 'P': REFUSED,
    'PT': REFUSED, 'P1DT': REFUSED, 'P1H': REFUSED, 'an hour': REFUSED, '1 hour': REFUSED,
    '２h': REFUSED, '٢h': REFUSED, 'inf': REFUSED, 'nan': REFUSED, '9' * 5000 + 's': REFUSED,
}


@pytest.mark.parametrize('text', DURATIONS, ids=lambda text: repr(text[:20]))
def test_a_duration_means_the_same_to_people_the_service_and_the_command_line(text):
    expected = DURATIONS[text]
    if expected is not REFUSED:
        assert moments.seconds(text) == api.seconds('duration', text) == expected
        assert client.span(text).total_seconds() == expected
        return
    with pytest.raises(ValueError):
        moments.seconds(text)
    with pytest.raises(errors.BadField, match='duration'):
        api.seconds('duration', text)
    with pytest.raises(client_errors.BadValue):
        client.span(text)


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
