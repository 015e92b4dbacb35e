# SPDX-License-Identifier: Apache-2.0
"""The number of free instances of a flavor over time, in the form of Chameleon's client."""
import pytest
from support import builders

PATH = '/v1/flavor-instances/availability'
DAY = 'start_date=2030-05-01%2012:00&end_date=2030-05-02%2012:00'


@pytest.fixture
def without_pauses(conf):
    conf.set_override('cleaning_minutes', 0, group='manager')


def spans(api, query, **options):
    answer = api.get(f'{PATH}?{query}', **options)
    assert answer.status_int == 200, answer.text
    [shown] = answer.json['flavor_instances']
    assert shown['flavor_id'] == '2'
    return [tuple(span.values()) for span in shown['availability']]


@pytest.mark.usefixtures('without_pauses')
def test_leases_of_hosts_and_of_instances_reduce_the_number(api, enrol_hosts):
    enrol_hosts(2, memory_mb=8192)
    [(_, _, free, total)] = spans(api, f'flavor_id=2&{DAY}')
    assert free == total > 0
    half = total // 2
    for start, end, wanted in (
            ('13:00', '15:00', {'resource_type': 'flavor:instance', 'flavor_id': '2',
                                'amount': half + 1}),
            ('16:00', '17:00', {'resource_type': 'physical:host', 'min': 1, 'max': 1})):
        answer = api.post('/v1/leases', builders.a_body(
            start=f'2030-05-01 {start}', end=f'2030-05-01 {end}', reservations=[wanted]))
        assert answer.status_int == 201, answer.text
    day = '2030-05-01'
    assert spans(api, f'flavor_id=2&{DAY}') == [
        (f'{day} 12:00', f'{day} 13:00', total, total),
        (f'{day} 13:00', f'{day} 15:00', half - 1, total),
        (f'{day} 15:00', f'{day} 16:00', total, total),
        (f'{day} 16:00', f'{day} 17:00', half, total),
        (f'{day} 17:00', '2030-05-02 12:00', total, total)]
    assert spans(api, 'flavor_id=2&start_date=2030-05-01%2014:00&end_date=2030-05-01%2014:30') == [
        (f'{day} 14:00', f'{day} 14:30', half - 1, total)]


def test_a_cloud_without_hosts_has_none_for_a_month(api):
    assert spans(api, 'flavor_id=2') == [('2030-05-01 12:00', '2030-05-31 12:00', 0, 0)]
    assert spans(api, 'flavor_id=2&start_date=now', version='1.1')[0][2:] == (0, 0)


@pytest.mark.parametrize(('query', 'field'), [
    ('flavor_id=nothing', 'flavor_id'), ('start_date=soon', 'start_date'),
    ('flavor_id=%01', 'flavor_id'), (f'flavor_id={"x" * 300}', 'flavor_id'),
    ('flavor_id=2&start_date=soon', 'start_date'), ('flavor_id=2&end_date=now', 'end_date'),
    ('flavor_id=2&start_date=2020-01-01%2000:00', 'start_date'),
    ('flavor_id=2&end_date=2030-05-01%2011:00', 'end_date'),
    ('flavor_id=2&end_date=2039-05-01%2011:00', 'end_date')])
def test_a_wrong_query_is_refused_by_its_field(api, query, field):
    answer = api.get(f'{PATH}?{query}')
    assert answer.status_int == 400, answer.text
    assert f'{field}:' in answer.json['error_message']


def test_the_other_paths_beside_it_do_not_exist(api):
    assert api.get('/v1/flavor-instances').status_int == 405
    assert api.get('/v1/flavor-instances/2').status_int == 405
    assert api.post(PATH, {}).status_int == 405


def test_too_many_changes_are_refused(api, conf, enrol_hosts):
    enrol_hosts(1)
    conf.set_override('max_limit', 1, group='api')
    answer = api.post('/v1/leases', builders.a_body(start='2030-05-01 13:00',
                                                    end='2030-05-01 14:00'))
    assert answer.status_int == 201, answer.text
    answer = api.get(f'{PATH}?flavor_id=2')
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith('end_date: ')
    answer = api.get(PATH)
    assert answer.status_int == 400
    assert 'one flavor_id' in answer.json['error_message']


@pytest.mark.usefixtures('without_pauses')
@pytest.mark.parametrize('version', [None, '1.1'])
def test_a_query_without_a_flavor_lists_each_flavor_that_the_project_may_lease(
        api, manager, enrol_hosts, version):
    enrol_hosts(1, memory_mb=8192)
    specs = {'aggregate_instance_extra_specs:reservation': 'some-reservation'}
    for flavor_id, more in (('mine', {'public': False}), ('theirs', {'public': False}),
                            ('leased', {'extra_specs': specs}),
                            ('odd', {'extra_specs': {'resources1:VCPU': '1'}})):
        manager.cloud.add_flavor(flavor_id, flavor_id, ram=4096, **more)
    flavors = manager.cloud.as_service().flavors
    flavors.allow('mine', 'demo')
    flavors.allow('theirs', 'other')
    listed = {}
    for query in ('', f'?{DAY}', '?flavor_id='):
        answer = api.get(f'{PATH}{query}', version=version)
        assert answer.status_int == 200, answer.text
        listed = {each['flavor_id']: each['availability'] for each in
                  answer.json['flavor_instances']}
        assert list(listed) == ['1', '2', '3', '4', 'mine']
    assert [span['total'] for span in listed['mine']] == [1]
    assert [span['total'] for span in listed['4']] == [0]
    assert api.get(f'{PATH}?flavor_id=mine').json['flavor_instances'][0]['availability'] == (
        listed['mine'])
