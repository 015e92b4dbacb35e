# SPDX-License-Identifier: Apache-2.0
"""Peak hours around changes of the clocks: each moment has the percentage that the wall clock says.
"""
import collections
import datetime
import decimal
import itertools
import zoneinfo

import pytest
from support import thinning

from climate.domain import peak_hours

MINUTE, DAY = datetime.timedelta(minutes=1), datetime.timedelta(days=1)


def windows(*bounds):
    """Windows on every day, each with a percentage of its own."""
    return tuple(peak_hours.PeakWindow(frozenset(range(7)), begin, end, decimal.Decimal(number + 1))
                 for number, (begin, end) in enumerate(bounds))


def on_the_wall(peaks, start, end):
    """{percent: minutes} of a minute-by-minute walk through the time, by a clock on the wall."""
    found = collections.Counter()
    moment = start
    while moment < end:
        local = moment.astimezone(peaks.zone)
        minutes = 60 * local.hour + local.minute
        found.update(each.percent for each in peaks.windows
                     if local.weekday() in each.days and each.begin <= minutes < each.end)
        moment += MINUTE
    return dict(found)


# Forward, back, by half an hour, at midnight, just after it, and over a whole day.
@pytest.mark.parametrize(('zone', 'day'), thinning.few([
    ('Europe/Berlin', (2030, 3, 31)), ('Europe/Berlin', (2030, 10, 27)),
    ('America/New_York', (2030, 3, 10)), ('America/New_York', (2030, 11, 3)),
    ('Australia/Lord_Howe', (2030, 4, 7)), ('Australia/Lord_Howe', (2030, 10, 6)),
    ('America/Havana', (2030, 3, 10)), ('America/Havana', (2030, 11, 3)),
    ('America/St_Johns', (2010, 11, 7)), ('Pacific/Apia', (2011, 12, 30)),
    ('Africa/Casablanca', (2030, 2, 3)), ('UTC', (2030, 3, 31))], 6))
@pytest.mark.parametrize('bounds', [
    [(0, 24 * 60)], [(120, 180)], [(120, 150), (150, 180)], [(135, 165), (180, 240)],
    [(0, 90), (90, 150), (210, 300)], [(23 * 60, 24 * 60), (0, 60)]])
def test_a_moment_is_in_the_window_that_a_clock_on_the_wall_shows(zone, day, bounds):
    peaks = peak_hours.PeakHours(zoneinfo.ZoneInfo(zone), windows(*bounds))
    middle = datetime.datetime(*day, tzinfo=datetime.UTC)
    start, end = middle - 3 * DAY + 7 * MINUTE, middle + 3 * DAY
    expected = on_the_wall(peaks, start, end)
    spans = sorted(peaks.spans(start, end))
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    found = collections.Counter()
    for first, last, percent in spans:
        found[percent] += (last - first) / MINUTE
    assert found == expected
    assert {percent: length / MINUTE for percent, length in peaks.lengths(start, end)} == expected


@pytest.mark.parametrize('zone', ['Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Apia'])
def test_the_lengths_of_years_are_the_sum_of_the_spans(zone):
    peaks = peak_hours.PeakHours(zoneinfo.ZoneInfo(zone), windows((90, 150), (165, 240)))
    start = datetime.datetime(2011, 1, 3, 1, 30, tzinfo=datetime.UTC)
    end = start + 800 * DAY
    total = collections.Counter()
    for first, last, percent in peaks.spans(start, end):
        total[percent] += (last - first) / MINUTE
    assert {percent: length / MINUTE for percent, length in peaks.lengths(start, end)} == total


@pytest.mark.parametrize('zone', ['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Casablanca'])
def test_years_of_one_kind_have_equal_lengths_after_2100(zone):
    peaks = peak_hours.PeakHours(zoneinfo.ZoneInfo(zone), (peak_hours.PeakWindow(
        frozenset({0, 6}), 90, 150, decimal.Decimal(1)),))
    start = datetime.datetime(2398, 5, 1, 1, 30, tzinfo=datetime.UTC)
    end = datetime.datetime(2403, 2, 1, 1, 45, tzinfo=datetime.UTC)
    total = sum((last - first for first, last, _ in peaks.spans(start, end)), datetime.timedelta())
    assert dict(peaks.lengths(start, end)) == {decimal.Decimal(1): total}


class _Counting(datetime.tzinfo):
    """A time zone that counts how often it is asked."""

    def __init__(self, name):
        self._zone, self.asked = zoneinfo.ZoneInfo(name), 0

    def utcoffset(self, moment):
        self.asked += 1
        return self._zone.utcoffset(moment.replace(tzinfo=self._zone))

    def dst(self, moment):
        return self._zone.dst(moment.replace(tzinfo=self._zone))

    def tzname(self, moment):
        return self._zone.tzname(moment.replace(tzinfo=self._zone))

    def fromutc(self, moment):
        self.asked += 1
        return self._zone.fromutc(moment.replace(tzinfo=self._zone)).replace(tzinfo=self)


@pytest.mark.proof
def test_a_lease_until_the_year_9998_costs_hardly_more_than_one_until_2150():
    start, asked = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC), []
    for year in (2150, 9998):
        zone = _Counting('Europe/Berlin')
        peaks = peak_hours.PeakHours(zone, windows((90, 150), (165, 240)))
        assert len(peaks.lengths(start, start.replace(year=year))) == 2
        asked.append(zone.asked)
    assert asked[1] < 1.1 * asked[0] < 200_000, asked
