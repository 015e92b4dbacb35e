# SPDX-License-Identifier: Apache-2.0
"""The adapter of Glance, against canned answers."""
import pytest

from climate import errors
from climate.cloud import models


@pytest.fixture
def images(canned):
    return canned.cloud().as_service().images


def _image(image_id, **fields):
    return {'id': image_id, 'name': 'reserved_vm', 'status': 'active', 'owner': 'demo', **fields}


def test_images_are_found_by_their_key_page_by_page(images, canned):
    canned.http.get(f'{canned.GLANCE}/images', [
        {'json': {'images': [_image('i1', status='queued', name=None)]}},
        {'json': {'images': [_image('i2')]}}, {'json': {'images': []}}])
    assert images.made('r1:s1', 'demo') == [
        models.Image(id='i1', name='', status='queued', owner='demo'),
        models.Image(id='i2', name='reserved_vm', status='active', owner='demo')]
    asked = [each.qs for each in canned.asked('GET', '/images')]
    assert [each.get('marker') for each in asked] == [None, ['i1'], ['i2']]
    assert {each['climate_key'][0] for each in asked} == {'r1:s1'}


def test_an_image_of_another_project_is_not_found_by_its_key(images, canned):
    canned.http.get(f'{canned.GLANCE}/images', [
        {'json': {'images': [_image('i1', owner='eve'), _image('i2', owner='service')]}},
        {'json': {'images': []}}])
    assert [each.id for each in images.made('r1', 'demo')] == ['i2']


def test_an_image_gets_a_new_owner_and_is_private(images, canned):
    canned.http.patch(f'{canned.GLANCE}/images/i1', json=_image('i1'))
    images.give('i1', 'demo')
    [asked] = canned.asked('PATCH', '/images/i1')
    assert asked.headers['Content-Type'] == 'application/openstack-images-v2.1-json-patch'
    assert asked.json() == [{'op': 'replace', 'path': '/owner', 'value': 'demo'},
                            {'op': 'replace', 'path': '/visibility', 'value': 'private'}]


def test_deleting_an_absent_image_succeeds(images, canned):
    canned.http.delete(f'{canned.GLANCE}/images/i1', status_code=404)
    images.delete('i1')


def test_an_image_that_is_protected_is_an_error_with_its_reason(images, canned):
    canned.http.delete(f'{canned.GLANCE}/images/i1', status_code=403, text='protected')
    with pytest.raises(errors.CloudError, match=r'Glance: .*403'):
        images.delete('i1')


def test_a_version_of_the_endpoint_can_be_configured(canned):
    canned.http.get('http://elsewhere/images', json={'images': []})
    cloud = canned.cloud('[glance]\nendpoint_override = http://elsewhere')
    assert cloud.as_service().images.made('r1', 'demo') == []
