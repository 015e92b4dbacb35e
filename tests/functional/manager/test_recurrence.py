# SPDX-License-Identifier: Apache-2.0
"""Rules of recurring maintenance mean what people read in them for decades, or are refused."""
import datetime
import itertools
import pathlib
import re

import pytest
from support import builders
from support import thinning

from climate import errors
from climate.domain import interval
from climate.manager.maintenance import recurrence

hours = builders.hours
ROOT = pathlib.Path(__file__).resolve().parents[3]
HORIZON = datetime.timedelta(days=90)


def at(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


def span(start, length=2):
    return interval.Interval(at(start), at(start) + hours(length))


def expanded(rule, first, until):
    """Return all windows up to a moment, expanded in steps of six years."""
    found, is_last = recurrence.windows(rule, first, None, first.start + HORIZON)
    done = first.start + HORIZON
    while not is_last and done < until:
        done, after = min(until, done + 24 * HORIZON), done
        more, is_last = recurrence.windows(rule, first, after, done)
        found += more
    return found


def days(rule, start, until='2037-01-01'):
    return [f'{each.start:%Y-%m-%d}' for each in expanded(rule, span(start), at(until))]


#: (the start, the rule, the days that a person expects).
READ = [
    ('2027-01-01 22:00', 'FREQ=DAILY;UNTIL=20270103', ['2027-01-01', '2027-01-02', '2027-01-03']),
    ('2027-01-01 22:00', 'FREQ=DAILY;UNTIL=20270103T215959Z', ['2027-01-01', '2027-01-02']),
    ('2027-01-01 22:00', 'FREQ=DAILY;UNTIL=20270103T220000Z', [
        '2027-01-01', '2027-01-02', '2027-01-03']),
    ('2027-01-01 00:00', 'FREQ=DAILY;UNTIL=20270101', ['2027-01-01']),
    ('2027-01-01 22:00', 'FREQ=DAILY;COUNT=2', ['2027-01-01', '2027-01-02']),
    ('2027-01-01 22:00', 'rrule:freq=daily; count=2', ['2027-01-01', '2027-01-02']),
    ('2027-01-01 22:00', 'FREQ=DAILY;INTERVAL=3;COUNT=2', ['2027-01-01', '2027-01-04']),
    ('2027-01-03 22:00', 'FREQ=WEEKLY;BYDAY=SU;COUNT=2', ['2027-01-03', '2027-01-10']),
    ('2027-01-02 22:00', 'FREQ=WEEKLY;BYDAY=SA,SU;COUNT=3', [
        '2027-01-02', '2027-01-03', '2027-01-09']),
    ('2027-01-03 22:00', 'FREQ=MONTHLY;BYDAY=1SU;COUNT=3', [
        '2027-01-03', '2027-02-07', '2027-03-07']),
    ('2027-01-31 22:00', 'FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3', [
        '2027-01-31', '2027-02-28', '2027-03-31']),
    ('2027-01-31 22:00', 'FREQ=MONTHLY;BYMONTHDAY=31;COUNT=3', [
        '2027-01-31', '2027-03-31', '2027-05-31']),
    ('2027-01-29 22:00', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=2', [
        '2027-01-29', '2027-02-26']),
    ('2028-02-29 22:00', 'FREQ=YEARLY;BYMONTHDAY=29;BYMONTH=2;UNTIL=20360301', [
        '2028-02-29', '2032-02-29', '2036-02-29']),
]


@pytest.mark.parametrize(('start', 'rule', 'expected'), READ, ids=[each[1] for each in READ])
def test_a_rule_has_the_windows_that_people_expect(start, rule, expected):
    assert days(rule, start) == expected


@pytest.mark.parametrize(('start', 'rule', 'words'), [
    ('2027-01-31 22:00', 'FREQ=MONTHLY', 'BYMONTHDAY=-1'),
    ('2027-01-29 22:00', 'FREQ=MONTHLY;COUNT=3', 'day 29'),
    ('2028-02-29 22:00', 'FREQ=YEARLY', 'day 29'),
    ('2027-01-04 22:00', 'FREQ=DAILY;UNTIL=20270103', 'UNTIL is before the start'),
    ('2027-01-01 22:00', 'FREQ=DAILY;UNTIL=20270230', 'UNTIL must be'),
    ('2027-01-01 22:00', 'FREQ=DAILY;UNTIL=20270103T220000', 'UNTIL must be'),
    ('2027-01-01 22:00', 'FREQ=DAILY;UNTIL=2027013', 'UNTIL must be'),
    ('2027-01-03 22:00', 'FREQ=WEEKLY;BYDAY=1SU', 'has no meaning'),
    ('2027-01-03 22:00', 'FREQ=DAILY;BYDAY=2SU', 'has no meaning'),
    ('2027-01-03 22:00', 'FREQ=WEEKLY;BYMONTHDAY=3', 'BYMONTHDAY has no meaning'),
    ('2027-01-03 22:00', 'FREQ=MONTHLY;BYYEARDAY=3', 'BYYEARDAY has no meaning'),
    ('2027-01-03 22:00', 'FREQ=MONTHLY;BYMONTHDAY=0,3', 'not a value of BYMONTHDAY'),
    ('2027-01-03 22:00', 'FREQ=MONTHLY;BYMONTHDAY=3,32', 'not a value of BYMONTHDAY'),
    ('2027-01-03 22:00', 'FREQ=DAILY;BYMONTH=1,13', 'not a value of BYMONTH'),
    ('2027-01-03 22:00', 'FREQ=MONTHLY;BYSETPOS=1', 'BYSETPOS needs'),
    ('2027-01-03 22:00', 'FREQ=YEARLY;BYEASTER=0', 'is not a part'),
    ('2027-01-03 22:00', 'FREQ=DAILY;BYDAY=SU\nEXDATE:20270110T220000Z', 'is not a part'),
    ('2027-01-03 22:00', 'FREQ=DAILY;COUNT=1.5', 'is not a part'),
    ('2027-01-03 22:00', 'FREQ=DAILY;COUNT=-1', 'COUNT must be'),
    ('2027-01-03 22:00', 'FREQ=DAILY;COUNT=1001', 'COUNT must be'),
    ('2027-01-03 22:00', 'FREQ=DAILY;COUNT=0010000000', 'COUNT must be'),
    ('2027-01-03 22:00', 'FREQ=DAILY;INTERVAL=0010000000', 'INTERVAL must be'),
    ('2027-01-03 22:00', 'FREQ=DAILY;COUNT=2;COUNT=3', 'is not a part'),
    ('2027-01-03 22:00', 'FREQ=DAILY;', 'is not a part'),
    ('2027-01-03 22:00', 'every sunday', 'is not a part')])
def test_a_rule_with_another_meaning_than_its_words_is_refused(start, rule, words):
    with pytest.raises(errors.BadField) as caught:
        recurrence.windows(rule, span(start), None, at(start) + HORIZON)
    assert words in caught.value.message
    assert caught.value.kwargs['field'] == 'rrule'


def _documented():
    """Return the rules in the pages, the code, its templates and the client."""
    files = [path for folder in ('doc/source/admin', 'doc/source/api', 'doc/source/user', 'climate')
             for path in (ROOT / folder).rglob('*')
             if path.suffix in ('.rst', '.py', '.html', '.json', '.js') and path.is_file()]
    texts = {rule for path in files for rule in re.findall(
        r'FREQ=[A-Z]+(?:;[A-Z]+=[A-Z0-9,+-]+)*', path.read_text())}
    return sorted(texts)


@pytest.mark.parametrize('rule', sorted({
    *_documented(), 'FREQ=DAILY', 'FREQ=WEEKLY', 'FREQ=MONTHLY', 'FREQ=YEARLY',
    'FREQ=MONTHLY;BYMONTHDAY=-1', 'FREQ=MONTHLY;BYDAY=-1FR', 'FREQ=DAILY;UNTIL=20330101'}))
@pytest.mark.parametrize('length', thinning.few([2, 24, 28 * 24, 30 * 24], 1))
def test_each_rule_of_the_pages_recurs_for_thirty_years(rule, length):
    start = next(start for start in (at('2028-01-01 08:00') + hours(24 * day)
                                     for day in range(28 * 4 + 1)) if _begins(rule, start))
    first = interval.Interval(start, start + hours(length))
    try:
        recurrence.windows(rule, first, None, start + HORIZON)
    except errors.BadField as error:
        assert 'overlap' in error.message
        return
    found = expanded(rule, first, start + datetime.timedelta(days=30 * 365))
    assert found[0].start == start
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    assert all(one.duration <= first.duration for one in found)
    if not {'COUNT', 'UNTIL'} & set(re.findall('[A-Z]+', rule)):
        gaps = {'DAILY': 2, 'WEEKLY': 8, 'MONTHLY': 40, 'YEARLY': 370}
        longest = datetime.timedelta(days=gaps[re.search('FREQ=([A-Z]+)', rule)[1]])
        assert all(other.start - one.start < longest
                   for one, other in itertools.pairwise(found))
        assert found[-1].start > start + datetime.timedelta(days=29 * 365)


def _begins(rule, start):
    try:
        recurrence.windows(rule, interval.Interval(start, start + hours(1)), None, start + HORIZON)
    except errors.BadField:
        return False
    return True
