# SPDX-License-Identifier: Apache-2.0
"""The least that a lease needs, and what is plainly too much."""
import json
import random

import pytest
from support import builders

from climate import errors
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import minimum_need
from climate.domain import selection
from climate.plugins import base

NOON, hours = builders.NOON, builders.hours
END = NOON + hours(4)


def need(amount, copies, key='', **more):
    return base.Need(key=key, pool='host', requirement=None, demand=selection.Demand(
        amount=amount, at_least=copies, at_most=copies), **more)


def group(capacity=8, count=1, whole_from=None, used_from=None):
    return minimum_need.AlikeResources(
        {'vcpus': capacity}, count, whole_from, used_from or whole_from)


def short(needs, groups, until=END):
    found = minimum_need.shortage(minimum_need.of(needs), {'host': groups}, until)
    return found and (found.wanted, found.free)


def test_needs_of_the_same_amount_are_one_entry_that_goes_through_json():
    found = minimum_need.of([need({'vcpus': 2}, 1), need(selection.WHOLE, 3), need({'vcpus': 2}, 4),
                             need(selection.WHOLE, 9, optional=True), need({'vcpus': 1}, 0)])
    assert json.loads(json.dumps(found)) == found == {'host': [[{'vcpus': 2}, 5], [None, 3]]}


def test_whole_resources_must_be_unused_until_the_end():
    groups = [group(count=2), group(whole_from=NOON + hours(4)),
              group(used_from=NOON + hours(3)), group(whole_from=NOON)]
    assert short([need(selection.WHOLE, 3)], groups) is None
    assert short([need(selection.WHOLE, 4)], groups) == (4, 3)
    assert short([need(selection.WHOLE, 3)], groups, NOON + hours(5)) == (3, 2)


def test_parts_may_be_on_resources_of_which_a_part_is_taken():
    groups = [group(used_from=NOON), group(whole_from=NOON)]
    assert short([need({'vcpus': 3}, 2)], groups) is None
    assert short([need({'vcpus': 3}, 3)], groups) == (3, 2)
    # Each amount by itself would fit.
    assert short([need({'vcpus': 3}, 2), need({'vcpus': 2}, 2)], groups) == (10, 8)
    assert short([need({}, 100)], groups) is None


def test_amounts_that_differ_are_counted_together():
    # Three vCPUs at least for each copy: eight are enough for two.
    assert short([need({'vcpus': 3}, 1), need({'vcpus': 4}, 2)], [group(count=1)]) == (3, 2)
    assert short([need({'vcpus': 3}, 1), need({'vcpus': 4}, 1)], [group(count=1)]) is None
    odd = [group(capacity=5, count=3)]
    assert short([need({'vcpus': 3}, 2), need({'vcpus': 4}, 2)], odd) == (4, 3)
    assert short([need({'vcpus': 3}, 2), need({'vcpus': 4}, 1)], odd) is None


def test_whole_resources_leave_no_room_for_parts():
    groups = [group(capacity=8, count=2), group(capacity=2, count=1),
              group(capacity=4, used_from=NOON)]
    assert short([need({'vcpus': 2}, 11)], groups) is None
    # The two smallest unused ones may be the whole ones.
    assert short([need(selection.WHOLE, 2), need({'vcpus': 2}, 6)], groups) is None
    assert short([need(selection.WHOLE, 2), need({'vcpus': 2}, 7)], groups) == (7, 6)


@pytest.mark.parametrize('seed', range(30))
def test_a_possible_choice_is_never_a_shortage(seed):
    luck = random.Random(seed)
    span = interval.Interval(NOON, NOON + hours(4))
    chosen = refused = 0
    for _ in range(40):
        candidates, groups = _pool(luck)
        needs = [need(luck.choice((selection.WHOLE, {'vcpus': luck.randint(1, 8)})),
                      luck.randint(0, 4), str(number)) for number in range(luck.randint(1, 4))]
        found = short(needs, groups)
        refused += found is not None
        try:
            joint_selection.choose([joint_selection.ReservationDemand(each.demand, candidates)
                                    for each in needs], span)
        except errors.NotEnough:
            continue
        chosen += 1
        assert found is None, (needs, groups)
    assert chosen and refused


def _pool(luck):
    """Resources with bookings now and later, as Candidates and as Groups."""
    candidates, groups = [], []
    for key in range(1, 6):
        bookings = [(interval.Interval(NOON + hours(start), NOON + hours(start + 1)), amount)
                    for start, amount in luck.sample([
                        (0, selection.WHOLE), (0, {'vcpus': 3}), (2, {'vcpus': 2}),
                        (5, selection.WHOLE)], luck.randint(0, 2))]
        starts = [span.start for span, _ in bookings]
        wholes = [span.start for span, amount in bookings if amount is selection.WHOLE]
        candidates.append(selection.Candidate(key, {'vcpus': 8}, bookings))
        used = sum(amount['vcpus'] for span, amount in bookings
                   if span.start == NOON and amount is not selection.WHOLE)
        groups.append(group(8 - used, whole_from=min(wholes, default=None),
                            used_from=min(starts, default=None)))
    return candidates, groups
