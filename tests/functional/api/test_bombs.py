# SPDX-License-Identifier: Apache-2.0
"""Every value of every field of a body costs less than a second and 50 MiB, without a 500.

The fields are those of the OpenAPI document, so that a new field is tested without a change here.
"""
import itertools
import json
import resource
import time

import pytest
from support import builders

from climate.api import openapi
from climate.api import reservation_schemas
from climate.api import schemas

_SECONDS = 1.0
_KIB = 50 * 1024

_MERGED = 'a0: &a0 {k: v}\n' + ''.join(
    f'a{level}: &a{level} {{<<: [{", ".join([f"*a{level - 1}"] * 10)}]}}\n'
    for level in range(1, 8))
_LAUGHS = 'a0: &a0 [x, x]\n' + ''.join(
    f'a{level}: &a{level} [{", ".join([f"*a{level - 1}"] * 10)}]\n' for level in range(1, 9))
SMALL = (
    _MERGED, 'resource_registry:\n  a: &a {"b": c}\n  d: {<<: *a}', _LAUGHS, 'a: &a [*a]',
    'a: &a {b: *a}', '!!merge x: {}', '? [a]\n: b', '[' * 20000, '{a: ' * 3000, '- ' * 5000,
    '!!python/object/apply:os.system ["true"]', 'a: 2001-99-99', 'a: ' + '1:' * 300 + '1',
    'a: ' + '9' * 5000, '--- a\n--- b', '&a ' * 100, '*a', '\t', '%YAML 9.9\n---', '"\\ud800"',
    '["and", ' * 2000, '["not", ' * 17 + '1' + ']' * 17, '{"a": ' * 20000, '"' * 3,
    '["==", "$' + 'capabilities:' * 400 + 'x", 1]', '["in", "$x", ["a"]]', 'a' * 64 + '!',
    'FREQ=SECONDLY;COUNT=999999999', 'FREQ=DAILY;INTERVAL=999999999999', 'FREQ=YEARLY;BYDAY=' + (
        'MO,' * 100), '(a+)+$', '1e999999999', '-1', '9' * 400, '0' * 400, '1h' * 40, 'P' * 40,
    '\u202e\u0301' * 30, '\ufdfa' * 60, '٣' * 20, '𝟗' * 20, '\x00', '\ud800', 'İ' * 80,
    '9998-12-31 23:59', '0001-01-01 00:00', '2030-05-01T13:00:00+23:59', '%s%n{0}',
    0, -1, 2 ** 31, 2 ** 63, 10 ** 40, -10 ** 40, 10 ** 4000, 1e308, -1e308, 1e-320, True, None,
    [], {}, [[]], [None], {'': None}, {'a': {}},
)
LARGE = (
    'a' * 900_000, 'a.' * 450_000, 'a.a' * 300_000, ' ' * 900_000, '0' * 900_000, '1h' * 450_000,
    '-' * 900_000, '\u0301' * 150_000, 'a: b\n' * 180_000, '- a\n' * 200_000, '- [' * 300_000,
    '"' * 450_000, '[1, ' * 200_000, '[{},' * 200_000, 'a,' * 450_000,
    [{}] * 250_000, [{}] * 49_000, [1] * 49_000, ['a', {}] * 24_000, [[]] * 49_000,
    [str(number) for number in range(45_000)], {str(number): '' for number in range(30_000)},
    {str(number): [] for number in range(30_000)}, {'resource_registry': {
        f'a{number}*': f'a{number + 1}*' for number in range(20_000)}},
)


@pytest.fixture
def bombed(api, manager):
    """A function that sends a case (Place, path, bomb); it returns the status."""
    peak = [0]

    def send(place, path, bomb):
        body = json.dumps(_filled(place.schema, path, bomb, place.base)).encode()
        peak[0] = peak[0] or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        answer = api.call(place.method, place.path, raw=body, token=builders.ADMIN,
                          version=place.version)
        spent = time.process_time() - begun
        before, peak[0] = peak[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        told = f'{place.method} {place.path} {path} {str(bomb)[:60]!r}: {answer.status} '
        assert answer.status_int < 500, told + answer.text[:300]
        assert spent < _SECONDS, f'{told} {spent:.1f} s'
        assert peak[0] - before < _KIB, f'{told} {peak[0] - before} KiB'
        # An accepted object must not conflict with the next ones.
        if answer.status_int < 300 and place.undo is not None:
            place.undo(answer.json)
        return answer.status_int

    return send


class Place:
    """An operation with a body.

    :ivar base: the fields of a body that is accepted.
    """

    def __init__(self, method, path, schema, base, version='1.1', undo=None):
        self.method, self.path, self.schema = method, path, schema
        self.base, self.version, self.undo = base, version, undo


@pytest.fixture
def places(api, manager, conf):
    """All operations with a body, on objects that exist."""
    manager.enrol(3)
    plugins = builders.manager_plugins(conf)
    document = openapi.document(plugins)
    components = reservation_schemas.components(plugins)
    lease = api.post('/v1/leases', builders.a_body(), token=builders.ADMIN).json['lease']
    subscription = api.post('/v1/subscriptions', {'transport': 'calendar'}, version='1.1',
                            token=builders.ADMIN).json['subscription']
    ids = {'/leases/': lease['id'], '/subscriptions/': subscription['id'],
           '/reservations/': lease['reservations'][0]['id'], '/properties/': 'vcpus',
           '/resources/': '1', '/os-hosts/': '1'}
    found = list(_leases(api, plugins, components, lease))
    for path, operations in document['paths'].items():
        for method in ('post', 'put', 'patch'):
            content = operations.get(method, {}).get('requestBody')
            if content is not None and path not in ('/leases', '/leases/{id}'):
                known = next((value for name, value in reversed(ids.items()) if name in path), '1')
                schema = content['content']['application/json']['schema']
                found.append(Place(method.upper(), '/v1' + path.replace('{id}', known), schema,
                                   _example(schema)))
    return found


def _leases(api, plugins, components, lease):
    """Return the Places of leases: one for each type and version, new and changed."""
    def undo(answer):
        if 'lease' in answer:
            api.delete(f'/v1/leases/{answer["lease"]["id"]}', token=builders.ADMIN)
    for number, version in enumerate(('1.0', '1.1')):
        for resource_type in plugins:
            schema = components[reservation_schemas.new(resource_type)]
            base = {'name': 'x', **dict(zip(
                (('start_date', 'end_date') if number == 0 else ('start', 'end')),
                ('now', '2030-05-01 13:00'), strict=True)),
                'reservations': [schema['examples'][0]]}
            whole = schemas.LEASE_CREATE[number]
            whole = {**whole, 'properties': {
                **whole['properties'], 'reservations': {'type': 'array', 'items': schema}}}
            yield Place('POST', '/v1/leases', whole, base, version, undo)
            schema = components[reservation_schemas.changed(resource_type)]
            whole = schemas.LEASE_UPDATE[number]
            whole = {**whole, 'properties': {
                **whole['properties'], 'reservations': {'type': 'array', 'items': schema}}}
            yield Place('PUT', f'/v1/leases/{lease["id"]}', whole, {
                'reservations': [{'id': lease['reservations'][0]['id']}]}, version)


def _example(schema):
    """Return a value that a schema accepts, with its required fields only."""
    if 'enum' in schema or 'const' in schema:
        return schema.get('const', schema.get('enum', [None])[0])
    kind = schema.get('type')
    if isinstance(kind, list):
        kind = kind[0]
    if kind == 'object':
        return {name: _example(schema['properties'][name]) for name in schema.get('required', ())}
    if kind == 'array':
        return [_example(schema.get('items', {}))] * schema.get('minItems', 0)
    if kind in ('integer', 'number'):
        return schema.get('minimum', 1)
    if kind == 'boolean':
        return True
    return {'moment': '+1h', 'span': '1h', 'currency': 'EUR', 'decimal': '1',
            'time of day': '08:00'}.get(schema.get('format'), 'x' * schema.get('minLength', 1))


def _fields(schema):
    """Yield the path of each value in bodies of a schema."""
    for name, inner in schema.get('properties', {}).items():
        yield (name,)
        yield from ((name, *path) for path in _fields(inner))
    if isinstance(schema.get('items'), dict):
        yield (0,)
        yield from ((0, *path) for path in _fields(schema['items']))
    if isinstance(schema.get('additionalProperties'), dict):
        yield ('x',)


def _filled(schema, path, bomb, base):
    """Return `base` with a bomb at a path; objects around it get their required fields."""
    if not path:
        return bomb
    if path[0] == 0:
        items = base if isinstance(base, list) else []
        first = items[0] if items else _example(schema['items'])
        return [_filled(schema['items'], path[1:], bomb, first), *items[1:]]
    inner = schema.get('properties', {}).get(path[0], schema.get('additionalProperties', {}))
    around = base if isinstance(base, dict) else _example(schema)
    around = around if isinstance(around, dict) else {}
    return {**around, path[0]: _filled(inner, path[1:], bomb, around.get(path[0]))}


def _cases(places):
    """Return pairs (Place, path of a field); types, pools and versions share fields."""
    return list({(place.method, place.path.split('/')[2], *path): (place, path)
                 for place in places for path in _fields(place.schema)}.values())


def test_a_small_bomb_in_any_field_is_answered_at_once(bombed, places):
    cases = _cases(places)
    assert len(cases) > 200
    for (place, path), bomb in zip(cases[::3], itertools.cycle(SMALL)):
        bombed(place, path, bomb)


def test_a_bomb_in_a_text_of_a_stack_is_refused_by_name(api):
    for field, bomb in itertools.product(('environment', 'template'), SMALL[:24]):
        begun = time.process_time()
        answer = api.post('/v1/leases', {'name': 'x', 'duration': '1h', 'reservations': [{
            'resource_type': 'virtual:stack', 'template': {
                'heat_template_version': '2021-04-16', 'resources': {}}, field: bomb}]},
            version='1.1')
        assert time.process_time() - begun < _SECONDS
        if answer.status_int != 201:
            assert answer.status_int == 400
            assert field in answer.json['error_message']


@pytest.mark.proof
def test_bombs_in_turn_in_any_field_are_answered_in_bounded_time_and_memory(bombed, places):
    # The first large body raises the peak by what its own text needs.
    bombed(places[0], ('name',), 'x' * 1_000_000)
    large, small = itertools.cycle(LARGE), itertools.cycle(SMALL)
    for place, path in _cases(places):
        for bomb in (*itertools.islice(large, 2), *itertools.islice(small, 5)):
            bombed(place, path, bomb)
