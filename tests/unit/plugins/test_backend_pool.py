# SPDX-License-Identifier: Apache-2.0
"""The facts of storage back ends, and the volume types that lead to them."""
import types

import pytest

from climate.cloud import volume_models as models
from climate.domain import records
from climate.plugins.volume import backend_pool
from climate.plugins.volume import names

NAME = 'node@lease#one'


def _cloud(*services):
    """A cloud with one back end, and these pairs (service host, zone)."""
    face = types.SimpleNamespace(
        BINARY='cinder-volume',
        backends=lambda: [models.Backend(NAME, 'lease', 100)],
        services=lambda: [models.StorageService(binary, host, enabled=True, up=True, zone=zone)
                          for binary, host, zone in services])
    return types.SimpleNamespace(
        as_service=lambda: types.SimpleNamespace(volumes=face, storage_hosts=face))


@pytest.mark.parametrize(('services', 'zone', 'specs'), [
    ((('cinder-volume', 'node@lease', 'az1'), ('cinder-volume', 'node@other', 'az2')), 'az1',
     {'RESKEY:availability_zones': 'az1'}),
    ((('cinder-volume', 'node@lease', 'nova'),), 'nova', {'RESKEY:availability_zones': 'nova'}),
    ((('cinder-scheduler', 'node@lease', 'az1'),), None, {}),
    ((('cinder-volume', 'node@lease', None),), None, {}), ((), None, {})])
def test_a_back_end_has_the_zone_of_its_service_and_so_have_volumes_of_its_types(
        conf, services, zone, specs):
    pool = backend_pool.BackendPool(conf)
    cloud = _cloud(*services)
    found = pool.discover(cloud, NAME)
    assert found.facts.get('availability_zone') == zone
    known = records.Resource(1, 'backend', NAME, {'gb': 100}, facts=found.facts)
    assert names.specs(known) == {'volume_backend_name': 'lease', **specs}
    # A back end that an earlier release enrolled gets it at the next refresh.
    before = records.Resource(1, 'backend', NAME, {'gb': 100},
                              facts={'volume_backend_name': 'lease'})
    assert names.specs(before) == {'volume_backend_name': 'lease'}
    assert pool.survey(cloud, [before])[NAME].facts == found.facts
