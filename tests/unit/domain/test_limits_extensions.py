# SPDX-License-Identifier: Apache-2.0
"""Rules of extensions bound the end of a running lease exactly, and say when they allow more."""
import datetime
import decimal

import pytest
from support import builders
from support import db_rows

from climate import errors
from climate.domain.limits import extensions
from climate.domain.limits import rules

NOON, at, hours = builders.NOON, builders.at, builders.hours
SECOND = datetime.timedelta(seconds=1)
HOSTS = {('physical:host', 'host')}
# The lease lasts from noon for 10 hours.
LEASE = db_rows.a_lease(start=NOON, end=at(10))


def rule(**fields):
    return rules.Extension(name='rule', **fields)


def bound(now, *extension_rules, lease=LEASE, in_steps=False):
    return extensions.tightest(extension_rules, lease, now, in_steps)


def refused(found, end, lease=LEASE):
    with pytest.raises(errors.ExtensionRefused) as caught:
        extensions.refuse(found, lease, end)
    return caught.value


@pytest.mark.parametrize('fields', [
    {'within': hours(2)}, {'within_percent': decimal.Decimal(20)}])
def test_an_extension_is_refused_until_the_last_part_begins(fields):
    found = bound(at(8) - SECOND, rule(**fields))
    assert (found.latest, found.opens_at) == (at(10), at(8))
    error = refused(found, at(10) + SECOND)
    assert error.status == 403
    assert error.details == {'rule': 'rule', 'reason': found.reason, 'possible_end': None,
                             'opens_at': at(8).isoformat()}
    assert 'only in its last 2h, from 2030-05-01 20:00:00 UTC on' in error.message
    assert bound(at(8), rule(**fields)) is None


def test_a_last_part_that_is_longer_than_the_lease_is_open_from_the_start():
    assert bound(NOON, rule(within=hours(99))) is None


def test_the_shorter_of_two_last_parts_applies():
    assert bound(at(8), rule(within=hours(1), within_percent=decimal.Decimal(50))).opens_at == at(9)


def test_one_extension_is_not_longer_than_the_maximum():
    found = bound(at(1), rule(most=hours(3)))
    extensions.refuse(found, LEASE, at(13))
    error = refused(found, at(13) + SECOND)
    assert error.details['possible_end'] == at(13).isoformat()
    assert 'by at most 3h at a time: choose an end until 2030-05-02 01:00:00 UTC.' in error.message


@pytest.mark.parametrize('count, allowed', [(0, True), (1, True), (2, False), (3, False)])
def test_a_lease_is_not_extended_more_often_than_allowed(count, allowed):
    lease = db_rows.a_lease(start=NOON, end=at(10), extended_count=count)
    found = bound(at(1), rule(times=2), lease=lease)
    if allowed:
        assert found is None
    else:
        assert (found.latest, found.opens_at) == (at(10), None)
        assert 'it can be extended 2 times' in refused(found, at(11), lease).message


@pytest.mark.parametrize('total_from, latest', [
    (rules.TotalFrom.START, at(12)), (rules.TotalFrom.NOW, at(13))])
def test_the_total_is_measured_from_the_start_or_from_now(total_from, latest):
    found = bound(at(1), rule(total=hours(12), total_from=total_from))
    assert found.latest == latest
    extensions.refuse(found, LEASE, latest)
    assert refused(found, latest + SECOND).details['possible_end'] == latest.isoformat()


def test_a_lease_beyond_its_total_cannot_be_extended():
    found = bound(at(1), rule(total=hours(4)))
    assert found.latest == at(10)
    error = refused(found, at(11))
    assert error.details['possible_end'] is None
    assert 'no later end is possible now' in error.message


def test_the_tightest_rule_is_named():
    found = bound(at(1), rule(most=hours(5)), rules.Extension(name='short', most=hours(2)))
    assert (found.rule, found.latest) == ('short', at(12))


def test_steps_are_bound_by_lengths_only():
    window = rule(within=hours(1), times=0)
    assert bound(at(1), window, in_steps=True) is None
    assert bound(at(1), rule(within=hours(1), most=hours(1)), in_steps=True).latest == at(11)
    assert bound(at(1), rule(times=0, total=hours(11)), in_steps=True).latest == at(11)


def test_an_endless_bound_does_not_overflow():
    assert bound(at(1), rule(most=datetime.timedelta(days=3650000))).latest.year == 9999


def test_a_bound_of_zero_allows_no_extension():
    assert bound(at(1), rule(most=datetime.timedelta(0))).latest == at(10)
    assert bound(at(1), rule(times=0)).latest == at(10)


@pytest.mark.parametrize('fields, applies', [
    ({}, True), ({'projects': frozenset({'demo'})}, True), ({'users': frozenset({'demo'})}, True),
    ({'projects': frozenset({'other'})}, False), ({'resource_type': 'physical:host'}, True),
    ({'resource_type': 'virtual:instance'}, False), ({'pool': 'host'}, True),
    ({'pool': 'segment'}, False)])
def test_a_rule_applies_by_its_scope(fields, applies):
    found = rule(times=1, **fields)
    book = rules.LimitBook(1, NOON, extensions=(found,))
    assert extensions.applying(book, LEASE, HOSTS) == ((found,) if applies else ())


@pytest.mark.parametrize('start, end, is_one', [
    (NOON, at(11), True), (NOON, at(10), False), (NOON, at(9), False), (at(2), at(11), False)])
def test_a_later_end_of_a_lease_that_has_begun_is_an_extension(start, end, is_one):
    assert extensions.is_extension(db_rows.a_lease(start=start, end=at(10)), end, at(1)) is is_one
