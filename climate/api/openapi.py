# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document, made from the schemas that bodies are checked with."""
from climate import version
from climate.api import forms
from climate.api import microversion
from climate.api import schemas


def _in_path(**schema):
    return {'name': 'id', 'in': 'path', 'required': True, 'schema': {
        'type': 'string', 'minLength': 1, **schema}}


_ID = _in_path(maxLength=36)
_HOST_ID = _in_path(pattern='^[0-9]{1,18}$')
_PROPERTY = _in_path(maxLength=255)
_VERSION = {'name': 'OpenStack-API-Version', 'in': 'header', 'schema': {
    'type': 'string', 'enum': [f'{microversion.SERVICE_TYPE} {each}' for each in (
        microversion.MAXIMUM, microversion.MINIMUM, 'latest')]}}
_ERROR = {'description': 'What is wrong, in error_message.', 'content': {'application/json': {
    'schema': {'type': 'object', 'required': ['error_message'],
               'properties': {'error_message': {'type': 'string'}}}}}}


def document(plugins):
    """The document at the newest REST version, as a dict.

    :param plugins: {resource type: plugin class}; each adds the form of its reservations.
    """
    lease_create = forms.with_reservations(schemas.LEASE_CREATE[1], plugins, forms.new)
    lease_update = forms.with_reservations(schemas.LEASE_UPDATE[1], plugins, forms.changed)
    return {
        'openapi': '3.1.0',
        'info': {'title': 'Climate', 'version': version.text(),
                 'description': 'Reservations of OpenStack resources.'},
        'servers': [{'url': '/v1'}],
        'security': [{'token': []}],
        'paths': {
            '/leases': {
                'get': _operation('List leases', query=_lease_filters()),
                'post': _operation('Create a lease', lease_create, 201, [
                    {'name': 'Idempotency-Key', 'in': 'header', 'schema': {
                        'type': 'string', 'minLength': 1, 'maxLength': 255}},
                    _flag('dry_run')], later=True),
            },
            '/leases/{id}': {
                'parameters': [_ID],
                'get': _operation('Show a lease'),
                'put': _operation('Change a lease', lease_update, query=[
                    {'name': 'If-Match', 'in': 'header', 'schema': {'type': 'string'}},
                    _flag('dry_run')]),
                'delete': _operation('Delete a lease', status=204),
            },
            '/leases/{id}/history': {
                'parameters': [_ID],
                'get': _operation('Show what happened to a lease, and why', query=_paging()),
            },
            '/offers': {'get': _operation('List the offers that are held for the project')},
            '/offers/{id}': {
                'parameters': [_ID],
                'get': _operation('Show an offer'),
                'delete': _operation('Give an offer back', status=204),
            },
            '/reservations/{id}': {
                'parameters': [_ID],
                'put': _operation('Say which server a reservation leases',
                                  schemas.RESERVATION_BIND[1]),
            },
            '/servers/{id}/hosts': {
                'parameters': [_ID],
                'get': _operation('Ask where a leased server may be placed now',
                                  query=[{**_query('project_id'), 'required': True}])},
            '/reservations/{id}/hosts': {
                'parameters': [_ID],
                'get': _operation('Ask whether a project may use a reservation now, and where',
                                  query=[{**_query('project_id'), 'required': True}])},
            '/availability': {
                'get': _operation('Ask when reservations could be had', query=_asked()),
                'post': _operation('Ask the same, and hold what is offered',
                                   schemas.AVAILABILITY_HOLD[1], 201)},
            '/services': {'get': _operation('List the managers and whether they live')},
            '/os-hosts': {
                'get': _operation('List enrolled hosts', query=_paging()),
                'post': _operation('Enrol a host', schemas.HOST_CREATE[1], 201),
            },
            '/os-hosts/{id}': {
                'parameters': [_HOST_ID],
                'get': _operation('Show a host'),
                'put': _operation('Change properties of a host', schemas.HOST_UPDATE[1]),
                'delete': _operation('Withdraw a host', status=204),
            },
            '/os-hosts/properties': {
                'get': _operation('List properties', query=[_flag('detail'), _flag('all')])},
            '/os-hosts/properties/{id}': {
                'parameters': [_PROPERTY],
                'patch': _operation('Make a property private or public',
                                    schemas.PROPERTY_UPDATE[1])},
            '/os-hosts/allocations': {
                'get': _operation('List allocations of hosts', query=_allocation_filters())},
            '/os-hosts/{id}/allocation': {
                'parameters': [_HOST_ID],
                'get': _operation('Show the allocations of a host',
                                  query=_allocation_filters())},
        },
        'components': {
            'schemas': forms.components(plugins),
            'securitySchemes': {'token': {'type': 'apiKey', 'in': 'header',
                                          'name': 'X-Auth-Token'}},
        },
    }


def _operation(summary, schema=None, status=200, query=(), later=False):
    """One operation; `later` where it may be done after the answer, which is 202 then."""
    operation = {'summary': summary, 'parameters': [_VERSION, *query],
                 'responses': {str(status): {'description': 'Done.'}, 'default': _ERROR}}
    if later:
        operation['responses']['202'] = {'description': 'It is being done.'}
    if schema is not None:
        operation['requestBody'] = {'required': True,
                                    'content': {'application/json': {'schema': schema}}}
    return operation


def _query(name, kind='string', **schema):
    return {'name': name, 'in': 'query', 'schema': {'type': kind, **schema}}


def _flag(name):
    return _query(name, 'boolean')


def _paging():
    return [_query('limit', 'integer', minimum=1), _query('marker')]


def _lease_filters():
    return [*_paging(), *(_query(name) for name in ('sort', 'status', 'name', 'project_id')),
            _query('starts_before', format='moment'), _query('ends_after', format='moment'),
            _query('resource_id', pattern='^[0-9]{1,18}$'), _flag('all_projects'),
            _flag('deleted')]


def _asked():
    """What may be asked of the future; the reservations are JSON in the query."""
    schema = schemas.AVAILABILITY
    return [
        {'name': name, 'in': 'query', 'required': name in schema['required'],
         **({'content': {'application/json': {'schema': each}}} if name == 'reservations'
            else {'schema': each})}
        for name, each in schema['properties'].items()]


def _allocation_filters():
    return [_query('lease_id'), _query('reservation_id')]
