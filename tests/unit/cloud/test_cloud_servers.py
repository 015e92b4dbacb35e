# SPDX-License-Identifier: Apache-2.0
"""The adapter of single servers, against canned answers."""
import datetime

import pytest

from climate import errors
from climate.cloud import models

FLAVOR = {'original_name': 'm1.nano', 'vcpus': 1, 'ram': 128, 'disk': 2, 'ephemeral': 3,
          'swap': 4, 'extra_specs': {'a:b': 'c'}}
NOON = datetime.datetime(2030, 1, 1, 12, 0, 0, 900000, tzinfo=datetime.UTC)


def _server(server_id='s1', status='ACTIVE', **more):
    return {'id': server_id, 'name': 'vm', 'tenant_id': 'demo', 'status': status,
            'OS-EXT-SRV-ATTR:host': 'compute-1', 'OS-EXT-STS:task_state': None,
            'metadata': {}, 'flavor': FLAVOR, **more}


def _refusal(status, reason='no'):
    return {'status_code': status, 'json': {'error': {'code': status, 'message': reason}}}


@pytest.fixture
def servers(canned):
    return canned.cloud().as_service().servers


@pytest.fixture
def shown(canned):
    """callable(**fields): how Nova shows server s1; without fields it is not there."""
    def answer(**fields):
        canned.http.get(f'{canned.NOVA}/servers/s1', **(
            {'json': {'server': _server(**fields)}} if fields else _refusal(404)))
    return answer


@pytest.fixture
def actions(canned):
    """callable(): the bodies of the actions that were asked of server s1."""
    canned.http.post(f'{canned.NOVA}/servers/s1/action', status_code=202)
    return lambda: [each.json() for each in canned.asked('POST', '/servers/s1/action')]


def test_a_server_has_its_task_its_metadata_and_its_own_flavor(servers, shown):
    shown(**{'OS-EXT-STS:task_state': 'shelving', 'metadata': {'k': 'v'}})
    assert servers.server('s1') == models.Server(
        id='s1', name='vm', host='compute-1', project_id='demo', status='ACTIVE',
        task='shelving', metadata={'k': 'v'}, flavor=models.Flavor(
            id='', name='m1.nano', vcpus=1, ram=128, disk=2, ephemeral=3, swap=4,
            extra_specs={'a:b': 'c'}))


@pytest.mark.parametrize('fields, locked', [
    ({'status': 'ACTIVE'}, False), ({'locked': False}, False), ({'locked': True}, True)])
def test_a_server_has_its_lock(servers, shown, fields, locked):
    shown(**fields)
    assert servers.server('s1').locked is locked


@pytest.mark.parametrize('fields', [{}, {'status': 'DELETED'}, {'status': 'SOFT_DELETED'}])
def test_a_server_that_is_gone_is_none(servers, shown, fields):
    shown(**fields)
    assert servers.server('s1') is None


def test_a_server_whose_cell_is_down_is_listed_with_few_fields(servers, canned):
    canned.http.get(f'{canned.NOVA}/servers/s1', json={'server': {
        'id': 's1', 'tenant_id': 'demo', 'status': 'UNKNOWN'}})
    found = servers.server('s1')
    assert (found.status, found.name, found.flavor) == ('UNKNOWN', '', None)


def test_servers_are_found_by_their_metadata_oldest_first(servers, canned):
    canned.http.get(f'{canned.NOVA}/servers/detail', [
        {'json': {'servers': [_server('s1', metadata={'k': 'v'}), _server('s2'),
                              _server('s3', metadata={'k': 'vv'}),
                              _server('s4', metadata={'k': 'v', 'other': 'x'})]}},
        {'json': {'servers': []}}])
    assert [each.id for each in servers.marked('demo', 'k', 'v')] == ['s1', 's4']
    asked = canned.asked('GET', '/servers/detail')[0].qs
    assert (asked['project_id'], asked['all_tenants']) == (['demo'], ['1'])
    assert (asked['sort_key'], asked['sort_dir']) == (['created_at'], ['asc'])


def test_the_ids_of_all_projects_are_read_page_by_page(servers, canned):
    canned.http.get(f'{canned.NOVA}/servers', [
        {'json': {'servers': [{'id': 's1'}, {'id': 's2'}]}}, {'json': {'servers': [{'id': 's3'}]}},
        {'json': {'servers': []}}])
    assert servers.ids() == frozenset({'s1', 's2', 's3'})
    assert {each.qs['all_tenants'][0] for each in canned.asked('GET', '/servers')} == {'1'}


def test_metadata_are_written_only_where_they_differ(servers, shown, canned):
    shown(metadata={'same': '1', 'old': '1', 'dropped': 'x', 'kept': 'y'})
    canned.http.post(f'{canned.NOVA}/servers/s1/metadata', json={'metadata': {}})
    canned.http.delete(f'{canned.NOVA}/servers/s1/metadata/dropped', status_code=204)
    servers.mark('s1', {'same': '1', 'old': '2', 'dropped': None, 'never-there': None})
    [asked] = canned.asked('POST', '/servers/s1/metadata')
    assert asked.json() == {'metadata': {'old': '2'}}
    assert len(canned.asked('DELETE', '/metadata/dropped')) == 1


def test_metadata_of_a_shelved_server_cannot_be_changed_but_may_be_equal(
        servers, shown, canned):
    shown(status='SHELVED_OFFLOADED', metadata={'k': 'v'})
    canned.http.post(f'{canned.NOVA}/servers/s1/metadata', **_refusal(409, 'it sleeps'))
    servers.mark('s1', {'k': 'v'})
    with pytest.raises(errors.StillBusy, match='it sleeps'):
        servers.mark('s1', {'k': 'w'})


CHANGES = {
    'mark': ({'k': 'v'},), 'shelve': (), 'offload': (), 'unshelve': (), 'suspend': (),
    'unrescue': (), 'stop': (), 'migrate': (), 'create_image': ('name', 'key'),
}


@pytest.mark.parametrize('change', CHANGES)
def test_a_change_of_an_absent_server_is_refused(servers, shown, canned, change):
    shown()
    canned.http.post(f'{canned.NOVA}/servers/s1/action', **_refusal(404))
    with pytest.raises(errors.TargetGone):
        getattr(servers, change)('s1', *CHANGES[change])


@pytest.mark.parametrize('change', CHANGES)
def test_a_change_that_the_state_forbids_can_be_repeated_later(servers, shown, canned, change):
    shown(status='ACTIVE')
    for path in ('action', 'metadata'):
        canned.http.post(f'{canned.NOVA}/servers/s1/{path}', **_refusal(409, 'not now'))
    with pytest.raises(errors.StillBusy, match='not now'):
        getattr(servers, change)('s1', *CHANGES[change])


def test_a_change_that_is_forbidden_because_the_server_was_deleted_is_not_tried_again(
        servers, shown, canned):
    shown(status='SOFT_DELETED')
    canned.http.post(f'{canned.NOVA}/servers/s1/action', **_refusal(409))
    with pytest.raises(errors.TargetGone):
        servers.shelve('s1')


@pytest.mark.parametrize('change, action', [
    ('shelve', 'shelve'), ('offload', 'shelveOffload'), ('suspend', 'suspend'),
    ('unrescue', 'unrescue'), ('stop', 'os-stop')])
def test_each_change_of_a_server_is_an_action(servers, actions, change, action):
    getattr(servers, change)('s1')
    assert actions() == [{action: None}]


def test_a_server_is_unshelved_anywhere_or_on_a_host_of_any_zone(
        servers, actions, canned):
    servers.unshelve('s1')
    servers.unshelve('s1', 'compute-2')
    assert actions() == [{'unshelve': None},
                         {'unshelve': {'availability_zone': None, 'host': 'compute-2'}}]
    versions = [each.headers['OpenStack-API-Version']
                for each in canned.asked('POST', '/action')]
    assert versions == ['compute 2.90', 'compute 2.91']


def test_a_server_is_unshelved_on_a_host_of_its_pinned_zone(servers, shown, actions):
    shown(pinned_availability_zone='az1')
    assert servers.server('s1').zone == 'az1'
    servers.unshelve('s1', 'compute-2', keeps_zone=True)
    assert actions() == [{'unshelve': {'host': 'compute-2'}}]


def test_the_zone_of_a_server_is_unknown_in_a_nova_that_does_not_show_it(servers, canned):
    canned.http.get(f'{canned.NOVA}/servers/s1', [
        {'status_code': 406}, {'json': {'server': _server()}}, {'json': {'server': _server()}}])
    assert [servers.server('s1').zone for _ in range(2)] == [None, None]
    assert [each.headers['OpenStack-API-Version'] for each in canned.asked('GET', '/servers/s1')
            ] == ['compute 2.100', 'compute 2.90', 'compute 2.90']


def test_a_suspended_server_cannot_be_migrated(servers, shown, actions):
    shown(status='SUSPENDED')
    with pytest.raises(errors.StillBusy, match='SUSPENDED'):
        servers.migrate('s1')
    assert not actions()


@pytest.mark.parametrize('change', ['unshelve', 'stop'])
def test_changes_that_failed_since_a_moment_are_counted(servers, canned, change):
    canned.http.get(f'{canned.NOVA}/servers/s1/os-instance-actions', json={'instanceActions': [
        {'action': action, 'message': message, 'start_time': f'2030-01-01T{time}.000000'}
        for action, message, time in (
            (change, 'Error', '12:00:05'), (change, 'Error', '12:00:00'),
            (change, None, '12:00:04'), ('shelve', 'Error', '12:00:03'),
            (change, 'Error', '11:59:59'))]})
    assert servers.failures('s1', change, NOON) == 2


def test_migrations_that_failed_since_a_moment_are_counted(servers, canned):
    canned.http.get(f'{canned.NOVA}/os-migrations', json={'migrations': [
        {'id': 1, 'status': status, 'migration_type': kind,
         'created_at': f'2030-01-01T{time}.000000'}
        for status, kind, time in (
            ('error', 'live-migration', '12:00:05'), ('failed', 'migration', '12:00:01'),
            ('completed', 'migration', '12:00:05'), ('error', 'resize', '12:00:05'),
            ('error', 'migration', '11:59:59'))]})
    assert servers.failures('s1', 'migrate', NOON) == 2
    assert canned.asked('GET', '/os-migrations')[0].qs['instance_uuid'] == ['s1']


def test_a_server_that_is_gone_has_no_failures(servers, canned):
    canned.http.get(f'{canned.NOVA}/servers/s1/os-instance-actions', **_refusal(404))
    with pytest.raises(errors.TargetGone):
        servers.failures('s1', 'unshelve', NOON)


def test_an_image_has_its_key_and_the_first_255_characters_of_its_name(servers, canned):
    canned.http.post(f'{canned.NOVA}/servers/s1/action', status_code=202, json={'image_id': 'i1'})
    servers.create_image('s1', 'n' * 300, 'r1')
    [asked] = canned.asked('POST', '/action')
    assert asked.json() == {'createImage': {'name': 'n' * 255, 'metadata': {
        'climate_key': 'r1', 'climate_server': 's1'}}}


def test_the_servers_of_all_projects_are_read_in_pages(servers, canned):
    canned.http.get(f'{canned.NOVA}/servers/detail', [
        {'json': {'servers': [_server('s1'), _server('s2', metadata={'k': 'v'})]}},
        {'json': {'servers': []}}])
    assert [(each.id, each.metadata) for each in servers.every()] == [
        ('s1', {}), ('s2', {'k': 'v'})]
    assert canned.asked('GET', '/servers/detail')[0].qs == {'all_tenants': ['1']}
