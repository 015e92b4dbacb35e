# SPDX-License-Identifier: Apache-2.0
"""The division of time between a lease and its sub-leases, compared with a count of minutes."""
import itertools
import types

import hypothesis
from hypothesis import strategies
import pytest
from support import builders

from climate import errors
from climate.domain import sub_leases

NOON, at, minutes = builders.NOON, builders.at, builders.minutes
SPANS = strategies.lists(strategies.tuples(
    strategies.integers(0, 12), strategies.integers(1, 6)).map(
        lambda pair: (pair[0], pair[0] + pair[1])), max_size=4)


def in_moments(span):
    return tuple(NOON + minutes(number) for number in span)


def minutes_of(spans):
    return {number for start, end in spans for number in range(start, end)}


@hypothesis.given(whole=strategies.tuples(strategies.integers(0, 10), strategies.integers(1, 8)),
                  taken=SPANS)
def test_rests_are_exactly_the_time_that_nobody_takes(whole, taken):
    start, end = whole[0], whole[0] + whole[1]
    found = sub_leases.rests(in_moments((start, end)), map(in_moments, taken))
    numbers = [tuple((moment - NOON) // minutes(1) for moment in span) for span in found]
    assert minutes_of(numbers) == set(range(start, end)) - minutes_of(taken)
    assert numbers == sorted(numbers) and numbers[0][0] == start
    assert all(before < after for (_, before), (after, _) in itertools.pairwise(numbers))


def test_one_of_the_spans_must_cover_all_of_the_time():
    spans = [(at(0), at(2)), (at(2), at(4))]
    assert sub_leases.covers(spans, (at(2), at(4)))
    assert not sub_leases.covers(spans, (at(1), at(3)))


def request(**fields):
    return sub_leases.SubLeaseRequest('students', 'lab', count=1, **fields)


def test_a_sub_lease_lasts_as_long_as_its_parent_by_default():
    future = types.SimpleNamespace(start=at(1), end=at(3))
    assert sub_leases.span_of(request(), future, at(0)) == (at(1), at(3))
    assert sub_leases.span_of(request(), future, at(2)) == (at(2), at(3))


@pytest.mark.parametrize(('fields', 'field'), [
    ({'start': at(-1)}, 'start'), ({'start': at(0.5)}, 'start'), ({'end': at(4)}, 'end'),
    ({'start': at(2), 'end': at(2)}, 'end'), ({'start': at(5), 'end': at(6)}, 'start')])
def test_a_time_outside_the_parent_is_refused_with_its_field(fields, field):
    with pytest.raises(errors.BadField) as refused:
        sub_leases.span_of(request(**fields), types.SimpleNamespace(start=at(1), end=at(3)), at(0))
    assert refused.value.kwargs['field'] == field


def test_a_change_is_refused_only_by_sub_leases_in_its_way():
    known = sub_leases.SubLease('s', 'lab', 'students', at(1), at(2), 'ACTIVE', 'r', (4,))
    lease = types.SimpleNamespace(id='p', sub_leases=(known,))
    sub_leases.refuse_open(lease, 'end then', after=at(2))
    sub_leases.refuse_open(lease, 'swap x', resource_ids=[5])
    with pytest.raises(errors.SubLeasesOpen, match=r'"lab" \(s\) of project students'):
        sub_leases.refuse_open(lease, 'end then', after=at(1))
    with pytest.raises(errors.SubLeasesOpen):
        sub_leases.refuse_open(lease, 'swap x', resource_ids=[4, 5])
