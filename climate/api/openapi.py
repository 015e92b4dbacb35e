# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document, made from the schemas that validate the request bodies."""
from climate import version
from climate.api import operations
from climate.api import pool_paths
from climate.api import price_schemas
from climate.api import reservation_schemas
from climate.api import schemas
from climate.api import subscription_body
from climate.api import usage_request
from climate.domain import usage_groups

_operation, _query = operations.operation, operations.query
_flag, _paging = operations.flag, operations.paging
_IF_MATCH = {'name': 'If-Match', 'in': 'header', 'schema': {'type': 'string'}}
_ID = operations.in_path(maxLength=36)
_MONTH = '^[2-9][0-9]{3}-(0[1-9]|1[0-2])$'


def document(plugins):
    """Build the document of the newest REST version.

    :param plugins: {resource type: plugin class}; each adds the schemas of its reservations.
    :returns: a JSON-ready dict.
    """
    lease_create = reservation_schemas.with_reservations(
        schemas.LEASE_CREATE[1], plugins, reservation_schemas.new)
    lease_update = reservation_schemas.with_reservations(
        schemas.LEASE_UPDATE[1], plugins, reservation_schemas.changed)
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
                    _IF_MATCH, _flag('dry_run')]),
                'delete': _operation('Delete a lease', status=204, query=[_IF_MATCH]),
            },
            '/leases/{id}/history': {
                'parameters': [_ID],
                'get': _operation('Show the history of a lease', query=_paging()),
            },
            '/leases/{id}/swap': {
                'parameters': [_ID],
                'post': _operation('Swap a broken resource of a running lease',
                                   schemas.LEASE_SWAP[1], 202, [_IF_MATCH]),
            },
            '/offers': {'get': _operation('List the offers held for the project')},
            '/offers/{id}': {
                'parameters': [_ID],
                'get': _operation('Show an offer'),
                'delete': _operation('Release an offer', status=204),
            },
            **_subscription_paths(),
            '/maintenances': {
                'get': _operation('List the maintenances that are not over', query=_paging()),
                'post': _operation('Plan a maintenance, or preview it',
                                   schemas.MAINTENANCE_CREATE[1], 201, [_flag('dry_run')]),
            },
            '/maintenances/{id}': {
                'parameters': [_ID],
                'get': _operation('Show a maintenance with the leases in its way'),
                'delete': _operation('Delete a maintenance', status=204),
            },
            '/reservations/{id}': {
                'parameters': [_ID],
                'put': _operation('Set the server that a reservation leases',
                                  schemas.RESERVATION_BIND[1]),
            },
            '/servers/{id}/hosts': {
                'parameters': [_ID],
                'get': _operation('Show the hosts that a leased server may use now',
                                  query=[{**_query('project_id'), 'required': True}])},
            '/reservations/{id}/hosts': {
                'parameters': [_ID],
                'get': _operation('Show the hosts on which a project may use a reservation now',
                                  query=[{**_query('project_id'), 'required': True}])},
            '/availability': {
                'get': _operation('Find times at which reservations fit',
                                  query=_availability_query()),
                'post': _operation('Find times at which reservations fit, and hold them',
                                   schemas.AVAILABILITY_HOLD[1], 201)},
            '/what-if': {
                'post': _operation('Ask what if a pool or the demand changed; writes nothing',
                                   schemas.WHAT_IF[1])},
            '/forecast': {
                'get': _operation('Forecast the demand for a pool by hour', query=[
                    {'name': name, 'in': 'query', 'schema': schema}
                    for name, schema in schemas.FORECAST['properties'].items()])},
            '/timeline': {
                'get': _operation('Show the resources of a pool, and who has them when', query=[
                    {'name': name, 'in': 'query', 'schema': schema}
                    for name, schema in schemas.TIMELINE['properties'].items()])},
            '/usage': {'get': _operation(
                'Report allocated, occupied, idle and refused resource-hours',
                query=_usage_query())},
            '/utilisation': {'get': _operation(
                'Report how full pools were and will be', query=_utilisation_query())},
            '/energy': {'get': _operation(
                'Report which resources sleep, and what that saved',
                query=[_query('start', format='moment'), _query('end', format='moment'),
                       _query('pool')])},
            '/price-books': {
                'get': _operation('List the versions of the price book'),
                'post': _operation('Add a version of the price book',
                                   price_schemas.PRICE_BOOK[1], 201)},
            '/price-books/{id}': {
                'parameters': [operations.in_path(pattern='^([0-9]{1,9}|valid)$')],
                'get': _operation('Show a version of the price book, or the valid one')},
            '/statements': {'get': _operation(
                'List statements by month and project',
                query=[_month('month'), *_statement_filters()])},
            '/statements/{id}': {
                'parameters': [operations.in_path(pattern=_MONTH)],
                'get': _operation('Show the lines of the statements of a month',
                                  query=_statement_filters())},
            '/audit': {'get': _operation('Show what the newest audit of the managers found')},
            '/services': {'get': _operation('List the managers and their states')},
            **pool_paths.of(plugins),
        },
        'components': {
            'schemas': reservation_schemas.components(plugins),
            'securitySchemes': {'token': {'type': 'apiKey', 'in': 'header',
                                          'name': 'X-Auth-Token'}},
        },
    }


def _month(name):
    return _query(name, pattern=_MONTH)


def _statement_filters():
    return [*_paging(), _query('project_id', minLength=1, maxLength=255), _flag('all_projects'),
            _query('lease_id', minLength=1, maxLength=36),
            _query('format', enum=list(usage_request.FORMATS))]


def _subscription_paths():
    return {
        '/subscriptions': {
            'get': _operation('List subscriptions', query=[*_paging(), _flag('all_projects')]),
            'post': _operation('Create a subscription', subscription_body.CREATE[1], 201)},
        '/subscriptions/{id}': {
            'parameters': [_ID],
            'get': _operation('Show a subscription'),
            'put': _operation('Change a subscription, or renew its secret',
                              subscription_body.UPDATE[1]),
            'delete': _operation('Delete a subscription', status=204)},
        '/subscriptions/{id}/test': {
            'parameters': [_ID],
            'post': _operation('Send a test to a subscription', status=202)},
        '/subscriptions/{id}/log': {
            'parameters': [_ID],
            'get': _operation('Show what was sent to a subscription', query=_paging())},
        '/calendars/{id}': {
            'parameters': [operations.in_path(maxLength=140)],
            'get': _operation('Show a calendar by its secret, as iCalendar; needs no token')},
    }


def _lease_filters():
    return [*_paging(), *(_query(name) for name in ('sort', 'status', 'name', 'project_id')),
            _query('starts_before', format='moment'), _query('ends_after', format='moment'),
            _query('resource_id', pattern='^[0-9]{1,18}$'), _flag('all_projects'),
            _flag('deleted'), _flag('idle')]


def _usage_query():
    return [_query('start', format='moment'), _query('end', format='moment'),
            _query('group_by', pattern=f'^({"|".join(usage_groups.GROUPS)})?$'),
            _query('project_id'), _flag('all_projects'), _format()]


def _utilisation_query():
    return [_query('start', format='moment'), _query('end', format='moment'),
            _query('step', pattern='^[1-9][0-9]{0,2}[hd]$'), _query('pool'), _format()]


def _format():
    return _query('format', enum=list(usage_request.FORMATS))


def _availability_query():
    """Return the parameters of an availability query; the reservations are JSON text in it."""
    schema = schemas.AVAILABILITY
    return [
        {'name': name, 'in': 'query', 'required': name in schema['required'],
         **({'content': {'application/json': {'schema': each}}} if name == 'reservations'
            else {'schema': each})}
        for name, each in schema['properties'].items()]
