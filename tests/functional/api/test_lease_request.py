# SPDX-License-Identifier: Apache-2.0
"""GET /v1/leases/{id}/request: the request that creates the same lease again."""
import json

import pytest
from support import builders
from support import every_type

V1_1 = {'version': '1.1'}
GPU = json.dumps(['==', '$gpu', 'A100'])
BODIES = [
    [{'resource_type': 'physical:host', 'min': 1, 'max': 2, 'resource_properties': GPU,
      'label': 'hosts'},
     {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'depends_on': ['hosts'],
      'extra_specs': {'vcpus': '>= 16'}}],
    [{'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2,
      'affinity': False, 'resource_properties': GPU}],
    [{'resource_type': 'flavor:instance', 'flavor_id': '1', 'amount': 1}],
    [{'resource_type': 'virtual:instance', 'resource_id': None, 'flavor_id': '1',
      'on_end': 'delete'}]]


@pytest.fixture
def repeated(api, manager):
    """callable(reservations): the request of a lease with them, after it became active."""
    def of(reservations):
        answer = api.post('/v1/leases', {'name': 'x', 'duration': '90m',
                                         'reservations': reservations}, **V1_1)
        assert answer.status_int == 201, answer.body
        manager.run()
        found = api.get(f'/v1/leases/{answer.json["lease"]["id"]}/request', **V1_1)
        assert found.status_int == 200, found.body
        return found.json['request']
    return of


@pytest.mark.parametrize('reservations', BODIES)
def test_a_request_creates_the_same_lease_again(api, manager, repeated, reservations):
    manager.enrol(8, gpu='A100')
    request = repeated(reservations)
    assert (request['name'], request['duration']) == ('x', 90 * 60)
    for sent, found in zip(reservations, request['reservations'], strict=True):
        assert found.items() >= sent.items()
    answer = api.post('/v1/leases', request, **V1_1)
    assert answer.status_int == 201, answer.body


def test_a_request_has_the_steps_of_the_lease(api, manager):
    manager.enrol(1)
    lease = api.post('/v1/leases', {
        'name': 'x', 'duration': '2d', 'while_free': '1d', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}, **V1_1).json['lease']
    request = api.get(f'/v1/leases/{lease["id"]}/request', **V1_1).json['request']
    assert request['while_free'] == 86400
    assert api.post('/v1/leases?dry_run=true', {**request, 'start': '2030-06-01 00:00'},
                    **V1_1).json['lease']['while_free'] == 86400


@pytest.mark.parametrize('leasable', every_type.POOLS, ids=every_type.IDS)
def test_other_types_are_repeated(api, manager, repeated, leasable):
    leasable.enrol(manager, 2)
    request = repeated([{'resource_type': leasable.type, **leasable.request}])
    answer = api.post('/v1/leases', request, **V1_1)
    assert answer.status_int == 201, answer.body


def test_other_projects_and_rest_1_0_get_no_request(api, manager):
    manager.enrol(1)
    place = f'/v1/leases/{manager.book(builders.hosts(1)).id}/request'
    assert api.get(place, **V1_1).status_int == 200
    assert api.get(place, token=builders.STRANGER, **V1_1).status_int == 404
    assert api.get(place, version='1.0').status_int == 404
