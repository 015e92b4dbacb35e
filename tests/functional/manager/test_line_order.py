# SPDX-License-Identifier: Apache-2.0
"""Fifty that wait: whatever happens by chance, they are served in order, and nobody starves.

CLIMATE_LINE_SEED lets it be done with another seed; many of them are tried in tests/faults.
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


@pytest.mark.parametrize(('seed', 'waiting', 'managers'), [(1, 50, 2), (2, 12, 1)])
def test_they_are_served_in_order_and_none_starves(conf, watched, seed, waiting, managers):
    trial = line_trial.Trial(conf, watched, _SEED or seed, waiting, managers)
    trial.run()
    assert trial.line.served > waiting / 2
