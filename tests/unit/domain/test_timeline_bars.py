# SPDX-License-Identifier: Apache-2.0
"""The bars of a timeline: what is merged, and what is not lost by it."""
from hypothesis import given
from hypothesis import strategies as st

from climate.domain import timeline


def bar(start, end, resource_id=1, lease_id='a', kind=timeline.OWN, status='active'):
    return timeline.Bar(resource_id, start, end, kind, status, lease_id)


def test_short_bars_that_follow_each_other_become_several():
    bars = [bar(0, 10), bar(12, 20, lease_id='b'), bar(100, 400, lease_id='c')]
    assert timeline.merged(bars, 60) == [
        timeline.Bar(1, 0, 20, timeline.SEVERAL), bars[2]]


def test_short_bars_of_one_lease_stay_its():
    assert timeline.merged([bar(0, 10), bar(12, 20)], 60) == [bar(0, 20)]


def test_bars_are_not_merged_without_a_resolution():
    bars = [bar(0, 1), bar(1, 2), bar(2, 3)]
    assert timeline.merged(bars, 0) == bars


def test_bars_of_two_resources_are_never_one():
    bars = [bar(0, 1, resource_id=1), bar(1, 2, resource_id=2)]
    assert timeline.merged(bars, 60) == bars


def test_an_absence_neither_joins_nor_separates_leases():
    asleep = timeline.Bar(1, 11, 12, timeline.ASLEEP)
    out = timeline.Bar(1, 13, 15, timeline.OUT_OF_ORDER)
    bars = [bar(0, 10), asleep, bar(12, 20), out, timeline.Bar(1, 22, 25, timeline.ASLEEP)]
    assert timeline.merged(bars, 60) == [
        bar(0, 20), timeline.Bar(1, 11, 25, timeline.ASLEEP), out]


def test_an_absence_without_a_known_end_is_never_merged_and_has_no_end():
    bars = [timeline.Bar(1, 10, 12, timeline.ASLEEP),
            timeline.Bar(1, 14, 20, timeline.ASLEEP, open_ended=True)]
    assert timeline.merged(bars, 60) == bars
    assert timeline.columns(bars, {1: 0}, {}, epoch=10)['ends'] == (2, None)


BARS = st.lists(st.builds(
    lambda resource, start, length, lease: bar(start, start + length, resource, lease),
    st.integers(1, 3), st.integers(0, 500), st.integers(1, 90), st.sampled_from('abc'))).map(
    lambda bars: sorted(bars, key=lambda each: (each.resource_id, each.start)))


@given(BARS, st.integers(0, 100))
def test_merged_bars_cover_all_bars_and_add_less_than_the_resolution(bars, seconds):
    def taken(some):
        return {(each.resource_id, second) for each in some
                for second in range(each.start, each.end)}
    found = timeline.merged(bars, seconds)
    assert taken(bars) <= taken(found)
    known = set(map(str, bars))
    assert all(each.end - each.start < seconds for each in found if str(each) not in known)


def test_many_bars_have_their_lease_only_if_they_are_long_enough_for_a_name():
    bars = [bar(0, 199, lease_id='short'), bar(200, 400, lease_id='long'), bar(500, 900, 2, None)]
    assert timeline.named(bars, 10) == ['short', 'long']
    assert timeline.named(bars, 10, all_named=2) == ['long']
    assert timeline.named(bars, 0, all_named=2) == ['short', 'long']


def test_columns_have_one_element_for_each_bar():
    bars = [bar(10, 20, resource_id=7), bar(5, 6, 9, None, timeline.OTHERS, None),
            bar(7, 9, 9, 'b', status='error')]
    assert timeline.columns(bars, {7: 0, 9: 1}, {'a': 0}, epoch=10) == {
        'lanes': (0, 1, 1), 'starts': (0, -5, -3), 'ends': (10, -4, -1), 'kinds': (0, 1, 0),
        'statuses': (0, -1, 1), 'of_leases': (0, -1, -1), 'words': ('active', 'error')}
