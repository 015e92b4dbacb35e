# SPDX-License-Identifier: Apache-2.0
"""The wait queue is served in order under random events, and no lease starves.

CLIMATE_QUEUE_SEED sets another seed; tests/faults tries many seeds.
"""
import os

import pytest
from support import queue_trial
from support import queue_world

_SEED = int(os.environ.get('CLIMATE_QUEUE_SEED', 0))


@pytest.fixture
def watched(database):
    found = queue_world.Watched(database.engine.url)
    yield found
    found.dispose()


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize(('seed', 'waiting', 'managers'), [
    pytest.param(1, 50, 2, marks=pytest.mark.proof), (2, 12, 1)])
def test_they_are_served_in_order_and_none_starves(conf, watched, seed, waiting, managers):
    trial = queue_trial.Trial(conf, watched, _SEED or seed, waiting, managers)
    trial.run()
    assert trial.queue.served > waiting / 2
