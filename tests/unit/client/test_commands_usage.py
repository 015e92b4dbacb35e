# SPDX-License-Identifier: Apache-2.0
"""The commands that report usage and utilisation, run as a user runs them."""
import sys
from xml.etree import ElementTree

import pytest
from unit.client import canned

from climate.client.commands import charts

USAGE, UTILISATION = f'{canned.URL}/usage', f'{canned.URL}/utilisation'


def figures(allocated, occupied=0.0, idle=0.0, refused=0.0, **reasons):
    def of(hours):
        return {'resource_hours': hours, 'unit_hours': {'vcpus': hours * 4} if hours else {}}
    return {'allocated': of(allocated), 'occupied': of(occupied), 'idle': of(idle),
            'refused': {**of(refused), 'by_reason': reasons}}


SPAN = {'start': '2030-05-01T00:00:00Z', 'end': '2030-05-04T00:00:00Z',
        'counted_to': '2030-05-02T12:00:00Z'}
REPORT = {'usage': {**SPAN, 'group_by': ['project', 'property:rack'], 'groups': [
    {'project_id': 'demo', 'properties': {'rack': 'r1'}, **figures(6, 4, 1)},
    {'project_id': 'other', 'properties': {'rack': None}, **figures(2, refused=3, not_free=3.0)}],
    'total': figures(8, 4, 1, 3, not_free=3.0)}}
BY_DAY = {'usage': {**SPAN, 'group_by': ['pool', 'day'], 'groups': [
    {'pool': 'host', 'day': '2030-05-01', **figures(4)},
    {'pool': 'host', 'day': '2030-05-03', **figures(2)}], 'total': figures(6)}}
BY_POOL = {'usage': {**SPAN, 'group_by': ['pool'], 'groups': [{'pool': 'host', **figures(6)}],
                     'total': figures(6)}}


def step(hour, allocated, occupied, **more):
    return {'start': f'2030-05-01T{hour:02}:00:00Z', 'end': f'2030-05-01T{hour + 1:02}:00:00Z',
            'capacity': 4.0, 'allocated': allocated, 'occupied': occupied, 'out_of_order': 1.0,
            'asleep': 0.0, 'units': {}, **more}


POOLS = {'utilisation': {**SPAN, 'step': 3600, 'pools': [
    {'pool': 'host', 'steps': [step(12, 4.0, 2.0), step(13, 2.0, None), step(14, 0.0, None)]},
    {'pool': 'segment', 'steps': [step(12, 0.0, 0.0, capacity=0.0)]}]}}


@pytest.fixture
def service(requests_mock):
    requests_mock.get(USAGE, json=REPORT)
    requests_mock.get(UTILISATION, json=POOLS)
    return requests_mock


def asked(service):
    return {name: value for name, [value] in service.last_request.qs.items()}


def test_usage_is_shown_by_group_with_its_total(run, service):
    outcome = run('usage', '--by', 'project', '--by', 'property:rack', '--start', '2030-05-01',
                  '--end', '2030-05-04', '--all-projects')
    assert outcome.code == 0, outcome.err
    assert asked(service) == {
        'group_by': 'project,property:rack', 'start': '2030-05-01t00:00:00z',
        'end': '2030-05-04t00:00:00z', 'all_projects': 'true'}
    assert 'property:rack' in outcome.out
    assert outcome.out.endswith(
        'Total resource-hours: allocated 8, occupied 4, idle 1, refused 3 (not_free 3).\n')


def test_programs_get_numbers(run, service):
    found = run('usage', '--by', 'project', '--by', 'property:rack', '-f', 'json').json
    assert found[0] == {'project_id': 'demo', 'property:rack': 'r1', 'allocated': 6,
                        'occupied': 4, 'idle': 1, 'refused': 0}
    found = run('usage', '--by', 'project', '--by', 'property:rack', '--long', '-f', 'json').json
    assert found[0]['allocated_units'] == 'vcpus 24'


def test_a_sparkline_has_a_block_for_each_day(run, service):
    service.get(USAGE, json=BY_POOL)
    service.get(f'{USAGE}?group_by=pool,day', json=BY_DAY)
    [found] = run('usage', '--sparkline', '-f', 'json').json
    assert found['allocated_by_day'] == '█▁▅'


def test_a_span_may_count_from_now_back(run, service):
    service.get(USAGE, json=BY_POOL)
    assert run('usage', '--last', '7d').code == 0
    assert set(asked(service)) == {'group_by', 'start'}
    outcome = run('usage', '--last', '1000000w')
    assert outcome.code == 2
    assert '--last' in outcome.err
    assert run('usage', '--last', '7d', '--start', 'now').code == 2


@pytest.mark.parametrize(('words', 'url'), [
    (('usage', '--by', 'day'), USAGE), (('utilisation',), UTILISATION)])
def test_the_csv_of_the_service_is_printed(run, service, words, url):
    service.get(url, text='day,allocated\r\n2030-05-01,6\r\n')
    outcome = run(*words, '--csv')
    assert outcome.out.splitlines() == ['day,allocated', '2030-05-01,6']
    assert asked(service)['format'] == 'csv'


def test_utilisation_has_a_line_for_each_pool_in_use(run, service):
    outcome = run('utilisation', '--pool', 'host', '--step', '1h')
    assert outcome.code == 0, outcome.err
    assert asked(service) == {'pool': 'host', 'step': '3600'}
    assert '█▅▁' in outcome.out
    assert 'segment' not in outcome.out
    assert run('utilisation', '-f', 'json').json == [{
        'pool': 'host', 'capacity': 4, 'allocated': 2, 'peak': 4, 'occupied': 2,
        'out_of_order': 1, 'asleep': 0, 'allocated_over_time': '█▅▁'}]


def test_utilisation_lists_its_steps(run, service):
    found = run('utilisation', '--steps', '-f', 'json').json
    assert [(each['pool'], each['start'][11:13], each['occupied']) for each in found] == [
        ('host', '12', 2), ('host', '13', None), ('host', '14', None), ('segment', '12', 0)]


@pytest.mark.parametrize(('words', 'text'), [
    (('usage', '--by', 'project', '--by', 'property:rack'), 'resource-hours'),
    (('utilisation',), 'capacity')])
def test_a_picture_is_drawn(run, service, tmp_path, words, text):
    place = tmp_path / 'picture.svg'
    outcome = run(*words, '--plot', str(place))
    assert outcome.code == 0, outcome.err
    assert ElementTree.parse(place).getroot().tag.endswith('svg')
    # matplotlib draws letters as paths and notes the text beside them.
    assert f'<!-- {text} -->' in place.read_text()


def test_without_matplotlib_a_picture_names_what_is_missing(run, service, monkeypatch):
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    outcome = run('usage', '--plot', 'picture.svg')
    assert outcome.code == 1
    assert "pip install 'openstack-climate[plot]'" in outcome.err
    assert not service.called


@pytest.mark.parametrize('path', ['picture', 'picture.exe'])
def test_a_picture_of_an_unknown_form_is_refused(run, service, path):
    outcome = run('utilisation', '--plot', path)
    assert outcome.code == 2
    assert '.svg, .png, .pdf' in outcome.err


def test_a_picture_that_cannot_be_written_is_said(run, service, tmp_path):
    outcome = run('utilisation', '--plot', str(tmp_path / 'nowhere' / 'picture.svg'))
    assert outcome.code == 1
    assert 'No such file' in outcome.err


def test_a_sparkline_is_averaged_to_its_width():
    assert charts.sparkline([]) == ''
    assert charts.sparkline([0, 0]) == '▁▁'
    assert charts.sparkline([None, 8, 4, 0]) == ' █▅▁'
    assert charts.sparkline([1, 3] * 50, most=4, width=10) == '▅' * 10
