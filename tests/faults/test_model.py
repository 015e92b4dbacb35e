# SPDX-License-Identifier: Apache-2.0
"""Random steps of users, managers, time and bad luck, and what is true after each of them.

CLIMATE_MODEL_STEPS says how many steps, CLIMATE_MODEL_SEED which ones.
"""
import logging
import os
import random
import shutil
import uuid

import builders
import hypothesis
from hypothesis import stateful
import model_weather
import model_world
import pytest

pytestmark = pytest.mark.faults

STEPS = int(os.environ.get('CLIMATE_MODEL_STEPS', 20000))
_PARTS = 4
_APART = 10 ** 6
_SETTINGS = hypothesis.settings(
    max_examples=9, stateful_step_count=60, deadline=None, database=None, print_blob=False,
    suppress_health_check=list(hypothesis.HealthCheck))
_SEED = int(os.environ.get('CLIMATE_MODEL_SEED', 0)) or random.randrange(1, 10 ** 9)


class Model(model_weather.Weather):
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
    found = model_world.Database(url, points)
    if found.dialect != 'sqlite':
        builders.clean(found)
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

    def begin():
        monkeypatch.setattr(uuid, 'uuid4', model_world.Ids())
        return Model(conf, database, points, complaints)

    monkeypatch.setattr('time.sleep', lambda seconds: None)
    Model.tally.clear()
    Model.steps.clear()
    seed = _SEED + part * _APART
    while Model.steps.total() < STEPS / _PARTS:
        print(f'model: round CLIMATE_MODEL_SEED={seed} CLIMATE_MODEL_STEPS=1')
        stateful.run_state_machine_as_test(hypothesis.seed(seed)(begin), settings=_SETTINGS)
        seed += 1
    tally = dict(sorted(Model.tally.items()))
    record_property('model', tally)
    print(f'model: {Model.steps.total()} steps, {tally["runs judged"]} runs; {tally}')
    print(f'model: {dict(Model.steps.most_common())}')
