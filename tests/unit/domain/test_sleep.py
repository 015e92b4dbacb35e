# SPDX-License-Identifier: Apache-2.0
"""The decision which resources may sleep, and which must wake up."""
import dataclasses
import datetime

import hypothesis
from hypothesis import strategies as st

from climate.domain import sleep

NOW = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
MINUTE = datetime.timedelta(minutes=1)
RULES = sleep.SleepRules(lead=5 * MINUTE, min_awake=30 * MINUTE, min_asleep=30 * MINUTE,
                         cycles_per_day=4)


def sleeper(key=1, **values):
    return sleep.Sleeper(**{
        'id': key, 'state': sleep.AWAKE, 'since': NOW - 60 * MINUTE, 'machine': f'm{key}',
        'group': 'host', 'is_free': True, 'needed_at': None, 'cycles': 0, 'wake': 10 * MINUTE,
        **values})


def test_a_free_resource_falls_asleep():
    assert sleep.plan([sleeper()], RULES, NOW) == sleep.SleepPlan((), (1,))


def test_one_that_slept_too_often_or_woke_just_now_stays_awake():
    found = [sleeper(1, cycles=4), sleeper(2, since=NOW - 29 * MINUTE), sleeper(3, is_free=False)]
    assert sleep.plan(found, RULES, NOW) == sleep.SleepPlan((), ())


def test_one_that_is_needed_before_a_sleep_is_worth_it_stays_awake():
    # 10 minutes to wake up, 5 ahead, 30 asleep.
    found = [sleeper(1, needed_at=NOW + 44 * MINUTE), sleeper(2, needed_at=NOW + 45 * MINUTE)]
    assert sleep.plan(found, RULES, NOW).sleep == (2,)


def test_a_sleeping_one_wakes_its_time_and_the_lead_before_it_is_needed():
    one = sleeper(1, state=sleep.ASLEEP, needed_at=NOW + 16 * MINUTE)
    assert sleep.plan([one], RULES, NOW).wake == ()
    assert sleep.plan([one], RULES, NOW + MINUTE).wake == (1,)


def test_spare_resources_stay_awake_in_each_group_and_what_is_needed_last_sleeps_first():
    rules = dataclasses.replace(RULES, spare=1)
    found = [sleeper(1, needed_at=NOW + 300 * MINUTE), sleeper(2), sleeper(3, group='gpu')]
    assert sleep.plan(found, rules, NOW).sleep == (2,)


def test_a_share_of_a_group_stays_awake_rounded_up():
    rules = dataclasses.replace(RULES, spare_share=0.25)
    assert len(sleep.plan([sleeper(key) for key in range(5)], rules, NOW).sleep) == 3


def test_sleeping_ones_wake_if_too_few_spare_ones_are_left():
    rules = dataclasses.replace(RULES, spare=2)
    found = [sleeper(1), sleeper(2, state=sleep.ASLEEP),
             sleeper(3, state=sleep.ASLEEP, needed_at=NOW + 900 * MINUTE)]
    assert sleep.plan(found, rules, NOW) == sleep.SleepPlan((3,), ())


def test_resources_of_one_machine_sleep_only_together():
    both = [sleeper(1, machine='one'), sleeper(2, machine='one')]
    assert sleep.plan(both, RULES, NOW).sleep == (1, 2)
    for other in (sleeper(2, machine='one', is_free=False), sleeper(2, machine='one', cycles=4),
                  sleeper(2, machine='one', needed_at=NOW + 44 * MINUTE)):
        assert sleep.plan([both[0], other, sleeper(3)], RULES, NOW).sleep == (3,)


def test_a_machine_stays_awake_if_one_of_its_resources_is_a_spare_one():
    rules = dataclasses.replace(RULES, spare=1)
    found = [sleeper(1, machine='one'), sleeper(2, machine='one', group='backend'), sleeper(3)]
    assert sleep.plan(found, rules, NOW).sleep == (3,)
    # Two resources of a group would sleep with it, and one of them has to stay awake.
    found = [sleeper(1, machine='one'), sleeper(2, machine='one')]
    assert sleep.plan(found, rules, NOW).sleep == ()


def test_a_spare_machine_is_woken_once_for_all_its_resources():
    rules = dataclasses.replace(RULES, spare=2)
    found = [sleeper(key, machine=machine, state=sleep.ASLEEP)
             for key, machine in ((1, 'one'), (2, 'one'), (3, 'two'))]
    assert len(sleep.plan(found, rules, NOW).wake) == 2
    assert sleep.plan(found[:2], rules, NOW).wake == (2,)
    # A lease needs one of them, so the other one wakes up with it.
    found[0] = dataclasses.replace(found[0], needed_at=NOW)
    assert sleep.plan(found, dataclasses.replace(RULES, spare=1), NOW).wake == (1,)


def test_the_time_to_wake_up_is_the_95th_percentile_of_the_past_and_a_margin():
    first = 10 * MINUTE
    assert sleep.wake_time([], first, 0.2) == first
    assert sleep.wake_time([*range(1, 101)], first, 0.2) == datetime.timedelta(seconds=114)
    assert sleep.wake_time([60], first, 0) == MINUTE


_SLEEPERS = st.lists(st.builds(
    sleep.Sleeper, id=st.integers(1, 99), state=st.sampled_from(sleep.STATES),
    since=st.integers(0, 120).map(lambda count: NOW - count * MINUTE),
    machine=st.sampled_from(['m1', 'm2', 'm3', 'm4', 'm5', 'm6']),
    group=st.sampled_from(['a', 'b']), is_free=st.booleans(),
    needed_at=st.none() | st.integers(-60, 200).map(lambda count: NOW + count * MINUTE),
    cycles=st.integers(0, 5), wake=st.integers(0, 30).map(lambda count: count * MINUTE)),
    unique_by=lambda each: each.id, max_size=12)


# Woken as a spare one, the machine "one" counted for all its resources, also for the awake ones.
_AN_AWAKE_ONE_ON_A_WOKEN_MACHINE = [
    sleeper(1, machine='one'), sleeper(2, state=sleep.ASLEEP, machine='one'), sleeper(3),
    sleeper(4)]
_ONE_FALLS_ASLEEP_ON_A_WOKEN_MACHINE = [
    sleeper(1, machine='one', is_free=False), sleeper(2),
    sleeper(3, state=sleep.ASLEEP, machine='one'), sleeper(4, state=sleep.FALLING, machine='one')]
_ONE_SERVES_TWO_GROUPS = [
    sleeper(1), sleeper(2, state=sleep.ASLEEP, machine='two'),
    sleeper(3, state=sleep.ASLEEP, machine='two')]
_THE_OTHER_ONLY_WAKES_UP = [sleeper(1), sleeper(2, state=sleep.WAKING)]


@hypothesis.example(_AN_AWAKE_ONE_ON_A_WOKEN_MACHINE, 4, 0.0)
@hypothesis.example(_ONE_FALLS_ASLEEP_ON_A_WOKEN_MACHINE, 2, 0.0)
@hypothesis.example(_ONE_SERVES_TWO_GROUPS, 2, 0.0)
@hypothesis.example(_THE_OTHER_ONLY_WAKES_UP, 1, 0.0)
@hypothesis.given(_SLEEPERS, st.integers(0, 4), st.floats(0, 1))
def test_no_plan_lets_a_needed_resource_sleep_or_takes_the_spare_ones(found, spare, share):
    rules = dataclasses.replace(RULES, spare=spare, spare_share=share)
    plan = sleep.plan(found, rules, NOW)
    known = {each.id: each for each in found}
    assert not set(plan.wake) & set(plan.sleep)
    for key in plan.sleep:
        assert sleep.may_sleep(known[key], rules, NOW)
        assert {each.id for each in found if each.machine == known[key].machine} <= {*plan.sleep}
    for each in found:
        if each.state == sleep.ASLEEP and each.is_due(rules, NOW):
            assert each.id in plan.wake
    for group in {known[key].group for key in plan.sleep}:
        mine = [each for each in found if each.group == group]
        left = [each for each in mine if each.state == sleep.AWAKE and each.is_free
                and not each.is_due(rules, NOW) and each.id not in plan.sleep]
        assert len(left) >= max(spare, share * len(mine) - 1e-6)


@hypothesis.example([sleeper(1, state=sleep.ASLEEP), sleeper(2, machine='one'),
                     sleeper(3, state=sleep.ASLEEP, machine='one')], 3, 0.0)
@hypothesis.given(_SLEEPERS, st.integers(0, 4), st.floats(0, 1))
def test_a_plan_that_was_carried_out_is_followed_by_an_empty_one(found, spare, share):
    rules = dataclasses.replace(RULES, spare=spare, spare_share=share)
    plan = sleep.plan(found, rules, NOW)
    woken = {each.machine for each in found if each.id in plan.wake}
    after = [dataclasses.replace(
        each, state=(sleep.FALLING if each.id in plan.sleep else sleep.WAKING
                     if each.machine in woken and each.state in (sleep.ASLEEP, sleep.FALLING)
                     else each.state)) for each in found]
    assert sleep.plan(after, rules, NOW) == sleep.SleepPlan((), ())
