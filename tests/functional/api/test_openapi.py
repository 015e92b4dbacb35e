# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document: anybody may read it, and it describes what the service does."""
import re

import jsonschema
import pytest
from support import builders

METHODS = {'get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'}


@pytest.fixture
def document(api):
    answer = api.get('/v1/openapi.json', token=None)
    assert answer.status_int == 200
    assert answer.content_type == 'application/json'
    return answer.json


def operations(document):
    return [(path, method, operation) for path, item in document['paths'].items()
            for method, operation in item.items() if method in METHODS]


def test_the_document_has_the_parts_that_openapi_3_1_wants(document):
    assert document['openapi'].startswith('3.1.')
    assert set(document) <= {'openapi', 'info', 'jsonSchemaDialect', 'servers', 'paths',
                             'webhooks', 'components', 'security', 'tags', 'externalDocs'}
    assert {'title', 'version'} <= set(document['info'])
    assert all(path.startswith('/') for path in document['paths'])
    for item in document['paths'].values():
        assert set(item) <= METHODS | {'summary', 'description', 'servers', 'parameters', '$ref'}
    schemes = document['components']['securitySchemes']
    assert {name for need in document['security'] for name in need} <= set(schemes)


def test_each_operation_has_answers_and_whole_parameters(document):
    for path, method, operation in operations(document):
        assert set(operation) <= {'summary', 'description', 'operationId', 'parameters',
                                  'requestBody', 'responses', 'security', 'tags', 'deprecated'}
        assert operation['responses'], (method, path)
        assert all('description' in answer and (code == 'default' or code.isdigit())
                   for code, answer in operation['responses'].items())
        given = [*document['paths'][path].get('parameters', ()), *operation['parameters']]
        assert len({(each['name'], each['in']) for each in given}) == len(given)
        assert all(each['in'] in ('path', 'query', 'header', 'cookie')
                   and ('schema' in each) != ('content' in each)
                   for each in given)
        in_path = {each['name'] for each in given if each['in'] == 'path' and each['required']}
        assert in_path == {part[1:-1] for part in path.split('/') if part.startswith('{')}


def test_each_body_has_a_schema_that_is_one(document):
    bodies = [operation['requestBody'] for _, _, operation in operations(document)
              if 'requestBody' in operation]
    # Four more for each pool that is not hosts, one for /v1/floatingips, four for /v1/networks.
    assert len(bodies) == 28 + 3 * 4 + 1 + 4
    for body in bodies:
        jsonschema.Draft202012Validator.check_schema(
            body['content']['application/json']['schema'])


def test_each_resource_type_has_a_schema_that_admits_its_example(conf, document):
    schemas = document['components']['schemas']
    for name in [each.replace(':', '.') for each in conf.plugins]:
        new, changes = schemas.pop(name), schemas.pop(f'{name}.changes')
        jsonschema.Draft202012Validator.check_schema(changes)
        [example] = new['examples']
        assert example['resource_type'] == name.replace('.', ':')
        jsonschema.Draft202012Validator(new).validate(example)
        jsonschema.Draft202012Validator(changes).validate({'id': '7', **example})
    assert not schemas


@pytest.mark.parametrize(('reservation', 'fits'), [
    ({'resource_type': 'physical:host', 'min': 1, 'max': 2}, True),
    ({'resource_type': 'physical:host', 'min': 1}, False),
    ({'resource_type': 'virtual:dummy', 'min': 1, 'max': 2}, False),
    ({'min': 1, 'max': 2}, False), ({'resource_type': 'nothing'}, False)])
def test_a_new_reservation_has_the_form_of_its_type(document, api, manager, reservation, fits):
    manager.enrol(2)
    schema = document['paths']['/leases']['post']['requestBody']['content'][
        'application/json']['schema']
    lease = {'name': 'x', 'duration': '1h', 'reservations': [reservation]}
    validator = jsonschema.Draft202012Validator({**schema, 'components': document['components']})
    assert validator.is_valid(lease) == fits
    answer = api.post('/v1/leases', lease, version='1.1')
    assert answer.status_int == (201 if fits else 400)


def test_names_of_components_are_valid_in_openapi(document):
    for part in document['components'].values():
        assert all(re.fullmatch('[a-zA-Z0-9._-]+', name) for name in part)


def test_each_operation_that_is_documented_is_served(api, document):
    for path, method, _ in operations(document):
        answer = api.call(method.upper(), '/v1' + path.replace('{id}', '7'),
                          token=builders.ADMIN)
        assert answer.status_int != 405, (method, path)
        assert 'error' not in (answer.json if answer.body else {}), (method, path)


def test_the_filters_of_the_list_of_leases_are_those_that_are_documented(api, document):
    known = {each['name'] for each in document['paths']['/leases']['get']['parameters']
             if each['in'] == 'query'}
    answer = api.get('/v1/leases?nonsense=1', version='1.1').json
    assert known == set(answer['error_message'].partition('known are ')[2][:-1].split(', '))
