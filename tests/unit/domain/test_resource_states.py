# SPDX-License-Identifier: Apache-2.0
"""The state of a resource is the first that decides what an operator may do."""
import dataclasses
import datetime

import pytest
from support import builders

from climate.domain import health
from climate.domain import maintenance_windows
from climate.domain import records
from climate.domain import resource_states
from climate.domain import sleep

NOW = builders.NOON
HOUR = datetime.timedelta(hours=1)
FREE = records.Resource(1, 'host', 'compute-1', {}, leases=())
LEASED = {'leases': (records.ResourceLease('l1', 'mine', 'demo', 'ada', NOW + HOUR),)}
WAITS = records.ResourceLease('l2', 'waits', 'demo', 'ada', NOW + HOUR, waits=True)
SICK = {'verdict': health.HealthVerdict(health.SICK)}


def window(start, end):
    return {'maintenances': (maintenance_windows.MaintenanceWindow('w1', 'm1', start, end),)}


@pytest.mark.parametrize(('fields', 'state'), [
    ({}, 'free'), (LEASED, 'leased'), ({'held_by': 'r1'}, 'leased'),
    ({'leases': (WAITS,)}, 'held_back'), ({'leases': (WAITS, *LEASED['leases'])}, 'leased'),
    ({'leases': (WAITS,), 'power_state': sleep.ASLEEP}, 'held_back'),
    ({'power_state': sleep.ASLEEP}, 'asleep'), ({'power_state': sleep.AWAKE}, 'free'),
    ({'reservable': False, **LEASED}, 'out_of_use'),
    ({'reservable': False, 'lent_to': 'r1', **LEASED}, 'leased'),
    ({**SICK, **LEASED}, 'out_of_service'), ({**SICK, 'reservable': False}, 'out_of_service'),
    ({**window(NOW - HOUR, NOW + HOUR), **SICK, **LEASED}, 'maintenance'),
    (window(NOW + HOUR, NOW + 2 * HOUR), 'free'), (window(NOW - HOUR, NOW), 'free')])
def test_the_state_is_one_word(fields, state):
    assert resource_states.of(dataclasses.replace(FREE, **fields), NOW) == state
