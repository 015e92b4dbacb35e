# SPDX-License-Identifier: Apache-2.0
"""The bars of a timeline: what is merged, and what is not lost by it."""
from hypothesis import given
from hypothesis import strategies as st

from climate.domain import timeline
from climate.manager.pools import timeline_bars

A, B, C, HIDDEN = 0, 1, 2, -1


def bar(start, end, resource_id=1, lease=A, kind=timeline.OWN, status=0, open_ended=False):
    return (resource_id, start, end, kind, status, lease, open_ended)


def absence(start, end, kind=timeline.ASLEEP, open_ended=False):
    return bar(start, end, 1, HIDDEN, kind, -1, open_ended)


def rows(bars):
    columns = (bars.resource_ids, bars.starts, bars.ends,
               [timeline.KINDS[kind] for kind in bars.kinds], bars.statuses, bars.leases,
               bars.open_ended)
    return [tuple(value.item() if hasattr(value, 'item') else value for value in row)
            for row in zip(*columns, strict=True)]


def merged(bars, resolution):
    return rows(timeline_bars.merged(timeline_bars.of(bars), resolution))


def merged_one_by_one(bars, resolution):
    """Return what `merged` returns, without arrays."""
    result, last_places = [], {}
    for each in bars:
        layer = each[3] if each[3] in timeline.ABSENCES else None
        place = last_places.get((each[0], layer), -1)
        last = result[place] if place >= 0 else None
        if last and not (last[6] or each[6]) and max(last[2], each[2]) - last[1] < resolution:
            same = (last[5], last[3]) == (each[5], each[3])
            result[place] = (
                last[0], last[1], max(last[2], each[2]), last[3] if same else timeline.SEVERAL,
                last[4] if same else -1, last[5] if same else HIDDEN, False)
        else:
            last_places[each[0], layer] = len(result)
            result.append(each)
    return result


def test_short_bars_that_follow_each_other_become_several():
    bars = [bar(0, 10), bar(12, 20, lease=B), bar(100, 400, lease=C)]
    assert merged(bars, 60) == [bar(0, 20, 1, HIDDEN, timeline.SEVERAL, -1), bars[2]]


def test_short_bars_of_one_lease_stay_its():
    assert merged([bar(0, 10), bar(12, 20)], 60) == [bar(0, 20)]


def test_bars_are_not_merged_without_a_resolution():
    bars = [bar(0, 1), bar(1, 2), bar(2, 3)]
    assert merged(bars, 0) == bars


def test_bars_of_two_resources_are_never_one():
    bars = [bar(0, 1, resource_id=1), bar(1, 2, resource_id=2)]
    assert merged(bars, 60) == bars


def test_an_absence_neither_joins_nor_separates_leases():
    out = absence(13, 15, timeline.OUT_OF_ORDER)
    bars = [bar(0, 10), absence(11, 12), bar(12, 20), out, absence(22, 25)]
    assert merged(bars, 60) == [bar(0, 20), absence(11, 25), out]


def test_an_absence_without_a_known_end_is_never_merged_and_has_no_end():
    bars = [absence(10, 12), absence(14, 20, open_ended=True)]
    assert merged(bars, 60) == bars
    assert timeline_bars.columns(timeline_bars.of(bars), [1], [], [], epoch=10)['ends'] == (2, None)


def test_a_timeline_without_bars_has_empty_columns():
    bars = timeline_bars.merged(timeline_bars.of([]), 60)
    assert timeline_bars.named(bars, 60) == []
    assert set(timeline_bars.columns(bars, [1], [], [], epoch=0).values()) == {()}


BARS = st.lists(st.builds(
    lambda resource, start, length, lease, kind, is_open: bar(
        start, start + length, resource, HIDDEN if kind in timeline.ABSENCES else lease, kind,
        open_ended=is_open and kind in timeline.ABSENCES),
    st.integers(1, 3), st.integers(0, 500), st.integers(1, 90), st.sampled_from((A, B, C)),
    st.sampled_from((timeline.OWN, timeline.OWN, timeline.OTHERS, *timeline.ABSENCES)),
    st.booleans())).map(lambda bars: sorted(bars, key=lambda each: each[:2]))


@given(BARS, st.integers(0, 100))
def test_bars_are_merged_as_if_one_by_one(bars, seconds):
    assert merged(bars, seconds) == merged_one_by_one(bars, seconds)


@given(BARS, st.integers(0, 100))
def test_merged_bars_cover_all_bars_and_add_less_than_the_resolution(bars, seconds):
    def taken(some):
        return {(each[0], second) for each in some for second in range(*each[1:3])}
    found = merged(bars, seconds)
    assert taken(bars) <= taken(found)
    assert all(end - start < seconds for _, start, end, *_ in set(found) - set(bars))


def test_many_bars_have_their_lease_only_if_they_are_long_enough_for_a_name():
    bars = timeline_bars.of([
        bar(0, 199, lease=B), bar(200, 400, lease=A), bar(500, 900, 2, HIDDEN)])
    assert timeline_bars.named(bars, 10) == [B, A]
    assert timeline_bars.named(bars, 10, all_named=2) == [A]
    assert timeline_bars.named(bars, 0, all_named=2) == [B, A]


def test_columns_have_one_element_for_each_bar():
    bars = timeline_bars.of([
        bar(10, 20, resource_id=9, status=1), bar(5, 6, 7, HIDDEN, timeline.OTHERS, -1),
        bar(7, 9, 7, B, status=0)])
    assert timeline_bars.columns(bars, [9, 7], [A], ['error', 'active', 'unused'], epoch=10) == {
        'lanes': (0, 1, 1), 'starts': (0, -5, -3), 'ends': (10, -4, -1), 'kinds': (0, 1, 0),
        'statuses': (0, -1, 1), 'of_leases': (0, -1, -1), 'words': ('active', 'error')}
