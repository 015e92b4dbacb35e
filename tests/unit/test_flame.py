# SPDX-License-Identifier: Apache-2.0
"""A flame graph shows what took the time, and nothing that did not happen."""
import collections
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tools import flame

_LINES = [
    '<module> (benchmarks/lease.py:1);create (climate/manager/leases/create.py:40);'
    'execute (sqlalchemy/engine/base.py:1);_run (sqlalchemy/engine/base.py:9);'
    'do_execute (sqlalchemy/engine/default.py:940) 60',
    '<module> (benchmarks/lease.py:1);create (climate/manager/leases/create.py:77);'
    'dumps (json/__init__.py:183) 30',
    '<module> (benchmarks/lease.py:1);run (threading.py:5) 10',
]
_STACKS = st.dictionaries(
    st.lists(st.sampled_from('abc'), min_size=1, max_size=5).map(tuple), st.integers(1, 50),
    min_size=1, max_size=12).map(collections.Counter)


def test_each_function_of_climate_is_a_box_and_other_packages_are_one_each():
    assert flame.read([*_LINES, 'half a line (x bind)']) == {
        ('benchmarks.lease.<module>', 'manager.leases.create.create', 'sqlalchemy',
         'the database'): 60,
        ('benchmarks.lease.<module>', 'manager.leases.create.create', 'json'): 30,
        ('benchmarks.lease.<module>', 'threading'): 10}


def test_the_work_below_one_function_is_shown_alone():
    assert flame.below(flame.read(_LINES), 'create') == {
        ('manager.leases.create.create', 'sqlalchemy', 'the database'): 60,
        ('manager.leases.create.create', 'json'): 30}


@given(_STACKS)
def test_a_box_is_as_wide_as_the_time_in_it_and_lies_on_its_caller(stacks):
    whole = sum(stacks.values())
    found = list(flame.boxes(stacks, 0))
    widths = collections.Counter()
    for depth, _, width, name in found:
        widths[depth, name] += width
    for (depth, name), width in widths.items():
        there = sum(count for stack, count in stacks.items() if stack[depth:depth + 1] == (name,))
        assert abs(width - there / whole) < 1e-9
    for depth, left, width, _ in found:
        callers = [each for each in found if each[0] == depth - 1
                   and each[1] - 1e-9 <= left and left + width <= each[1] + each[2] + 1e-9]
        assert depth == 0 or callers


def test_the_picture_is_svg_and_leaves_out_what_took_too_little():
    root = ElementTree.fromstring(flame.drawn(flame.read(_LINES), 0.2, 'a <program>'))
    titles = [each.text for each in root.iter('{http://www.w3.org/2000/svg}title')]
    assert 'the database: 60.0%' in titles
    assert 'json: 30.0%' in titles
    assert not any(title.startswith('threading') for title in titles)
