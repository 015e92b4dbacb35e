# SPDX-License-Identifier: Apache-2.0
"""A limit book is read exactly, and each error names the field."""
import datetime
import decimal
import zoneinfo

import pytest

from climate import errors
from climate.domain import requirement
from climate.domain.limits import reading
from climate.domain.limits import rules

BEGIN = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
HOURS = {'days': ['mon', 'fri'], 'from': '08:00', 'to': '18:00', 'timezone': 'Europe/Berlin'}


def _zone_of(name):
    return zoneinfo.ZoneInfo(name) if name in ('UTC', 'Europe/Berlin') else None


def _read(**document):
    return reading.read(rules.StoredLimitBook(3, BEGIN, document, BEGIN, 'u'), _zone_of)


def _limit(measure='resources', **fields):
    return {'name': 'a', 'measure': measure,
            **({'most': 4} if measure in ('resources', 'open_leases') else {}), **fields}


def _hours(**fields):
    return _limit('resource_hours', **{'most': 400, 'window': '90d', **fields})


def _one(document):
    [limit] = _read(limits=[document]).limits
    return limit


def test_an_empty_book_has_no_limits():
    assert _read(limits=[]) == rules.LimitBook(3, BEGIN)


def test_resource_hours_have_a_window_or_a_period_with_a_time_zone():
    rolling = _one(_hours(most='0.5', unit='vcpus', pool='host', hours=HOURS))
    assert (rolling.most, rolling.window, rolling.unit) == (
        decimal.Decimal('0.5'), datetime.timedelta(days=90), 'vcpus')
    [start, end, _percent] = next(rolling.hours.spans(BEGIN, BEGIN + datetime.timedelta(days=7)))
    assert (start.isoformat(), end.isoformat()) == (
        '2030-01-04T07:00:00+00:00', '2030-01-04T17:00:00+00:00')
    monthly = _one(_limit('resource_hours', most=400, period='month', timezone='Europe/Berlin'))
    assert (monthly.window, monthly.period, monthly.zone.key) == (
        None, rules.Period.MONTH, 'Europe/Berlin')


@pytest.mark.parametrize('measure, bound, text, seconds', [
    ('lease_length', 'most', '7d', 604_800), ('ahead', 'most', '90d', 7_776_000),
    ('notice', 'least', '96h', 345_600), ('pause', 'least', 86_400, 86_400),
    ('lease_length', 'most', '0s', 0)])
def test_bounds_of_lengths_are_durations(measure, bound, text, seconds):
    limit = _one(_limit(measure, **{bound: text}))
    assert (limit.duration, limit.most) == (datetime.timedelta(seconds=seconds), None)


def test_a_limit_has_roles_criteria_and_a_scope():
    limit = _one(_limit('roles', roles=['gpu_user'], criteria='["=", "$gpu", "A100"]',
                        projects=['p1'], resource_type='physical:host'))
    assert limit.roles == {'gpu_user'}
    assert limit.criteria == requirement.parse(['==', '$gpu', 'A100'])
    assert (limit.projects, limit.users, limit.resource_type) == ({'p1'}, set(), 'physical:host')
    assert _one(_limit(most=0, per='user', users=['u1'])).most == 0


def test_rules_of_extensions_are_read():
    [days, percent] = _read(extensions=[
        {'name': 'a', 'within': '2d', 'most': '7d', 'times': '3', 'total': '30d',
         'total_from': 'now', 'pool': 'host'},
        {'name': 'b', 'within': '25%', 'projects': ['p1']}]).extensions
    assert days == rules.Extension(
        name='a', pool='host', within=datetime.timedelta(days=2), most=datetime.timedelta(days=7),
        times=3, total=datetime.timedelta(days=30), total_from=rules.TotalFrom.NOW)
    assert percent == rules.Extension(
        name='b', within_percent=decimal.Decimal(25), projects=frozenset({'p1'}))


@pytest.mark.parametrize('limit, field, words', [
    (_limit('speed'), 'measure', 'choose from resource_hours'),
    (_limit(most=None), 'most', 'needs it'),
    ({'name': 'a', 'measure': 'resources'}, 'most', 'needs it'),
    (_limit(most='-1'), 'most', 'not negative'), (_limit(most='NaN'), 'most', 'not negative'),
    (_limit(most='1e999'), 'most', 'not negative'), (_limit(most='four'), 'most', 'not negative'),
    (_limit(most='٤'), 'most', 'not negative'), (_limit(most='9' * 16), 'most', '15 digits'),
    (_limit(most=True), 'most', 'not negative'),
    (_limit('open_leases', most='1.5'), 'most', '15 digits'),
    (_limit('lease_length', most='soon'), 'most', 'is not a duration'),
    (_limit('lease_length', most='3M'), 'most', 'minutes or months'),
    (_limit('lease_length', most='-7d'), 'most', 'is not a duration'),
    (_limit('lease_length', most='200000d'), 'most', 'a century'),
    (_limit('notice'), 'least', 'needs it'), (_limit('pause', least=''), 'least', 'not a duration'),
    (_limit('notice', most='1d'), 'most', 'no such field'),
    (_limit('roles'), 'roles', 'needs it'),
    (_limit('pool_share', most=50), 'pool', 'name the pool'),
    (_limit('pool_share', most='100.1', pool='host'), 'most', 'more than 100'),
    (_limit(window='1d'), 'window', 'no such field'),
    (_limit('lease_length', most='1d', per='user'), 'per', 'no such field'),
    (_limit('open_leases', criteria=['==', '$gpu', 'A100']), 'criteria', 'no such field'),
    (_hours(window='0s'), 'window', 'not a duration'),
    (_hours(period='month'), 'window', 'write one of'),
    (_limit('resource_hours', most=1), 'window', 'write one of'),
    (_hours(timezone='UTC'), 'timezone', 'no time zone'),
    (_limit('resource_hours', most=1, period='week'), 'period', 'month, quarter, year'),
    (_limit('resource_hours', most=1, period='month', timezone='Mars/Base'), 'timezone',
     'no known time zone'),
    (_limit(hours={**HOURS, 'to': '08:00'}), 'hours.to', 'is not after'),
    (_limit(hours={**HOURS, 'from': '8am'}), 'hours.from', 'no time of day'),
    (_limit(hours={**HOURS, 'timezone': 'Mars/Base'}), 'hours.timezone', 'no known time zone'),
    (_limit(criteria='gpu=A100'), 'criteria', 'is not JSON'),
    (_limit(criteria=['=', 'gpu', 'A100']), 'criteria', 'begins with $'),
    (_limit(per='team'), 'per', 'project, user'),
    (_limit(projects=['p'], users=['u'], per='user'), 'users', 'two rules'),
    (_limit(users=['u']), 'users', 'per: user'),
    (_limit(name='  '), 'name', 'not only spaces'),
    (_limit(name='a\u202eb'), 'name', "'a\\u202eb' cannot be shown"),
])
def test_an_error_in_a_limit_names_its_field(limit, field, words):
    with pytest.raises(errors.BadField) as caught:
        _read(limits=[{'name': 'first', 'measure': 'held_offers', 'most': 1}, limit])
    assert caught.value.details['field'] == f'limits.1.{field}'
    assert words in caught.value.message


@pytest.mark.parametrize('extension, field, words', [
    ({}, '', 'restricts nothing'), ({'within': '0%'}, '.within', 'more than 0 %'),
    ({'within': '101%'}, '.within', 'at most 100 %'), ({'within': 'x%'}, '.within', 'percentage'),
    ({'within': '0s'}, '.within', 'not a duration'), ({'times': '-1'}, '.times', 'not negative'),
    ({'most': 'much'}, '.most', 'not a duration'),
    ({'most': '1d', 'total_from': 'now'}, '.total_from', 'add "total"'),
    ({'total': '1d', 'total_from': 'end'}, '.total_from', 'start, now')])
def test_an_error_in_a_rule_of_extensions_names_its_field(extension, field, words):
    with pytest.raises(errors.BadField) as caught:
        _read(extensions=[{'name': 'a', **extension}])
    assert caught.value.details['field'] == f'extensions.0{field}'
    assert words in caught.value.message


@pytest.mark.parametrize('first, second', [
    ({}, {}), ({'projects': ['p1', 'p2']}, {'projects': ['p2', 'p3']}),
    ({'users': ['u'], 'per': 'user'}, {'users': ['u', 'v'], 'per': 'user'}),
    ({'criteria': ['=', '$gpu', 'A100']}, {'criteria': '["==", "$gpu", "A100"]'})])
def test_two_limits_of_a_group_for_the_same_owner_overlap(first, second):
    with pytest.raises(errors.BadField) as caught:
        _read(limits=[_limit(**first), {**_limit(**second), 'name': 'b', 'most': 9}])
    assert caught.value.details['field'] == 'limits.1'
    assert 'overlaps limits.0 ("a")' in caught.value.message


@pytest.mark.parametrize('first, second', [
    ({}, {'projects': ['p1']}), ({'projects': ['p1']}, {'projects': ['p2']}),
    ({}, {'pool': 'host'}), ({}, {'per': 'user'}), ({}, {'hours': HOURS}),
    ({}, {'unit': 'vcpus'}), ({}, {'criteria': ['=', '$gpu', 'A100']})])
def test_limits_of_different_owners_or_resources_do_not_overlap(first, second):
    book = _read(limits=[_limit(**first), {**_limit(**second), 'name': 'b'}])
    assert [limit.name for limit in book.limits] == ['a', 'b']


def test_two_rules_of_extensions_for_the_same_owner_overlap_and_two_names_are_not_equal():
    with pytest.raises(errors.BadField, match='overlaps extensions'):
        _read(extensions=[{'name': 'a', 'most': '1d'}, {'name': 'b', 'times': 3}])
    with pytest.raises(errors.BadField, match='is the name of limits'):
        _read(limits=[_limit(), _limit('open_leases')])
