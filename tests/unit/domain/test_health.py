# SPDX-License-Identifier: Apache-2.0
"""A change of health is believed only if each look for long enough found it."""
import datetime

from hypothesis import given
from hypothesis import strategies as st

from climate.domain import health
from climate.domain import interval

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
RULES = health.HealthRules(*(datetime.timedelta(seconds=each) for each in (120, 300, 90)))
DOWN = health.HealthFinding('pool:host', 'its service is down')


def _seconds(count):
    return datetime.timedelta(seconds=count)


def _after(looks, rules=RULES):
    """The Health after looks: pairs (seconds after noon, whether it was found sick)."""
    known = health.ResourceHealth(1)
    for at, sick in looks:
        known = health.after_check(known, DOWN if sick else None, rules, NOON + _seconds(at))
    return known


def test_a_resource_is_sick_once_each_look_of_two_minutes_found_it_so():
    looks = [(at, True) for at in range(0, 121, 30)]
    assert _after(looks[:-1]).state == health.WELL
    found = _after(looks)
    assert (found.state, found.since, found.reason) == (
        health.SICK, NOON + _seconds(120), 'its service is down')


def test_two_flaps_with_nobody_looking_between_them_are_no_sickness():
    assert _after([(0, True), (3600, True)]).state == health.WELL


def test_a_sick_resource_is_well_after_five_minutes_without_a_finding():
    sick = [(at, True) for at in range(0, 121, 30)]
    well = [(at, False) for at in range(150, 451, 30)]
    assert _after([*sick, *well[:-1]]).state == health.SICK
    found = _after([*sick, *well])
    assert (found.state, found.reason, found.source) == (health.WELL, None, None)


@given(st.lists(st.tuples(st.integers(1, 90), st.booleans()), max_size=60))
def test_a_change_is_not_believed_if_a_recent_check_denied_it(steps):
    looks, at = [], 0
    for pause, sick in steps:
        at += pause
        looks.append((at, sick))
    for count in range(1, len(looks) + 1):
        before, after = _after(looks[:count - 1]), _after(looks[:count])
        if before.state == after.state:
            continue
        wait = 120 if after.state == health.SICK else 300
        recent = [sick for at, sick in looks[:count] if at > looks[count - 1][0] - wait]
        assert set(recent) == {after.state == health.SICK}


def test_the_word_of_an_operator_counts_before_that_of_a_source():
    found = health.ResourceHealth(1, state=health.SICK, since=NOON, reason='x', source='http',
                                  out_of_order='a fan', out_of_order_since=NOON,
                                  quarantined_until=NOON + _seconds(60))
    assert found.verdict(NOON).state == health.OUT_OF_ORDER
    assert found.verdict(NOON).reason == 'a fan'


def test_a_quarantine_ends_by_itself():
    found = health.ResourceHealth(1, quarantined_since=NOON, quarantined_until=NOON + _seconds(60))
    assert found.verdict(NOON + _seconds(59)).state == health.QUARANTINED
    assert found.verdict(NOON + _seconds(60)).state == health.WELL


_SPANS = st.tuples(st.integers(0, 50), st.integers(1, 20)).map(
    lambda pair: interval.Interval(NOON + _seconds(pair[0]), NOON + _seconds(sum(pair))))


@given(_SPANS, st.lists(_SPANS, max_size=8))
def test_gaps_are_exactly_the_seconds_that_nothing_covers(span, taken):
    def within(each, second):
        moment = NOON + _seconds(second)
        return each.start <= moment < each.end
    found = health.gaps(span, taken)
    for second in range(80):
        free = within(span, second) and not any(within(each, second) for each in taken)
        assert any(within(each, second) for each in found) == free
    assert health.covered(found, found)
