# SPDX-License-Identifier: Apache-2.0
"""The usability of a reservation in every state of it and of its lease."""
import dataclasses

import pytest
from support import builders

from climate.domain import lifecycle
from climate.domain import usability

RUNNING = usability.UsabilityFacts(
    id='r1', lease_id='l1', project_id='demo', start=builders.NOON,
    end=builders.NOON + builders.hours(1), state=lifecycle.ACTIVE, task=None,
    reservation_state=lifecycle.RESERVATION_ACTIVE, resource_type='physical:host',
    deleted_at=None)
SOON = builders.NOON + builders.minutes(1)


def judged(project_id='demo', now=SOON, **changed):
    return usability.judge(dataclasses.replace(RUNNING, **changed), project_id, now)


@pytest.mark.parametrize('changed', [
    {}, {'task': 'update'}, {'state': lifecycle.ERROR},
    {'state': lifecycle.PENDING, 'task': 'start'}], ids=str)
def test_a_reservation_is_usable_while_its_lease_runs(changed):
    found = judged(**changed)
    assert (found.active, found.usable, found.reason) == (True, True, None)


@pytest.mark.parametrize('state', ['pending', 'error'])
def test_servers_may_be_placed_while_a_start_that_wakes_them_is_tried(state):
    holding = dataclasses.replace(RUNNING, state=lifecycle.PENDING, task='start',
                                  reservation_state=state)
    assert usability.judge(holding, 'demo', SOON, usable_in_start=True).usable
    broken = dataclasses.replace(holding, state=lifecycle.ERROR, task=None)
    assert not usability.judge(broken, 'demo', SOON, usable_in_start=True).usable
    healing = dataclasses.replace(broken, healing=True)
    assert usability.judge(healing, 'demo', SOON, usable_in_start=True).usable
    asleep = dataclasses.replace(holding, task=None)
    assert not usability.judge(asleep, 'demo', SOON, usable_in_start=True).usable


@pytest.mark.parametrize(('changed', 'reason'), [
    ({'state': lifecycle.PENDING}, 'has not started'),
    ({'state': lifecycle.PENDING, 'task': 'update'}, 'has not started'),
    ({'state': lifecycle.PENDING, 'task': 'start', 'reservation_state': 'pending'},
     'not ready yet'),
    ({'state': lifecycle.PENDING, 'task': 'start', 'reservation_state': 'error'}, 'state error'),
    ({'reservation_state': 'deleted'}, 'state deleted'),
    ({'task': 'end'}, 'is being ended'), ({'task': 'delete'}, 'is being ended'),
    ({'state': lifecycle.TERMINATED}, 'ended at'),
    ({'state': lifecycle.ERROR, 'deleting': True}, 'is being deleted'),
    ({'state': lifecycle.ERROR, 'reservation_state': 'pending'}, 'state error'),
    ({'state': lifecycle.ERROR, 'reservation_state': 'error'}, 'state error'),
    ({'state': lifecycle.ACQUIRING}, 'state acquiring'),
    ({'state': lifecycle.TIMEDOUT}, 'state timedout'),
    ({'now': RUNNING.end}, 'ended at 2030-05-01 13:00:00 UTC'),
    ({'deleted_at': SOON}, 'was deleted')], ids=str)
def test_a_reservation_is_not_usable_and_the_reason_is_told(changed, reason):
    found = judged(**changed)
    assert (found.active, found.usable) == (False, False)
    assert reason in found.reason


def test_a_reservation_of_another_project_is_active_but_not_usable():
    found = judged(project_id='other')
    assert (found.active, found.usable) == (True, False)
    assert 'another project' in found.reason


def test_the_state_is_reported_before_the_owner():
    assert 'ended at' in judged(project_id='other', now=RUNNING.end).reason
