# SPDX-License-Identifier: Apache-2.0
"""The power of resources in the REST interface."""
import pytest
from support import builders

from climate import power as power_drivers
from climate.manager.energy import power_saving

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


def test_the_power_state_is_hidden_at_1_0_or_without_a_driver(api, conf, host):
    assert 'power_state' not in api.get(f'/v1/os-hosts/{host}', token=builders.ADMIN).json['host']
    conf.set_override('driver', '', group='energy')
    assert 'power_state' not in api.get(f'/v1/os-hosts/{host}', **ADMIN).json['host']


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_a_property_has_no_name_of_a_field_that_responses_have(api, host, version):
    shown = api.get(f'/v1/os-hosts/{host}', **ADMIN).json['host']
    assert {'power_state', 'power_since', 'health'} <= shown.keys()
    for name in shown.keys() - {'reservable'}:
        refused = api.put(f'/v1/os-hosts/{host}', {name: 'asleep'}, token=builders.ADMIN,
                          version=version)
        assert (refused.status_int, name in refused.json['error_message']) == (400, True)
    assert api.get(f'/v1/os-hosts/{host}', **ADMIN).json['host'] == shown


def test_the_report_of_energy_says_who_sleeps_since_when_and_what_that_saves(api, conf, manager):
    conf.set_override('driver', 'simulated', group='energy')
    conf.set_override('spare', 0, group='energy')
    second, first = manager.enrol(2)
    api.put(f'/v1/os-hosts/{first.id}', {'saved_watts': '250'}, **ADMIN)
    kept = power_saving.PowerSaving(manager.core, 'this manager',
                                    power_drivers.load(conf, manager.cloud))
    manager.clock.advance(builders.hours(1))
    for _ in range(2):
        kept.step(manager.clock())
    manager.clock.advance(builders.hours(4))
    found = api.get('/v1/energy', **ADMIN).json['energy']
    other, one = found['resources']
    assert (one['power_state'], one['power_since']) == ('asleep', '2030-05-01T13:00:00Z')
    assert (one['hours_asleep'], one['watts'], one['kwh_saved']) == (4.0, 250.0, 1.0)
    assert (one['id'], other['id']) == (str(first.id), str(second.id))
    assert (other['watts'], other['kwh_saved']) == (None, None)
    assert found['total'] == {'hours_asleep': 8.0, 'kwh_saved': 1.0}
    # Only what lies in the span counts, and nothing that is still to come.
    part = api.get('/v1/energy?start=2030-05-01+14:00&end=2030-05-09&pool=host', **ADMIN)
    assert part.json['energy']['end'] == '2030-05-01T17:00:00Z'
    assert part.json['energy']['total'] == {'hours_asleep': 6.0, 'kwh_saved': 0.75}


@pytest.mark.parametrize(('query', 'field'), [
    ('pool=segment', 'pool'), ('pool=', 'pool'), ('step=1h', 'step'), ('start=x', 'start'),
    ('start=2030-05-01&end=2030-04-01', 'end'), ('start=2000-01-01', 'end')])
def test_another_question_is_refused_by_the_name_of_its_field(api, host, query, field):
    refused = api.get(f'/v1/energy?{query}', **ADMIN)
    assert refused.status_int == 400
    assert field in refused.text
