# SPDX-License-Identifier: Apache-2.0
"""The earliest time that fits, proved hour by hour."""
import datetime

import hypothesis
from hypothesis import strategies as st
import pytest

from climate import errors
from climate.domain import fit
from climate.domain import forecast
from climate.domain import interval
from climate.domain import joint

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)
LAST_HOUR = 40
ONE = {'vcpus': 1}


def hour(number):
    return MIDNIGHT + datetime.timedelta(hours=number)


def span(first, last):
    return interval.Interval(hour(first), hour(last))


def hours(number):
    return datetime.timedelta(hours=number)


def ask(demand, *bookings, capacity=4):
    """An Ask of one host for each of `bookings`, lists of (first hour, last hour, amount)."""
    return joint.Ask(demand, [
        fit.Candidate(number, {'vcpus': capacity}, tuple(
            (span(first, last), amount) for first, last, amount in taken))
        for number, taken in enumerate(bookings, 1)])


def demand(amount=ONE, count=1, spread=fit.Spread.ANY):
    return fit.Demand(amount, count, count, spread)


def earliest(asks, duration, first=0, last=LAST_HOUR):
    return forecast.earliest(asks, hours(duration), span(first, last))


amounts = st.one_of(st.fixed_dictionaries({'vcpus': st.integers(1, 3)}), st.just(fit.WHOLE))
taken = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8), amounts).map(
    lambda each: (each[0], each[0] + each[1], each[2])), max_size=6)
demands = st.builds(
    lambda amount, counts, spread: fit.Demand(amount, min(counts), max(counts), spread),
    amounts, st.tuples(st.integers(0, 5), st.integers(0, 5)), st.sampled_from(fit.Spread))
asks_of_one = st.builds(lambda wanted, plan: ask(wanted, *plan), demands,
                        st.lists(taken, max_size=4))


def by_trying(asks, duration, first, last):
    """The first hour from which all is served, tried one after the other; None: there is none."""
    for start in range(first, last - duration + 1):
        try:
            joint.choose(asks, span(start, start + duration))
        except errors.NotEnough:
            continue
        return hour(start)
    return None


@hypothesis.settings(deadline=None, max_examples=300)
@hypothesis.given(asks_of_one, st.integers(1, 9), st.integers(0, 30), st.integers(1, 30))
def test_the_earliest_start_is_the_first_hour_that_fits(one, duration, first, length):
    assert earliest([one], duration, first, first + length) == by_trying(
        [one], duration, first, first + length)


@hypothesis.settings(deadline=None, max_examples=200)
@hypothesis.given(st.lists(demands, min_size=2, max_size=3), st.lists(taken, max_size=3),
                  st.integers(1, 9), st.integers(0, 20))
def test_several_that_share_hosts_are_served_from_the_first_end_that_serves_them_all(
        wanted, plan, duration, first):
    asks = [ask(each, *plan) for each in wanted]
    ends = sorted({first, *(last for host in plan for _, last, _ in host if last > first)})
    expected = next((hour(end) for end in ends if end + duration <= LAST_HOUR
                     and by_trying(asks, duration, end, end + duration)), None)
    assert earliest(asks, duration, first) == expected


@hypothesis.settings(deadline=None, max_examples=100)
@hypothesis.given(asks_of_one, st.integers(1, 9), st.integers(1, 59))
def test_nothing_fits_a_moment_earlier(one, duration, minute):
    found = earliest([one], duration)
    if found in (None, hour(0)):
        return
    before = max(hour(0), found - datetime.timedelta(minutes=minute))
    with pytest.raises(errors.NotEnough):
        joint.choose([one], interval.Interval(before, before + hours(duration)))


def test_the_same_host_must_have_room_for_all_of_the_time():
    whole = demand(fit.WHOLE)
    assert earliest([ask(whole, [(2, 4, ONE)], [(0, 2, ONE), (6, 8, ONE)])], 3) == hour(2)


def test_a_gap_of_just_the_right_length_is_found():
    assert earliest([ask(demand(count=4), [(0, 4, ONE), (6, 9, ONE)])], 2) == hour(4)


def test_two_gaps_that_share_one_single_start_serve_two():
    taken_twice = [[(6, 9, ONE)], [(0, 4, ONE), (6, 9, ONE)]]
    assert earliest([ask(demand(fit.WHOLE, 2), *taken_twice)], 2) == hour(4)


def test_copies_that_lie_together_wait_for_one_host_and_others_do_not():
    half = [[(0, 5, {'vcpus': 2})], [(0, 9, {'vcpus': 2})]]
    assert earliest([ask(demand(count=4), *half)], 2) == hour(0)
    assert earliest([ask(demand(count=4, spread=fit.Spread.TOGETHER), *half)], 2) == hour(5)
    full = [[(0, 5, {'vcpus': 4})], [(0, 9, {'vcpus': 2})]]
    assert earliest([ask(demand(count=2, spread=fit.Spread.APART), *full)], 2) == hour(5)


def test_what_never_fits_has_no_time():
    assert earliest([ask(demand(count=5), [])], 1) is None
    assert earliest([ask(demand(), [(0, 4, fit.WHOLE)])], 2, last=5) is None
    assert earliest([ask(demand(), [])], 6, last=5) is None


def test_several_are_tried_at_a_bounded_number_of_moments():
    # Each has room at any moment, both together never.
    busy = [(2 * number, 2 * number + 1, ONE) for number in range(200)]
    asks = [ask(demand(count=2), busy, capacity=3)] * 2
    assert earliest(asks, 1, last=399) is None


def test_a_duration_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError):
        forecast.earliest([], hours(0), span(0, 1))
