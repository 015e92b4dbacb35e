# SPDX-License-Identifier: Apache-2.0
"""The service has a documented answer to every case that schemathesis makes.

Each case is sent in several guises: by different callers, at different versions, and about
different objects. CLIMATE_CASES sets the number of all requests, CLIMATE_SEED the seed that chooses
them. A run prints its seed, and how many answers of each status each operation gave.
"""
import logging
import os
import random
import time

import hypothesis
import openapi_guises
import openapi_trial
import openapi_world
import pytest
import schemathesis
from schemathesis import openapi

from climate.api import openapi as document
from climate.plugins import registry

pytestmark = pytest.mark.faults

CASES = int(os.environ.get('CLIMATE_CASES') or 20000)
SEED = int(os.environ.get('CLIMATE_SEED') or random.randrange(1, 10 ** 6))
PLUGINS = ('physical:host', 'virtual:instance', 'flavor:instance', 'virtual:dummy')
SETTINGS = {'deadline': None, 'database': None, 'phases': [hypothesis.Phase.generate],
            'suppress_health_check': list(hypothesis.HealthCheck)}
# Of how many cases: those of the operations with the richest bodies, and of all others.
_SHARES = {'POST /leases': 8, 'PUT /leases/{id}': 8, 'PUT /reservations/{id}': 3,
           'POST /os-hosts': 3, 'PUT /os-hosts/{id}': 3,
           'POST /resources/host': 3, 'PUT /resources/host/{id}': 3}


@pytest.fixture(scope='module', autouse=True)
def formats():
    openapi_guises.register_formats()


@pytest.fixture
def world(conf, migrated, tmp_path):
    # No events run here, so that nothing would become of the wait.
    conf.set_override('delete_wait_seconds', 0, group='api')
    # What fails is given up soon, and not tried again, so that leases have something to tell.
    for name, value in (('busy_limit_seconds', 4), ('event_max_retries', 1), ('heal_seconds', 0)):
        conf.set_override(name, value, group='manager')
    # Some more than are enrolled at first, so that others can be.
    conf.set_override('hosts', 30, group='simulated')
    found = openapi_world.World(conf, migrated, tmp_path)
    yield found
    found.close()


@pytest.fixture
def watch():
    found = openapi_trial.Watch()
    logging.getLogger().addHandler(found)
    yield found
    logging.getLogger().removeHandler(found)


@pytest.mark.parametrize('mode', list(schemathesis.GenerationMode), ids=str)
def test_no_case_of_the_document_makes_the_service_fail_or_write_what_it_refused(
        mode, world, watch, figures):
    began, used = time.monotonic(), time.process_time()
    trial = openapi_trial.Trial(world, watch)
    operations = _operations(mode, world)
    shares = [_SHARES.get(each.label, 1) for each in operations]
    unit = -(-CASES // len(schemathesis.GenerationMode) // sum(shares))
    for operation, share in zip(operations, shares, strict=True):
        tried = _try(operation, mode, unit * share, trial, world)
        assert tried >= unit * share * 0.95, (
            f'{operation.label}: only {tried} cases with CLIMATE_SEED={SEED}')
    figures(f'{mode}: CLIMATE_SEED={SEED} CLIMATE_CASES={CASES}\n{trial.table()}\n'
            f'{trial.sent} cases in {time.monotonic() - began:.0f} s, '
            f'of which {time.process_time() - used:.0f} s of processor')
    assert not trial.wrong, f'CLIMATE_SEED={SEED}\n' + '\n'.join(trial.wrong)
    assert set(trial.statuses()) > {200, 400, 401, 404}


def test_the_document_names_the_plugins_that_are_tried():
    known = document.document(registry.load(PLUGINS))['components']['schemas']
    assert len(known) == 2 * len(PLUGINS)


def _operations(mode, world):
    schema = openapi.from_wsgi('/v1/openapi.json', world)
    if mode is schemathesis.GenerationMode.POSITIVE:
        schema = openapi.from_dict(openapi_guises.with_reservations(schema.raw_schema))
        schema.app = world
    found = [each.ok() for each in schema.get_all_operations()]
    assert found
    return found


def _try(operation, mode, most, trial, world):
    """Return the number of cases of an operation that were tried, at most `most`."""
    before = trial.sent

    @hypothesis.seed(SEED)
    @hypothesis.settings(max_examples=-(-most // openapi_guises.GUISES), **SETTINGS)
    @hypothesis.given(operation.as_strategy(generation_mode=mode),
                      openapi_guises.guises(operation))
    def every(case, guises):
        for number, (version, token, pick) in enumerate(guises):
            is_as_made = number < openapi_guises.GUISES // 2
            sent = case if is_as_made else openapi_guises.mended(case, pick) or case
            openapi_guises.named(world.ids, sent, pick)
            trial.send(sent, version, token)

    every()
    return trial.sent - before
