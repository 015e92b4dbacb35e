# SPDX-License-Identifier: Apache-2.0
"""The figures of usage: what is occupied, idle and refused, and that parts add up to the whole."""
import datetime
import itertools

from hypothesis import given
from hypothesis import strategies as st

from climate.domain import usage_figures as figures
from climate.domain import usage_groups as groups

MAY = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)
FIRST = figures.second(MAY)
DAYS = 4
LAST = FIRST + DAYS * figures.DAY_SECONDS
AMOUNTS = ('{}', '{"vcpus":4}', '{"memory_mb":512,"vcpus":1}')
RACKS = {1: {'rack': 'r1'}, 2: {'rack': 'r2'}, 3: {}}


def at(hour, minute=0):
    return MAY + datetime.timedelta(hours=hour, minutes=minute)


def course(**given_ones):
    return figures.Course(**{'end': at(4), **given_ones})


def span(first, last):
    return figures.second(first), figures.second(last)


def occupied(start, end, about, now=MAY + datetime.timedelta(days=2), released=False):
    return figures.occupied(start, end, released, about, now)


def test_a_lease_without_a_start_occupies_nothing():
    assert occupied(at(1), at(4), course()) is None


def test_occupied_lasts_from_the_done_start_to_the_done_end():
    assert occupied(at(1), at(4), course(started=at(1, 5), over=at(4, 20))) == span(
        at(1, 5), at(4, 20))
    assert occupied(at(1), at(4), course(started=at(1)), now=at(6)) == span(at(1), at(6))


def test_a_deleted_lease_occupies_its_resources_until_the_teardown_is_done():
    about = course(started=at(1), deletion=at(2), over=at(2, 30))
    assert occupied(at(1), at(2), about) == span(at(1), at(2, 30))


def test_a_part_that_ended_alone_is_occupied_until_its_own_end():
    about = course(started=at(1), over=at(4, 20))
    assert occupied(at(1), at(3), about) == span(at(1), at(3))
    assert occupied(at(1), at(4), about, released=True) == span(at(1), at(4))


def test_a_host_that_was_added_later_is_occupied_from_then_on():
    assert occupied(at(2), at(4), course(started=at(1), over=at(4))) == span(at(2), at(4))


def test_a_refusal_counts_for_the_time_that_was_asked_for():
    assert figures.refused(at(3), at(5), at(1)) == span(at(3), at(5))
    # It was to start at once.
    assert figures.refused(at(3), at(5), at(3) + datetime.timedelta(milliseconds=9)) == span(
        at(3), at(5))


def test_a_refusal_after_a_long_wait_counts_from_the_day_on_which_it_was_given():
    assert figures.refused(at(3), at(30), at(26)) == span(at(24), at(30))
    assert figures.refused(at(3), at(5), at(26)) == span(at(26), at(28))


names = st.sampled_from(['a', 'b', None]).map(str)
moments = st.integers(FIRST - 2 * figures.DAY_SECONDS, LAST + 2 * figures.DAY_SECONDS)
spans = st.tuples(moments, st.integers(1, 3 * figures.DAY_SECONDS)).map(
    lambda pair: (pair[0], pair[0] + pair[1]))
samples = st.lists(st.tuples(
    st.integers(0, DAYS * 24 - 1).map(lambda hour: FIRST + hour * figures.HOUR_SECONDS),
    st.integers(0, 3600)), max_size=4, unique_by=lambda pair: pair[0]).map(tuple)
shares = st.builds(
    figures.UsageShare, reservation_id=names, project_id=names, user_id=names, resource_type=names,
    pool=names, resource_id=st.sampled_from([1, 2, 3]), amount=st.sampled_from(AMOUNTS),
    copies=st.integers(1, 3), allocated=spans, occupied=st.none() | spans, idle=samples)
refusals = st.builds(
    figures.RefusedUsage, project_id=names, user_id=names, resource_type=names, pool=names,
    amount=st.sampled_from(AMOUNTS), copies=st.integers(1, 3), asked=spans,
    reason=st.sampled_from(['not_free', 'no_match']))
worlds = st.tuples(st.lists(shares, max_size=6), st.lists(refusals, max_size=3))
words = st.lists(st.sampled_from([*groups.GROUPS, 'property:rack']), unique=True)


@given(worlds, words)
def test_groups_add_up_to_the_whole(world, group_by):
    counted = figures.tally(*world, FIRST, LAST)
    [whole] = groups.grouped(counted.items(), ()) or [groups.NOTHING]
    found = groups.grouped(counted.items(), group_by, RACKS)
    assert len({tuple(each.keys.values()) for each in found}) == len(found)
    for figure in figures.FIGURES:
        assert sum(each.seconds[figure] for each in found) == whole.seconds[figure]
        for name in whole.units:
            assert sum(each.units.get(name, {}).get(figure, 0)
                       for each in found) == whole.units[name][figure]
    for reason, seconds in whole.reasons.items():
        assert sum(each.reasons.get(reason, 0) for each in found) == seconds
    assert sum(whole.reasons.values()) == whole.seconds['refused']


@given(worlds, st.lists(st.integers(1, DAYS - 1), unique=True).map(sorted))
def test_the_days_of_a_span_add_up_to_it(world, cuts):
    edges = [FIRST, *(FIRST + cut * figures.DAY_SECONDS for cut in cuts), LAST]
    parts = [figures.tally(*world, *pair) for pair in itertools.pairwise(edges)]
    whole = figures.tally(*world, FIRST, LAST)
    assert whole == {key: seconds for part in parts for key, seconds in part.items()}
    assert len(whole) == sum(map(len, parts))


@given(worlds, words.map(lambda some: [word for word in some if word != 'day']))
def test_days_need_not_be_counted_alone(world, group_by):
    by_day = figures.tally(*world, FIRST, LAST)
    at_once = figures.tally(*world, FIRST, LAST, by_day=False)
    assert groups.grouped(at_once.items(), group_by, RACKS) == groups.grouped(
        by_day.items(), group_by, RACKS)
    assert {key.day for key in at_once} <= {None}


@given(worlds)
def test_each_figure_equals_a_count_second_by_second_of_its_spans(world):
    some, refused = world
    [whole] = groups.grouped(figures.tally(some, refused, FIRST, LAST).items(), ()) or [
        groups.NOTHING]
    inside = range(FIRST, LAST)

    def length(each):
        return len(range(max(each[0], inside.start), min(each[1], inside.stop)))
    assert whole.seconds['allocated'] == sum(each.copies * length(each.allocated)
                                             for each in some)
    assert whole.seconds['occupied'] == sum(each.copies * length(each.occupied)
                                            for each in some if each.occupied)
    assert whole.seconds['refused'] == sum(each.copies * length(each.asked) for each in refused)
    assert 0 <= whole.seconds['idle'] <= whole.seconds['occupied']
