# SPDX-License-Identifier: Apache-2.0
"""Random steps of users, managers, time and bad luck, and what is true after each of them.

CLIMATE_MODEL_STEPS says how many steps, CLIMATE_MODEL_SEED which ones.
"""
import logging
import os
import random
import shutil
import uuid

import hypothesis
from hypothesis import stateful
import model_requests
import model_truths
import model_weather
import model_world
import pytest
import test_crash_in_process as crashes

pytestmark = pytest.mark.faults

STEPS = int(os.environ.get('CLIMATE_MODEL_STEPS', 20000))
_PER_RUN = 60
_PARTS = 4
_SEED = int(os.environ.get('CLIMATE_MODEL_SEED', 0)) or random.randrange(1, 10 ** 9)


class Model(model_requests.Requests, model_weather.Weather):
    """All steps together."""


@pytest.fixture
def points():
    return model_world.Points()


@pytest.fixture
def database(tmp_path, migrated, points):
    """As ever, with a moment to die before and after each commit."""
    url = os.environ.get('CLIMATE_TEST_DATABASE')
    if url is None:
        shutil.copy(migrated, tmp_path / 'climate.sqlite')
        url = f'sqlite:///{tmp_path}/climate.sqlite'
    found = crashes.Fragile(url, points)
    yield found
    found.dispose()


@pytest.fixture
def complaints():
    found = model_world.Complaints()
    logging.getLogger('climate').addHandler(found)
    yield found
    logging.getLogger('climate').removeHandler(found)


@pytest.mark.parametrize('part', range(_PARTS))
def test_whatever_happens_no_promise_is_lost_or_given_twice(
        part, conf, database, points, complaints, monkeypatch, record_property):
    model_world.configure(conf)
    seed, runs = _SEED + part, max(1, STEPS // _PARTS // _PER_RUN)
    print(f'model: CLIMATE_MODEL_SEED={_SEED} CLIMATE_MODEL_STEPS={STEPS} part {part}')
    Model.tally.clear()

    def begin():
        monkeypatch.setattr(uuid, 'uuid4', model_world.Ids())
        return Model(conf, database, points, complaints)

    stateful.run_state_machine_as_test(hypothesis.seed(seed)(begin), settings=hypothesis.settings(
        max_examples=runs, stateful_step_count=_PER_RUN, deadline=None, database=None,
        print_blob=False, suppress_health_check=list(hypothesis.HealthCheck)))
    tally = dict(sorted(Model.tally.items()))
    record_property('model', tally)
    print(f'model: {tally["steps"]} steps, {tally["runs"]} runs; {tally}')


def test_the_model_sees_what_it_is_to_see():
    assert model_truths
