# SPDX-License-Identifier: Apache-2.0
"""The example of the documentation: a type of a package of its own, from enrolment to its end."""
from importlib import util
import pathlib

from oslo_config import cfg
import pytest
from support import builders
from support import cinder_standin

from climate import conf as configuration
from climate.plugins import registry

EXAMPLE = pathlib.Path(__file__).parents[2] / 'doc/source/contributor/examples/volume.py'
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
MEMBER = {'version': '1.1'}


def load(path):
    """The module in a file that is in no package."""
    spec = util.spec_from_file_location(path.stem, path)
    found = util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


CLASSES = {'example:volume': load(EXAMPLE).VolumePlugin}


@pytest.fixture
def cinder():
    """Cinder with two backends. Trusts are those of the simulated cloud, once it is there."""
    with cinder_standin.served({'hdd': 500, 'ssd': 200}) as found:
        yield found


@pytest.fixture
def conf(cinder, tmp_path):
    """Options that lead to that Cinder, on the simulated cloud."""
    path = tmp_path / 'climate.conf'
    path.write_text(f"""
[api]
auth_strategy = noauth
[cloud]
driver = simulated
[keystone]
auth_type = password
auth_url = {cinder.url}/identity/v3
username = climate
password = secret
project_name = service
user_domain_name = Default
project_domain_name = Default
""")
    found = configuration.register(cfg.ConfigOpts())
    registry.register_options(found, CLASSES)
    found([], project='climate', default_config_files=[str(path)], default_config_dirs=[])
    return found


@pytest.fixture
def manager(conf, cinder, database, clock):
    found = builders.Manager(conf, database, clock, classes=CLASSES)
    cinder.trusts = found.cloud.as_service().keystone.trusts
    return found


@pytest.fixture
def api(conf, manager):
    """The REST service; both backends are enrolled."""
    found = builders.Api(conf, manager, plugins=CLASSES)
    for name in ('storage@hdd#hdd', 'storage@ssd#ssd'):
        assert found.post('/v1/resources/volume', {'name': name}, **ADMIN).status_int == 201
    return found


def asked(api, size_gb, start, end):
    """The response to a request for a volume on the backend "ssd"."""
    return api.post('/v1/leases', {
        'name': 'data', 'start': f'2030-05-01T{start}Z', 'end': f'2030-05-01T{end}Z',
        'reservations': [{'resource_type': 'example:volume', 'size_gb': size_gb,
                          'criteria': '["==", "$backend", "ssd"]'}]}, **MEMBER)


def leased(api, *arguments):
    """The lease of a volume."""
    answer = asked(api, *arguments)
    assert answer.status_int == 201, answer.text
    return answer.json['lease']


def shown(api, lease):
    return api.get(f'/v1/leases/{lease["id"]}', **MEMBER).json['lease']


def at(hour, minute=1):
    return builders.at(hour - 12) + builders.minutes(minute)


def test_a_backend_is_enrolled_as_cinder_describes_it(api):
    hdd, ssd = api.get('/v1/resources/volume', **ADMIN).json['resources']
    assert (hdd['name'], hdd['backend'], hdd['gb']) == ('storage@hdd#hdd', 'hdd', 500)
    assert (ssd['name'], ssd['backend'], ssd['gb']) == ('storage@ssd#ssd', 'ssd', 200)
    absent = api.post('/v1/resources/volume', {'name': 'storage@tape#tape'}, **ADMIN)
    assert absent.status_int == 404
    assert 'storage@tape#tape' in absent.text


@pytest.mark.proof
def test_a_volume_is_made_at_the_start_kept_when_prolonged_and_deleted_at_the_end(
        api, cinder, manager):
    lease = leased(api, 100, '13:00', '15:00')
    manager.run_until(at(12, 59))
    assert cinder.volumes == {}

    manager.run_until(at(13))
    [volume] = cinder.volumes.values()
    [reservation] = shown(api, lease)['reservations']
    assert (volume['project'], volume['backend'], volume['size'], volume['name']) == (
        'demo', 'ssd', 100, reservation['id'])
    assert shown(api, lease)['status'] == 'active'

    longer = api.put(f'/v1/leases/{lease["id"]}', {'end': '2030-05-01T17:00Z'}, **MEMBER)
    assert longer.status_int == 200, longer.text
    manager.run_until(at(16))
    assert list(cinder.volumes.values()) == [{**volume, 'status': 'available'}]
    assert asked(api, 150, '16:30', '18:00').status_int == 409

    manager.run_until(at(17))
    assert cinder.volumes == {}
    assert shown(api, lease)['status'] == 'terminated'
    assert manager.cloud.as_service().keystone.trusts() == []
    leased(api, 200, '17:30', '18:00')


@pytest.mark.proof
@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('minute', [0, 1])
def test_a_lease_that_is_deleted_leaves_no_volume_whether_it_was_ready_or_not(
        api, cinder, manager, minute):
    lease = leased(api, 100, '12:00', '15:00')
    manager.run_until(at(12, minute))
    assert [each['status'] for each in cinder.volumes.values()] == [
        'available' if minute else 'creating']
    assert api.delete(f'/v1/leases/{lease["id"]}', **MEMBER).status_int == 204
    manager.run_until(at(12, minute + 1))
    assert cinder.volumes == {}
    leased(api, 200, '12:30', '18:00')


@pytest.mark.proof
def test_a_start_that_cinder_refuses_succeeds_when_it_can(api, cinder, manager):
    lease = leased(api, 100, '12:00', '15:00')
    room = cinder.backends.pop('ssd')
    manager.run()
    told = manager.client.lease_history(builders.a_member(), lease['id'])
    assert 'Volume type with name ssd could not be found' in str(told)
    cinder.backends['ssd'] = room
    manager.run_until(at(12))
    assert shown(api, lease)['status'] == 'active'
    assert [each['project'] for each in cinder.volumes.values()] == ['demo']
