# SPDX-License-Identifier: Apache-2.0
"""The raw adapter of openstacksdk, without a library for reservations."""
import consumer
import pytest


@pytest.fixture(scope='module')
def sdk(cloud):
    program = consumer.Consumer(cloud, 'openstacksdk==4.22.0')
    program.install()
    return program


def test_a_lease_is_made_read_renamed_and_deleted(sdk, scene, record_property):
    record_property('consumer', (sdk.name, sdk.version))
    name = scene.name()
    shown = sdk.python('sdk_story.py', name)
    (status, made), lease = shown['post'], shown['post'][1]['lease']
    scene.remember(lease['id'])
    assert (status, lease['status'], set(made)) == (201, 'PENDING', {'lease'})
    assert shown['put'] == shown['get'] == {'lease': {
        **lease, 'name': f'{name}-b', 'updated_at': shown['get']['lease']['updated_at']}}
    version, newest = shown['newest']
    assert (version, newest['lease']['start']) == ('reservation 1.1', '2031-01-01T10:00:00Z')
    assert shown['list'] == [lease['id']]
    assert shown['refused'][0] == 403
    assert 'climate:oshosts:get' in shown['refused'][1]['error_message']
    assert (shown['delete'], shown['gone']) == (204, 404)
