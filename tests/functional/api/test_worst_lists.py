# SPDX-License-Identifier: Apache-2.0
"""The administrator's list of allocations, whatever members have leased."""
import pytest
from support import builders

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
SIZED = {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 1, 'disk_gb': 0,
         'affinity': None}


@pytest.fixture
def lease(api):
    """callable(amounts…): the answer to a request for a lease with these numbers of slots."""
    def asked(*amounts, version='1.1', **more):
        return api.post('/v1/leases', {
            'name': 'many', 'start': 'now', 'duration': '1h',
            'reservations': [{**SIZED, 'amount': amount} for amount in amounts], **more},
            version=version)
    return asked


def pages(api, path):
    """The pages of a list, each a list of (resource id, reservations)."""
    found = []
    while path:
        answer = api.get(path, **ADMIN)
        assert answer.status_int == 200, answer.body
        found.append([(each['resource_id'], each['reservations'])
                      for each in answer.json['allocations']])
        [link] = answer.json.get('allocations_links', [{'href': None}])
        path = link['href']
    return found


def test_a_lease_with_too_many_slots_is_refused_by_name(lease, manager, conf):
    manager.enrol(2)
    conf.set_override('max_slots', 8, group='manager')
    for amounts in ((9,), (4, 5)):
        answer = lease(*amounts)
        assert answer.status_int == 400
        assert answer.json['details']['field'] == 'reservations.amount'
        assert 'at most 8 instances' in answer.json['error_message']
    assert lease(4, 4).status_int == 201


def test_the_ceiling_holds_at_rest_1_0_and_for_what_is_only_tried(lease, api, manager, conf):
    manager.enrol(2)
    conf.set_override('max_slots', 8, group='manager')
    old = api.post('/v1/leases', {
        'name': 'many', 'start_date': 'now', 'end_date': '2030-05-01 13:00',
        'reservations': [{**SIZED, 'amount': '9', 'resource_properties': ''}]})
    assert (old.status_int, 'at most 8 instances' in old.json['error_message']) == (400, True)
    asked = api.post('/v1/availability', {'duration': '1h', 'reservations': [
        {**SIZED, 'amount': 9}]}, version='1.1')
    assert (asked.status_int, 'at most 8 instances' in asked.json['error_message']) == (400, True)


def test_a_lease_may_not_grow_past_the_ceiling_and_may_shrink_to_it(lease, api, manager, conf):
    manager.enrol(2)
    made = lease(6, 3).json['lease']
    place, [first, _] = f'/v1/leases/{made["id"]}', made['reservations']
    conf.set_override('max_slots', 8, group='manager')

    def change(amount):
        return api.put(place, {'reservations': [{'id': first['id'], 'amount': amount}]},
                       version='1.1').status_int
    assert change(7) == 400
    assert api.put(place, {'duration': '2h'}, version='1.1').status_int == 200
    assert change(5) == 200
    assert change(6) == 400


def test_slots_are_rows_at_rest_1_0_and_a_count_from_1_1_on(lease, api, manager):
    manager.enrol(1)
    reservation = lease(3).json['lease']['reservations'][0]['id']
    [old] = api.get('/v1/os-hosts/allocations', token=builders.ADMIN).json['allocations']
    assert [each['id'] for each in old['reservations']] == [reservation] * 3
    assert 'count' not in old['reservations'][0]
    [new] = api.get('/v1/os-hosts/allocations', **ADMIN).json['allocations']
    assert [(each['id'], each['count']) for each in new['reservations']] == [(reservation, 3)]


@pytest.mark.parametrize('limit', [1, 2, 3, 100])
def test_pages_have_all_allocations_once_and_are_never_larger_than_asked(api, manager, limit):
    hosts = manager.enrol(4)
    for hour in range(5):
        start = builders.at(2 * hour)
        manager.book(builders.hosts(2), start=start, end=start + builders.hours(1))
    whole = api.get('/v1/os-hosts/allocations', **ADMIN).json['allocations']
    assert sum(len(each['reservations']) for each in whole) == 10
    found = pages(api, f'/v1/os-hosts/allocations?limit={limit}')
    assert all(len(page) <= limit and sum(len(mine) for _, mine in page) <= limit
               for page in found)
    merged = {}
    for page in found:
        for resource_id, mine in page:
            merged.setdefault(resource_id, []).extend(mine)
    assert merged == {each['resource_id']: each['reservations'] for each in whole}
    assert list(merged) == [str(host.id) for host in hosts]


def test_pages_keep_the_filters(api, manager):
    manager.enrol(3)
    manager.book(builders.hosts(3))
    start = builders.at(3)
    mine = manager.book(builders.hosts(3), start=start, end=start + builders.hours(1))
    found = pages(api, f'/v1/resources/host/allocations?limit=1&lease_id={mine.id}')
    assert len(found) == 3
    assert {each['lease_id'] for page in found for _, shown in page for each in shown} == {mine.id}


@pytest.mark.parametrize('marker', ['x', '1.2', '1.2.x', '1.2.3.4', '-1', '1..2', '9' * 30])
def test_a_marker_that_no_page_has_is_refused_by_name(api, manager, marker):
    answer = api.get(f'/v1/os-hosts/allocations?marker={marker}', **ADMIN)
    assert (answer.status_int, answer.json['details']['field']) == (400, 'marker')


@pytest.mark.parametrize('marker', ['0', '999', '1.999999999999999999.1', '0.0.0', '999.1.1'])
def test_a_marker_of_what_is_gone_goes_on_behind_it(api, manager, marker):
    manager.enrol(2)
    answer = api.get(f'/v1/os-hosts/allocations?marker={marker}', **ADMIN)
    assert answer.status_int == 200
