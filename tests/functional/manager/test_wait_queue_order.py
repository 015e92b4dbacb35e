# SPDX-License-Identifier: Apache-2.0
"""The wait queue is served in order under random events, and no lease starves.

CLIMATE_LINE_SEED sets another seed; tests/faults tries many seeds.
"""
import os

import line_trial
import line_world
import pytest

_SEED = int(os.environ.get('CLIMATE_LINE_SEED', 0))


@pytest.fixture
def watched(database):
    found = line_world.Watched(database.engine.url)
    yield found
    found.dispose()


@pytest.mark.parametrize(('seed', 'waiting', 'managers'), [
    pytest.param(1, 50, 2, marks=pytest.mark.proof), (2, 12, 1)])
def test_they_are_served_in_order_and_none_starves(conf, watched, seed, waiting, managers):
    trial = line_trial.Trial(conf, watched, _SEED or seed, waiting, managers)
    trial.run()
    assert trial.line.served > waiting / 2
