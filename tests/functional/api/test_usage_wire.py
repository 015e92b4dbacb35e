# SPDX-License-Identifier: Apache-2.0
"""Usage and utilisation on the wire: JSON, CSV, who sees what, and what is refused."""
import csv
import io

import pytest
from support import builders

hours = builders.hours
NOON = builders.NOON
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
MEMBER = {'version': '1.1'}
MAY_1 = 'start=2030-05-01&end=2030-05-02'


@pytest.fixture
def lived(manager):
    """Two hosts of rack r1; demo had both for two hours, other has one for an hour later."""
    manager.enrol(2, rack='r1')
    manager.book(builders.hosts(2), end=NOON + hours(2))
    manager.create(builders.a_lease(start=NOON + hours(4), end=NOON + hours(5)),
                   builders.a_member(project='other'))
    manager.run_until(NOON + hours(3))
    return manager


def figures(group):
    return {figure: group[figure]['resource_hours'] for figure in (
        'allocated', 'occupied', 'idle', 'refused')}


def test_a_member_sees_the_usage_of_the_own_project(api, lived):
    answer = api.get(f'/v1/usage?{MAY_1}&group_by=project,day', **MEMBER).json['usage']
    assert answer['start'] == '2030-05-01T00:00:00Z'
    assert answer['end'] == '2030-05-02T00:00:00Z'
    assert answer['counted_to'] == '2030-05-01T15:00:00Z'
    [group] = answer['groups']
    assert (group['project_id'], group['day']) == ('demo', '2030-05-01')
    assert figures(group) == figures(answer['total']) == {
        'allocated': 4, 'occupied': 4, 'idle': 0, 'refused': 0}
    hosts = lived.client.list_resources(builders.an_admin(), 'host')
    assert group['allocated']['unit_hours']['vcpus'] == 2 * sum(
        host.capacity['vcpus'] for host in hosts)


def test_an_administrator_sees_one_project_or_all(api, lived):
    def asked(query):
        found = api.get(f'/v1/usage?{MAY_1}&group_by=project&{query}', **ADMIN).json['usage']
        return {group['project_id']: figures(group)['allocated'] for group in found['groups']}
    assert asked('all_projects=true') == {'demo': 4, 'other': 1}
    assert asked('project_id=other') == {'other': 1}
    assert asked('') == {}


@pytest.mark.parametrize('query', ['all_projects=true', 'project_id=other'])
def test_a_member_sees_no_other_project(api, lived, query):
    assert api.get(f'/v1/usage?{query}', **MEMBER).status_int == 403


def test_a_private_property_is_a_group_for_administrators_only(api, lived):
    lived.client.update_property(builders.an_admin(), 'host', 'rack', True)
    place = f'/v1/usage?{MAY_1}&group_by=property:rack'
    answer = api.get(place, **MEMBER)
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith('group_by: no resource has the property "rack"')
    [group] = api.get(place + '&all_projects=true', **ADMIN).json['usage']['groups']
    assert group['properties'] == {'rack': 'r1'}


def test_the_names_of_hosts_are_groups_for_administrators_only(api, lived):
    place = f'/v1/usage?{MAY_1}&group_by=property:hypervisor_hostname'
    assert api.get(place, **MEMBER).status_int == 400
    groups = api.get(place + '&all_projects=true', **ADMIN).json['usage']['groups']
    names = {each.name for each in lived.client.list_resources(builders.an_admin(), 'host')}
    assert {each['properties']['hypervisor_hostname'] for each in groups} <= {None, *names}
    assert {each['properties']['hypervisor_hostname'] for each in groups} & names


def table(answer):
    assert answer.status_int == 200, answer.body
    assert answer.content_type == 'text/csv'
    return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.mark.parametrize(('query', 'accept'), [('&format=csv', None), ('', 'text/csv')])
def test_usage_is_served_as_csv(api, lived, query, accept):
    headers = {'Accept': accept} if accept else None
    found = table(api.get(f'/v1/usage?{MAY_1}&group_by=project&all_projects=true{query}',
                          headers=headers, **ADMIN))
    assert [(row['project_id'], row['allocated_resource_hours'], row['occupied_resource_hours'])
            for row in found] == [('demo', '4.0', '4.0'), ('other', '1.0', '0.0')]
    assert float(found[0]['allocated_vcpus_hours']) > 0


@pytest.mark.parametrize('value', ['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1'])
def test_a_property_that_looks_like_a_formula_is_text_in_csv(api, lived, value):
    [host, _] = lived.client.list_resources(builders.an_admin(), 'host')
    lived.client.update_resource(builders.an_admin(), 'host', host.id, {'rack': value})
    found = table(api.get(f'/v1/usage?{MAY_1}&group_by=property:rack&format=csv', **MEMBER))
    assert {row['property:rack'] for row in found} == {f"'{value}", 'r1'}
    shown = api.get(f'/v1/usage?{MAY_1}&group_by=property:rack', **MEMBER).json['usage']
    assert {group['properties']['rack'] for group in shown['groups']} == {value, 'r1'}


def test_a_format_of_the_query_comes_before_the_header(api, lived):
    answer = api.get(f'/v1/usage?{MAY_1}&format=json', headers={'Accept': 'text/csv'}, **MEMBER)
    assert answer.content_type == 'application/json'
    answer = api.get(f'/v1/usage?{MAY_1}', headers={'Accept': 'text/html, */*'}, **MEMBER)
    assert answer.content_type == 'application/json'


def test_a_span_is_widened_to_full_days(api, lived):
    answer = api.get('/v1/usage?start=2030-05-01T12:30&end=now', **MEMBER).json['usage']
    assert (answer['start'][:13], answer['end'][:13]) == ('2030-05-01T00', '2030-05-02T00')
    answer = api.get('/v1/usage', **MEMBER).json['usage']
    assert (answer['start'][:13], answer['end'][:13]) == ('2030-04-01T00', '2030-05-02T00')


@pytest.mark.parametrize(('query', 'field', 'words'), [
    ('start=2030-05-02&end=2030-05-01', 'end', 'after the start'),
    ('start=2030-05-02&end=2030-05-02', 'end', 'after the start'),
    ('start=2030-01-01&end=2130-01-01', 'end', 'at most 3660'),
    ('start=2030-05-01&end=2031-06-01&group_by=day', 'end', 'at most 366 days from now'),
    ('start=soon', 'start', 'not a moment'),
    ('end=9999-12-31', 'end', 'too far away'),
    ('group_by=color', 'group_by', 'project, user, type, pool, day and property:NAME'),
    ('group_by=property:', 'group_by', 'is not a group'),
    ('group_by=property:gpu', 'group_by', 'no resource has the property'),
    ('group_by=day&group_by=day', 'group_by', 'twice'),
    ('group_by=' + ','.join(f'property:p{number}' for number in range(6)), 'group_by', 'more than'),
    ('format=xml', 'format', 'json, csv'), ('days=3', 'days', 'known are'),
    ('start=now&start=now', 'start', 'more than once'),
    ('all_projects=perhaps', 'all_projects', ''),
    ('project_id=', 'project_id', '')])
def test_a_wrong_question_for_usage_is_refused_by_its_field(api, query, field, words):
    answer = api.get(f'/v1/usage?{query}', **ADMIN)
    assert answer.status_int == 400, answer.body
    assert answer.json['error_message'].startswith(f'{field}: ')
    assert words in answer.json['error_message']


def test_utilisation_has_the_mean_of_each_figure_for_each_step(api, lived):
    answer = api.get('/v1/utilisation?start=2030-05-01T12:00&end=2030-05-01T18:00&step=2h'
                     '&pool=host', **ADMIN).json['utilisation']
    assert answer['step'] == 7200
    [pool] = answer['pools']
    assert pool['pool'] == 'host'
    assert [(step['start'][11:16], step['capacity'], step['allocated'], step['occupied'])
            for step in pool['steps']] == [
        ('12:00', 2, 2, 2), ('14:00', 2, 0, 0), ('16:00', 2, 0.5, None)]
    hosts = lived.client.list_resources(builders.an_admin(), 'host')
    both = sum(host.capacity['vcpus'] for host in hosts)
    assert pool['steps'][0]['units']['vcpus'] == {
        'capacity': both, 'allocated': both, 'occupied': both}
    assert pool['steps'][2]['units']['vcpus']['allocated'] * 2 in [
        host.capacity['vcpus'] for host in hosts]


def test_a_host_that_is_out_of_use_is_out_of_order_until_it_is_back(api, lived):
    [host, _] = lived.client.list_resources(builders.an_admin(), 'host')
    for reservable in (False, True):
        lived.client.update_resource(builders.an_admin(), 'host', host.id, {},
                                     reservable=reservable)
        lived.clock.advance(hours(1))
    answer = api.get('/v1/utilisation?start=2030-05-01T14:00&end=2030-05-01T18:00&pool=host',
                     **ADMIN).json['utilisation']
    assert [(step['capacity'], step['out_of_order'], step['asleep'])
            for step in answer['pools'][0]['steps']] == [(2, 0, 0), (2, 1, 0), (2, 0, 0), (2, 0, 0)]


def test_utilisation_is_served_as_csv(api, lived):
    found = table(api.get('/v1/utilisation?start=2030-05-01T12:00&end=2030-05-01T14:00&format=csv',
                          **ADMIN))
    assert [(row['pool'], row['start'], row['capacity'], row['allocated'], row['out_of_order'])
            for row in found] == [('host', '2030-05-01T12:00:00Z', '2.0', '2.0', '0.0'),
                                  ('host', '2030-05-01T13:00:00Z', '2.0', '2.0', '0.0')]


def test_the_step_fits_the_span_if_none_is_given(api, lived):
    def step(query):
        return api.get(f'/v1/utilisation?{query}', **ADMIN).json['utilisation']['step']
    assert step('') == 3600
    assert step('start=2030-05-01&end=2030-06-01') == 6 * 3600
    assert step('start=2025-05-01&end=2030-05-01') == 30 * 86400


@pytest.mark.parametrize(('query', 'field', 'words'), [
    ('start=2030-05-02&end=2030-05-01', 'end', 'after the start'),
    ('start=2030-01-01&end=2130-01-01', 'end', 'at most 3660'),
    ('step=90m', 'step', 'full hours'), ('step=0', 'step', 'not a duration'),
    ('step=often', 'step', 'not a duration'),
    ('start=2030-01-01&end=2031-01-01&step=1h', 'step', 'at most 2000'),
    ('pool=cars', 'pool', 'not an enabled pool'), ('pool=', 'pool', 'not an enabled pool'),
    ('color=red', 'color', 'known are'), ('format=xml', 'format', 'json, csv')])
def test_a_wrong_question_for_utilisation_is_refused_by_its_field(api, query, field, words):
    answer = api.get(f'/v1/utilisation?{query}', **ADMIN)
    assert answer.status_int == 400, answer.body
    assert answer.json['error_message'].startswith(f'{field}: ')
    assert words in answer.json['error_message']
