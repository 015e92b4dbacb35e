# SPDX-License-Identifier: Apache-2.0
"""The policies: every route of the service, called by every kind of caller."""
import inspect
import json
import os
import pathlib

import pytest
from support import builders
from support import every_type

from climate import policy
from climate.api.chameleon import paths
from climate.api.chameleon import reallocation
from climate.api.controllers import base
from climate.api.controllers import root

NOBODY, READER, NOVA = None, 'rita:demo:reader', 'nova:service:service'
STRANGER, MEMBER, ADMIN = builders.STRANGER, builders.DEMO, builders.ADMIN
CALLERS = (NOBODY, READER, STRANGER, MEMBER, ADMIN, NOVA)

LEASE = {'1.0': {'name': 'x', 'start_date': 'now', 'end_date': '2030-05-01 13:00'},
         '1.1': {'name': 'x', 'duration': '1h'}}
NAME = {'name': 'another'}
SERIES = {'name': 'x', 'start': '2030-05-01 13:00', 'duration': '1h',
          'repeat': 'every day for 2 times', 'reservations': [{'resource_type': 'virtual:dummy'}]}
DUMMY = {'reservations': [{'resource_type': 'virtual:dummy'}]}
HOSTS = '/reservations/{id}/hosts'
BIND = '/reservations/{id}'
HISTORY = '/leases/{id}/history'
SWAP = '/leases/{id}/swap'
SHARES = '/leases/{id}/shares'
TRANSFERS = '/leases/{id}/transfers'
SUB_LEASES = '/leases/{id}/sub-leases'
LEASED = '/leases/{id}/resources'
LATEST_END = '/leases/{id}/latest_end'
SERVER_HOSTS = '/servers/{id}/hosts'
QUERIES = {HOSTS: '?project_id=demo', SERVER_HOSTS: '?project_id=demo',
           '/series/{id}': '?scope=all',
           '/availability': '?duration=1h&reservations=[{"resource_type":"virtual:dummy"}]'}
# Route, body, and the status for: nobody, a reader of the project, a member of another project,
# a member of the project, an admin of a third project, another service of the cloud.
NOT_FOR_USERS_AT_1_0 = (401, 403, 403, 403, 404, 403)
NOT_AT_1_0 = (401, 404, 404, 404, 404, 404)
ADDRESSES = every_type.POOLS[0]
# Each pool, with the body that enrols another resource of it.
POOLS = {'host': {'name': 'compute-2'}, **{
    each.pool: {'name': each.names[1], **each.fields} for each in every_type.POOLS}}
TABLE = (
    ('GET', '/leases', None, (401, 200, 200, 200, 200, 403)),
    ('POST', '/leases', LEASE, (401, 403, 201, 201, 201, 403)),
    ('GET', '/leases/{id}', None, (401, 200, 404, 200, 200, 404)),
    ('PUT', '/leases/{id}', NAME, (401, 403, 404, 200, 200, 404)),
    ('GET', HISTORY, None, {'1.0': (401, 404, 404, 404, 404, 404),
                            '1.1': (401, 200, 404, 200, 200, 404)}),
    ('GET', '/leases/{id}/request', None, {'1.0': (401, 404, 404, 404, 404, 404),
                                           '1.1': (401, 200, 404, 200, 200, 404)}),
    # It has not started.
    ('GET', LEASED, None, {'1.0': (401, 404, 404, 404, 404, 404),
                           '1.1': (401, 200, 404, 200, 200, 404)}),
    ('GET', LATEST_END, None, {'1.0': (401, 404, 404, 404, 404, 404),
                               '1.1': (401, 403, 404, 200, 200, 404)}),
    ('POST', SWAP, {'host': '1'}, {'1.0': (401, 403, 404, 404, 404, 404),
                                   '1.1': (401, 403, 404, 409, 409, 404)}),
    # It starts now.
    ('POST', '/leases/{id}/give-back', {}, {'1.0': (401, 403, 404, 404, 404, 404),
                                            '1.1': (401, 403, 404, 409, 409, 404)}),
    ('DELETE', '/leases/{id}', None, (401, 403, 404, 204, 204, 404)),
    # test_shares_access.py has the callers with whom a lease is shared.
    ('GET', SHARES, None, {'1.0': (401, 404, 404, 404, 404, 404),
                           '1.1': (401, 200, 404, 200, 200, 404)}),
    ('POST', SHARES, {'project_id': 'guests', 'role': 'viewer'},
     {'1.0': (401, 404, 404, 404, 404, 404), '1.1': (401, 403, 404, 201, 201, 404)}),
    # The lease has no such share.
    ('DELETE', f'{SHARES}/{{share_id}}', None,
     {'1.0': (401, 404, 404, 404, 404, 404), '1.1': (401, 403, 404, 404, 404, 404)}),
    # test_transfers_access.py has the receivers of transfers.
    ('GET', TRANSFERS, None, {'1.0': NOT_AT_1_0, '1.1': (401, 200, 404, 200, 200, 404)}),
    # It starts now.
    ('POST', TRANSFERS, {'project_id': 'guests'},
     {'1.0': NOT_AT_1_0, '1.1': (401, 403, 404, 409, 409, 404)}),
    # The lease has no such transfer.
    ('DELETE', f'{TRANSFERS}/{{transfer_id}}', None,
     {'1.0': NOT_AT_1_0, '1.1': (401, 403, 404, 404, 404, 404)}),
    ('GET', '/transfers', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                 '1.1': (401, 200, 200, 200, 200, 403)}),
    # One that is not there: a caller sees only offers to its own project.
    ('GET', '/transfers/{id}', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                      '1.1': (401, 404, 404, 404, 404, 403)}),
    ('POST', '/transfers/{id}/accept', {}, {'1.0': (401, 403, 404, 404, 404, 403),
                                            '1.1': (401, 403, 404, 404, 404, 403)}),
    ('POST', '/transfers/{id}/decline', {}, {'1.0': (401, 403, 404, 404, 404, 403),
                                             '1.1': (401, 403, 404, 404, 404, 403)}),
    # The lease has no hosts, so it can have no sub-leases.
    ('GET', SUB_LEASES, None, {'1.0': (401, 404, 404, 404, 404, 404),
                               '1.1': (401, 200, 404, 200, 200, 404)}),
    ('POST', SUB_LEASES, {'project': 'guests', 'name': 'x', 'hosts': 1},
     {'1.0': (401, 404, 404, 404, 404, 404), '1.1': (401, 403, 404, 409, 409, 404)}),
    ('GET', '/leases/{id}/availability', None,
     {'1.0': (401, 404, 404, 404, 404, 404), '1.1': (401, 409, 404, 409, 409, 404)}),
    ('GET', HOSTS, None, {'1.0': (401, 403, 403, 403, 404, 404),
                          '1.1': (401, 403, 403, 403, 200, 200)}),
    # A reservation that leases no single thing; a server that nobody leases.
    ('PUT', BIND, {'resource_id': 'x'}, {'1.0': (401, 404, 404, 404, 404, 404),
                                         '1.1': (401, 403, 404, 409, 409, 404)}),
    ('GET', SERVER_HOSTS, None, {'1.0': (401, 403, 403, 403, 404, 404),
                                 '1.1': (401, 403, 403, 403, 404, 404)}),
    ('POST', '/availability', {'duration': '1h', 'reservations': [
        {'resource_type': 'physical:host', 'min': 9, 'max': 9}]},
     {'1.0': (401, 404, 404, 404, 404, 404), '1.1': (401, 403, 200, 200, 200, 403)}),
    ('GET', '/availability', None, {'1.0': (401, 404, 404, 404, 404, 404),
                                    '1.1': (401, 200, 200, 200, 200, 403)}),
    ('POST', '/what-if', {}, {'1.0': (401, 403, 403, 403, 404, 403),
                              '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/forecast', None, {'1.0': (401, 403, 403, 403, 404, 403),
                                '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/usage', None, {'1.0': (401, 404, 404, 404, 404, 403),
                             '1.1': (401, 200, 200, 200, 200, 403)}),
    ('GET', '/limits', None, {'1.0': (401, 404, 404, 404, 404, 403),
                              '1.1': (401, 200, 200, 200, 200, 403)}),
    ('GET', '/price-books', None, {'1.0': (401, 403, 403, 403, 404, 403),
                                   '1.1': (401, 403, 403, 403, 200, 403)}),
    ('POST', '/price-books', {'currency': 'EUR'}, {'1.0': (401, 403, 403, 403, 404, 403),
                                                   '1.1': (401, 403, 403, 403, 201, 403)}),
    ('GET', '/price-books/{id}', None, {'1.0': (401, 403, 403, 403, 404, 403),
                                        '1.1': (401, 403, 403, 403, 404, 403)}),
    ('GET', '/limit-books', None, {'1.0': (401, 403, 403, 403, 404, 403),
                                   '1.1': (401, 403, 403, 403, 200, 403)}),
    ('POST', '/limit-books', {'limits': []}, {'1.0': (401, 403, 403, 403, 404, 403),
                                              '1.1': (401, 403, 403, 403, 201, 403)}),
    ('GET', '/limit-books/{id}', None, {'1.0': (401, 403, 403, 403, 404, 403),
                                        '1.1': (401, 403, 403, 403, 404, 403)}),
    ('GET', '/statements', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                  '1.1': (401, 200, 200, 200, 200, 403)}),
    ('GET', '/statements/{id}', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                       '1.1': (401, 400, 400, 400, 400, 403)}),
    ('GET', '/utilisation', None, {'1.0': (401, 403, 403, 403, 404, 403),
                                   '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/timeline', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                '1.1': (401, 200, 200, 200, 200, 403)}),
    ('GET', '/audit', None, {'1.0': (401, 403, 403, 403, 404, 403),
                             '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/energy', None, {'1.0': (401, 403, 403, 403, 404, 403),
                              '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/services', None, {'1.0': (401, 403, 403, 403, 404, 403),
                                '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/offers', None, {'1.0': (401, 404, 404, 404, 404, 403),
                              '1.1': (401, 200, 200, 200, 200, 403)}),
    # One that is not there: nobody sees those of other projects.
    ('GET', '/offers/{id}', None, (401, 404, 404, 404, 404, 403)),
    ('DELETE', '/offers/{id}', None, (401, 403, 404, 404, 404, 403)),
    ('GET', '/subscriptions', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                     '1.1': (401, 200, 200, 200, 200, 403)}),
    ('POST', '/subscriptions', {'transport': 'calendar'},
     {'1.0': (401, 403, 404, 404, 404, 403), '1.1': (401, 403, 201, 201, 201, 403)}),
    # One that is not there; test_subscriptions_wire.py has those that are hidden.
    ('GET', '/subscriptions/{id}', None, (401, 404, 404, 404, 404, 403)),
    ('PUT', '/subscriptions/{id}', NAME, (401, 404, 404, 404, 404, 403)),
    ('DELETE', '/subscriptions/{id}', None, (401, 404, 404, 404, 404, 403)),
    ('POST', '/subscriptions/{id}/test', None, (401, 404, 404, 404, 404, 403)),
    ('GET', '/subscriptions/{id}/log', None, (401, 404, 404, 404, 404, 403)),
    # It needs no token, but a secret.
    ('GET', '/calendars/{id}', None, (404, 404, 404, 404, 404, 404)),
    ('GET', '/maintenances', None, {'1.0': NOT_FOR_USERS_AT_1_0,
                                    '1.1': (401, 403, 403, 403, 200, 403)}),
    ('POST', '/maintenances', {'hosts': ['compute-1'], 'start': '2030-05-02 12:00',
                               'end': '2030-05-02 13:00', 'reason': 'x'},
     {'1.0': NOT_FOR_USERS_AT_1_0, '1.1': (401, 403, 403, 403, 201, 403)}),
    # One that is not there.
    ('GET', '/maintenances/{id}', None, NOT_FOR_USERS_AT_1_0),
    ('DELETE', '/maintenances/{id}', None, NOT_FOR_USERS_AT_1_0),
    ('GET', '/series', None, {'1.0': (401, 404, 404, 404, 404, 403),
                              '1.1': (401, 200, 200, 200, 200, 403)}),
    ('POST', '/series', SERIES, {'1.0': (401, 403, 404, 404, 404, 403),
                                 '1.1': (401, 403, 201, 201, 201, 403)}),
    ('GET', '/series/{id}', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                   '1.1': (401, 200, 404, 200, 200, 403)}),
    ('PUT', '/series/{id}', NAME, {'1.0': (401, 404, 404, 404, 404, 403),
                                   '1.1': (401, 403, 404, 200, 200, 403)}),
    ('DELETE', '/series/{id}', None, {'1.0': (401, 404, 404, 404, 404, 403),
                                      '1.1': (401, 403, 404, 204, 204, 403)}),
    ('GET', '/os-hosts', None, (401, 403, 403, 403, 200, 403)),
    ('POST', '/os-hosts', {'name': 'compute-2'}, (401, 403, 403, 403, 201, 403)),
    ('GET', '/os-hosts/{id}', None, (401, 403, 403, 403, 200, 403)),
    ('PUT', '/os-hosts/{id}', {'gpu': 'H100'}, (401, 403, 403, 403, 200, 403)),
    ('DELETE', '/os-hosts/{id}', None, (401, 403, 403, 403, 204, 403)),
    ('GET', '/os-hosts/properties', None, (401, 200, 200, 200, 200, 403)),
    ('PATCH', '/os-hosts/properties/{id}', {'private': True}, (401, 403, 403, 403, 200, 403)),
    ('GET', '/os-hosts/calendar', None, {'1.0': NOT_AT_1_0, '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/os-hosts/allocations', None, (401, 403, 403, 403, 200, 403)),
    ('POST', '/os-hosts/{id}/power', {'state': 'awake'},
     {'1.0': NOT_AT_1_0, '1.1': (401, 403, 403, 403, 409, 403)}),
    ('GET', '/os-hosts/{id}/allocation', None, (401, 403, 403, 403, 200, 403)),
    # The flavor is not named.
    ('GET', '/flavor-instances/availability', None, (401, 200, 200, 200, 200, 403)),
    # No lease has this id.
    ('PUT', '/os-hosts/{id}/allocation', {'lease_id': 'x'}, (401, 403, 403, 403, 404, 403)),
    ('GET', '/floatingips', None, (401, 200, 200, 200, 200, 403)),
    ('POST', '/floatingips', {'floating_network_id': ADDRESSES.fields['network_id'],
                              'floating_ip_address': ADDRESSES.names[1]},
     (401, 403, 403, 403, 201, 403)),
    ('GET', '/floatingips/{id}', None, (401, 200, 200, 200, 200, 403)),
    ('DELETE', '/floatingips/{id}', None, (401, 403, 403, 403, 204, 403)),
    ('GET', '/floatingips/allocations', None, (401, 403, 403, 403, 200, 403)),
    ('GET', '/leases/{id}/hosts', None, (401, 403, 404, 403, 200, 404)),
    ('GET', '/leases/{id}/networks', None, (401, 403, 404, 403, 200, 404)),
    ('GET', '/leases/{id}/devices', None, (401, 200, 404, 200, 200, 404)),
    ('GET', '/networks', None, (401, 403, 403, 403, 200, 403)),
    ('POST', '/networks', {'network_type': 'vlan', 'physical_network': 'physnet1',
                           'segment_id': 3999}, (401, 403, 403, 403, 201, 403)),
    ('GET', '/networks/{id}', None, (401, 403, 403, 403, 200, 403)),
    ('PUT', '/networks/{id}', {'gpu': 'H100'}, (401, 403, 403, 403, 200, 403)),
    ('DELETE', '/networks/{id}', None, (401, 403, 403, 403, 204, 403)),
    ('GET', '/networks/properties', None, (401, 200, 200, 200, 200, 403)),
    ('PATCH', '/networks/properties/{id}', {'private': True}, (401, 403, 403, 403, 200, 403)),
    ('GET', '/networks/calendar', None, {'1.0': NOT_AT_1_0, '1.1': (401, 403, 403, 403, 200, 403)}),
    ('GET', '/networks/allocations', None, (401, 403, 403, 403, 200, 403)),
    ('POST', '/networks/{id}/power', {'state': 'awake'},
     {'1.0': NOT_AT_1_0, '1.1': (401, 403, 403, 403, 409, 403)}),
    ('GET', '/networks/{id}/allocation', None, (401, 403, 403, 403, 200, 403)),
    *((method, f'/resources/{pool}{place}', body or enrolment, {
        '1.0': NOT_AT_1_0, '1.1': (401, 403, 403, 403, status, 403)})
      for pool, enrolment in POOLS.items() for method, place, body, status in (
          ('GET', '', None, 200),
          ('POST', '', None, 201),
          ('GET', '/{id}', None, 200),
          ('PUT', '/{id}', {'reservable': False}, 200),
          ('DELETE', '/{id}', None, 204),
          ('GET', '/calendar', None, 200),
          ('PATCH', '/properties/{id}', {'private': True}, 200),
          ('GET', '/allocations', None, 200),
          ('POST', '/{id}/power', {'state': 'awake'}, 409),
          ('GET', '/{id}/allocation', None, 200))),
    *(('GET', f'{place}/facets', None, {
        '1.0': NOT_AT_1_0, '1.1': (401, 200, 200, 200, 200, 403)})
      for place in ('/os-hosts', '/networks', *(f'/resources/{pool}' for pool in POOLS))),
    *(('GET', f'/resources/{pool}/properties', None, {
        '1.0': NOT_AT_1_0, '1.1': (401, 200, 200, 200, 200, 403)}) for pool in POOLS),
)


# (version, method, path, body, statuses): what each row of the table means in each version.
ROWS = [(version, method, path, body[version] if body is LEASE else body,
         wanted[version] if isinstance(wanted, dict) else wanted)
        for method, path, body, wanted in TABLE for version in ('1.0', '1.1')]
# Rows that change nothing share one service; each of the others has its own.
READS = [row for row in ROWS if row[1] == 'GET' or min(row[4]) >= 400]
CHANGES = [row for row in ROWS if row not in READS]
_POOLS_OF_VIEWS = {'floatingips': 'address', 'networks': 'segment'}


def statuses(api, enrolled, row):
    """Return {caller: status of the answer}; each caller asks about a lease of its own.

    `enrolled` has the id of a resource of each pool.
    """
    version, method, path, body, _wanted = row
    [pool] = [each for each in POOLS if path.startswith(f'/resources/{each}')] or [
        _POOLS_OF_VIEWS.get(path.split('/')[1], 'host')]
    known = {f'{place}/properties/{{id}}': 'gpu'
             for place in ('/os-hosts', '/networks', f'/resources/{pool}')}
    answers = {}
    for caller in callers_of(row):
        if path.startswith(('/leases/', '/reservations/')):
            lease = api.post('/v1/leases', LEASE['1.0'] | DUMMY).json['lease']
            known[path] = (lease['id'] if path.startswith('/leases/')
                           else lease['reservations'][0]['id'])
        if path == '/series/{id}':
            known[path] = api.post('/v1/series', SERIES, version='1.1').json['series']['id']
        place = path.replace('{id}', known.get(path, str(enrolled[pool])))
        query = '' if (method, path) == ('GET', '/series/{id}') else QUERIES.get(path, '')
        answers[caller] = api.call(method, f'/v1{place}{query}', body, token=caller,
                                   version=version)
    assert all(answer.content_type == 'application/json' for answer in answers.values()
               if answer.status_int != 204)
    return {caller: answer.status_int for caller, answer in answers.items()}


def is_of_another_pool(row):
    """Return whether a row repeats for another pool what the table says of hosts."""
    return row[2].startswith('/resources/') and not row[2].startswith('/resources/host')


def wanted_statuses(row):
    return {caller: status for caller, status in zip(CALLERS, row[4], strict=True)
            if caller in callers_of(row)}


def callers_of(row):
    """Return the callers to try; a path that a version does not have knows no permissions."""
    return (NOBODY, ADMIN) if row[4] == NOT_AT_1_0 else CALLERS


@pytest.fixture
def enrolled(manager):
    return {'host': manager.enrol(1, gpu='A100')[0].id, **{
        each.pool: each.enrol(manager, gpu='A100')[0].id for each in every_type.POOLS}}


@pytest.mark.parametrize('rows', [
    [row for row in READS if not is_of_another_pool(row)],
    pytest.param([row for row in READS if is_of_another_pool(row)], marks=pytest.mark.proof)],
    ids=['most', 'other pools'])
def test_a_route_that_changes_nothing_answers_each_caller_as_the_table_says(api, enrolled, rows):
    found = {row[:3]: statuses(api, enrolled, row) for row in rows}
    assert found == {row[:3]: wanted_statuses(row) for row in rows}


@pytest.mark.parametrize('row', [
    pytest.param(row, id='-'.join(row[:3]), marks=[pytest.mark.proof] * is_of_another_pool(row))
    for row in CHANGES])
def test_a_route_that_changes_something_answers_each_caller_as_the_table_says(
        api, enrolled, row):
    assert statuses(api, enrolled, row) == wanted_statuses(row)


def test_the_table_has_every_route_that_is_documented(api):
    document = api.get('/v1/openapi.json', token=NOBODY).json
    documented = {(method.upper(), path) for path, methods in document['paths'].items()
                  for method in methods if method != 'parameters'}
    assert documented == {(method, path) for method, path, _, _ in TABLE}


def test_the_table_has_every_route_that_is_served(conf):
    plugins = builders.manager_plugins(conf)
    parts = base.Parts(conf=conf, manager=None, policy=None, views=None, plugins=plugins,
                       clock=builders.Clock())
    tree = root.RootController(parts)
    paths.add(tree.v1, parts)
    served = set(routes(tree.v1))
    assert served == {(method, path.replace('{share_id}', '{id}').replace('{transfer_id}', '{id}'))
                      for method, path, _, _ in TABLE}


def routes(controller, path=''):
    """(method, path) of everything below a controller, as pecan finds it."""
    of_all, of_one = {'get_all': 'GET', 'post': 'POST'}, {
        'get_one': 'GET', 'put': 'PUT', 'patch': 'PATCH', 'delete': 'DELETE'}
    if isinstance(controller, reallocation.ReallocationController):
        of_all['put'] = of_one.pop('put')
    for names, place in ((of_all, path), (of_one, path + '/{id}')):
        for name, verb in names.items():
            if hasattr(controller, name):
                yield verb, place
    for name, below in vars(controller).items():
        if isinstance(below, base.Controller):
            listed = getattr(below, 'get_all', None) or getattr(below, 'post', None)
            if listed is None:
                yield from routes(below, f'{path}/{name}')
                continue
            of_parent = {
                'resource_id', 'lease_id', 'reservation_id', 'server_id', 'subscription_id',
                'transfer_id'} & set(inspect.signature(listed).parameters)
            yield from routes(below, f'{path}/{{id}}/{name}' if of_parent else f'{path}/{name}')


def test_a_lease_of_another_project_looks_as_if_it_were_not_there(api):
    lease = api.post('/v1/leases', LEASE['1.0']).json['lease']
    hidden = api.get(f'/v1/leases/{lease["id"]}', token=STRANGER).json
    absent = api.get('/v1/leases/00000000-0000-0000-0000-000000000000', token=STRANGER).json
    assert json.dumps(hidden).replace(lease['id'], 'ID') == json.dumps(absent).replace(
        '00000000-0000-0000-0000-000000000000', 'ID')
    assert api.get('/v1/leases', token=STRANGER).json == {'leases': []}
    assert [each['id'] for each in api.get('/v1/leases', token=ADMIN).json['leases']] == [
        lease['id']]


def test_a_caller_who_may_see_all_leases_may_change_none(conf, manager, tmp_path):
    rules = pathlib.Path(tmp_path, 'policy.yaml')
    rules.write_text('"climate:leases:get": "@"\n')
    policy.Policy(conf)  # Registers the options.
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    api = builders.Api(conf, manager)
    lease = api.post('/v1/leases', LEASE['1.0']).json['lease']
    place = f'/v1/leases/{lease["id"]}'
    assert api.get(place, token=STRANGER).status_int == 200
    assert api.put(place, NAME, token=STRANGER).status_int == 403
    assert api.delete(place, token=STRANGER).status_int == 403
    assert api.get(place).json['lease']['name'] == 'x'


def test_changed_rules_hold_a_second_later(conf, manager, tmp_path):
    rules = pathlib.Path(tmp_path, 'policy.yaml')
    rules.write_text('"climate:leases:get": "@"\n')
    policy.Policy(conf)  # Registers the options.
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    seconds = [0]
    api = builders.Api(conf, manager, policy.Policy(conf, lambda: seconds[-1]))
    assert api.get('/v1/leases').status_int == 200
    rules.write_text('"climate:leases:get": "!"\n')
    os.utime(rules, (2 ** 31, 2 ** 31))
    for later, status in ((0.5, 200), (1, 403)):
        seconds.append(later)
        assert api.get('/v1/leases').status_int == status


def test_headers_that_pretend_an_identity_are_not_believed(api):
    api.post('/v1/leases', LEASE['1.0'])
    pretended = {'X-User-Id': 'root', 'X-Project-Id': 'demo', 'X-Roles': 'admin',
                 'X-Identity-Status': 'Confirmed', 'X-Is-Admin-Project': 'True',
                 'OpenStack-System-Scope': 'all'}
    assert api.get('/v1/leases', token=NOBODY, headers=pretended).status_int == 401
    assert api.get('/v1/leases', token=STRANGER, headers=pretended).json == {'leases': []}
    assert api.get('/v1/os-hosts', token=STRANGER, headers=pretended).status_int == 403


def test_a_token_without_user_and_project_is_none(api):
    for token in (
            '', 'demo', ':', 'demo:', ':demo'):
        assert api.get('/v1/leases', token=token).status_int == 401


def test_every_rule_is_documented_with_its_route(conf):
    enforcer = policy.sample_enforcer()
    documented = {(operation['method'], operation['path'].partition('{')[0].rstrip('/'))
                  for rule in enforcer.registered_rules.values()
                  for operation in getattr(rule, 'operations', ())}
    # The secret in the address of a calendar is enough.
    assert {(method, f'/v1{path}'.partition('{')[0].rstrip('/')) for method, path, _, _ in TABLE
            } - {('GET', '/v1/calendars')} <= documented
