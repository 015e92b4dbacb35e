# SPDX-License-Identifier: Apache-2.0
"""The choice among the candidates of the prefilter equals the plain choice among all resources."""
import datetime
import json

import hypothesis
from hypothesis import strategies as st
import pytest

from climate import errors
from climate.db import booking_columns
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import selection
from climate.manager.booking import prefilter

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
WINDOW = interval.Interval(NOON, NOON + 6 * HOUR)


def span(first, length):
    return interval.Interval(NOON + first * HOUR, NOON + (first + length) * HOUR)


parts = st.fixed_dictionaries({'vcpus': st.integers(1, 3), 'gb': st.integers(0, 2)})
amounts = st.one_of(parts, parts, parts, st.just(selection.WHOLE))
bookings = st.tuples(st.builds(span, st.integers(-4, 8), st.integers(1, 6)), amounts,
                     st.integers(1, 2))
hosts = st.lists(
    st.tuples(st.fixed_dictionaries({'vcpus': st.integers(0, 6)},
                                    optional={'gb': st.integers(0, 5)}),
              st.lists(bookings, max_size=4)),
    min_size=1, max_size=14)
keeps = st.lists(st.builds(selection.Pick, st.integers(1, 15), st.integers(1, 2)), max_size=3,
                 unique_by=lambda pick: pick.resource_id).map(tuple)
demands = st.builds(
    lambda amount, counts, spread, keep: selection.Demand(
        amount, min(counts), max(counts), spread, keep),
    amounts, st.tuples(st.integers(0, 4), st.integers(0, 4)), st.sampled_from(selection.Spread),
    st.one_of(st.just(()), keeps))
margins = st.sampled_from([datetime.timedelta(), HOUR / 2, 2 * HOUR])
# Which hosts meet the criteria of a demand: every so-manieth is missing.
gaps = st.integers(2, 15)


def candidates(hosts, gap, margin):
    """The hosts as the plain algorithm takes them."""
    return [
        selection.Candidate(number, capacity, tuple(
            (when.widened(margin), amount) for when, amount, copies in booked
            for _ in range(copies)))
        for number, (capacity, booked) in enumerate(hosts, 1) if number % gap]


def ground(hosts, gap, margin):
    """Return the candidates in columns, with bookings of hosts that are not among them."""
    taken = [booking_columns.of([
        (number, booking_columns.microseconds(when.start),
         booking_columns.microseconds(when.end), amount, copies)
        for when, amount, copies in booked])
        for number, (_, booked) in enumerate(hosts, 1)]
    return prefilter.CandidateSet(
        [(number, json.dumps(capacity)) for number, (capacity, _) in enumerate(hosts, 1)
         if number % gap], taken, margin)


def outcome(choose, asks):
    try:
        return choose(asks, WINDOW)
    except errors.NotEnough as error:
        return error.message, error.kwargs


@hypothesis.given(hosts, st.lists(st.tuples(demands, gaps, st.booleans()), min_size=1, max_size=3),
                  margins)
def test_among_the_few_is_chosen_what_is_chosen_among_all(hosts, wanted, margin):
    found = outcome(prefilter.choose, [
        prefilter.CandidateDemand(demand, ground(hosts, gap, margin), must_keep)
        for demand, gap, must_keep in wanted])
    assert found == outcome(joint_selection.choose, [
        joint_selection.ReservationDemand(demand, candidates(hosts, gap, margin), must_keep)
        for demand, gap, must_keep in wanted])


@hypothesis.given(hosts, demands, gaps, margins)
def test_each_resource_has_the_room_that_counting_finds(hosts, demand, gap, margin):
    free, used = ground(hosts, gap, margin).free_copies(demand.amount, WINDOW)
    one = selection.Demand(demand.amount, 0, 1)
    plain = candidates(hosts, gap, margin)
    assert free.tolist() == [selection.free_slots(one, [each], WINDOW)[1] for each in plain]
    assert used.tolist() == [any(when.overlaps(WINDOW) for when, _ in each.bookings)
                             for each in plain]


@pytest.mark.proof
@hypothesis.given(hosts, demands, gaps, margins)
def test_once_the_first_are_enough_no_other_would_be_chosen(hosts, demand, gap, margin):
    hypothesis.assume(demand.amount is not selection.WHOLE)
    everything = prefilter.CandidateDemand(demand, ground(hosts, gap, margin))
    for count in range(1, len(hosts)):
        first = prefilter.CandidateDemand(demand, ground(hosts[:count], gap, margin))
        if prefilter.preferred(demand, first.candidate_set, WINDOW) >= demand.at_most:
            assert prefilter.choose([first], WINDOW) == prefilter.choose([everything], WINDOW)


@hypothesis.given(hosts, demands, gaps, margins)
def test_few_are_left(hosts, demand, gap, margin):
    left = prefilter.best(demand, ground(hosts, gap, margin), demand.at_most, WINDOW)
    assert len(left) <= len(demand.keep) + max(demand.at_most, 1)


def test_the_first_that_is_used_with_the_least_room_settles_it():
    small = {'vcpus': 1}
    used = [({'vcpus': 2}, [(WINDOW, small, 1)])] * 2
    empty = [({'vcpus': 2}, [])] * 2
    for hosts, enough in ((empty + used, True), (used, True), (empty, False), (used[:1], False)):
        demand = selection.Demand(small, 2, 2)
        assert (prefilter.preferred(demand, ground(hosts, 15, HOUR), WINDOW) >= 2) == enough
    kept = selection.Demand(small, 2, 2, keep=(selection.Pick(9),))
    assert prefilter.preferred(kept, ground(used, 15, HOUR), WINDOW) == 0


def test_an_empty_pool_has_no_choice():
    for spread in selection.Spread:
        nothing = prefilter.CandidateDemand(selection.Demand({'vcpus': 1}, 0, 2, spread),
                                            prefilter.CandidateSet([]))
        assert prefilter.choose([nothing], WINDOW) == [()]
