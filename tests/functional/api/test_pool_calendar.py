# SPDX-License-Identifier: Apache-2.0
"""Members see public properties, and by policy how many hosts are free and when, without names."""
import pytest
from support import builders

from climate import policy

PLACE = '/v1/resources/host/calendar'
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
DAY = '?start=2030-05-01T12:00&end=2030-05-02T12:00'


@pytest.fixture
def spans(api):
    """callable(query): the calendar as (start, end, free, total); times of the first of May."""
    def asked(query=DAY, **options):
        answer = api.get(PLACE + query, **{**ADMIN, **options})
        assert answer.status_int == 200, answer.body
        return [(each['start'][8:16], each['end'][8:16], each['free'], each['total'])
                for each in answer.json['calendar']]
    return asked


def leased(manager, hosts, first, last):
    return manager.book(builders.hosts(hosts), start=(builders.at(first)), end=builders.at(last))


def test_a_calendar_counts_the_free_hosts_over_time(spans, manager, conf):
    conf.set_override('cleaning_minutes', 0, group='manager')
    manager.enrol(4)
    leased(manager, 2, 1, 3)
    leased(manager, 1, 2, 4)
    leased(manager, 2, 4, 5)
    assert spans() == [
        ('01T12:00', '01T13:00', 4, 4), ('01T13:00', '01T14:00', 2, 4),
        ('01T14:00', '01T15:00', 1, 4), ('01T15:00', '01T16:00', 3, 4),
        ('01T16:00', '01T17:00', 2, 4), ('01T17:00', '02T12:00', 4, 4)]
    # Also the window cuts them.
    assert spans('?start=2030-05-01 14:30&end=2030-05-01 15:30') == [
        ('01T14:30', '01T15:00', 1, 4), ('01T15:00', '01T15:30', 3, 4)]


def test_hosts_that_are_cleaned_or_held_or_out_of_use_are_not_free(spans, manager, conf):
    conf.set_override('cleaning_minutes', 15, group='manager')
    hosts = manager.enrol(3)
    manager.client.update_resource(builders.an_admin(), 'host', hosts[2].id, {}, reservable=False)
    leased(manager, 2, 2, 3)
    assert spans() == [('01T12:00', '01T13:45', 2, 2), ('01T13:45', '01T15:15', 0, 2),
                       ('01T15:15', '02T12:00', 2, 2)]


def test_an_empty_pool_has_one_span(spans):
    assert spans() == [('01T12:00', '02T12:00', 0, 0)]
    assert spans('') == [('01T12:00', '31T12:00', 0, 0)]
    assert spans('?start=%2B1h&end=%2B2h') == [('01T13:00', '01T14:00', 0, 0)]


def test_a_calendar_has_pages(api, manager):
    manager.enrol(1)
    for hour in range(1, 8, 2):
        leased(manager, 1, hour, hour + 1)
    whole = api.get(PLACE + DAY, **ADMIN).json
    assert 'calendar_links' not in whole
    found, place = [], PLACE + DAY + '&limit=2'
    while place:
        page = api.get(place.replace('http://localhost', ''), **ADMIN).json
        found += page['calendar']
        assert len(page['calendar']) <= 2
        place = page['calendar_links'][0]['href'] if 'calendar_links' in page else None
    assert found == whole['calendar']


@pytest.mark.parametrize(('query', 'field'), [
    ('?start=2020-01-01', 'start'), ('?start=soon', 'start'), ('?end=2030-05-01T11:00', 'end'),
    ('?end=now', 'end'), ('?end=2040-01-01', 'end'), ('?limit=0', 'limit'),
    ('?marker=x', 'marker')])
def test_a_wrong_query_is_refused_by_its_field(api, query, field):
    answer = api.get(PLACE + query, **ADMIN)
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith(f'{field}: ')


def test_policy_opens_it_for_members_and_it_has_no_names(api, conf, manager, tmp_path):
    assert api.get(PLACE + DAY, version='1.1').status_int == 403
    rules = tmp_path / 'policy.yaml'
    rules.write_text('"climate:resources:host:get_calendar": "rule:project_reader_or_admin"\n')
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    api = builders.Api(conf, manager, rules=policy.Policy(conf, pools=['host']))
    manager.enrol(2)
    leased(manager, 1, 1, 2)
    answer = api.get(PLACE + DAY, version='1.1')
    assert answer.status_int == 200
    assert {name for each in answer.json['calendar'] for name in each} == {
        'start', 'end', 'free', 'total'}
    assert b'compute' not in answer.body


@pytest.mark.parametrize('place', ['/v1/os-hosts', '/v1/resources/host'])
def test_members_see_public_properties_with_values_and_no_private_ones(api, manager, place):
    manager.enrol(2, gpu='A100', rack='r7')
    manager.client.update_property(builders.an_admin(), 'host', 'rack', True)
    for query in ('', '&all=true'):
        answer = api.get(f'{place}/properties?detail=true{query}', version='1.1')
        assert answer.json['resource_properties'] == [
            {'property': 'gpu', 'private': False, 'values': ['A100']}]
    answer = api.get(f'{place}/properties?detail=true&all=true', **ADMIN)
    assert [each['property'] for each in answer.json['resource_properties']] == ['gpu', 'rack']
