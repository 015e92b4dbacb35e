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
    with pytest.raises(errors.ResourceNotFound):
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


def test_many_hypervisors_are_looked_at_with_one_search(placement, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_providers', json={'resource_providers': [
        {'name': name, 'uuid': uuid} for name, uuid in (
            ('compute-1', 'one'), ('climate_compute-1', 'child'), ('compute-2', 'two'),
            ('compute-3', 'gone'))]})
    for uuid in ('one', 'two'):
        canned.http.get(f'{canned.PLACEMENT}/resource_providers/{uuid}/traits',
                        json={'traits': [uuid.upper()]})
        canned.http.get(f'{canned.PLACEMENT}/resource_providers/{uuid}/inventories',
                        json={'inventories': {}})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/gone/traits', status_code=404)
    assert placement.survey(['compute-1', 'compute-2', 'compute-3', 'compute-9']) == {
        'compute-1': (frozenset({'ONE'}), {}), 'compute-2': (frozenset({'TWO'}), {})}
    assert len(canned.asked('GET', '/resource_providers')) == 1
    assert not canned.asked('GET', '/child/traits')


def test_a_survey_in_which_one_answer_fails_is_none(placement, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_providers', json={'resource_providers': [
        {'name': 'compute-1', 'uuid': 'one'}]})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/one/traits', status_code=500)
    with pytest.raises(errors.CloudError):
        placement.survey(['compute-1'])


@pytest.fixture
def inventories(canned):
    """callable(inventories…): the inventories of the child at each read."""
    def answer(*reads):
        canned.http.get(f'{canned.PLACEMENT}/resource_providers/child/inventories', [
            {'json': {'resource_provider_generation': number, 'inventories': dict(read)}}
            for number, read in enumerate(reads)])
    return answer


def _slots(total):
    return {'total': total, 'reserved': 0, 'min_unit': 1, 'max_unit': 1, 'step_size': 1,
            'allocation_ratio': 1.0}


def _sent(canned):
    return [each.json() for each in canned.asked('PUT', '/child/inventories')]


def test_new_slots_take_one_call_to_a_provider_that_is_known(placement, canned, providers):
    providers({'climate_compute-1': 'child'})
    canned.http.post(f'{canned.PLACEMENT}/resource_providers/child/inventories', json={})
    canned.http.delete(f'{canned.PLACEMENT}/resource_providers/child/inventories/CUSTOM_B', [
        {'status_code': 204}, {'status_code': 404}])
    for _ in range(2):
        placement.set_slots('climate_compute-1', 'CUSTOM_B', 2)
    assert len(canned.asked('GET', '/resource_providers')) == 1
    placement.set_slots('climate_compute-1', 'CUSTOM_B', 0)
    placement.set_slots('climate_compute-1', 'CUSTOM_B', 0)
    made = canned.asked('POST', '/child/inventories')[0]
    assert made.json() == {**_slots(2), 'resource_class': 'CUSTOM_B',
                           'resource_provider_generation': 0}


def test_a_provider_that_somebody_made_anew_is_looked_up_again(placement, canned, providers):
    providers({'climate_compute-1': 'old'})
    canned.http.post(f'{canned.PLACEMENT}/resource_providers/old/inventories', [
        {'json': {}}, {'status_code': 404}])
    placement.set_slots('climate_compute-1', 'CUSTOM_A', 1)
    providers({'climate_compute-1': 'new'})
    canned.http.post(f'{canned.PLACEMENT}/resource_providers/new/inventories', json={})
    with pytest.raises(errors.CloudError):
        placement.set_slots('climate_compute-1', 'CUSTOM_B', 1)
    placement.set_slots('climate_compute-1', 'CUSTOM_B', 1)
    assert len(canned.asked('POST', '/new/inventories')) == 1


def test_new_slots_are_added_again_if_another_client_was_faster(
        placement, canned, providers, inventories):
    providers({'climate_compute-1': 'child'})
    inventories({'CUSTOM_A': _slots(1)})
    canned.http.post(f'{canned.PLACEMENT}/resource_providers/child/inventories', [
        _conflict('placement.concurrent_update'), _conflict('placement.concurrent_update'),
        {'json': {}}])
    placement.set_slots('climate_compute-1', 'CUSTOM_B', 2)
    assert len(canned.asked('POST', '/child/inventories')) == 3
    assert not _sent(canned)


@pytest.fixture
def refused(canned):
    """Placement refuses to add or remove a single class of the child."""
    address = f'{canned.PLACEMENT}/resource_providers/child/inventories'
    canned.http.post(address, [_conflict('placement.concurrent_update')])
    for name in 'AB':
        canned.http.delete(f'{address}/CUSTOM_{name}', [_conflict('placement.concurrent_update')])


@pytest.mark.usefixtures('refused')
def test_slots_come_beside_what_the_child_has_of_other_reservations(
        placement, canned, providers, inventories):
    providers({'climate_compute-1': 'child'})
    inventories({'CUSTOM_A': _slots(1), 'CUSTOM_B': _slots(1)})
    canned.http.put(f'{canned.PLACEMENT}/resource_providers/child/inventories', json={})
    placement.set_slots('climate_compute-1', 'CUSTOM_B', 2)
    assert _sent(canned) == [{'resource_provider_generation': 0, 'inventories': {
        'CUSTOM_A': _slots(1), 'CUSTOM_B': _slots(2)}}]


@pytest.mark.usefixtures('refused')
def test_slots_that_others_wrote_beside_meanwhile_are_kept(
        placement, canned, providers, inventories):
    providers({'climate_compute-1': 'child'})
    inventories({'CUSTOM_B': _slots(1)}, {'CUSTOM_A': _slots(1), 'CUSTOM_B': _slots(1)})
    canned.http.put(f'{canned.PLACEMENT}/resource_providers/child/inventories', [
        _conflict('placement.concurrent_update'), {'json': {}}])
    placement.set_slots('climate_compute-1', 'CUSTOM_B', 2)
    assert _sent(canned)[1] == {'resource_provider_generation': 1, 'inventories': {
        'CUSTOM_A': _slots(1), 'CUSTOM_B': _slots(2)}}


@pytest.mark.usefixtures('refused')
def test_slots_that_are_as_they_should_be_are_left_alone(
        placement, canned, providers, inventories):
    providers({'climate_compute-1': 'child'})
    inventories({'CUSTOM_A': _slots(2)})
    placement.set_slots('climate_compute-1', 'CUSTOM_A', 2)
    placement.set_slots('climate_compute-1', 'CUSTOM_B', 0)
    placement.set_slots('climate_gone', 'CUSTOM_B', 0)
    assert not _sent(canned)


@pytest.mark.usefixtures('refused')
def test_slots_that_a_server_has_are_busy(placement, canned, providers, inventories):
    providers({'climate_compute-1': 'child'})
    inventories({'CUSTOM_A': _slots(2)})
    canned.http.put(f'{canned.PLACEMENT}/resource_providers/child/inventories', [
        _conflict('placement.inventory.inuse')])
    with pytest.raises(errors.StillBusy):
        placement.set_slots('climate_compute-1', 'CUSTOM_A', 0)


def test_a_class_leaves_all_providers_before_it_is_deleted(placement, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_providers?resources=CUSTOM_A:1',
                    json={'resource_providers': [{'uuid': 'child'}]})
    canned.http.delete(f'{canned.PLACEMENT}/resource_providers/child/inventories/CUSTOM_A', [
        {'status_code': 204}, {'status_code': 404}])
    canned.http.delete(f'{canned.PLACEMENT}/resource_classes/CUSTOM_A', [
        _conflict('placement.undefined_code'), {'status_code': 204}])
    with pytest.raises(errors.StillBusy):
        placement.delete_class('CUSTOM_A')
    placement.delete_class('CUSTOM_A')
    assert not _sent(canned)


def test_a_class_that_is_not_there_is_deleted(placement, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_providers?resources=CUSTOM_A:1',
                    status_code=400)
    canned.http.get(f'{canned.PLACEMENT}/resource_classes/CUSTOM_A', status_code=404)
    placement.delete_class('CUSTOM_A')


def test_the_names_of_all_resource_classes(placement, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_classes', json={
        'resource_classes': [{'name': 'VCPU'}, {'name': 'CUSTOM_A'}]})
    assert placement.classes() == frozenset({'VCPU', 'CUSTOM_A'})


def test_the_inventories_of_children_by_the_beginning_of_their_names(placement, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_providers', json={'resource_providers': [
        {'name': 'compute-1', 'uuid': 'root'}, {'name': 'climate_compute-1', 'uuid': 'child'},
        {'name': 'climate_compute-2', 'uuid': 'gone'}]})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/child/inventories',
                    json={'inventories': {'CUSTOM_A': {'total': 2}}})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/gone/inventories', status_code=404)
    assert placement.children('climate_') == {'climate_compute-1': {'CUSTOM_A': {'total': 2}}}
    assert not canned.asked('GET', '/root/inventories')
