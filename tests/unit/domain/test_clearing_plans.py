# SPDX-License-Identifier: Apache-2.0
"""The history entries of host clearing: each change is reported once."""
import dataclasses

from climate.domain.clearing import plans

MOVE = plans.PlannedMove('s1', 'c1', 'c2', state=plans.MOVED)
HOST = plans.PlannedHost('c1', 'c1', 'r1', state=plans.DROPPED, moves=(MOVE,), why='it is disabled')
PLANNED = plans.PlannedHost('c3', 'c3', 'r1')


def a_plan(*hosts):
    return plans.ClearingPlan('cheapest', hosts)


def test_a_released_host_is_reported_once():
    released = dataclasses.replace(HOST, state=plans.RELEASED)
    assert plans.changes(a_plan(HOST), a_plan(released)) == [
        ('host released', 'host c1: it is disabled')]
    assert plans.changes(a_plan(released), a_plan(released, PLANNED)) == []


def test_a_host_that_is_wanted_again_is_told_without_what_was_moved_before():
    released = dataclasses.replace(HOST, state=plans.RELEASED)
    again = dataclasses.replace(HOST, state=plans.FENCING, why=None)
    assert plans.changes(a_plan(released), a_plan(again)) == [('fence', 'host c1')]


def test_an_unchanged_host_is_not_reported():
    assert plans.changes(
        a_plan(PLANNED), a_plan(PLANNED.dropped('it is not wanted any more'))) == []
