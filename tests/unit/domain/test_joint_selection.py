# SPDX-License-Identifier: Apache-2.0
"""The joint choice for the reservations of one lease, proved against trying everything."""
import collections
import datetime
import itertools

import hypothesis
from hypothesis import strategies as st
import pytest

from climate import errors
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import selection

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
SPAN = interval.Interval(NOON, NOON + datetime.timedelta(hours=1))


def host(number, vcpus=4, *booked):
    return selection.Candidate(number, {'vcpus': vcpus}, tuple((SPAN, each) for each in booked))


def whole(hosts, least, most=None, keep=(), must_keep=False):
    """An Ask for that many whole ones of the hosts with those numbers."""
    demand = selection.Demand(selection.WHOLE, least, most or least,
                              keep=tuple(selection.Pick(number) for number in keep))
    return joint_selection.ReservationDemand(demand, [host(number) for number in hosts], must_keep)


def parts(hosts, vcpus, count, spread=selection.Spread.ANY):
    return joint_selection.ReservationDemand(
        selection.Demand({'vcpus': vcpus}, count, count, spread), hosts)


def numbers(asks):
    return [[pick.resource_id for pick in picks] for picks in joint_selection.choose(asks, SPAN)]


amounts = st.one_of(st.fixed_dictionaries({'vcpus': st.integers(1, 3)}), st.just(selection.WHOLE))
hosts = st.lists(st.tuples(st.integers(0, 6), st.lists(amounts, max_size=2)), max_size=4).map(
    lambda plan: [host(number, vcpus, *booked)
                  for number, (vcpus, booked) in enumerate(plan, 1)])
demands = st.builds(
    lambda amount, counts, spread: selection.Demand(amount, min(counts), max(counts), spread),
    amounts, st.tuples(st.integers(0, 3), st.integers(0, 3)), st.sampled_from(selection.Spread))


@hypothesis.settings(max_examples=200)
@hypothesis.given(st.lists(demands, min_size=1, max_size=4), hosts)
def test_together_they_never_have_more_than_there_is(wanted, plan):
    asks = [joint_selection.ReservationDemand(demand, plan) for demand in wanted]
    try:
        chosen = joint_selection.choose(asks, SPAN)
    except errors.NotEnough:
        return
    used = collections.defaultdict(list)
    for demand, picks in zip(wanted, chosen, strict=True):
        assert demand.at_least <= sum(pick.copies for pick in picks) <= demand.at_most
        for pick in picks:
            used[pick.resource_id] += [demand.amount] * pick.copies
    for each in plan:
        held = [amount for _, amount in each.bookings] + used[each.id]
        if selection.WHOLE in held and used[each.id]:
            assert held == [selection.WHOLE]
        elif used[each.id]:
            assert sum(amount['vcpus'] for amount in held) <= each.capacity['vcpus']


@pytest.mark.proof
@hypothesis.settings(max_examples=200)
@hypothesis.given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(0, 3)),
                           min_size=1, max_size=4))
def test_b_wishes_for_nested_kinds_of_hosts_are_refused_only_when_no_choice_serves_them(plan):
    # The hosts that a wish may have are the first so many: any, those with a GPU, those with two …
    asks = [whole(range(1, count + 1), least, least + more or 1)
            for count, least, more in plan]
    possible = any(_serves(plan, owners) for owners in itertools.product(
        range(len(plan) + 1), repeat=6))
    try:
        joint_selection.choose(asks, SPAN)
    except errors.NotEnough:
        assert not possible
    else:
        assert possible


def _serves(plan, owners):
    """Return whether hosts that belong to those wishes (the last number: to none) serve all."""
    return all(
        sum(owner == place for owner in owners[:count]) >= least
        for place, (count, least, _) in enumerate(plan))


def test_the_first_does_not_take_what_only_the_second_can_use():
    assert numbers([whole([1, 2], 1), whole([1], 1)]) == [[2], [1]]


def test_the_first_does_not_grow_at_the_cost_of_the_second():
    assert numbers([whole([1, 2, 3], 1, 3), whole([1, 2, 3], 2, 3)]) == [[1], [2, 3]]


def test_small_ones_do_not_take_the_room_of_a_large_one():
    asks = [parts([host(1, 6), host(2, 8)], 3, 2, selection.Spread.APART),
            parts([host(1, 6), host(2, 8)], 8, 1)]
    with pytest.raises(errors.NotEnough):
        joint_selection.choose(asks, SPAN)
    asks = [parts([host(1, 8), host(2, 6)], 3, 2), parts([host(1, 8), host(2, 6)], 8, 1)]
    assert joint_selection.choose(asks, SPAN) == [(selection.Pick(2, 2),), (selection.Pick(1, 1),)]


def test_the_order_is_kept_if_it_serves_all():
    assert numbers([whole([1, 2, 3], 1, 2), whole([1, 2, 3], 1)]) == [[1, 2], [3]]


def test_a_resource_that_one_reservation_must_keep_is_not_given_to_another():
    asks = [whole([1, 2, 3], 1, 2), whole([1, 2, 3], 1, keep=[1], must_keep=True)]
    assert numbers(asks) == [[2, 3], [1]]
    asks = [whole([1, 2, 3], 2, keep=[1], must_keep=True),
            whole([1, 2, 3], 1, keep=[2], must_keep=True)]
    assert numbers(asks) == [[1, 3], [2]]


def test_the_error_names_resources_that_must_be_kept_and_are_not_free():
    with pytest.raises(errors.NotEnough) as caught:
        joint_selection.choose([whole([1], 1), whole([2, 3], 1, keep=[4], must_keep=True)], SPAN)
    assert caught.value.kwargs['in_use'] == [4]
    assert caught.value.kwargs['place'] == 1


def test_the_error_names_the_one_that_gets_too_little_in_the_order_of_the_caller():
    with pytest.raises(errors.NotEnough) as caught:
        joint_selection.choose([whole([1, 2, 3], 2), whole([1, 2, 3], 2)], SPAN)
    assert caught.value.kwargs['place'] == 1
    assert (caught.value.kwargs['wanted'], caught.value.kwargs['free']) == (2, 1)


def test_nobody_asks_for_nothing():
    assert joint_selection.choose([], SPAN) == []
