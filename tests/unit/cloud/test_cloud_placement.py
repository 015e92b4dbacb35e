# SPDX-License-Identifier: Apache-2.0
"""The adapter of Placement, against canned answers."""
import pytest

from climate import errors


@pytest.fixture
def placement(canned):
    return canned.cloud().as_service().placement


@pytest.fixture
def providers(canned):
    """callable({name: uuid}): the providers that Placement knows."""
    def answer(known):
        def respond(request, context):
            [name] = request.qs['name']
            return {'resource_providers': [{'uuid': known[name]}] if name in known else []}
        canned.http.get(f'{canned.PLACEMENT}/resource_providers', json=respond)
    return answer


def _conflict(code):
    return {'status_code': 409, 'json': {'errors': [{'status': 409, 'code': code, 'detail': ''}]}}


def test_a_child_is_made_under_its_hypervisor(placement, canned, providers):
    providers({'compute-1': 'root'})
    canned.http.post(f'{canned.PLACEMENT}/resource_providers', status_code=201)
    made = placement.ensure_child('compute-1', 'climate_compute-1')
    [asked] = canned.asked('POST', '/resource_providers')
    assert asked.json() == {'name': 'climate_compute-1', 'uuid': made,
                            'parent_provider_uuid': 'root'}
    assert asked.headers['OpenStack-API-Version'] == 'placement 1.29'


def test_a_child_that_exists_is_taken(placement, canned, providers):
    providers({'compute-1': 'root', 'climate_compute-1': 'child'})
    assert placement.ensure_child('compute-1', 'climate_compute-1') == 'child'
    assert not canned.asked('POST', '/resource_providers')


def test_a_child_of_a_hypervisor_without_provider_is_not_made(placement, providers):
    providers({})
    with pytest.raises(errors.HostNotFound):
        placement.ensure_child('compute-1', 'climate_compute-1')


def test_a_child_is_emptied_and_not_deleted(placement, canned, providers):
    providers({'climate_compute-1': 'child'})
    canned.http.delete(f'{canned.PLACEMENT}/resource_providers/child/inventories', [
        _conflict('placement.concurrent_update'), {'status_code': 204}])
    placement.empty_child('climate_compute-1')
    assert len(canned.asked('DELETE', '/inventories')) == 2
    assert not canned.asked('DELETE', '/child')


def test_a_child_that_a_server_draws_from_is_busy(placement, canned, providers):
    providers({'climate_compute-1': 'child'})
    canned.http.delete(f'{canned.PLACEMENT}/resource_providers/child/inventories', [
        _conflict('placement.inventory.inuse')])
    with pytest.raises(errors.StillBusy):
        placement.empty_child('climate_compute-1')


def test_a_child_that_is_not_there_is_empty(placement, providers):
    providers({})
    placement.empty_child('climate_compute-1')


def test_traits_and_inventory_of_a_hypervisor(placement, canned, providers):
    providers({'compute-1': 'root'})
    vcpu = {'total': 16, 'reserved': 0, 'allocation_ratio': 4.0, 'min_unit': 1, 'max_unit': 16,
            'step_size': 1}
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/root/traits',
                    json={'traits': ['A', 'B']})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/root/inventories',
                    json={'inventories': {'VCPU': vcpu}})
    assert placement.traits('compute-1') == frozenset({'A', 'B'})
    assert placement.inventory('compute-1') == {'VCPU': vcpu}
