# SPDX-License-Identifier: Apache-2.0
"""The occurrences of series, compared with dateutil, and the rules that are refused."""
import datetime
import itertools

from dateutil import rrule
from dateutil import tz
import pytest
from support import thinning

from climate import errors
from climate.domain.series import series_times

_ZONES = ('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca',
          'Asia/Kolkata')
_RULES = ('FREQ=DAILY', 'FREQ=WEEKLY;BYDAY=MO', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU',
          'FREQ=WEEKLY;INTERVAL=3;BYDAY=SU,MO;WKST=SU', 'FREQ=MONTHLY',
          'FREQ=MONTHLY;BYMONTHDAY=-1',
          'FREQ=MONTHLY;BYDAY=-1SU', 'FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31', 'FREQ=YEARLY',
          'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29',
          'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1')
# Berlin skips 02:30 and New York shows 01:30 twice; Lord Howe changes its clocks by half an hour.
_TIMES = (datetime.time(1, 30), datetime.time(2, 15), datetime.time(2, 30), datetime.time(9))
_TEN_YEARS = series_times.SeriesLimits(10, 5000)
_LIMITS = series_times.SeriesLimits(2, 500)
_HOUR = 3600
_MONDAY = datetime.datetime(2027, 1, 11, 9)


def _by_dateutil(rule, start, zone, until):
    """Return the moments that dateutil computes for a rule up to a date, in UTC."""
    return [tz.resolve_imaginary(local.replace(tzinfo=tz.gettz(zone), fold=0)).astimezone(tz.UTC)
            for local in rrule.rrulestr(rule, dtstart=start).between(
                start, datetime.datetime.combine(until, datetime.time(23, 59, 59)), inc=True)]


def _timing(text, start=_MONDAY, seconds=_HOUR, zone='Europe/Berlin', limits=_LIMITS):
    return series_times.timing(text, start, seconds, zone, limits)


@pytest.mark.parametrize('zone', _ZONES)
@pytest.mark.parametrize('rule', thinning.few(_RULES, 3))
def test_occurrences_equal_those_of_dateutil_over_ten_years(rule, zone):
    until = datetime.date(2037, 1, 9)
    for time, day in itertools.product(_TIMES, (datetime.date(2027, 1, 31),
                                                datetime.date(2028, 2, 29))):
        start = datetime.datetime.combine(day, time)
        planned = _timing(f'{rule};UNTIL={until:%Y%m%d}', start, 60, zone, _TEN_YEARS)

        assert [span.start for span in series_times.spans(planned)] == _by_dateutil(
            rule, start, zone, until)


def test_the_local_time_is_kept_across_changes_of_the_clocks():
    planned = _timing('every monday until 2027-11-30')
    starts = [span.start for span in series_times.spans(planned)]

    assert {start.astimezone(tz.gettz('Europe/Berlin')).hour for start in starts} == {9}
    assert {start.hour for start in starts} == {7, 8}


def test_a_skipped_time_moves_forward_by_the_gap():
    assert series_times.moment_at(datetime.datetime(2027, 3, 28, 2, 30), 'Europe/Berlin') == (
        datetime.datetime(2027, 3, 28, 1, 30, tzinfo=datetime.UTC))


def test_a_repeated_time_means_the_first():
    assert series_times.moment_at(datetime.datetime(2027, 10, 31, 2, 30), 'Europe/Berlin') == (
        datetime.datetime(2027, 10, 31, 0, 30, tzinfo=datetime.UTC))


def test_a_date_of_until_includes_that_day_in_the_zone():
    late = datetime.datetime(2027, 1, 11, 23, 30)
    planned = _timing('every day until 2027-01-12', late, 60, 'America/New_York')

    assert [span.start for span in series_times.spans(planned)] == [
        datetime.datetime(2027, 1, day, 4, 30, tzinfo=datetime.UTC) for day in (12, 13)]


def test_a_moment_of_until_is_read_in_utc():
    planned = _timing('FREQ=DAILY;UNTIL=20270113T075959Z')

    assert len(series_times.spans(planned)) == 2


def test_the_start_becomes_that_of_the_first_occurrence():
    assert _timing('every tuesday for 2 times').start == datetime.datetime(2027, 1, 12, 9)


@pytest.mark.parametrize('text', [
    'every 2 weeks on monday, thursday for 9 times', 'every month on the last day for 7 times',
    'FREQ=MONTHLY;INTERVAL=2;BYDAY=2TU;UNTIL=20280501', 'every weekday until 2027-02-28'])
def test_a_split_series_has_the_same_occurrences(text):
    planned = _timing(text)
    whole = series_times.spans(planned)
    for number in range(2, len(whole) + 1):
        parts = (series_times.ended_before(planned, number),
                 series_times.beginning_with(planned, number))

        assert [span for part in parts for span in series_times.spans(part)] == whole


@pytest.mark.parametrize(('text', 'rule'), [
    ('every monday until 2027-03-31', 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270331'),
    ('Every Day for 10 times', 'FREQ=DAILY;COUNT=10'),
    ('every 2 weeks on tuesday, thursday until 2027-3-1',
     'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH;UNTIL=20270301'),
    ('every fri and mon for 3 times', 'FREQ=WEEKLY;BYDAY=MO,FR;COUNT=3'),
    ('every month on the last day for 5 times', 'FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=5'),
    ('every month on the 15th for 5 times', 'FREQ=MONTHLY;BYMONTHDAY=15;COUNT=5'),
    ('every month on the last friday for 5 times', 'FREQ=MONTHLY;BYDAY=-1FR;COUNT=5'),
    ('every weekday until 2027-02-01', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20270201'),
    ('every other week, 3 times', 'FREQ=WEEKLY;INTERVAL=2;COUNT=3'),
    ('weekly for 3 times', 'FREQ=WEEKLY;COUNT=3'),
    ('rrule:count=3;byday=mo;freq=weekly', 'FREQ=WEEKLY;BYDAY=MO;COUNT=3')])
def test_words_become_a_normalised_rule(text, rule):
    assert _timing(text).rule == rule


@pytest.mark.parametrize(('text', 'words'), [
    ('every monday', 'it has no end: add "until 2030-03-31" or "for 10 times"'),
    ('FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30;COUNT=3', 'it has no occurrence from'),
    ('every day until 2027-01-10', 'it has no occurrence from'),
    ('FREQ=SECONDLY;COUNT=3', 'FREQ must be one of DAILY'),
    ('FREQ=HOURLY;COUNT=3', 'FREQ must be one of DAILY'),
    ('FREQ=DAILY;BYHOUR=8,12;COUNT=3', 'begins at the time of day of the start'),
    ('FREQ=DAILY;INTERVAL=0;COUNT=3', 'INTERVAL must be a number'),
    ('FREQ=DAILY;COUNT=3;UNTIL=20270301', 'give one of them'),
    ('every now and then', 'is not understood: write "every monday'),
    ('every day until 2027-02-30', 'no day of the calendar'),
    ('every day for 501 times', 'more than 500 occurrences'),
    ('every year for 4 times', 'at most 2 years'),
    ('every day until 9999-12-31', 'more than 500 occurrences'),
    ('every year on monday for 2 times', 'weekdays repeat each week'),
    ('every week on the last day for 2 times', 'write "every month on'),
    ('every dåy for 3 times', 'is not understood')])
def test_a_bad_rule_is_refused_with_the_reason(text, words):
    with pytest.raises(errors.BadField) as caught:
        _timing(text)

    assert caught.value.kwargs['field'] == 'repeat'
    assert words in caught.value.message


def test_overlapping_occurrences_are_refused():
    with pytest.raises(errors.BadField, match='its occurrences overlap: one lasts until 2027-01-12 '
                                              '09:00 UTC, and the next starts at 2027-01-12 08:00'):
        _timing('every day for 3 times', seconds=25 * _HOUR)


def test_an_unknown_zone_is_refused():
    with pytest.raises(errors.BadField, match='"Europe/Atlantis" is not a time zone'):
        _timing('every day for 3 times', zone='Europe/Atlantis')


def test_a_rule_at_the_end_of_the_calendar_is_refused_without_a_crash():
    with pytest.raises(errors.BadField):
        _timing('every month until 9998-12-31', datetime.datetime(9998, 1, 1), 40 * 86400, 'UTC')


@pytest.mark.parametrize(('text', 'zone', 'seconds', 'words'), [
    ('FREQ=DAILY;UNTIL=99991231T235959Z', 'Pacific/Kiritimati', 3600, 'outside the calendar'),
    ('FREQ=DAILY;UNTIL=00010101T000000Z', 'America/New_York', 3600, 'outside the calendar'),
    ('FREQ=DAILY;COUNT=1', 'UTC', 10 ** 12, 'would end after the year 9999'),
    ('FREQ=YEARLY;INTERVAL=1000;COUNT=2', 'UTC', 3600, 'only 1 of its 2 occurrences')])
def test_a_moment_beyond_the_calendar_is_refused_with_the_reason(text, zone, seconds, words):
    with pytest.raises(errors.BadField, match=words):
        series_times.timing(text, datetime.datetime(2030, 5, 1, 9), seconds, zone,
                            series_times.SeriesLimits(2, 500))
