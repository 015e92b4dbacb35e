# SPDX-License-Identifier: Apache-2.0
"""The power of resources in the REST interface."""
import builders
import pytest

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}


@pytest.fixture
def host(conf, manager):
    """The id of an enrolled host that may sleep."""
    conf.set_override('driver', 'simulated', group='energy')
    return manager.enrol(1)[0].id


@pytest.mark.parametrize('path', ['/v1/os-hosts', '/v1/resources/host'])
def test_a_host_is_put_to_sleep_and_woken(api, host, path):
    one = f'{path}/{host}'
    [seen] = api.get(one, **ADMIN).json.values()
    assert seen['power_state'] == 'awake'
    told = api.post(f'{one}/power', {'state': 'asleep'}, **ADMIN)
    assert told.status_int == 202
    [seen] = told.json.values()
    assert (seen['power_state'], seen['power_since']) == ('falling_asleep', '2030-05-01T12:00:00Z')
    [seen] = api.post(f'{one}/power', {'state': 'awake'}, **ADMIN).json.values()
    assert seen['power_state'] == 'waking'


@pytest.mark.parametrize('body', [{}, {'state': 'off'}, {'state': 'awake', 'how': 'soon'}])
def test_another_body_is_refused(api, host, body):
    assert api.post(f'/v1/os-hosts/{host}/power', body, **ADMIN).status_int == 400


def test_a_host_that_sleeps_is_not_withdrawn(api, host):
    api.post(f'/v1/os-hosts/{host}/power', {'state': 'asleep'}, **ADMIN)
    refused = api.call('DELETE', f'/v1/os-hosts/{host}', **ADMIN)
    assert refused.status_int == 409
    assert 'Wake it first' in refused.text


def test_nothing_is_shown_at_1_0_or_without_a_driver(api, conf, host):
    assert 'power_state' not in api.get(f'/v1/os-hosts/{host}', token=builders.ADMIN).json['host']
    conf.set_override('driver', '', group='energy')
    assert 'power_state' not in api.get(f'/v1/os-hosts/{host}', **ADMIN).json['host']
