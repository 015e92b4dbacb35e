# SPDX-License-Identifier: Apache-2.0
"""The order of reservations that depend on each other, and the labels that give no order."""
import hypothesis
from hypothesis import strategies as st
import pytest

from climate import errors
from climate.domain import records
from climate.domain import start_order


@st.composite
def graphs(draw):
    """{key: the keys that come before it}, without a circle, in an order that says nothing."""
    keys = draw(st.permutations(range(draw(st.integers(0, 8)))))
    before = {key: draw(st.sets(st.sampled_from(keys[:place]))) if place else set()
              for place, key in enumerate(keys)}
    return {key: before[key] for key in draw(st.permutations(keys))}


def reservations(before):
    return [records.Reservation(f'id-{key}', 'lease', 'test:step', {}, label=str(key),
                                depends_on=tuple(str(each) for each in sorted(some)))
            for key, some in before.items()]


def asked(**before):
    return [records.ReservationRequest('test:step', {}, label=label, depends_on=tuple(some))
            for label, some in before.items()]


def refusal(some):
    with pytest.raises(errors.BadField) as refused:
        start_order.refuse_bad(some)
    return refused.value.message


@hypothesis.given(graphs())
def test_each_stands_in_the_first_level_after_all_that_it_depends_on(before):
    levels = start_order.levels(before)
    place = {key: number for number, level in enumerate(levels) for key in level}
    assert place == {key: max((place[each] + 1 for each in some), default=0)
                     for key, some in before.items()}
    assert all(level == [key for key in before if place[key] == number]
               for number, level in enumerate(levels))


@hypothesis.given(graphs(), st.data())
def test_a_reservation_is_called_after_its_dependencies_in_any_subset(before, data):
    every = reservations(before)
    some = [each for each in every if data.draw(st.booleans())]
    first = start_order.of_start(every).sorted(some)
    last = start_order.of_end(every).sorted(some)
    assert sorted(first, key=id) == sorted(last, key=id) == sorted(some, key=id)
    names, reverse = [each.label for each in first], [each.label for each in last]
    for each in some:
        for label in set(each.depends_on) & set(names):
            assert names.index(label) < names.index(each.label)
            assert reverse.index(label) > reverse.index(each.label)


@hypothesis.given(graphs())
def test_the_order_of_the_end_is_the_reverse_of_the_start(before):
    every = reservations(before)
    starts, ends = start_order.of_start(every), start_order.of_end(every)
    for each in every:
        assert {one.label for one in starts.waits_for(each, ())} == set(each.depends_on)
        for one in starts.waits_for(each, ()):
            assert each in ends.waits_for(one, ())
            assert one.id in starts.awaited and each.id in ends.awaited
    assert start_order.any_order(every).sorted(every) is every


def test_reservations_without_dependencies_stay_in_their_order():
    every = reservations({3: (), 1: (), 2: ()})
    assert start_order.of_start(every).sorted(every) is every
    assert start_order.of_end(every).sorted(every) is every


@hypothesis.given(graphs())
def test_labels_without_a_circle_are_not_refused(before):
    start_order.refuse_bad(records.ReservationRequest(
        'test:step', {}, label=str(key), depends_on=tuple(map(str, some)))
        for key, some in before.items())


def test_a_circle_is_refused_with_its_labels_and_without_those_behind_it():
    assert refusal(asked(a=['b'], b=['c'], c=['b'], d=[], e=['a', 'd'])) == (
        'reservations.depends_on: these depend on each other in a circle: b -> c -> b. '
        'Take one of these names out.')


def test_a_long_circle_is_named_in_part():
    many = {f'n{number}': [f'n{(number + 1) % 1000}'] for number in range(1000)}
    told = refusal(asked(**many))
    assert 'n0 -> n1 -> ' in told and '… -> n0.' in told and len(told) < 200


@pytest.mark.parametrize(('some', 'told'), [
    (asked(a=['a']), 'reservations.depends_on: "a" depends on itself; leave its own label out.'),
    (asked(a=['x'], b=[]),
     'reservations.depends_on: no reservation of the lease has the label "x"; known are: a, b.'),
    ([records.ReservationRequest('t', {}, depends_on=('x',))],
     'reservations.depends_on: no reservation of the lease has the label "x"; give the other one '
     'that label.'),
    ([*asked(a=[]), *asked(a=[])], 'reservations.label: two reservations have the label "a"; '
     'give each a label of its own.')])
def test_labels_that_give_no_order_are_refused_with_the_way_out(some, told):
    assert refusal(some) == told


def test_a_lease_tells_what_a_reservation_depends_on():
    every = reservations({1: (), 2: (), 3: (1, 2)})
    lease = records.Lease('l', 'n', 'p', 'u', None, None, reservations=tuple(every))
    assert lease.dependencies(every[2]) == {'1': every[0], '2': every[1]}
    assert lease.dependencies(every[0]) == {}
