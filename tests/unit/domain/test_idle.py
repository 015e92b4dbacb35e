# SPDX-License-Identifier: Apache-2.0
"""The decision which leases are idle, and how much of them is reclaimed."""
import datetime

import hypothesis
from hypothesis import strategies as st
import pytest

from climate.domain import idle
from climate.domain import use_sampling

NOW = datetime.datetime(2030, 5, 1, 12, 34, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
DAY = 86400
SAMPLES = st.dictionaries(
    st.tuples(st.sampled_from('abc'), st.integers(0, 3)),
    st.tuples(st.integers(0, DAY), st.floats(0, 1), st.floats(0, 1)).map(
        lambda drawn: use_sampling.Sample(drawn[0], int(drawn[0] * drawn[1]),
                                          drawn[0] * (1 - drawn[1]) * drawn[2])),
    max_size=4)
PERCENT = st.floats(0, 100)


def rules(percent=0.0, hours=24, grace=72):
    return idle.IdleRules(percent, hours * HOUR, grace * HOUR)


@hypothesis.given(samples=SAMPLES)
def test_at_0_percent_only_leases_on_which_nothing_ran_are_idle(samples):
    verdict = idle.judge(samples, rules())
    if verdict.is_idle:
        assert all(each.idle_seconds == each.seconds for each in samples.values())


@hypothesis.given(samples=SAMPLES, percent=PERCENT)
def test_a_lease_without_enough_samples_is_not_idle(samples, percent):
    if not samples or min(each.seconds for each in samples.values()) < DAY / 2:
        assert idle.judge(samples, rules(percent)) == idle.UNKNOWN


@hypothesis.given(samples=SAMPLES, percent=PERCENT, more=PERCENT)
def test_a_greater_percentage_never_makes_a_lease_less_idle(samples, percent, more):
    low, high = sorted((percent, more))
    assert idle.judge(samples, rules(high)).is_idle >= idle.judge(samples, rules(low)).is_idle


@pytest.mark.parametrize('used, percent, expected', [
    (0, 0, True), (1, 0, False), (DAY * 0.19, 20, True), (DAY * 0.2, 20, False)])
def test_less_than_the_percentage_is_idle(used, percent, expected):
    one = {('a', 1): use_sampling.Sample(DAY, DAY if not used else 0, used)}
    assert idle.judge(one, rules(percent)).is_idle is expected


def test_marks_stay_while_a_lease_is_idle_and_go_when_it_is_not():
    is_idle, busy = idle.IdleVerdict(True, 0, frozenset()), idle.IdleVerdict(False, 50, frozenset())
    first = idle.marked(idle.IdleMarks(), is_idle, True, rules(), NOW)
    assert first == idle.IdleMarks(NOW.replace(minute=0) - 24 * HOUR, NOW + 72 * HOUR)
    assert idle.marked(first, is_idle, True, rules(), NOW + HOUR) == first
    assert idle.marked(first, is_idle, False, rules(), NOW + HOUR) == idle.IdleMarks(first.since)
    assert idle.marked(first, busy, True, rules(), NOW + HOUR) == idle.IdleMarks()


IDS = st.lists(st.integers(1, 9), max_size=9)


@hypothesis.given(allocated=IDS, least=st.integers(0, 5), unused=st.sets(st.integers(1, 9)))
def test_unused_resources_above_the_minimum_are_reclaimed(allocated, least, unused):
    taken = idle.surplus(allocated, least, unused)
    assert set(taken) <= unused & set(allocated)
    assert len(set(allocated)) - len(taken) >= min(least, len(set(allocated)))
    # Nothing that could be taken is left.
    left = (unused & set(allocated)) - set(taken)
    assert not left or len(set(allocated)) - len(taken) <= least


@hypothesis.given(ends=st.booleans(), ids=st.dictionaries(st.sampled_from('ab'), IDS.map(tuple)),
                  used=st.dictionaries(st.sampled_from('ab'), st.sets(st.integers(1, 9))))
def test_a_resource_in_use_is_never_reclaimed(ends, ids, used):
    left = idle.Reclamation(ends, ids).without(used)
    if left is not None:
        assert not any(set(found) & used.get(key, set())
                       for key, found in left.resource_ids.items())
        assert not (ends and any(used.values()))


def test_a_lease_is_unused_since_its_start_its_last_use_or_the_first_known_hour():
    noon, hour = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC), use_sampling.HOUR
    half = hour / 2
    for start, used, since in (
            (0 * hour, {0: None, 1: None, 2: None}, 0 * hour),
            (half, {0: None, 1: None, 2: None}, half),
            (3 * hour, {}, 3 * hour),
            (0 * hour, {}, 3 * hour),
            (0 * hour, {0: None, 1: None}, 3 * hour),
            (0 * hour, {0: None, 2: None}, 2 * hour),
            (0 * hour, {0: None, 1: hour + half, 2: None}, hour + half),
            (0 * hour, {0: half, 1: 2 * hour, 2: None}, 2 * hour),
            (0 * hour, {0: half, 1: None, 2: None}, half),
            (0 * hour, {2: 3 * hour}, 3 * hour)):
        hours = {noon + key * hour: None if until is None else noon + until
                 for key, until in used.items()}
        assert idle.unused_since(noon + start, hours, noon + 3 * hour) == noon + since
