# SPDX-License-Identifier: Apache-2.0
"""Lists from REST 1.1 on: pages, order, filters, and fields for administrators only."""
import pytest
from support import builders


@pytest.fixture
def call(api):
    """Makes a request at REST 1.1; returns the answer."""
    return lambda method, path, body=None, **options: api.call(
        method, path, body, **{'version': '1.1', **options})


@pytest.fixture
def names(call):
    """The names of the leases that a query finds, in order."""
    def find(query='', **options):
        answer = call('GET', f'/v1/leases?{query}', **options)
        assert answer.status_int == 200, answer.body
        return [lease['name'] for lease in answer.json['leases']]
    return find


@pytest.fixture
def leases(call, manager):
    """Four leases of the project that differ in start, end and name; {name: lease}."""
    manager.enrol(4)
    found = {}
    for name, start, hours in (('c', 1, 1), ('a', 2, 4), ('d', 3, 1), ('b', 3, 2)):
        found[name] = call('POST', '/v1/leases', {
            'name': name, 'start': f'2030-05-0{start}T14:00:00Z', 'duration': f'{hours}h',
            'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1,
                              'resource_properties': ['==', '$hypervisor_hostname',
                                                      f'compute-{1 + start % 2}']}] * (name != 'b')
        }, token='demo:demo:admin,member,reader').json['lease']
        manager.clock.advance(builders.minutes(1))
    return found


def test_pages_follow_one_another_by_their_links(call, leases):
    for query in ('limit=1', 'limit=3&sort=name:desc', 'limit=2&sort=start:desc,name',
                  'limit=4', 'limit=9&name=a', 'limit=1&status=active&status=inactive'):
        seen, page = [], f'/v1/leases?{query}'
        while page and len(seen) < 9:
            answer = call('GET', page).json
            seen += [lease['name'] for lease in answer['leases']]
            links = answer.get('leases_links', [])
            assert all(set(link) == {'rel', 'href'} and link['rel'] == 'next' for link in links)
            page = links[0]['href'] if links else None
        assert seen == [lease['name'] for lease in call(
            'GET', f'/v1/leases?{query.partition("&")[2]}').json['leases']]


def test_a_list_without_more_has_no_links(call, leases):
    assert set(call('GET', '/v1/leases?limit=4').json) == {'leases'}
    assert set(call('GET', '/v1/leases?limit=3').json) == {'leases', 'leases_links'}


def test_a_page_is_never_longer_than_the_operator_allows(conf, manager, leases):
    conf.set_override('max_limit', 3, group='api')
    api = builders.Api(conf, manager)
    for query in ('', '?limit=99999999999999999999'):
        answer = api.get(f'/v1/leases{query}', version='1.1').json
        assert len(answer['leases']) == 3
        assert 'leases_links' in answer
    assert len(api.get('/v1/leases').json['leases']) == 4


def test_the_order_is_as_asked(names, leases):
    for sort, wanted in (
            ('', 'cadb'), ('sort=name', 'abcd'), ('sort=name:desc', 'dcba'),
            ('sort=end:desc,name', 'bdac'), ('sort=start:desc,name:asc', 'bdac'),
            ('sort=created_at:desc', 'bdac')):
        assert ''.join(names(sort)) == wanted, sort


def test_filters_find_what_meets_all_of_them(names, leases):
    for query, wanted in (
            ('name=a', 'a'), ('name=A', ''), ('status=inactive', 'cadb'), ('status=ACTIVE', ''),
            ('starts_before=2030-05-02T14:00:00Z', 'c'), ('starts_before=2030-05-02 14:01', 'ca'),
            ('starts_before=%2B25h', 'c'), ('ends_after=2030-05-03T15:00:00Z', 'b'),
            ('project_id=demo', 'cadb'), ('status=active&status=inactive', 'cadb'),
            ('status=inactive,error', 'cadb'), ('status=active,error', ''),
            ('status=to_be_started&status=deleting&status=timedout', ''),
            ('resource_id=1', 'a'), ('resource_id=2', 'cd'), ('resource_id=77', ''),
            ('name=a&status=inactive&resource_id=1', 'a'), ('name=a&resource_id=2', ''),
            ('starts_before=2030-05-03T14:00:00Z&ends_after=2030-05-01T15:00:00Z', 'a')):
        assert ''.join(names(query)) == wanted, query


def test_nonsense_in_a_query_is_refused_and_named(call):
    for query, field in (
            ('limit=0', 'limit'),
            ('limit=1.5', 'limit'),
            ('limit=%C2%B2', 'limit'),
            ('sort=colour', 'sort'),
            ('sort=name:up', 'sort'),
            ('sort=name,,end', 'sort'),
            ('status=busy', 'status'),
            ('status=active,busy', 'busy'),
            ('status=busy&status=active', 'busy'),
            ('name=a&name=b', 'name'),
            ('all_projects=maybe', 'all_projects'),
            ('starts_before=soon', 'starts_before'),
            ('colour=blue', 'colour'),
            ('Limit=1', 'Limit')):
        answer = call('GET', f'/v1/leases?{query}')
        assert answer.status_int == 400
        assert field in answer.json['error_message']


def test_a_place_or_resource_that_is_none_is_not_found(call):
    for query in (
            'marker=x', f'marker={"x" * 3000}', 'marker=%F0%9F%98%80',
            'resource_id=x', 'resource_id=-1'):
        assert call('GET', f'/v1/leases?{query}').status_int == 404


def test_administrators_alone_see_other_projects(call, names, leases):
    for query in ('all_projects=true', 'project_id=other', 'deleted=true'):
        assert call('GET', f'/v1/leases?{query}').status_int == 403
    assert names(token=builders.STRANGER) == []
    assert names(token=builders.ADMIN) == []
    assert len(names('all_projects=1', token=builders.ADMIN)) == 4
    assert len(names('project_id=demo', token=builders.ADMIN)) == 4
    assert names('all_projects=1&project_id=other', token=builders.ADMIN) == []


def test_a_deleted_lease_is_seen_by_administrators_only(call, names, leases):
    place = f'/v1/leases/{leases["a"]["id"]}'
    assert call('DELETE', place).body == b''
    assert call('GET', place).status_int == 404
    assert 'a' not in names()
    seen = call('GET', place, token=builders.ADMIN)
    assert seen.status_int == 200
    assert seen.json['lease']['deleted_at'] == '2030-05-01T12:04:00Z'
    assert call('GET', place, token=builders.ADMIN, version='1.0').status_int == 404
    assert 'a' not in names('all_projects=1', token=builders.ADMIN)
    assert 'a' in names('all_projects=1&deleted=1', token=builders.ADMIN)
    for method in ('PUT', 'DELETE'):
        assert call(method, place, {'name': 'x'}, token=builders.ADMIN).status_int == 404


def test_a_malformed_page_of_hosts_is_refused(call):
    assert call('GET', '/v1/os-hosts?limit=x', token=builders.ADMIN).status_int == 400
    assert call('GET', '/v1/os-hosts?marker=x', token=builders.ADMIN).status_int == 404


def test_a_property_is_taken_from_a_host_by_null(call, manager):
    [host] = manager.enrol(1, gpu='A100')
    answer = call('PUT', f'/v1/os-hosts/{host.id}', {'gpu': None}, token=builders.ADMIN)
    assert answer.status_int == 200
    assert 'gpu' not in answer.json['host']
    assert call('GET', '/v1/os-hosts/properties', token=builders.ADMIN).json == {
        'resource_properties': []}


def test_a_list_of_hosts_has_pages(call, manager):
    manager.enrol(4)
    seen, page = [], '/v1/os-hosts?limit=3'
    while page and len(seen) < 9:
        answer = call('GET', page, token=builders.ADMIN).json
        seen.append([host['id'] for host in answer['hosts']])
        page = answer['hosts_links'][0]['href'] if 'hosts_links' in answer else None
    assert seen == [['1', '2', '3'], ['4']]
