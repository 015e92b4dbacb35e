# SPDX-License-Identifier: Apache-2.0
"""People write a moment, and get the moment that they mean or a message with the way out."""
import datetime
import zoneinfo

import hypothesis
from hypothesis import strategies
import pytest
from support import moment_texts

from climate import moments
from climate.client import moment_parsing
from climate.client import time_zones

ZONES = sorted({case.zone for case in moment_texts.CASES} | {
    'Africa/Monrovia', 'America/St_Johns', 'Pacific/Apia', 'Pacific/Chatham'})


def understood(case, after=None):
    return moment_parsing.understand(case.text, case.at, time_zones.named(case.zone), after)


def same_or_refused(case, after=None):
    if case.moment:
        assert understood(case, after).at == case.moment
        return
    with pytest.raises(moments.NotUnderstoodError) as caught:
        understood(case, after)
    assert case.refusal in str(caught.value)


@pytest.mark.parametrize('case', moment_texts.CASES, ids=lambda case: case.text[:30])
def test_a_text_is_the_moment_that_a_person_means_or_is_refused(case):
    same_or_refused(case)


@pytest.mark.parametrize('case, start', moment_texts.AFTER)
def test_an_end_follows_its_start(case, start):
    same_or_refused(case, datetime.datetime.fromisoformat(start))


def test_a_doubled_time_is_the_first_one_and_says_how_to_write_the_second():
    zone = time_zones.named('Europe/Berlin')
    first = moment_parsing.understand('2027-10-31 02:30', datetime.datetime.now(datetime.UTC), zone)
    assert first.note.startswith('The clocks show 02:30 twice then. This is the first time')
    text = first.note.split('"')[1]
    second = moment_parsing.understand(text, datetime.datetime.now(datetime.UTC), zone)
    assert second.at - first.at == datetime.timedelta(hours=1) and second.note == ''


_SECONDS = strategies.datetimes(
    datetime.datetime(1970, 1, 3), datetime.datetime(2100, 1, 1),
    timezones=strategies.just(datetime.UTC)).map(lambda moment: moment.replace(microsecond=0))


@hypothesis.given(_SECONDS, strategies.sampled_from(ZONES), strategies.booleans())
@hypothesis.example(datetime.datetime(2027, 10, 31, 1, 30, tzinfo=datetime.UTC), 'Europe/Berlin',
                    True)
@hypothesis.example(datetime.datetime(1971, 1, 1, tzinfo=datetime.UTC), 'Africa/Monrovia', False)
def test_the_words_of_a_moment_are_understood_as_that_moment(moment, zone, weekday):
    text = time_zones.words(moment, zoneinfo.ZoneInfo(zone), weekday=weekday)
    for read_in in (zone, 'UTC'):
        assert moment_parsing.understand(text, moment, time_zones.named(read_in)).at == moment


@hypothesis.given(_SECONDS, _SECONDS, strategies.sampled_from(ZONES))
def test_a_local_time_is_understood_wherever_the_clock_shows_it_once(now, moment, zone):
    own = time_zones.named(zone)
    shown = moment.astimezone(own).replace(tzinfo=None)
    first, *_ = time_zones.moments_at(shown, own)
    assert moment_parsing.understand(shown.isoformat(' '), now, own).at == first
    before = moment - datetime.timedelta(seconds=1)
    assert moment_parsing.understand(f'{shown:%H:%M:%S}', before, own).at == moment


@hypothesis.given(strategies.text(alphabet=strategies.characters(codec='ascii'), max_size=120)
                  | strategies.lists(strategies.sampled_from(
                      ['next', 'this', 'in', 'on', 'at', 'monday', 'tomorrow', '9', '9:00', '2h',
                       'UTC', '+2', 'pm', '2027-01-11', 'jan', '11', ',', 'ago', 'now', '-']),
                      max_size=6).map(' '.join), _SECONDS)
def test_any_text_is_understood_or_refused_with_a_way_out(text, now):
    try:
        found = moment_parsing.understand(text, now, time_zones.named('America/New_York'))
    except moments.NotUnderstoodError as error:
        assert len(str(error)) > 10
    else:
        assert moment_parsing.understand(found.wire, now, datetime.UTC).at == found.at


@pytest.mark.parametrize('text, zone', [
    ('UTC', datetime.UTC), ('utc', datetime.UTC), ('Z', datetime.UTC),
    ('Europe/Berlin', zoneinfo.ZoneInfo('Europe/Berlin')),
    ('UTC+5:30', datetime.timezone(datetime.timedelta(minutes=330))),
    ('-03:30', datetime.timezone(-datetime.timedelta(minutes=210)))])
def test_a_zone_has_a_name_or_an_offset(text, zone):
    assert time_zones.named(text) == zone


@pytest.mark.parametrize('text', ['', 'Europe', 'Berlin', 'Europe/Berln', '../../etc/passwd', '+25',
                                  'Europe/Berlin\0', '/etc/localtime', 'x' * 300, 'Zürich'])
def test_an_unknown_zone_is_refused_with_a_name_that_exists(text):
    with pytest.raises(moments.NotUnderstoodError, match='write UTC'):
        time_zones.named(text)
