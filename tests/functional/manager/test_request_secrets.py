# SPDX-License-Identifier: Apache-2.0
"""A secret in each field that a plugin calls secret is found nowhere but where a start needs it."""
import itertools
import json
import logging
import time
import traceback

from oslo_db import exception as db_exc
import pytest
import sqlalchemy as sa
from support import builders
from support import recorded_wire

from climate import errors
from climate import yaml_text
from climate.db import tables
from climate.domain import lifecycle
from climate.manager import request_secrets
from climate.plugins import base
from climate.plugins import dummy
from climate.rpc import client

NOON, hours = builders.NOON, builders.hours
_LOGGERS = ('keystoneauth', 'oslo_messaging', 'sqlalchemy', 'sqlalchemy.engine', 'urllib3')


class VaultPlugin(base.ResourcePlugin):
    """A type of somebody else, whose secrets have names of their own."""

    resource_type = 'test:vault'
    secret_fields = frozenset({'user_data', 'keys'})
    schema = {'type': 'object', 'additionalProperties': False, 'properties': {
        'user_data': {'type': 'string'}, 'keys': {'type': 'array'}, 'size': {'type': 'integer'}}}
    example = {'size': 1}
    troubles = []
    started_with = []

    def needs(self, request):
        assert self.secret_fields.isdisjoint(request)
        return []

    def start(self, cloud, lease, reservation, resources):
        assert self.secret_fields.isdisjoint(reservation.request)
        whole = cloud.whole_request(reservation)
        if self.troubles:
            raise errors.CloudError(service='The vault', reason=f'{whole} is refused, '
                                    f'{self.troubles.pop()}.')
        self.started_with.append(whole)
        return {'vault': 1}

    def end(self, cloud, lease, reservation, resources):
        """Do nothing, because `start` made nothing."""


_STACK = {
    'parameters': {'password': 'canary-1'}, 'environment': {'parameters': {'other': 'canary-2'}},
    'files': {'a.sh': 'echo canary-3'}, 'template': {
        'heat_template_version': '2021-04-16', 'description': 'canary-4', 'parameters': {
            'password': {'type': 'string'}, 'other': {'type': 'string', 'default': 'canary-5'}},
        'resources': {'word': {'type': 'OS::Heat::RandomString'}}}}
#: For each type with secret fields, a request with a secret in each of them.
CASES = {'virtual:stack': _STACK,
         'test:vault': {'user_data': 'canary-6', 'keys': ['canary-7', {'a': 'canary-8'}],
                        'size': 1}}


class Scene:
    """A manager with the types of CASES, and all that can be read of it."""

    def __init__(self, conf, manager):
        classes = {**builders.manager_plugins(conf), 'test:vault': VaultPlugin}
        self.manager = builders.Manager(conf, manager.database, manager.clock,
                                        cloud=manager.cloud, classes=classes)
        self.bus = recorded_wire.RecordedWire(self.manager)
        self.api, self.disabled = (
            builders.Api(conf, self.manager, plugins=some, client=client.ManagerClient(self.bus))
            for some in (classes, {'virtual:dummy': dummy.DummyPlugin}))
        self.read = []

    def call(self, method, path, *body, **more):
        """Make a request; keep the answer, and return its JSON."""
        answer = self.api.call(method, path, *body, version='1.1', **more)
        assert answer.status_int < 300, answer.text
        self.read.append(answer.text)
        return answer.json

    def look(self):
        """Read all that a user and an administrator can read, with all types and without."""
        for api in (self.api, self.disabled):
            for version in ('1.0', '1.1'):
                for token in (builders.DEMO, builders.ADMIN):
                    leases = api.get('/v1/leases', version=version, token=token)
                    assert leases.status_int == 200
                    self.read += [leases.text, *(
                        api.get(f'/v1/leases/{each["id"]}{more}', version=version,
                                token=token).text
                        for each in leases.json['leases'] for more in ('', '/history'))]
            self.read.append(api.get('/v1/offers', version='1.1').text)

    def tables(self):
        """Return {column: its text} of all tables."""
        with self.manager.database.reader() as connection:
            return {str(column): json.dumps(
                [str(dict(value) if isinstance(value, dict) else value)
                 for value in connection.execute(sa.select(column)).scalars()])
                for table in tables.METADATA.sorted_tables for column in table.columns}


@pytest.fixture
def scene(conf, manager):
    VaultPlugin.troubles, VaultPlugin.started_with = [], []
    return Scene(conf, manager)


@pytest.fixture
def logs(caplog):
    """All that any library logs, on the lowest level."""
    caplog.set_level(logging.DEBUG)
    for name in _LOGGERS:
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog


def found_in(texts):
    return [text[max(text.index('canary') - 200, 0):][:400] for text in texts if 'canary' in text]


def test_each_type_with_secret_fields_has_a_case_with_a_secret_in_each(scene):
    secret = {name: plugin.secret_fields
              for name, plugin in scene.manager.core.registry.plugins.items()
              if plugin.secret_fields}
    assert secret == {name: frozenset(request) & secret[name] for name, request in CASES.items()}


@pytest.mark.parametrize('resource_type', CASES)
def test_no_answer_log_notification_or_table_has_a_secret_and_the_start_deletes_it(
        scene, logs, resource_type):
    body = {'name': 'a', 'start': '+1h', 'duration': '1h', 'reservations': [
        {'resource_type': resource_type, **CASES[resource_type]}]}
    scene.call('POST', '/v1/leases?dry_run=true', body)
    scene.call('POST', '/v1/availability', {'reservations': body['reservations'],
                                            'duration': '1h', 'hold': 1})
    lease = scene.call('POST', '/v1/leases', body)['lease']
    scene.call('PUT', f'/v1/leases/{lease["id"]}', {'name': 'b', 'end': '2030-05-01T14:30:00Z'})
    scene.look()
    held = scene.tables()
    assert {name for name, text in held.items() if 'canary' in text} == {
        'reservations.secrets', 'offers.secrets'}
    told = ' and '.join(sorted({'canary-1', 'canary-5'}))
    scene.manager.cloud.fail('heat.create', 1, errors.CloudError(service='Heat', reason=told))
    VaultPlugin.troubles.append('so far')
    scene.manager.run_until(NOON + hours(1))
    assert 'is refused' in logs.text or 'Heat' in logs.text
    scene.look()
    scene.manager.run_until(NOON + builders.minutes(80))
    scene.manager.expire()
    assert scene.manager.client.get_lease(
        builders.a_member(), lease['id']).state == lifecycle.ACTIVE
    scene.look()
    held = scene.tables()
    assert [name for name, text in held.items() if 'canary' in text] == []
    logged = [f'{each.getMessage()} {each.args!r} {each.exc_text}' for each in logs.records]
    assert any('[SQL parameters hidden' in each for each in logged)
    assert found_in([*scene.bus.answers, *scene.read, *logged]) == []


_TEMPLATE = 'parameters: {a: {type: string, default: canary-1}, b: &x {default: "canary 2"}, %s}'


@pytest.mark.parametrize(('secrets', 'told'), [
    ({'parameters': {'key': 'canary\none  two'}}, ['canary one two', r'canary\none  two']),
    ({'parameters': {'a': 'canary\'"ä\\'}},
     [repr({'a': 'canary\'"ä\\'}), json.dumps(['canary\'"ä\\']), ascii('canary\'"ä\\')]),
    ({'parameters': {'all': 'abc, canary,xyz'}}, [str(['abc', 'canary', 'xyz'])]),
    ({'files': {'a.sh': 'canary\n'}}, ["'canary\\n'"]),
    ({'template': _TEMPLATE % '"c": {<<: *x}'}, ['canary-1', 'canary 2']),
    ({'template': _TEMPLATE % 'c: {}, c: {}'}, ['canary-1', 'canary 2']),
    ({'template': _TEMPLATE % f'c: {"x" * yaml_text.LONGEST}'}, ['canary-1', 'canary 2']),
    ({'files': {'nested.yaml': _TEMPLATE % 'c: {}'}}, ['canary-1', 'canary 2'])],
    ids=['lines', 'quotes', 'items', 'file', 'merge key', 'key twice', 'long', 'nested'])
def test_a_secret_is_masked_in_each_form_in_which_heat_repeats_it(manager, secrets, told):
    plugin = manager.core.registry.plugins['virtual:stack']
    for each in told:
        # The message is cut after the secret begins.
        for message in (f'Value {each} is wrong.', 'x' * 1990 + each):
            text = request_secrets.masked(plugin, secrets, errors.CloudError.plain('Heat', message))
            assert 'cana' not in f'{text}'


@pytest.mark.parametrize('letters', ['abcdefgh', '"é', 'a" é'])
def test_a_request_of_a_hundred_thousand_secrets_is_masked_in_a_second(manager, letters):
    items = map(''.join, itertools.product(letters, repeat={8: 5, 2: 15, 4: 8}[len(letters)]))
    secrets = {'parameters': {'a': ','.join(items)}}
    secret = secrets['parameters']['a'][-20:].split(',')[-1]
    begun = time.process_time()
    text = request_secrets.masked(manager.core.registry.plugins['virtual:stack'], secrets,
                                  errors.CloudError.plain('Heat', f'{secret} is wrong.'))
    assert time.process_time() - begun < 1
    assert secret not in f'{text}'


def test_a_long_message_is_cut_also_without_secrets(manager):
    plugin = manager.core.registry.plugins['virtual:stack']
    found = request_secrets.masked(plugin, {}, errors.CloudError.plain('Heat', 'x' * 9999))
    assert len(found.owner) < 2100 and len(found.operator) < 2100


@pytest.mark.proof
def test_a_secret_of_a_stack_that_was_never_created_is_masked_at_its_end(scene):
    scene.call('POST', '/v1/leases', {'name': 'a', 'duration': '1h', 'reservations': [
        {'resource_type': 'virtual:stack', **_STACK}]})
    for method in ('create', 'find'):
        scene.manager.cloud.fail(f'heat.{method}', 1000, errors.CloudError.plain(
            'Heat', 'canary-1'))
    scene.manager.run_until(NOON + hours(2))
    scene.look()
    assert '***' in ''.join(scene.read)
    assert found_in(scene.read) == []


def test_a_start_gets_the_whole_request_and_a_lease_that_is_deleted_has_none(scene):
    request = CASES['test:vault']
    body = {'name': 'a', 'duration': '1h', 'reservations': [
        {'resource_type': 'test:vault', **request}]}
    scene.call('POST', '/v1/leases', body)
    scene.manager.run()
    assert VaultPlugin.started_with == [request]
    lease = scene.call('POST', '/v1/leases', {**body, 'start': '+1h'})['lease']
    assert 'canary' in scene.tables()['reservations.secrets']
    scene.api.delete(f'/v1/leases/{lease["id"]}', version='1.1')
    scene.manager.run()
    assert [name for name, text in scene.tables().items() if 'canary' in text] == []


def test_a_changed_secret_is_stored_and_others_stay(scene):
    lease = scene.call('POST', '/v1/leases', {
        'name': 'a', 'start': '+1h', 'duration': '1h', 'reservations': [
            {'resource_type': 'test:vault', **CASES['test:vault']}]})['lease']
    scene.call('PUT', f'/v1/leases/{lease["id"]}', {'reservations': [
        {'id': lease['reservations'][0]['id'], 'user_data': 'canary-9'}]})
    scene.manager.run_until(NOON + hours(1))
    assert VaultPlugin.started_with == [{**CASES['test:vault'], 'user_data': 'canary-9'}]


def test_a_taken_offer_brings_its_secrets_to_the_start(scene):
    made = scene.call('POST', '/v1/availability', {
        'reservations': [{'resource_type': 'test:vault', **CASES['test:vault']}],
        'duration': '1h', 'hold': 1})
    scene.call('POST', '/v1/leases', {'name': 'a', 'offer': made['offers'][0]['id']})
    assert 'canary' not in scene.tables()['offers.secrets']
    scene.manager.run()
    assert VaultPlugin.started_with == [CASES['test:vault']]


@pytest.mark.parametrize('name', ['OFFERS', 'RESERVATIONS'])
def test_an_error_of_the_database_shows_no_row(scene, name):
    # oslo.db has errors of its own for database servers.
    with (pytest.raises((sa.exc.SQLAlchemyError, db_exc.DBError)) as raised,
          scene.manager.database.engine.begin() as connection):
        connection.execute(sa.insert(getattr(tables, name)), {
            'id': 'x', 'secrets': {'a': 'a canary\n(of two lines)'}})
    shown = ''.join(traceback.format_exception(raised.value))
    assert 'INSERT INTO' in shown
    assert 'canary' not in shown and 'of two lines' not in shown
