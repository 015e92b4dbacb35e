# SPDX-License-Identifier: Apache-2.0
"""The tables of all lists fit the terminal, with the service itself behind them."""
import importlib.metadata
import json
import re

import pytest
from support import billing_cases as cases
from support import builders
from support import thinning
from unit.client import canned

from climate.client import commands
from climate.client.commands import base
from climate.cloud.simulated import neutron
from climate.db import deliveries
from climate.db import managers
from climate.domain import audit

WIDTHS = (80, 120)
LONG_NAME = 'render-farm-of-the-second-team'
NOVA = canned.NOVA
USER = '5e4d3c2b1a0f49e8b7c6d5e4f3a2b1c0'
PROJECT = '0f1e2d3c4b5a69788796a5b4c3d2e1f0'
TOKEN = f'{USER}:{PROJECT}:admin,member,reader'
ENVIRON = {'OS_AUTH_TYPE': 'admin_token', 'OS_ENDPOINT': canned.URL, 'OS_TOKEN': TOKEN,
           'OS_COMPUTE_ENDPOINT_OVERRIDE': f'{NOVA}/'}


@pytest.fixture
def clock():
    """The clock of the service, not that of the client."""
    return builders.Clock()


@pytest.fixture
def service(api, requests_mock, run):
    """callable(words): the outcome of a command whose requests reach the service."""
    def answer(request, context):
        found = api.call(request.method, f'/v1{request.url.partition("/v1")[2]}', raw=(
            (request.text or '').encode()), token=TOKEN, headers={
                name: value for name, value in request.headers.items()
                if name.lower() in ('openstack-api-version', 'idempotency-key')})
        context.status_code = found.status_int
        context.headers = dict(found.headers)
        return found.body
    for method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE'):
        requests_mock.register_uri(method, re.compile(re.escape(canned.URL)), content=answer)
    return lambda *words, width=None: run(*words, environ=ENVIRON, width=width)


@pytest.fixture
def house(service, manager, clock, requests_mock, database):
    """A service with hosts, leases, servers, offers and managers, all with long names."""
    clock.advance(builders.seconds(5))
    manager.cloud.add_host(LONG_NAME)
    for name in ('compute-1', 'compute-2', LONG_NAME):
        assert service('host', 'create', name, '--property', 'gpu=A100',
                       '--property', 'interconnect=infiniband-hdr200').code == 0
    server = manager.cloud.boot(PROJECT, LONG_NAME, host='compute-3', flavor='1')
    requests_mock.get(f'{NOVA}/servers/{server.id}', json={'server': {
        'id': server.id, 'name': LONG_NAME}})
    requests_mock.get(f'{NOVA}/servers/detail', json={'servers': [{
        'id': server.id, 'name': LONG_NAME, 'status': 'ACTIVE'}]})
    for words in (
            ('lease', 'create', LONG_NAME, '--hosts', '1', '--duration', '1h'),
            ('lease', 'create', 'waits', '--hosts', '3', '--duration', '36h', '--acquire', 'wait'),
            ('lease', 'create', 'later', '--hosts', '1', '--start', '2031-10-10 10:10:10',
             '--duration', '400d'),
            ('lease', 'share', LONG_NAME, '--project', 'demo', '--as', 'user'),
            ('lease', 'transfer', 'offer', 'later', '--to', LONG_NAME),
            ('lease', 'sub-lease', LONG_NAME, '--project', LONG_NAME, '--hosts', '1', '--start',
             '+30m'),
            ('series', 'create', f'{LONG_NAME}-2', '--hosts', '1', '--start', '2030-06-03 09:00',
             '--duration', '8h', '--repeat', 'every 2 weeks on monday and thursday for 4 times',
             '--time-zone', 'America/Argentina/Buenos_Aires'),
            ('server', 'lease', server.id, '--duration', '1000d'),
            ('notification', 'subscribe', '--webhook', f'https://example.org/{LONG_NAME * 4}',
             '--project', '--name', LONG_NAME),
            ('availability', '--hosts', '1', '--duration', '1h', '--hold', '2')):
        outcome = service(*words)
        assert outcome.code == 0, (words, outcome.err)
    for words in (('address', 'create', '172.24.4.210-172.24.4.211', '--field',
                   f'network_id={neutron.PUBLIC}'),
                  ('backend', 'create', 'storage@ssd#ssd'),
                  ('segment', 'create', 'physnet1:vlan:3000-3001')):
        outcome = service(*words)
        assert outcome.code == 0, (words, outcome.err)
    manager.run()
    with database.writer() as connection:
        managers.seen(connection, f'{LONG_NAME}.example.org:4711:0123456789abcdef', LONG_NAME,
                      clock(), clock(), 3)
    assert service('lease', 'set', LONG_NAME, '--end', '+3h').code == 0
    planned = service('maintenance', 'create', '--require', 'vcpus>=1', '--start', '+3000d',
                      '--end', '+3001d', '--reason', 'new firmware of the controllers')
    assert planned.code == 0, planned.err
    assert service('lease', 'set', 'waits', '--name', 'still-waits').code == 0
    manager.run()
    manager.client.create_limit_book(builders.an_admin(), None, {
        'limits': [{'name': LONG_NAME, 'measure': 'resource_hours', 'most': '123456789.123',
                    'unit': 'vcpus', 'window': '90d12h30m', 'resource_type': 'physical:host',
                    'criteria': '["==", "$interconnect", "infiniband-hdr200"]'}],
        'extensions': [{'name': 'last-days-of-long-leases', 'within': '2d', 'most': '7d',
                        'times': 3, 'total': '30d'}]})
    return service


LISTS = {
    'address list': (),
    'allocation list': (), 'availability': ('--hosts', '1-2', '--duration', '1h'),
    'backend list': (), 'calendar': (),
    'energy': (), 'host list': (), 'lease explain': (LONG_NAME,), 'lease list': (),
    'lease shares': (LONG_NAME,), 'lease sub-leases': (LONG_NAME,),
    'lease transfer list': ('later',), 'limit list': (),
    'maintenance list': (),
    'notification list': (), 'offer list': (),
    'plan forecast': (), 'plan what-if': ('--demand-factor', '10'),
    'property list': ('--detail', '--all'), 'property show': ('vcpus',),
    'resource list': ('--pool', 'host'),
    'segment list': (), 'series list': (),
    'server list': (), 'service list': (),
    'usage': ('--by', 'project', '--by', 'pool', '--sparkline', '--all-projects'),
    'utilisation': ()}


@pytest.mark.parametrize('width', thinning.few(WIDTHS, 1))
def test_every_list_fits(house, width):
    for name, words in [*LISTS.items(), ('lease explain', ('still-waits',)),
                        ('property list', ('--facts',)),
                        ('availability', ('--hosts', '1', '--duration', '1h', '--hold', '1'))]:
        outcome = house(*name.split(), *words, width=width)
        assert outcome.code == 0, (name, outcome.err)
        lines = outcome.out.splitlines()
        assert len(lines) > 4, f'{name} is empty:\n{outcome.out}'
        assert max(map(len, lines)) <= width, f'{name} is too wide:\n{outcome.out}'
        # It has too many figures for a narrow terminal.
        assert name == 'utilisation' or 'Left out' not in outcome.out, outcome.out


def test_findings_of_an_audit_fit(house, database, clock):
    finding = audit.AuditFinding('foreign server', f'server {LONG_NAME} ({USER})', (
        f'it runs on {LONG_NAME}, which is leased by {PROJECT}. ' * 3), 'notify its user ' * 9)
    with database.writer() as connection:
        managers.write_audit(
            connection, audit.Result(clock(), f'{LONG_NAME}:12345', 2, (finding,) * 2))
    for width in WIDTHS:
        outcome = house('audit', 'list', width=width)
        assert outcome.code == 0, outcome.err
        assert len(outcome.out.splitlines()) > 6, outcome.out
        assert max(map(len, outcome.out.splitlines())) <= width, outcome.out


def test_the_log_of_a_subscription_fits(house, database, clock):
    reason = f'{LONG_NAME} cannot be reached. ' * 4
    [found] = house('notification', 'list', '-f', 'json').json
    assert house('notification', 'test', found['id']).code == 0
    with database.writer() as connection:
        deliveries.give_up_all(connection, found['id'], clock(), reason)
    for width in WIDTHS:
        outcome = house('notification', 'log', found['id'][:8], width=width)
        assert 'given_up' in outcome.out
        assert max(map(len, outcome.out.splitlines())) <= width, outcome.out
    [entry] = house('notification', 'log', found['id'], '-f', 'json').json
    assert entry['reason'] == reason
    assert entry['lease_id'] is None


BILLED = {
    'limit-book list': (), 'price-book list': (), 'statement list': ('--all-projects',),
    'statement show': ('2030-05',)}


@pytest.mark.proof
def test_every_list_about_prices_fits(house, manager, tmp_path):
    book = {**cases.BOOK, 'description': 'the prices of the second team ' * 8,
            'rates': [{'rate': '12345.678901'}], 'early_end': {'credit_percent': '33.33'}}
    path = tmp_path / 'book.yaml'
    path.write_text(json.dumps(book))
    for words in ((), ('--require', 'gpu=A100')):
        assert house('lease', 'create', f'{LONG_NAME}{len(words)}', '--hosts', '1', '--start',
                     '+100h', '--duration', '9h', *words).code == 0
    outcome = house('price-book', 'create', '--file', str(path), width=80)
    assert outcome.code == 0, outcome.err
    assert max(map(len, outcome.out.splitlines())) <= 80, outcome.out
    path.write_text(json.dumps({'limits': [], 'valid_from': '+1h',
                                'description': 'the rules of the team ' * 8}))
    assert house('limit-book', 'create', str(path)).code == 0
    manager.run_until(manager.clock() + builders.hours(103))
    assert house('lease', 'set', f'{LONG_NAME}0', '--end', 'now').code == 0
    manager.run_until(manager.clock() + builders.hours(9))
    assert cases.bill(manager) > 8
    for name, words in BILLED.items():
        for width in WIDTHS:
            outcome = house(*name.split(), *words, width=width)
            assert outcome.code == 0, (name, outcome.err)
            lines = outcome.out.splitlines()
            assert len(lines) > 4, f'{name} is empty:\n{outcome.out}'
            assert max(map(len, lines)) <= width, f'{name} is too wide:\n{outcome.out}'
    full = house('statement', 'show', '2030-05', '--long').out
    assert 'resource_type' in full
    assert house('price-book', 'list', '-f', 'json').json[0]['description'] == book['description']


@pytest.mark.proof
@pytest.mark.parametrize('width', thinning.few(WIDTHS, 1))
def test_one_object_fits(house, width):
    lease = house('lease', 'create', 'with-criteria', '--start', '+30h', '--duration', '1h',
                  '--require', 'vcpus>=8', '--require', 'gpu=A100', '--require',
                  'interconnect=infiniband-hdr200', '--hosts', '1-2', width=width)
    for outcome in (lease, *(house(*words, width=width) for words in (
            ('lease', 'show', LONG_NAME), ('lease', 'show', 'still-waits'),
            ('host', 'show', LONG_NAME),
            ('host', 'set', LONG_NAME, '--property', f'rack={"r1 " * 60}')))):
        assert outcome.code == 0, outcome.err
        assert max(map(len, outcome.out.splitlines())) <= width, outcome.out


@pytest.mark.proof
def test_a_pipe_gets_all_values_in_full(house):
    outcome = house('host', 'set', LONG_NAME, '--property', f'rack={"r1 " * 60}')
    assert f'{"r1 " * 60}'.strip() in outcome.out
    [lease] = house('lease', 'list', '--name', LONG_NAME, '-f', 'json').json
    assert lease['id'] in house('lease', 'list').out


@pytest.mark.proof
def test_the_first_letters_of_an_id_are_enough(house):
    for noun in ('lease', 'offer', 'maintenance', 'notification'):
        found = house(noun, 'list', '-f', 'json').json[0]['id']
        shown = house(noun, 'show', found[:8], '-f', 'json')
        assert shown.code == 0, shown.err
        assert shown.json['id'] == found
    table = house('lease', 'list', width=80).out
    assert f'| {house("lease", "show", LONG_NAME, "-f", "json").json["id"][:8]} |' in table


@pytest.mark.proof
def test_a_width_that_was_asked_for_counts(house):
    shown = house('lease', 'show', LONG_NAME, '--max-width', '80').out
    assert max(map(len, shown.splitlines())) <= 80, shown


def test_no_list_is_forgotten():
    loaded = {name: importlib.metadata.EntryPoint(name, target, 'climate.cli').load()
              for name, target in commands.TABLE.items()}
    assert {name for name, each in loaded.items() if issubclass(each, base.Lister)} == {
        # The last two have tests of their own.
        *LISTS, *BILLED, 'audit list', 'notification log'}


@pytest.mark.proof
def test_programs_and_those_who_name_columns_get_every_field(house):
    [lease] = [each for each in house('lease', 'list', '-f', 'json').json
               if each['name'] == LONG_NAME]
    assert set(lease) == {'id', 'name', 'status', 'start', 'end'}
    listed = house('lease', 'list', '-c', 'name', '-c', 'remaining', '-c', 'project_id')
    assert PROJECT in listed.out and 'starts in' in listed.out, listed.out
    assert '2030-05-01 15:00' in house('lease', 'list', '-c', 'end').out
    assert LONG_NAME in house('server', 'list', '-c', 'lease_name').out
    assert 'snapshot' in house('server', 'list', '-c', 'on_end').out
    assert 'infiniband' in house('host', 'list', '-c', 'interconnect').out
    assert 'vcpus' not in house('host', 'list', '-c', 'hypervisor_hostname').out
    assert 'physical:host' in house('offer', 'list', '--long').out
    assert '0123456789abcdef' in house('service', 'list', '--long').out
