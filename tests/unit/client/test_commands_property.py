# SPDX-License-Identifier: Apache-2.0
"""The commands about properties count the resources that have each value."""
import json

import pytest
from unit.client import canned

PLACE = f'{canned.URL}/os-hosts/facets'


@pytest.fixture
def gpus(requests_mock):
    """A service whose hosts have two kinds of GPU, and the fact "traits"."""
    requests_mock.get(PLACE, json={
        'start': '2030-05-01T12:00:00Z', 'end': '2030-05-01T13:00:00Z', 'total': 5, 'matching': 5,
        'free': 4, 'facets': [
            {'property': 'gpu', 'kind': 'property', 'more': False, 'values': [
                {'value': 'A100', 'matching': 3, 'free': 2},
                {'value': 'H100', 'matching': 1, 'free': 1}]},
            {'property': 'traits', 'kind': 'fact', 'more': True, 'values': [
                {'value': 'HW_CPU_X86_AVX2', 'matching': 5, 'free': 4}]}]})
    return requests_mock


def test_a_list_has_each_value_with_its_free_hosts(run, gpus):
    outcome = run('property', 'list')
    assert outcome.code == 0, outcome.err
    assert 'A100  (2 of 3 free)' in outcome.out and 'traits' not in outcome.out
    assert [each['property'] for each in run('property', 'list', '--facts', '-f', 'json').json] == [
        'gpu', 'traits']
    assert run('property', 'list', '-f', 'json', '-c', 'values').json[0]['values'][1] == {
        'value': 'H100', 'matching': 1, 'free': 1}


def test_a_script_reads_one_name_from_each_line(run, gpus):
    assert run('property', 'list', '--facts', '-f', 'value').out == 'gpu\ntraits\n'


def test_conditions_and_the_span_are_sent(run, gpus):
    for command in (('list',), ('show', 'gpu')):
        outcome = run('property', *command, '--require', 'vcpus>=16', '--require', 'rack=r1',
                      '--start', '2030-05-01T12:00:00Z', '--duration', '8h')
        assert outcome.code == 0, outcome.err
        query = gpus.last_request.qs
        assert json.loads(query['criteria'][0]) == [
            'and', ['>=', '$vcpus', '16'], ['==', '$rack', 'r1']]
        assert query['duration'] == ['28800'] and query['start'][0].startswith('2030-05-01t12:00')
    run('property', 'list')
    assert gpus.last_request.qs == {}


def test_a_property_has_a_row_for_each_value_and_an_unknown_one_names_those_there_are(run, gpus):
    assert run('property', 'show', 'gpu', '-f', 'json').json == [
        {'value': 'A100', 'resources': 3, 'free': 2}, {'value': 'H100', 'resources': 1, 'free': 1}]
    outcome = run('property', 'show', 'gup')
    assert outcome.code == 1
    assert 'No resource has a property "gup" that you may see. There are: gpu, traits.' in (
        outcome.err)
