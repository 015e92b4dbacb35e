# SPDX-License-Identifier: Apache-2.0
"""What the history of a lease is told of its hunt: what became different, once."""
import dataclasses

from climate.domain import hunt

MOVE = hunt.Move('s1', 'c1', 'c2', state=hunt.MOVED)
HOST = hunt.Host('c1', 'c1', 'r1', state=hunt.DROPPED, moves=(MOVE,), why='it is disabled')
PLANNED = hunt.Host('c3', 'c3', 'r1')


def a_plan(*hosts):
    return hunt.Plan('cheapest', hosts)


def test_what_was_given_back_is_told_once():
    released = dataclasses.replace(HOST, state=hunt.RELEASED)
    assert hunt.told(a_plan(HOST), a_plan(released)) == [
        ('host released', 'host c1: it is disabled')]
    assert hunt.told(a_plan(released), a_plan(released, PLANNED)) == []


def test_a_host_that_is_wanted_again_is_told_without_what_was_moved_before():
    released = dataclasses.replace(HOST, state=hunt.RELEASED)
    again = dataclasses.replace(HOST, state=hunt.FENCING, why=None)
    assert hunt.told(a_plan(released), a_plan(again)) == [('fence', 'host c1')]


def test_nothing_is_told_of_a_host_to_which_nothing_was_done():
    assert hunt.told(a_plan(PLANNED), a_plan(PLANNED.dropped('it is not wanted any more'))) == []
