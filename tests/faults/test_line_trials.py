# SPDX-License-Identifier: Apache-2.0
"""Many wait queues, each with its own random events: served in order, and no lease starves.

CLIMATE_QUEUE_TRIALS  how many (default: 7)
CLIMATE_QUEUE_SEED    the seed of the first; the next ones count on (default: another each time)
"""
import collections
import os
import random

import model_world
import pytest
from support import queue_trial
from support import queue_world

pytestmark = pytest.mark.faults

_TRIALS = int(os.environ.get('CLIMATE_QUEUE_TRIALS', 7))
_SEED = int(os.environ.get('CLIMATE_QUEUE_SEED', 0)) or random.randrange(1, 10 ** 9)


@pytest.fixture
def watched(database):
    found = queue_world.Watched(database.engine.url)
    yield found
    found.dispose()


@pytest.mark.parametrize('managers', [1, 2])
def test_whatever_happens_a_queue_is_served_in_order(conf, watched, figures, managers):
    done = collections.Counter()
    for number in range(_TRIALS):
        print(f'The same again: CLIMATE_QUEUE_SEED={_SEED + number} CLIMATE_QUEUE_TRIALS=1')
        model_world.empty(watched)
        trial = queue_trial.Trial(conf, watched, _SEED + number, (10, 20, 50)[number % 7 // 3],
                                  managers)
        trial.run()
        done += trial.acts
    figures(f'{managers} managers, {_TRIALS} trials, CLIMATE_QUEUE_SEED={_SEED}: '
            + ', '.join(f'{word} {count}' for word, count in done.most_common()))
