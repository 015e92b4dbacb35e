# SPDX-License-Identifier: Apache-2.0
"""The variables that change the real cloud of the tests."""
import pytest

from tools.cloud import climate_service
from tools.cloud import services
from tools.cloud import settings


def test_a_cloud_has_everything_unless_something_is_left_out():
    def optional(**environment):
        return settings.from_environment(environment).optional
    assert optional() == optional(CLOUD_WITH='') == ('cinder', 'heat', 'magnum')
    assert optional(CLOUD_WITH='magnum,cinder') == ('cinder', 'magnum')
    assert optional(CLOUD_WITH='none') == optional(CLOUD_WITH='neutron') == ()


def test_a_service_that_is_left_out_is_not_started_and_its_type_not_enabled():
    cloud = settings.from_environment({'CLOUD_WITH': 'heat'})
    assert services.names(cloud)[-2:] == ['heat-api', 'heat-engine']
    assert {'heat-api', 'cinder-api', 'magnum-api'} & dict(cloud.listeners).keys() == {'heat-api'}
    types = climate_service.plugins(cloud)
    assert {'physical:host', 'virtual:floatingip', 'virtual:stack'} <= set(types)
    assert not {'virtual:volume', 'virtual:cluster', 'virtual:dummy'} & set(types)


@pytest.mark.parametrize(('name', 'value', 'said'), [
    ('CLOUD_WITH', 'swift', 'swift.*Known: cinder, heat, magnum'),
    ('CLOUD_SHIFT', '-1', 'CLOUD_SHIFT.*"-1"'),
    ('CLOUD_SHIFT', '60000', 'from 0 to 40000'),
    ('CLIMATE_PORT', 'http', '"http"'),
    ('CLIMATE_NAME', 'a; drop', 'small letters'),
    ('CLIMATE_HOSTS', 'compute9', 'compute1,compute2'),
])
def test_a_wrong_value_is_refused_with_the_name_of_its_variable(name, value, said):
    with pytest.raises(settings.CloudError, match=name) as error:
        settings.from_environment({name: value})
    assert error.match(said)


def test_a_shift_moves_every_port_and_a_guest_has_its_own():
    plain, shifted = settings.ports({}), settings.ports({'CLOUD_SHIFT': '7000'})
    assert {name: port + 7000 for name, port in plain.items()} == shifted
    assert len(set(shifted.values())) == len(shifted)
    guest = settings.ports({'CLOUD_SHIFT': '7000', 'CLIMATE_PORT': '8301'})
    assert guest == shifted | {'climate': 8301}


def test_a_guest_keeps_its_files_and_processes_apart_from_the_cloud(tmp_path):
    own = settings.from_environment({'CLOUD_DIR': str(tmp_path)})
    guest = settings.from_environment({'CLOUD_DIR': str(tmp_path), 'CLIMATE_NAME': 'volumes'})
    assert (own.home, own.climate_endpoint) == (tmp_path, None)
    assert guest.home == tmp_path / 'guests' / 'volumes'
    assert guest.climate_endpoint == settings.url('climate', '/v1')
    assert guest.home_of('climate-manager') == guest.home
    assert guest.home_of('nova-api') == guest.folder == own.folder
