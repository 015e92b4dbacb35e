# SPDX-License-Identifier: Apache-2.0
"""The adapter of Cinder, against canned answers."""
import pytest

from climate import errors
from climate.cloud import models as cloud_models
from climate.cloud import volume_models as models

TYPES = {'volume_types': [
    {'id': 't1', 'name': 'ordinary', 'is_public': True, 'extra_specs': {}},
    {'id': 't2', 'name': 'reservation:r:1', 'is_public': False,
     'extra_specs': {'volume_backend_name': 'lease'}}]}


@pytest.fixture
def volumes(canned):
    return canned.cloud().as_service().volumes


def _volume(volume_id, **fields):
    return {'id': volume_id, 'name': 'data', 'size': 5, 'status': 'available',
            'volume_type': 'ordinary', 'os-vol-tenant-attr:tenant_id': 'demo',
            'os-vol-host-attr:host': 'cinder1@lease#lease', 'attachments': [],
            'created_at': '2030-05-01T12:00:00.000000', **fields}


def _refusal(text, code):
    return {'json': {'badRequest': {'message': text, 'code': code}}, 'status_code': code}


def test_the_capacity_of_a_back_end_is_its_total_never_the_free_part(volumes, canned):
    capabilities = {'volume_backend_name': 'lease', 'total_capacity_gb': 200,
                    'free_capacity_gb': 3, 'reserved_percentage': 10,
                    'max_over_subscription_ratio': '20.0', 'thin_provisioning_support': False}
    canned.http.get(f'{canned.CINDER}/scheduler-stats/get_pools', json={'pools': [
        {'name': 'a@lease#lease', 'capabilities': capabilities},
        {'name': 'b@thin#thin', 'capabilities': {
            **capabilities, 'thin_provisioning_support': True,
            'max_over_subscription_ratio': '2.0'}},
        {'name': 'c@huge#huge', 'capabilities': {
            **capabilities, 'total_capacity_gb': 'infinite'}},
        {'name': 'd@dark#dark', 'capabilities': {
            **capabilities, 'total_capacity_gb': 'unknown'}}]})
    assert [(each.name, each.usable_gb) for each in volumes.backends()] == [
        ('a@lease#lease', 180), ('b@thin#thin', 360), ('c@huge#huge', None), ('d@dark#dark', None)]
    assert volumes.backends()[0].backend_name == 'lease'


def test_a_volume_is_read_with_its_owner_and_its_servers(volumes, canned):
    canned.http.get(f'{canned.CINDER}/volumes/v1', json={'volume': _volume(
        'v1', status='in-use', attachments=[{'server_id': 's1', 'attachment_id': 'a1'}],
        availability_zone='az1')})
    assert volumes.volume('v1') == models.Volume(
        id='v1', name='data', size_gb=5, status='in-use', project_id='demo',
        type_name='ordinary', server_ids=('s1',), backend='cinder1@lease#lease', zone='az1')
    canned.http.get(f'{canned.CINDER}/volumes/v2', **_refusal('gone', 404))
    assert volumes.volume('v2') is None


def test_the_volumes_of_all_projects_come_oldest_first(volumes, canned):
    canned.http.get(f'{canned.CINDER}/volumes/detail', [
        {'json': {'volumes': [_volume('v2', created_at='2030-05-02T12:00:00.000000'),
                              _volume('v1')]}},
        {'json': {'volumes': []}}])
    assert [each.id for each in volumes.every()] == ['v1', 'v2']
    assert canned.asked('GET', '/volumes/detail')[0].qs['all_tenants'] == ['true']


def test_a_type_is_created_once_and_private(volumes, canned):
    canned.http.get(f'{canned.CINDER}/types', json=TYPES)
    canned.http.post(f'{canned.CINDER}/types', json={'volume_type': {'id': 't3', 'name': 'new'}})
    volumes.ensure_type('reservation:r:1', {'volume_backend_name': 'lease'})
    volumes.ensure_type('reservation:r:2', {'volume_backend_name': 'lease'})
    [asked] = canned.asked('POST', '/types')
    wanted = asked.json()['volume_type']
    assert wanted['name'] == 'reservation:r:2'
    assert wanted['extra_specs'] == {'volume_backend_name': 'lease'}
    assert wanted['os-volume-type-access:is_public'] is False
    assert canned.asked('GET', '/types')[0].qs['is_public'] == ['none']


def test_granting_and_revoking_access_can_be_repeated(volumes, canned):
    canned.http.get(f'{canned.CINDER}/types', json=TYPES)
    canned.http.post(f'{canned.CINDER}/types/t2/action', [
        _refusal('exists', 409), _refusal('absent', 404)])
    volumes.allow('reservation:r:1', 'demo')
    volumes.forbid('reservation:r:1', 'demo')
    volumes.forbid('absent', 'demo')
    assert [each.json() for each in canned.asked('POST', '/types/t2/action')] == [
        {'addProjectAccess': {'project': 'demo'}}, {'removeProjectAccess': {'project': 'demo'}}]


def test_a_type_in_use_stays(volumes, canned):
    canned.http.get(f'{canned.CINDER}/types', json=TYPES)
    canned.http.delete(f'{canned.CINDER}/types/t2',
                       **_refusal('Target volume type is still in use.', 400))
    with pytest.raises(errors.StillBusy, match=r'^Cinder: Target volume type is still in use.$'):
        volumes.delete_type('reservation:r:1')
    volumes.delete_type('absent')


def test_quotas_are_read_with_their_use_and_set_by_the_name_of_the_type(volumes, canned):
    address = f'{canned.CINDER}/os-quota-sets/demo'
    canned.http.get(address, json={'quota_set': {
        'id': 'demo', 'gigabytes': {'limit': 1000, 'in_use': 10, 'reserved': 5},
        'volumes': {'limit': -1, 'in_use': 3, 'reserved': 0}}})
    assert volumes.quotas('demo') == {'gigabytes': cloud_models.Quota(1000, 15),
                                      'volumes': cloud_models.Quota(None, 3)}
    canned.http.put(address, json={'quota_set': {}})
    volumes.limit('demo', 'reservation:r:1', 20, 2)
    assert canned.asked('PUT', '/demo')[0].json() == {'quota_set': {
        'gigabytes_reservation:r:1': 20, 'volumes_reservation:r:1': 2}}


def test_a_volume_over_the_quota_is_an_error_with_the_message_of_cinder(volumes, canned):
    canned.http.post(f'{canned.CINDER}/volumes', **_refusal('over the quota', 413))
    with pytest.raises(errors.CloudError, match='over the quota'):
        volumes.create('data', 5, 'reservation:r:1', {'climate:reservation': 'r'})
    assert canned.asked('POST', '/volumes')[0].json()['volume'] == {
        'name': 'data', 'size': 5, 'volume_type': 'reservation:r:1',
        'metadata': {'climate:reservation': 'r'}}


def test_a_volume_is_deleted_with_its_snapshots_and_deleting_can_be_repeated(volumes, canned):
    canned.http.delete(f'{canned.CINDER}/volumes/v1', [
        {'status_code': 202}, _refusal('gone', 404), _refusal('must be available', 400)])
    volumes.delete('v1')
    volumes.delete('v1')
    with pytest.raises(errors.StillBusy, match='must be available'):
        volumes.delete('v1')
    assert canned.asked('DELETE', '/volumes/v1')[0].qs == {'cascade': ['true']}


def test_an_image_of_a_volume_is_found_by_the_key_that_the_volume_gives_it(volumes, canned):
    canned.http.post(f'{canned.CINDER}/volumes/v1/action',
                     json={'os-volume_upload_image': {'image_id': 'i1'}})
    volumes.upload('v1', 'saved', 'r:v1')
    marked, uploaded = (each.json() for each in canned.asked('POST', '/volumes/v1/action'))
    assert marked == {'os-set_image_metadata': {'metadata': {'climate_key': 'r:v1'}}}
    assert uploaded['os-volume_upload_image']['image_name'] == 'saved'


def test_the_key_is_removed_from_a_volume_that_is_kept(volumes, canned):
    canned.http.post(f'{canned.CINDER}/volumes/v1/action', [
        {'status_code': 200}, _refusal('no such key', 404), _refusal('it is uploading', 400)])
    volumes.forget_key('v1')
    volumes.forget_key('v1')
    with pytest.raises(errors.StillBusy, match='it is uploading'):
        volumes.forget_key('v1')
    assert canned.asked('POST', '/volumes/v1/action')[0].json() == {
        'os-unset_image_metadata': {'key': 'climate_key'}}


def test_a_snapshot_is_created_even_of_a_volume_in_use(volumes, canned):
    canned.http.post(f'{canned.CINDER}/snapshots', json={'snapshot': {'id': 'n1'}})
    volumes.create_snapshot('v1', 'copy')
    wanted = canned.asked('POST', '/snapshots')[0].json()['snapshot']
    assert (wanted['volume_id'], wanted['name'], wanted['force']) == ('v1', 'copy', True)


def test_a_retyped_volume_may_move_to_another_back_end(volumes, canned):
    canned.http.post(f'{canned.CINDER}/volumes/v1/action', [
        {'status_code': 202}, _refusal('has snapshots', 400), _refusal('gone', 404)])
    volumes.retype('v1', 'ordinary')
    with pytest.raises(errors.StillBusy, match='has snapshots'):
        volumes.retype('v1', 'ordinary')
    with pytest.raises(errors.TargetGone):
        volumes.retype('v1', 'ordinary')
    assert canned.asked('POST', '/volumes/v1/action')[0].json() == {
        'os-retype': {'new_type': 'ordinary', 'migration_policy': 'on-demand'}}


def test_a_cinder_that_does_not_answer_is_unreachable(volumes, canned):
    canned.http.get(f'{canned.CINDER}/types', status_code=503)
    with pytest.raises(errors.CloudUnreachable, match='Cinder'):
        volumes.types()
