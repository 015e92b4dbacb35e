# SPDX-License-Identifier: Apache-2.0
"""The actions that each state of a lease allows."""
import dataclasses

import pytest
from support import builders

from climate import errors
from climate.domain import lease_actions
from climate.domain import lifecycle
from climate.domain import records

NOON, hours = builders.NOON, builders.hours
LEASE = records.Lease('lease', 'demo', 'demo', 'demo', NOON + hours(1), NOON + hours(3))
RUNNING = {'start': NOON - hours(1), 'state': lifecycle.ACTIVE}
SHARED = ['share', 'unshare', 'leave']
ONLY_NAME = ['rename', 'unshare', 'leave', 'delete']
NAME_AND_SHARES = ['rename', *SHARED, 'delete']


@pytest.mark.parametrize(('fields', 'expected'), [
    ({}, ['rename', 'change_start', 'change_end', 'resize', *SHARED, 'sub_lease', 'delete']),
    ({'start': NOON}, ['rename', 'change_end', 'resize', *SHARED, 'sub_lease', 'delete']),
    ({'start': NOON - hours(1)}, ['rename', 'change_end', 'resize', 'end', *SHARED, 'sub_lease',
                                  'delete']),
    (RUNNING, ['rename', 'change_end', 'resize', 'end', *SHARED, 'sub_lease', 'swap', 'delete']),
    ({**RUNNING, 'end': NOON}, NAME_AND_SHARES),
    ({**RUNNING, 'task': 'update'}, ['rename', *SHARED, 'sub_lease', 'delete']),
    ({'start': NOON, 'task': 'start'}, ['rename', *SHARED, 'sub_lease', 'delete']),
    ({**RUNNING, 'parent_id': 'x'}, [
        'rename', 'change_end', 'resize', 'end', *SHARED, 'delete']),
    ({**RUNNING, 'acquire_type': 'best-effort'}, [
        'rename', 'change_end', 'resize', 'end', *SHARED, 'swap', 'delete']),
    ({'state': lifecycle.ACQUIRING}, NAME_AND_SHARES),
    ({'state': lifecycle.TERMINATED}, ONLY_NAME),
    ({'state': lifecycle.TIMEDOUT}, ONLY_NAME),
    ({**RUNNING, 'state': lifecycle.ERROR}, ['rename', 'change_end', 'end', *SHARED, 'delete']),
    ({**RUNNING, 'deleted_at': NOON}, []),
])
def test_a_state_allows_its_actions(fields, expected):
    lease = dataclasses.replace(LEASE, **fields)
    assert lease_actions.possible(lease, NOON) == expected
    for action in lease_actions.ALL:
        if action in expected:
            lease_actions.refuse(lease, action, NOON)
        else:
            with pytest.raises(errors.ClimateError):
                lease_actions.refuse(lease, action, NOON)


def test_every_state_and_task_has_actions():
    for state in lifecycle.STATES:
        for task in (None, *lifecycle.TASKS):
            lease = dataclasses.replace(LEASE, state=state, task=task)
            assert set(ONLY_NAME) <= set(lease_actions.possible(lease, NOON))
