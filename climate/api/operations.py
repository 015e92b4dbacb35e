# SPDX-License-Identifier: Apache-2.0
"""Building blocks of the operations in the OpenAPI document."""
from climate.api import microversion

_VERSION = {'name': 'OpenStack-API-Version', 'in': 'header', 'schema': {
    'type': 'string', 'enum': [f'{microversion.SERVICE_TYPE} {version}' for version in (
        microversion.MAXIMUM, microversion.MINIMUM, 'latest')]}}
_ERROR = {'description': 'An error; error_message describes it.', 'content': {'application/json': {
    'schema': {'type': 'object', 'required': ['error_message'],
               'properties': {'error_message': {'type': 'string'}}}}}}


def in_path(**schema):
    """Make the parameter {id} of a path."""
    return {'name': 'id', 'in': 'path', 'required': True, 'schema': {
        'type': 'string', 'minLength': 1, **schema}}


def operation(summary, schema=None, status=200, query=(), later=False):
    """Make an operation.

    :param later: whether the response may be a 202, which is sent before the work is done.
    """
    operation = {'summary': summary, 'parameters': [_VERSION, *query],
                 'responses': {str(status): {'description': 'Done.'}, 'default': _ERROR}}
    if later:
        operation['responses']['202'] = {'description': 'Accepted; the work continues after this '
                                                        'response.'}
    if schema is not None:
        operation['requestBody'] = {'required': True,
                                    'content': {'application/json': {'schema': schema}}}
    return operation


def query(name, kind='string', **schema):
    """Make a parameter of the query."""
    return {'name': name, 'in': 'query', 'schema': {'type': kind, **schema}}


def query_of(schema):
    """Make the parameters of a query from the JSON schema that checks it."""
    return [{'name': name, 'in': 'query', 'schema': field}
            for name, field in schema['properties'].items()]


def flag(name):
    """Make a boolean parameter of the query."""
    return query(name, 'boolean')


def paging():
    """Make the parameters of a list that is served in pages."""
    return [query('limit', 'integer', minimum=1), query('marker')]


ID = in_path(maxLength=36)
IF_MATCH = {'name': 'If-Match', 'in': 'header', 'schema': {'type': 'string'}}
#: The project that would use a reservation.
PROJECT = {**query('project_id'), 'required': True}
SPAN = [query('start', format='moment'), query('end', format='moment')]
