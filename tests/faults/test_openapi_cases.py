# SPDX-License-Identifier: Apache-2.0
"""Whatever schemathesis makes of the OpenAPI document, the service has a meant answer to it.

Each case is sent in four guises: as different callers, at different versions, about different
things. CLIMATE_CASES says how many requests there are in all, CLIMATE_SEED which ones.
"""
import collections
import copy
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
_FOR_ADMINS = ('/os-hosts', '/services', '/servers')
GUISES = 4
_MOST_TOLD = 5

MOMENTS = st.sampled_from(['now', '2030-05-01 13:00', '2030-05-01T15:00:00Z', '2030-05-02 00:00',
                           '2030-05-01T14:30:00+02:00', '1999-01-01 00:00', '9999-12-31 23:59'])
SPANS = st.sampled_from(['1h', '90m', '1d12h', 'PT1H', '3600', '0', '100w'])
CRITERIA = st.sampled_from(['', '["==", "$gpu", "A100"]', '[">=", "$vcpus", "2"]',
                            '["and", ["=", "$gpu", "x"]]', '["in"]', '[[]]', '{}', '["=", "$"]'])
VERSIONS = st.sampled_from(['1.1'] * 8 + ['1.0', 'latest', None])
# Who asks, of what is for everybody, and of what is for administrators.
TOKENS = st.sampled_from([builders.DEMO] * 6 + [builders.ADMIN] * 2 + [builders.STRANGER, None])
ADMINS = st.sampled_from([builders.ADMIN] * 8 + [builders.DEMO, None])


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
        headers = {'X-Auth-Token': token} if token else {}
        if version:
            headers['OpenStack-API-Version'] = f'reservation {version}'
        self._watch.taken()
        try:
            answer = case.call(headers=headers)
        except Exception as error:  # noqa: BLE001
            # Whatever passes the doors is what is looked for.
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
                self._world.accepted()
            return
        if b'message' not in answer.content and case.method != 'HEAD':
            self._fail(case, f'{answer.status_code} without a message: {answer.content[:300]!r}')
        if self._world.is_changed():
            self._fail(case, f'{answer.status_code}, but something was changed')
            self._world.remember()

    def _fail(self, case, what):
        if len(self.wrong) < _MOST_TOLD:
            self.wrong.append(f'{what}\n  {case.as_curl_command()}')


@pytest.fixture(scope='module', autouse=True)
def formats():
    """What the document calls a moment, a span and criteria is made as such, as a rule."""
    openapi.format('moment', MOMENTS | MOMENTS | st.text(max_size=20))
    openapi.format('span', SPANS | st.text(max_size=8))
    openapi.format('criteria', CRITERIA | CRITERIA | st.text(max_size=20))


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
    if nouns and pick % 4 != 3:
        known = ids[nouns[0]]
        case.path_parameters['id'] = known[pick // 4 % len(known)]
    if isinstance(case.body, dict) and 'resource_id' in case.body and pick % 4 < 2:
        case.body['resource_id'] = ids['servers'][pick // 4 % 2]
    for item in _reservations(case):
        if 'id' in item and pick % 4 < 2:
            # The lease of the same place, most of the time.
            item['id'] = ids['reservations'][pick // 4 % len(ids['leases'])]


def with_reservations(document):
    """The document in which each lease has one reservation or two.

    Most leases that are made from the document have none, so that there is little to them.
    """
    found = copy.deepcopy(document)
    for path, method in (('/leases', 'post'), ('/leases/{id}', 'put')):
        schema = found['paths'][path][method]['requestBody']['content'][
            'application/json']['schema']
        schema['required'] = [*schema.get('required', ()), 'reservations']
        schema['properties']['reservations'].update({'minItems': 1, 'maxItems': 2})
    return found


def mended(case):
    """The case of a lease without what is wrong with most of them; None where it is of no lease.

    So what is wrong with it is not all in what is looked at first: its name and its span of time
    are fine, it has one reservation, and wishes for a little only.
    """
    if not case.operation.label.endswith((' /leases', ' /leases/{id}')) or not _reservations(case):
        return None
    wish = {name: value % 3 + 1 if type(value) is int else value
            for name, value in _reservations(case)[0].items()}
    if 'flavor_id' in wish:
        wish['flavor_id'] = '2'
    return case.operation.Case(
        path_parameters=dict(case.path_parameters), media_type='application/json',
        body={'reservations': [wish], 'name': 'mended', 'duration': '1h'})


def _reservations(case):
    found = case.body.get('reservations') if isinstance(case.body, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


@pytest.mark.parametrize('mode', list(schemathesis.GenerationMode), ids=str)
def test_no_case_of_the_document_makes_the_service_fail_or_write_what_it_refused(
        mode, world, watch, record_property):
    schema = openapi.from_wsgi('/v1/openapi.json', world)
    if mode is schemathesis.GenerationMode.POSITIVE:
        schema = openapi.from_dict(with_reservations(schema.raw_schema))
        schema.app = world
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
    before = sum(trial.answers.values())
    who = ADMINS if operation.path.startswith(_FOR_ADMINS) else TOKENS

    @hypothesis.seed(SEED)
    @hypothesis.settings(max_examples=-(-most // GUISES), **SETTINGS)
    @hypothesis.given(operation.as_strategy(generation_mode=mode), st.lists(
        st.tuples(VERSIONS, who, st.integers(0, 63)), min_size=GUISES, max_size=GUISES))
    def every(case, guises):
        for number, (version, token, pick) in enumerate(guises):
            sent = case if number < GUISES // 2 else mended(case) or case
            real(world.ids, sent, pick)
            trial.send(sent, version, token)

    every()
    return sum(trial.answers.values()) - before
