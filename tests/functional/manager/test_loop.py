# SPDX-License-Identifier: Apache-2.0
"""Thousands of events that are due at once do not flood the cloud."""
from concurrent import futures
import threading

import acts
import pytest
from support import builders
from support import waiting

from climate.domain import lifecycle
from climate.manager.events import loop


@pytest.mark.parametrize('managers', [pytest.param(1, marks=pytest.mark.proof), 2])
def test_many_starts_at_once_make_few_calls_at_once(conf, database, clock, managers):
    conf.set_override('hosts', 40, group='simulated')
    conf.set_override('concurrency', 4, group='nova')
    conf.set_override('delay_seconds', 0.001, group='simulated')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(20)
    made = [manager.book(end=builders.at(9)) for _ in range(20)]
    now, most, lock = [0], [0], threading.Lock()

    def count(name, when):
        if name.startswith('nova.'):
            with lock:
                now[0] += 1 if when == 'before' else -1
                most[0] = max(most[0], now[0])
    manager.cloud.faults.on_point = count
    with futures.ThreadPoolExecutor(32) as pool:
        working = [loop.EventLoop(manager.core, f'manager {number}', pool.submit)
                   for number in range(managers)]
        # Check every lease: between two ticks all workers may be idle.
        for lease in made:
            waiting.until(lambda of=lease: _has_begun(manager, working, of))
        assert all(each.await_idle(waiting.SECONDS) for each in working)
    assert {manager.lease(each).state for each in made} == {lifecycle.ACTIVE}
    assert {acts.history(manager, each).count('start_lease') for each in made} == {1}
    # They share one simulated cloud, and so its turns.
    assert most[0] <= 4


def _has_begun(manager, working, lease):
    """Tick each loop unless the start of a lease has ended; return whether it has."""
    if manager.lease(lease).state == lifecycle.PENDING:
        for each in working:
            each.tick(manager.clock())
    return manager.lease(lease).state != lifecycle.PENDING
