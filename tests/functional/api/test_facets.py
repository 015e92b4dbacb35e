# SPDX-License-Identifier: Apache-2.0
"""GET …/facets: the values that criteria can use, with the number of free resources."""
import json
from urllib import parse

import pytest
from support import builders
from support import every_type

MEMBER = {'token': builders.DEMO, 'version': '1.1'}
PLACE = '/v1/resources/host/facets'
GPU = ['==', '$gpu', 'A100']


@pytest.fixture
def hosts(manager):
    """Six hosts, of 16, 32 and 64 VCPUs in turn; three have an A100, one an H100."""
    for number, gpu in enumerate(('A100', 'A100', 'A100', 'H100', None, None), 1):
        properties = {'gpu': gpu} if gpu else {}
        manager.client.create_resource(builders.an_admin(), 'host', f'compute-{number}',
                                       {**properties, 'rack': f'r{number % 2}'})


@pytest.fixture
def facets(api):
    """callable(name, **query): the values of a facet as {value: (matching, free)}."""
    def asked(name, place=PLACE, **query):
        answer = api.get(f'{place}?{parse.urlencode(query)}', **MEMBER)
        assert answer.status_int == 200, answer.body
        found = {each['property']: each for each in answer.json['facets']}
        return {each['value']: (each['matching'], each['free'])
                for each in found[name]['values']} if name in found else None
    return asked


def test_each_property_has_its_values_with_the_resources_that_have_them(facets, hosts):
    assert facets('gpu') == {'A100': (3, 3), 'H100': (1, 1)}
    assert facets('rack', place='/v1/os-hosts/facets') == {'r0': (3, 3), 'r1': (3, 3)}
    # Numbers are in their order, and text is not.
    assert list(facets('vcpus')) == ['16', '32', '64']


def test_other_criteria_count_but_not_those_about_the_property_itself(facets, hosts):
    assert facets('vcpus', criteria=json.dumps(GPU)) == {'16': (1, 1), '32': (1, 1), '64': (1, 1)}
    assert facets('gpu', criteria=json.dumps(GPU)) == {'A100': (3, 3), 'H100': (1, 1)}
    both = json.dumps(['and', GPU, ['>=', '$vcpus', 64]])
    assert facets('gpu', criteria=both) == {'A100': (1, 1), 'H100': (0, 0)}
    assert facets('vcpus', criteria=both) == {'16': (1, 1), '32': (1, 1), '64': (1, 1)}


def test_resources_count_as_free_if_they_are_free_for_the_whole_span(facets, hosts, manager, conf):
    conf.set_override('cleaning_minutes', 0, group='manager')
    manager.book(builders.hosts(2, resource_properties=json.dumps(GPU)),
                 start=builders.at(2), end=builders.at(4))
    noon = '2030-05-01T12:00:00Z'
    assert facets('gpu', start=noon, duration='2h')['A100'] == (3, 3)
    assert facets('gpu', start=noon, duration='3h')['A100'] == (3, 1)
    assert facets('gpu', start=noon, end='2030-05-01 15:00')['A100'] == (3, 1)
    assert facets('gpu', start='+4h')['A100'] == (3, 3)


def test_a_host_in_use_is_free_for_a_reservation_that_fits_beside_it(facets, hosts, manager):
    manager.book(builders.hosts(5), end=builders.at(4))
    small = {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 1024, 'disk_gb': 1,
             'amount': 1, 'affinity': None}
    manager.book(builders.instances(1, vcpus=1), end=builders.at(4))
    assert facets('vcpus')['64'] == (2, 0)
    assert facets('vcpus', reservation=json.dumps(small))['64'] == (2, 1)
    assert facets('vcpus', reservation=json.dumps(small))['16'] == (2, 0)


@pytest.mark.parametrize('leasable', every_type.POOLS, ids=every_type.IDS)
def test_every_pool_has_facets_for_its_types(facets, manager, leasable):
    leasable.enrol(manager, 2, media='ssd')
    place = f'/v1/resources/{leasable.pool}/facets'
    wanted = json.dumps({'resource_type': leasable.type, **leasable.request})
    assert facets('media', place=place) == {'ssd': (2, 2)}
    assert facets('media', place=place, reservation=wanted) == {'ssd': (2, 2)}
    for _ in range(leasable.parts):
        manager.book(leasable.asked(), end=builders.at(4))
    assert facets('media', place=place, reservation=wanted) == {'ssd': (2, 1)}


def test_an_answer_counts_the_pool_and_has_its_span(api, hosts):
    answer = api.get(f'{PLACE}?criteria={parse.quote(json.dumps(GPU))}', **MEMBER).json
    assert {name: answer[name] for name in ('start', 'end', 'total', 'matching', 'free')} == {
        'start': '2030-05-01T12:00:00Z', 'end': '2030-05-01T13:00:00Z', 'total': 6, 'matching': 3,
        'free': 3}
    assert [each['property'] for each in answer['facets']][:3] == ['gpu', 'rack', 'vcpus']
    assert {each['kind'] for each in answer['facets']} == {'property', 'capacity', 'fact'}


def test_private_properties_and_names_are_no_facets(api, hosts, manager):
    manager.client.update_property(builders.an_admin(), 'host', 'rack', True)
    answer = api.get(PLACE, **MEMBER)
    assert not {'rack', 'hypervisor_hostname', 'service_name'} & {
        each['property'] for each in answer.json['facets']}
    assert b'compute-1' not in answer.body
    hidden = parse.quote(json.dumps(['==', '$rack', 'r1']))
    assert api.get(f'{PLACE}?criteria={hidden}', **MEMBER).status_int == 400


@pytest.mark.parametrize(('query', 'field'), [
    ('start=soon', 'start'), ('start=2020-01-01', 'start'), ('end=now', 'end'),
    ('duration=x', 'duration'), ('duration=1h&end=%2B2h', 'duration'),
    ('reservation=%7B', 'reservation'), ('reservation=%7B%7D', 'resource_type'),
    ('reservation=%5B%5D', 'body'), ('reservation={"resource_type":"dummy"}', 'dummy'),
    ('criteria=gpu', 'gpu'), ('criteria=["==","$gup","A100"]', 'gpu'), ('limit=1', 'limit'),
    ('reservation={"resource_type":"physical:host","min":0,"max":1}', 'physical:host.min')])
def test_a_wrong_query_is_refused_by_its_field(api, hosts, query, field):
    answer = api.get(f'{PLACE}?{query}', **MEMBER)
    assert answer.status_int == 400, answer.body
    assert field in answer.json['error_message']


def test_rest_1_0_has_no_facets_and_unknown_pools_are_named(api, hosts):
    for place in (PLACE, '/v1/os-hosts/facets'):
        assert api.get(place, version='1.0').status_int == 404
    answer = api.get('/v1/resources/rack/facets', **MEMBER)
    assert (answer.status_int, answer.json['error_name']) == (404, 'unknown_pool')


def test_a_refusal_lists_the_values_of_the_criteria_that_too_few_hosts_meet(api, hosts):
    def refused(count, criteria):
        body = {'name': 'x', 'duration': '2h', 'reservations': [{
            'resource_type': 'physical:host', 'min': count, 'max': count,
            'resource_properties': criteria}]}
        answer = api.post('/v1/leases', body, **MEMBER)
        assert answer.status_int == 409, answer.body
        query = parse.urlencode({'reservations': json.dumps(body['reservations']),
                                 'duration': '2h'})
        reasons = api.get(f'/v1/availability?{query}', **MEMBER).json['reasons']
        return answer.json['error_message'], answer.json['details'].get('values'), ' '.join(reasons)

    message, values, reason = refused(1, ['==', '$gpu', 'V100'])
    assert values == {'gpu': ['A100', 'H100']}
    for text in (message, reason):
        assert 'gpu has the values A100, H100.' in text
    message, values, reason = refused(2, ['and', ['==', '$gpu', 'H100'], ['>=', '$vcpus', 16]])
    assert values == {'gpu': ['A100', 'H100']} and 'vcpus has' not in message + reason
    # Enough hosts meet the criteria, so other values would not help.
    api.post('/v1/leases', {'name': 'y', 'duration': '2h', 'reservations': [{
        'resource_type': 'physical:host', 'min': 3, 'max': 3, 'resource_properties': GPU}]},
        **MEMBER)
    message, values, _ = refused(1, GPU)
    assert values is None and 'has the value' not in message
