# SPDX-License-Identifier: Apache-2.0
"""Whatever schemathesis makes of the OpenAPI document, the service has a meant answer to it.

CLIMATE_CASES says how many cases are tried in all, CLIMATE_SEED which ones.
"""
import collections
import logging
import os

import builders
import hypothesis
from hypothesis import strategies as st
import openapi_world
import pytest
import schemathesis
from schemathesis import openapi

from climate.api import openapi as document
from climate.plugins import registry

pytestmark = pytest.mark.faults

CASES = int(os.environ.get('CLIMATE_CASES', '20000'))
SEED = int(os.environ.get('CLIMATE_SEED', '0'))
PLUGINS = ('physical:host', 'virtual:instance', 'flavor:instance', 'virtual:dummy')
SETTINGS = {'deadline': None, 'database': None, 'phases': [hypothesis.Phase.generate],
            'suppress_health_check': list(hypothesis.HealthCheck)}
# Of how many cases: those of the operations with the richest bodies, and of all others.
_SHARES = {'POST /leases': 8, 'PUT /leases/{id}': 8, 'PUT /reservations/{id}': 3,
           'POST /os-hosts': 3, 'PUT /os-hosts/{id}': 3}
_MOST_TOLD = 5

MOMENTS = st.sampled_from(['now', '2030-05-01 13:00', '2030-05-01T15:00:00Z', '2030-05-02 00:00',
                           '2030-05-01T14:30:00+02:00', '1999-01-01 00:00', '9999-12-31 23:59'])
SPANS = st.sampled_from(['1h', '90m', '1d12h', 'PT1H', '3600', '0', '100w'])
CRITERIA = st.sampled_from(['', '["==", "$gpu", "A100"]', '[">=", "$vcpus", "2"]',
                            '["and", ["=", "$gpu", "x"]]', '["in"]', '[[]]', '{}', '["=", "$"]'])
VERSIONS = st.sampled_from(['1.1'] * 8 + ['1.0', 'latest', None])
TOKENS = st.sampled_from([builders.DEMO] * 5 + [builders.ADMIN] * 4 + [builders.STRANGER, None])


class Watch(logging.Handler):
    """Keeps what the service logs with a traceback, and what it logs as an error."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.seen = []

    def emit(self, record):
        if record.exc_info or record.levelno >= logging.ERROR:
            self.seen.append(record.getMessage())

    def taken(self):
        seen, self.seen = self.seen, []
        return seen


class Trial:
    """Sends cases and keeps what was wrong with the answers."""

    def __init__(self, world, watch):
        self._world = world
        self._watch = watch
        self.answers = collections.Counter()
        self.wrong = []

    def send(self, case, version, token):
        # The wide world: also headers that schemathesis made are sent, where none is ours.
        headers = {'X-Auth-Token': token} if token else {}
        if version:
            headers['OpenStack-API-Version'] = f'reservation {version}'
        self._watch.taken()
        try:
            answer = case.call(headers=headers)
        except Exception as error:  # noqa: BLE001: whatever passes the doors is what is looked for
            self._fail(case, f'raised {error!r}')
            return
        self.answers[answer.status_code] += 1
        self._judge(case, answer)

    def _judge(self, case, answer):
        seen = self._watch.taken()
        if answer.status_code >= 500:
            self._fail(case, f'{answer.status_code}: {answer.content[:300]!r}')
        if seen:
            self._fail(case, f'logged {seen[:2]}')
        if answer.status_code < 400:
            if case.method != 'GET':
                self._world.changed()
                self._world.before = self._world.picture()
            return
        if b'message' not in answer.content and case.method != 'HEAD':
            self._fail(case, f'{answer.status_code} without a message: {answer.content[:300]!r}')
        if case.method != 'GET' and self._world.picture() != self._world.before:
            self._fail(case, f'{answer.status_code}, but something was changed')
            self._world.before = self._world.picture()

    def _fail(self, case, what):
        if len(self.wrong) < _MOST_TOLD:
            self.wrong.append(f'{what}\n  {case.as_curl_command()}')


@pytest.fixture(scope='module', autouse=True)
def formats():
    """What the document calls a moment, a span and criteria is made as such, as a rule."""
    openapi.format('moment', MOMENTS | st.text(max_size=20))
    openapi.format('span', SPANS | st.text(max_size=8))
    openapi.format('criteria', CRITERIA | st.text(max_size=20))


@pytest.fixture
def world(conf, migrated, tmp_path):
    # No events run here, so that nothing would become of the wait.
    conf.set_override('delete_wait_seconds', 0, group='api')
    found = openapi_world.World(conf, migrated, tmp_path)
    yield found
    found.close()


@pytest.fixture
def watch():
    found = Watch()
    logging.getLogger().addHandler(found)
    yield found
    logging.getLogger().removeHandler(found)


def real(ids, case, pick):
    """Put ids of things that exist into a case, as far as `pick`, a number, says so."""
    nouns = [noun for noun in ('properties', 'os-hosts', 'servers', 'reservations', 'leases')
             if f'/{noun}/' in case.path]
    if nouns and pick % 4:
        known = ids[nouns[0]]
        case.path_parameters['id'] = known[pick // 4 % len(known)]
    if not isinstance(case.body, dict):
        return
    if 'resource_id' in case.body and pick % 4 > 1:
        case.body['resource_id'] = ids['servers'][pick // 4 % 2]
    reservations = case.body.get('reservations')
    for item in reservations if isinstance(reservations, list) else ():
        if isinstance(item, dict) and 'id' in item and pick % 4 > 1:
            # The reservations stand in the order of their leases.
            item['id'] = ids['reservations'][pick // 4 % len(ids['leases'])]


@pytest.mark.parametrize('mode', list(schemathesis.GenerationMode), ids=str)
def test_no_case_of_the_document_makes_the_service_fail_or_write_what_it_refused(
        mode, world, watch, record_property):
    schema = openapi.from_wsgi('/v1/openapi.json', world)
    operations = [each.ok() for each in schema.get_all_operations()]
    assert operations
    shares = [_SHARES.get(each.label, 1) for each in operations]
    unit = -(-CASES // len(schemathesis.GenerationMode) // sum(shares))
    trial = Trial(world, watch)
    for operation, share in zip(operations, shares, strict=True):
        tried = _try(operation, mode, unit * share, trial, world)
        assert tried >= unit * share * 0.95, f'{operation.label}: only {tried} cases'
    told = ', '.join(f'{count} of {status}' for status, count in sorted(trial.answers.items()))
    record_property('cases', told)
    print(f'{mode}: {sum(trial.answers.values())} cases with seed {SEED}: {told}')
    assert not trial.wrong, '\n'.join(trial.wrong)
    assert set(trial.answers) > {200, 400, 401, 404}


def test_the_document_names_the_plugins_that_are_tried():
    known = document.document(registry.load(PLUGINS))['components']['schemas']
    assert len(known) == 2 * len(PLUGINS)


def _try(operation, mode, most, trial, world):
    """How many cases of an operation were tried, `most` where it has as many."""
    tried = 0

    @hypothesis.seed(SEED)
    @hypothesis.settings(max_examples=most, **SETTINGS)
    @hypothesis.given(operation.as_strategy(generation_mode=mode), VERSIONS, TOKENS,
                      st.integers(0, 10 ** 6))
    def every(case, version, token, pick):
        nonlocal tried
        tried += 1
        real(world.ids, case, pick)
        trial.send(case, version, token)

    every()
    return tried
