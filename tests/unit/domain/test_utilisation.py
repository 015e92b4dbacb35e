# SPDX-License-Identifier: Apache-2.0
"""The utilisation of pools by the hour, compared with a count of each second."""
from hypothesis import given
from hypothesis import strategies as st

from climate.domain import usage_figures
from climate.domain import utilisation

HOURS = 5
END = HOURS * utilisation.HOUR
moments = st.integers(-2, 2 * END // 100).map(lambda each: each * 100)
spans = st.tuples(moments, st.integers(1, 60)).map(
    lambda pair: (pair[0], pair[0] + pair[1] * 100))
amounts = st.sampled_from(['{"vcpus":4}', '{"vcpus":1}', '{}'])
absences = st.lists(st.tuples(st.sampled_from(utilisation.ABSENCES), spans), max_size=2).map(tuple)
enrolments = st.builds(
    utilisation.Enrolment, resource_id=st.integers(1, 3), pool=st.just('host'), amount=amounts,
    enrolled=spans, absences=absences)
shares = st.builds(
    usage_figures.UsageShare, reservation_id=st.just('r'), project_id=st.just('p'),
    user_id=st.just('u'), resource_type=st.just('physical:host'), pool=st.just('host'),
    resource_id=st.integers(1, 3), amount=amounts, copies=st.integers(1, 2), allocated=spans,
    occupied=st.none() | spans)


def counted(enrolled, given_ones, hour):
    """The figures of an hour, counted each 100 seconds."""
    found = dict.fromkeys(utilisation.FIGURES, 0)
    units = dict.fromkeys(utilisation.UNIT_FIGURES, 0)
    for moment in range(hour * 3600, (hour + 1) * 3600, 100):
        def now(span, moment=moment):
            return span is not None and span[0] <= moment < span[1]
        here = {'capacity': {each.resource_id for each in enrolled if now(each.enrolled)},
                'allocated': {each.resource_id for each in given_ones if now(each.allocated)},
                'occupied': {each.resource_id for each in given_ones if now(each.occupied)}}
        for kind in utilisation.ABSENCES:
            here[kind] = {each.resource_id for each in enrolled if now(each.enrolled) and any(
                now(span) for name, span in each.absences if name == kind)}
        for figure, ids in here.items():
            found[figure] += 100 * len(ids)
        vcpus = [('capacity', each.enrolled, each.amount, 1) for each in enrolled] + [
            (figure, getattr(each, figure), each.amount, each.copies) for each in given_ones
            for figure in ('allocated', 'occupied')]
        for figure, span, amount, copies in vcpus:
            if now(span):
                units[figure] += 100 * copies * usage_figures.units_of(amount).get('vcpus', 0)
    return found, units


@given(st.lists(enrolments, max_size=3, unique_by=lambda each: each.resource_id),
       st.lists(shares, max_size=4))
def test_each_hour_equals_a_count_of_its_seconds(enrolled, given_ones):
    steps = utilisation.by_hour(enrolled, given_ones, 0, END)
    assert len(steps) == (HOURS if enrolled or given_ones else 0)
    for step in steps:
        seconds, units = counted(enrolled, given_ones, step.start // 3600)
        assert step.seconds == seconds
        assert step.units.get('vcpus', dict.fromkeys(units, 0)) == units


@given(st.lists(enrolments, max_size=3, unique_by=lambda each: each.resource_id),
       st.lists(shares, max_size=4), st.integers(1, 4))
def test_steps_add_up_to_their_hours(enrolled, given_ones, count):
    hours = utilisation.by_hour(enrolled, given_ones, 0, END)
    steps = utilisation.summed(hours, 0, count * 3600)
    assert len(steps) == (-(-HOURS // count) if hours else 0)
    for figure in utilisation.FIGURES:
        assert sum(each.seconds[figure] for each in steps) == sum(
            each.seconds[figure] for each in hours)


def test_pools_are_apart():
    enrolled = [utilisation.Enrolment(1, 'host', '{"vcpus":4}', (0, 3600)),
                utilisation.Enrolment(2, 'address', '{}', (0, 1800))]
    assert [(step.pool, step.seconds['capacity']) for step in utilisation.by_hour(
        enrolled, [], 0, 3600)] == [('address', 1800), ('host', 3600)]
