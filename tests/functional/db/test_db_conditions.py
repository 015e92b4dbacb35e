# SPDX-License-Identifier: Apache-2.0
"""The SQL form of criteria leaves out no resource that meets them."""
import hypothesis
from hypothesis import strategies as st
import pytest
from support import builders

from climate.db import conditions
from climate.db import free_resources
from climate.db import resource_properties
from climate.db import resources
from climate.domain import interval
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import criteria
from climate.plugins import base

NOON = builders.NOON
SPAN = interval.Interval(NOON, NOON + builders.hours(1))

# Numbers in many forms, too large and too exact ones, near ones; truths; words; lists; odd ones.
TEXTS = (None, '7', '7.0', ' 7 ', '07', '+7e0', '70', '-7', '.5', '0.50', '1e400', '1e-400',
         '1e999', '-1e999', '9007199254740993', '9007199254740992', '0.1',
         '0.1000000000000000000001', 'nan', 'inf', '1_0', 'true', 'True ',
         'false', 'A100', 'a100', 'A100 ', '', ' ', 'A B C', 'ä', '7' * 65)
NAMES = ('gpu', 'traits', 'rack', 'region', 'nothing', 'vcpus', 'hypervisor_hostname', 'memory_mb')
WANTED = st.one_of(
    st.sampled_from([text for text in TEXTS if text is not None]),
    st.sampled_from([7, 7.0, 0.1, 4, 10 ** 50, -1e308, 9007199254740993, True, False, None,
                     'host-3', 'RegionOne', 2 ** 199]))
OPERATORS = ('==', '!=', '<', '<=', '>', '>=', 's==', 's!=', 's<', 's<=', 's>', 's>=', 'contains')
LEAVES = st.one_of(
    st.tuples(st.sampled_from(OPERATORS), st.sampled_from(NAMES), WANTED).map(
        lambda leaf: [leaf[0], f'${leaf[1]}', leaf[2]]),
    st.tuples(st.sampled_from(NAMES), st.lists(WANTED, min_size=1, max_size=3)).map(
        lambda pair: ['in', f'${pair[0]}', pair[1]]))
REQUIREMENTS = st.recursive(LEAVES, lambda inner: st.one_of(
    st.lists(inner, min_size=1, max_size=4).map(lambda parts: ['and', *parts]),
    st.lists(inner, min_size=1, max_size=4).map(lambda parts: ['or', *parts]),
    inner.map(lambda part: ['not', part])), max_leaves=12)


def enrol(database):
    """Hosts with values of all sorts."""
    with database.writer() as connection:
        for number, text in enumerate(TEXTS):
            key = resources.add(connection, 'host', f'host-{number}',
                                {'vcpus': number % 9, 'memory_mb': 7}, NOON)
            resource_properties.set_values(connection, 'host', key, {
                'gpu': text, 'traits': text, 'rack': TEXTS[-number], 'vcpus': '70',
                'region': 'elsewhere' if number % 7 == 3 else None}, NOON)


@pytest.mark.proof
def test_among_what_is_read_are_all_that_meet_the_criteria_and_only_they_are_taken(
        manager, database):
    enrol(database)
    search = free_resources.ResourceSearch('host', SPAN, frozenset(), False)
    with database.reader() as connection:
        everything = {row.id: resources.get(connection, 'host', row.id)
                      for row in free_resources.in_order(connection, search, 0, free_resources.ALL)}
    left_out = set()

    @hypothesis.settings(max_examples=300)
    @hypothesis.given(REQUIREMENTS)
    def check(wanted):
        need = base.Need('hosts', 'host', selection.Demand(selection.WHOLE, 1, 1),
                         requirement.parse(wanted))
        sieve = criteria.Sieve(manager.core, need)
        with database.reader() as connection:
            rows = free_resources.free(connection, free_resources.ResourceSearch(
                'host', SPAN, frozenset(), False, condition=sieve.condition, names=sieve.names),
                0, free_resources.ALL)
            expected = criteria.matching(manager.core, connection, need, everything)
        assert [row.id for row in sieve.meeting(rows)] == expected
        left_out.update(everything.keys() - {row.id for row in rows})

    check()
    assert left_out == everything.keys()


def test_requirements_that_differ_in_names_and_values_only_are_one_statement():
    def form(*wanted):
        return conditions.of(requirement.parse(list(wanted)), 'name').form
    assert form('>', '$a', 7) == form('>=', '$b', '8')
    assert form('==', '$a', 'x') == form('in', '$b', ['y', 'z'])
    assert form('==', '$a', 'x') != form('==', '$a', 7)
    assert form('not', ['==', '$a', 'x']) is None


def test_long_criteria_become_conditions_in_part():
    long = requirement.parse(['and', *(['==', f'$p{number}', 'x'] for number in range(100))])
    assert len(conditions.of(long, 'name').form) == 1 + 8
    either = requirement.parse(['or', *(['==', f'$p{number}', 'x'] for number in range(100))])
    assert conditions.of(either, 'name').form is None
