# SPDX-License-Identifier: Apache-2.0
"""The choice of resources, proved against a count of every hour."""
import datetime

import hypothesis
from hypothesis import strategies as st
import pytest

from climate import errors
from climate.domain import interval
from climate.domain import resource_rations
from climate.domain import selection

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)


def span(first, last):
    return interval.Interval(MIDNIGHT + datetime.timedelta(hours=first),
                             MIDNIGHT + datetime.timedelta(hours=last))


WINDOW = span(8, 14)
SMALL = {'vcpus': 2, 'gb': 1}
CAPACITY = {'vcpus': 8, 'gb': 8}


def a_host(number, *bookings, capacity=CAPACITY):
    return selection.Candidate(number, capacity, bookings)


def picks(demand, *candidates):
    return {pick.resource_id: pick.copies for pick in selection.choose(demand, candidates, WINDOW)}


spans = st.tuples(st.integers(4, 16), st.integers(1, 6)).map(
    lambda pair: span(pair[0], pair[0] + pair[1]))
part = st.fixed_dictionaries({'vcpus': st.integers(1, 3), 'gb': st.integers(0, 3)})
amounts = st.one_of(part, part, st.just(selection.WHOLE))
candidate_lists = st.lists(
    st.builds(selection.Candidate, st.integers(1, 9),
              st.fixed_dictionaries({'vcpus': st.integers(0, 6), 'gb': st.integers(0, 6)}),
              st.lists(st.tuples(spans, amounts), max_size=3).map(tuple)),
    max_size=5, unique_by=lambda candidate: candidate.id)
kept = st.lists(st.builds(selection.Pick, st.integers(1, 9), st.integers(1, 2)), max_size=3,
                unique_by=lambda pick: pick.resource_id).map(tuple)
demands = st.builds(
    lambda amount, counts, spread, keep: selection.Demand(
        amount, min(counts), max(counts), spread, keep),
    amounts, st.tuples(st.integers(0, 6), st.integers(0, 6)), st.sampled_from(selection.Spread),
    kept)


def copies_by_counting(amount, candidate):
    """The number of copies that one candidate takes, tried out hour by hour."""
    def fits(copies):
        for number in range(8, 14):
            held = [booked for booking, booked in candidate.bookings
                    if booking.overlaps(span(number, number + 1))]
            if amount is selection.WHOLE:
                if held or copies > 1:
                    return False
            elif selection.WHOLE in held or any(
                    sum(booked[name] for booked in held) + copies * amount[name]
                    > candidate.capacity[name] for name in amount if amount[name]):
                return False
        return True
    return max((copies for copies in range(1, 8) if fits(copies)), default=0)


def room_by_counting(demand, candidates):
    """({id: copies it can have}, how many all together)."""
    room = {candidate.id: copies_by_counting(demand.amount, candidate) for candidate in candidates}
    if demand.spread is selection.Spread.APART:
        room = {number: min(copies, 1) for number, copies in room.items()}
    total = max if demand.spread is selection.Spread.TOGETHER else sum
    return room, total([0, *room.values()])


def could_stay_together(demand, room):
    """The ids that are held now and on which the minimum of the demand fits."""
    return {pick.resource_id for pick in demand.keep
            if room.get(pick.resource_id, 0) >= max(demand.at_least, 1)}


def outcome(demand, candidates):
    try:
        return picks(demand, *candidates)
    except errors.NotEnough as error:
        return error


@hypothesis.given(demands, candidate_lists)
def test_the_choice_refuses_only_if_too_little_is_free(demand, candidates):
    room, total = room_by_counting(demand, candidates)
    found = outcome(demand, candidates)
    if total < demand.at_least:
        assert isinstance(found, errors.NotEnough)
        assert found.details['wanted'] == demand.at_least
        assert found.details['free'] == total
        return
    if demand.spread is selection.Spread.TOGETHER and could_stay_together(demand, room):
        total = sum(room[number] for number in found)
    assert sum(found.values()) == min(total, demand.at_most) >= demand.at_least


@hypothesis.given(demands, candidate_lists)
def test_the_choice_never_overbooks_and_honours_the_spread(demand, candidates):
    room, _ = room_by_counting(demand, candidates)
    found = outcome(demand, candidates)
    hypothesis.assume(isinstance(found, dict))
    assert all(1 <= copies <= room[number] for number, copies in found.items())
    if demand.spread is selection.Spread.TOGETHER:
        assert len(found) <= 1


@hypothesis.given(demands, candidate_lists)
def test_the_choice_keeps_what_it_can(demand, candidates):
    room, _ = room_by_counting(demand, candidates)
    found = outcome(demand, candidates)
    hypothesis.assume(isinstance(found, dict))
    if demand.spread is selection.Spread.TOGETHER:
        could_stay = could_stay_together(demand, room)
        assert not found or not could_stay or set(found) <= could_stay
    else:
        could_stay = sum(min(pick.copies, room.get(pick.resource_id, 0)) for pick in demand.keep)
        stayed = sum(min(pick.copies, found.get(pick.resource_id, 0)) for pick in demand.keep)
        assert stayed == min(could_stay, demand.at_most)


@hypothesis.given(demands, candidate_lists)
def test_equal_questions_have_equal_answers_in_the_order_of_ids(demand, candidates):
    def ask():
        try:
            return selection.choose(demand, candidates, WINDOW)
        except errors.NotEnough as error:
            return error.message
    assert ask() == ask()
    if isinstance(ask(), tuple):
        assert list(ask()) == sorted(ask())


def test_a_whole_resource_is_given_only_where_nobody_holds_a_part():
    demand = selection.Demand(selection.WHOLE, 1, 1, selection.Spread.APART)
    assert picks(demand, a_host(1, (span(8, 9), SMALL)), a_host(2)) == {2: 1}


def test_a_resource_given_whole_has_no_room_for_parts():
    with pytest.raises(errors.NotEnough):
        picks(selection.Demand(SMALL, 1, 1), a_host(1, (span(13, 20), selection.WHOLE)))


def test_a_booking_that_ends_when_the_window_starts_is_no_hindrance():
    demand = selection.Demand(selection.WHOLE, 1, 1)
    assert picks(demand, a_host(1, (span(4, 8), selection.WHOLE), (span(14, 15), SMALL))) == {1: 1}


def test_whole_resources_are_taken_in_the_order_of_the_caller():
    demand = selection.Demand(selection.WHOLE, 2, 2, selection.Spread.APART)
    assert picks(demand, a_host(7), a_host(3), a_host(1)) == {3: 1, 7: 1}


def test_more_than_the_least_is_given_where_it_is_free():
    demand = selection.Demand(selection.WHOLE, 1, 5, selection.Spread.APART)
    assert picks(demand, a_host(1), a_host(2)) == {1: 1, 2: 1}


def test_parts_are_packed_where_something_is_already():
    assert picks(selection.Demand(SMALL, 2, 2), a_host(1), a_host(2, (WINDOW, SMALL))) == {2: 2}


def test_the_least_room_that_is_enough_is_used_first():
    small = a_host(2, capacity={'vcpus': 4, 'gb': 8})
    assert picks(selection.Demand(SMALL, 1, 1), a_host(1), small) == {2: 1}
    assert picks(together(3, 3), a_host(1), small) == {1: 3}


def together(least, most):
    return selection.Demand(SMALL, least, most, selection.Spread.TOGETHER)


def test_together_goes_where_the_most_fit():
    small = a_host(2, capacity={'vcpus': 4, 'gb': 8})
    assert picks(together(1, 3), small, a_host(1)) == {1: 3}


def test_together_does_not_add_up_several_resources():
    with pytest.raises(errors.NotEnough) as caught:
        picks(selection.Demand(SMALL, 6, 6, selection.Spread.TOGETHER), a_host(1), a_host(2))
    assert caught.value.details['free'] == 4
    assert 'in one place' in caught.value.message


def test_together_stays_where_it_is_although_more_would_fit_elsewhere():
    small = a_host(2, capacity={'vcpus': 4, 'gb': 8})
    demand = selection.Demand(SMALL, 1, 3, selection.Spread.TOGETHER, keep=(selection.Pick(2),))
    assert picks(demand, a_host(1), small) == {2: 2}


def test_together_moves_when_what_is_held_has_too_little_room():
    small = a_host(2, capacity={'vcpus': 4, 'gb': 8})
    demand = selection.Demand(SMALL, 3, 3, selection.Spread.TOGETHER, keep=(selection.Pick(2, 2),))
    assert picks(demand, a_host(1), small) == {1: 3}


def test_apart_gives_one_on_each():
    demand = selection.Demand(SMALL, 2, 2, selection.Spread.APART)
    assert picks(demand, a_host(1), a_host(2)) == {1: 1, 2: 1}


def test_present_resources_are_kept_before_others_are_chosen():
    demand = selection.Demand(selection.WHOLE, 2, 2, selection.Spread.APART,
                              keep=(selection.Pick(9),))
    assert picks(demand, a_host(1), a_host(2), a_host(9)) == {1: 1, 9: 1}


def test_a_present_resource_that_does_not_fit_any_more_is_replaced():
    demand = selection.Demand(selection.WHOLE, 1, 1, keep=(selection.Pick(9),))
    assert picks(demand, a_host(1), a_host(9, (WINDOW, SMALL))) == {1: 1}


def test_a_smaller_demand_keeps_the_first_of_what_is_held():
    demand = selection.Demand(selection.WHOLE, 1, 1, keep=(selection.Pick(9), selection.Pick(1)))
    assert picks(demand, a_host(1), a_host(9)) == {9: 1}


def test_a_growing_demand_grows_on_what_is_held():
    demand = selection.Demand(SMALL, 3, 3, keep=(selection.Pick(2),))
    assert picks(demand, a_host(1), a_host(2)) == {2: 3}


def test_the_error_says_what_is_missing_in_the_words_of_the_caller():
    with pytest.raises(errors.NotEnough) as caught:
        selection.choose(selection.Demand(selection.WHOLE, 2, 2), [a_host(1)], WINDOW, what='hosts')
    assert caught.value.message == 'Not enough hosts are free: 2 asked for, 1 free.'


@pytest.mark.parametrize('at_least, at_most', [(-1, 1), (2, 1)])
def test_counts_that_contradict_each_other_are_refused(at_least, at_most):
    with pytest.raises(ValueError):
        selection.Demand(selection.WHOLE, at_least, at_most)


def test_the_free_slots_of_a_demand_are_counted_by_host_and_by_copy():
    hosts = [a_host(1), a_host(2, (span(9, 10), {'vcpus': 7, 'gb': 0})), a_host(3, (WINDOW, SMALL))]

    def free_slots(amount, count, spread=selection.Spread.ANY):
        return selection.free_slots(selection.Demand(amount, count, count, spread), hosts, WINDOW)
    assert free_slots(SMALL, 1) == (2, 7)
    assert free_slots(SMALL, 4, selection.Spread.TOGETHER) == (1, 4)
    assert free_slots(selection.WHOLE, 1) == (1, 1)


def ration(most, units, name='gpus'):
    return resource_rations.Ration(name, most, units)


@pytest.mark.parametrize('least, rations, expected', [
    # Hosts 1 and 2 count; 3 and 4 do not.
    (3, [ration(1, {1: 1, 2: 1})], [1, 3, 4]),
    (2, [ration(1, {1: 1, 2: 1})], [1, 3, 4]),
    # A small host that counts is preferred to a large one.
    (3, [ration(8, {1: 64, 2: 8})], [2, 3, 4]),
    # A host that counts for one limit is preferred to one that counts for two.
    (3, [ration(2, {1: 1, 2: 1}), ration(2, {1: 1}, 'large')], [1, 2, 3, 4]),
    (3, [ration(1, {1: 1, 2: 1}), ration(2, {1: 1}, 'large')], [2, 3, 4]),
    # A resource without the unit is free of the ration.
    (3, [ration(0, {1: 1, 2: 0})], [2, 3, 4]),
    (3, [ration(0, {1: 1, 2: 1})], None), (4, [ration(1, {1: 1, 2: 1})], None)])
def test_whole_resources_take_no_more_than_rations_allow(least, rations, expected):
    demand = selection.Demand(selection.WHOLE, least, 4, rations=tuple(rations))
    candidates = [a_host(number) for number in range(1, 5)]
    if expected is None:
        with pytest.raises(errors.NotEnough):
            picks(demand, *candidates)
    else:
        assert list(picks(demand, *candidates)) == expected


@pytest.mark.parametrize('spread, expected', [
    (selection.Spread.ANY, {1: 3, 2: 4}), (selection.Spread.APART, {1: 1, 2: 1}),
    (selection.Spread.TOGETHER, {2: 4})])
def test_copies_of_an_amount_take_no_more_than_rations_allow(spread, expected):
    demand = selection.Demand(SMALL, 1, 7, spread, rations=(ration(3, {1: 1}),))
    assert picks(demand, a_host(1), a_host(2)) == expected


def test_resources_that_are_kept_take_of_rations_but_are_not_refused():
    demand = selection.Demand(selection.WHOLE, 2, 3, keep=(selection.Pick(1),),
                              rations=(ration(0, {1: 1, 2: 1}),))
    assert list(picks(demand, a_host(1), a_host(2), a_host(3))) == [1, 3]


@hypothesis.given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 12),
                  st.integers(0, 6), st.integers(0, 3))
def test_a_ration_allows_as_many_whole_resources_as_the_cheapest_ones(units, most, least, more):
    demand = selection.Demand(selection.WHOLE, least, least + more, rations=(
        ration(most, dict(enumerate(units, 1))),))
    fitting = [count for count in range(least, min(least + more, len(units)) + 1)
               if sum(sorted(units)[:count]) <= most]
    candidates = [a_host(number) for number in range(1, len(units) + 1)]
    if fitting:
        assert len(picks(demand, *candidates)) == fitting[-1]
    else:
        with pytest.raises(errors.NotEnough):
            picks(demand, *candidates)
