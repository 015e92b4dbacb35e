# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/maintenances, and the health of hosts on the wire."""
import re

import pytest
import sqlalchemy as sa
from support import builders

from climate import errors

URL = '/v1/maintenances'
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
BODY = {'hosts': ['compute-1'], 'start': '2030-05-01T20:00:00Z', 'end': '2030-05-01T23:00:00Z',
        'reason': 'new firmware'}


@pytest.fixture
def lease(api, manager):
    """A lease that conflicts with BODY."""
    manager.enrol(2)
    return api.post('/v1/leases', {
        'name': 'x', 'start': '2030-05-01 21:00', 'duration': '1h', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}, version='1.1').json['lease']


def test_a_maintenance_is_previewed_planned_shown_listed_and_deleted(api, lease):
    preview = api.post(f'{URL}?dry_run=true', BODY, **ADMIN)
    assert preview.status_int == 200
    [affected] = preview.json['maintenance']['leases']
    assert (affected['lease_id'], affected['what']) == (lease['id'], 'moves')
    assert api.get(URL, **ADMIN).json == {'maintenances': []}
    made = api.post(URL, BODY, **ADMIN)
    assert made.status_int == 201
    found = made.json['maintenance']
    assert made.headers['Location'].endswith(f'{URL}/{found["id"]}')
    assert found['resources'] == [{'id': '1', 'name': 'compute-1'}]
    assert found['windows'] == [{'start': BODY['start'], 'end': BODY['end'], 'state': 'planned'}]
    shown = api.get(f'{URL}/{found["id"]}', **ADMIN).json['maintenance']
    assert shown == {**found, 'leases': []}
    host = api.get('/v1/os-hosts/1', **ADMIN).json['host']
    assert [each['id'] for each in host['maintenances']] == [found['id']]
    assert api.delete(f'{URL}/{found["id"]}', **ADMIN).status_int == 204
    assert api.get(f'{URL}/{found["id"]}', **ADMIN).json['error_name'] == 'maintenance_not_found'


def test_the_list_has_pages(api, manager):
    manager.enrol(1)
    days = [{**BODY, 'start': f'2030-05-0{day} 20:00', 'end': f'2030-05-0{day} 23:00'}
            for day in (3, 1, 2)]
    made = [api.post(URL, each, **ADMIN).json['maintenance']['id'] for each in days]
    first = api.get(f'{URL}?limit=2', **ADMIN).json
    assert [each['id'] for each in first['maintenances']] == [made[1], made[2]]
    href = first['maintenances_links'][0]['href']
    second = api.get(href[href.index('/v1'):], **ADMIN).json
    assert [each['id'] for each in second['maintenances']] == [made[0]]
    assert 'maintenances_links' not in second


@pytest.mark.parametrize(('change', 'field'), [
    ({'hosts': None}, 'hosts'), ({'criteria': ['=', '$vcpus', 16]}, 'criteria'),
    ({'hosts': ['compute-9']}, 'resources'), ({'start': '2029-01-01 00:00'}, 'start'),
    ({'running': 'killed'}, 'running'), ({'notice': '-2h'}, 'notice'),
    ({'rrule': 'FREQ=SECONDLY'}, 'rrule'), ({'who': 'me'}, 'body'), ({'reason': ''}, 'reason'),
    ({'pool': 'segment'}, 'hosts'), ({'end': '2039-01-01 00:00'}, 'end')])
def test_a_wrong_field_is_refused_by_name(api, manager, change, field):
    manager.enrol(1)
    body = {name: value for name, value in {**BODY, **change}.items() if value is not None}
    answer = api.post(URL, body, **ADMIN)
    assert answer.status_int == 400, answer.json
    assert answer.json['details'].get('field') == field
    assert api.get(URL, **ADMIN).json == {'maintenances': []}


def test_an_end_before_the_start_and_an_unknown_pool_are_refused(api, manager):
    manager.enrol(1)
    early = api.post(URL, {**BODY, 'end': '2030-05-01 19:00'}, **ADMIN)
    assert (early.status_int, early.json['error_name']) == (400, 'bad_period')
    assert ('end: 2030-05-01 19:00:00 UTC is not after the start, 2030-05-01 20:00:00 UTC.'
            in early.json['error_message'])
    other = {name: value for name, value in BODY.items() if name != 'hosts'}
    pool = api.post(URL, {**other, 'resources': ['x'], 'pool': 'shelf'}, **ADMIN)
    assert (pool.status_int, pool.json['error_name']) == (404, 'unknown_pool')
    assert api.post(f'{URL}?dry=true', BODY, **ADMIN).json['details']['field'] == 'dry'
    assert api.get(f'{URL}?status=x', **ADMIN).json['details']['field'] == 'status'


def test_a_host_is_taken_out_of_order_by_an_operator(api, manager):
    manager.enrol(1)
    host = api.put('/v1/os-hosts/1', {'out_of_order': 'a fan', 'rack': 'r1'}, **ADMIN).json['host']
    assert host['health'] == {'state': 'out_of_order', 'reason': 'a fan', 'source': 'operator',
                              'since': '2030-05-01T12:00:00Z', 'until': None}
    assert host['rack'] == 'r1'
    assert 'health' not in api.get('/v1/os-hosts/1', token=builders.ADMIN).json['host']
    again = api.put('/v1/resources/host/1', {'out_of_order': False}, **ADMIN).json['resource']
    assert again['health']['state'] == 'well'
    assert api.put('/v1/os-hosts/1', {'out_of_order': True}, **ADMIN).status_int == 400
    assert api.put('/v1/os-hosts/9', {'out_of_order': 'x'}, **ADMIN).status_int == 404


REFUSED = {'rack': 'r2', 'out_of_order': 'a fan', 'reservable': False}


@pytest.mark.parametrize('field', [*REFUSED, None])
def test_all_changes_of_a_host_are_made_or_none(api, manager, field):
    manager.enrol(2, rack='r1')
    manager.book(builders.hosts(2, criteria='["=", "$rack", "r1"]'))
    before = api.get('/v1/os-hosts/1', **ADMIN).json
    asked = {name: value for name, value in REFUSED.items() if name not in ('rack', field)}
    refused = api.put('/v1/os-hosts/1', {**asked, 'rack': 'r2'}, **ADMIN)
    assert (refused.status_int, refused.json['error_name']) == (409, 'property_in_use')
    assert api.get('/v1/os-hosts/1', **ADMIN).json == before
    answer = api.put('/v1/os-hosts/1', {**asked, 'shelf': '7'}, **ADMIN)
    assert answer.status_int == 200, answer.text
    changed = answer.json['host']
    assert changed['shelf'] == '7'
    assert changed['reservable'] is asked.get('reservable', True)
    assert changed['health']['state'] == ('out_of_order' if 'out_of_order' in asked else 'well')
    back = api.put('/v1/os-hosts/1', {'shelf': None, 'out_of_order': False, 'reservable': True},
                   **ADMIN).json['host']
    assert {**back, 'updated_at': None} == {**before['host'], 'updated_at': None}


@pytest.mark.parametrize('table', ['resource_health', 'property_values', 'resources'])
def test_a_failure_of_the_database_leaves_a_host_unchanged(api, manager, table):
    manager.enrol(1)
    before = api.get('/v1/os-hosts/1', **ADMIN).json

    def fail(_connection, _cursor, statement, *_more):
        if re.match(f'(INSERT INTO|UPDATE) {table}', statement):
            raise errors.DatabaseUnreachable(retry_after=1)
    sa.event.listen(sa.Engine, 'before_cursor_execute', fail)
    try:
        # Which error that is depends on the driver.
        assert api.put('/v1/os-hosts/1', REFUSED, **ADMIN).status_int >= 500
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', fail)
    assert api.get('/v1/os-hosts/1', **ADMIN).json == before
    assert api.put('/v1/os-hosts/1', REFUSED, **ADMIN).status_int == 200
