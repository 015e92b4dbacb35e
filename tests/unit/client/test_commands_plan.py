# SPDX-License-Identifier: Apache-2.0
"""The commands that plan capacity, run as a user runs them."""
import pytest
from unit.client import canned

from climate.client.commands import charts

NONE = {'moves': 0, 'waits': 0, 'refused': 0, 'served': 0}
DAY = {'start': '2030-05-01T12:00:00Z', 'end': '2030-05-02T12:00:00Z',
       'now': {'capacity_hours': 48.0, 'allocated_hours': 12.0, 'utilisation': 0.25},
       'then': {'capacity_hours': 24.0, 'allocated_hours': 12.0, 'utilisation': 0.5}}
WHAT_IF = {'what_if': {
    'pool': 'host', 'start': '2030-05-01T12:00:00Z', 'end': '2030-05-02T12:00:00Z',
    'resources': {'now': 2, 'then': 1},
    'leases': {'looked_at': 3, 'left_out': 0, 'displaced': {**NONE, 'moves': 1, 'refused': 1},
               'queued': NONE, 'extra': NONE},
    'changes': [
        {'lease_id': canned.LEASE_ID, 'kind': 'displaced', 'outcome': 'moves',
         'start': '2030-05-01T12:00:00Z', 'end': '2030-05-01T14:00:00Z',
         'new_start': '2030-05-01T12:00:00Z', 'resources': ['cmp-3', 'cmp-5'],
         'new_resources': ['cmp-4']},
        {'lease_id': 'other', 'kind': 'displaced', 'outcome': 'refused',
         'start': '2030-05-01T12:00:00Z', 'end': '2030-05-01T14:00:00Z', 'new_start': None,
         'resources': ['cmp-3'], 'new_resources': []}],
    'utilisation': {'now': 0.25, 'then': None, 'days': [DAY]}}}
HOUR = {'start': '2030-05-01T12:00:00Z', 'expected': 3.5, 'low80': 2.0, 'high80': 5.0,
        'low95': 1.0, 'high95': 6.0, 'allocated': 1.0, 'missing': 0.0}
FORECAST = {'forecast': {
    'pool': 'host', 'method': 'holt-winters', 'learned_from': '2030-02-01T12:00:00Z',
    'capacity': 4, 'past_error': 0.5, 'refused_hours': 12.0, 'short_at': None,
    'may_be_short_at': '2030-05-01T12:00:00Z',
    'hours': [HOUR, {**HOUR, 'start': '2030-05-01T13:00:00Z', 'expected': 0.0}]}}


@pytest.fixture
def service(requests_mock):
    requests_mock.post(f'{canned.URL}/what-if', json=WHAT_IF)
    requests_mock.get(f'{canned.URL}/forecast', json=FORECAST)
    return requests_mock


def test_plan_what_if_sends_all_changes_and_shows_the_affected_leases(run, service):
    outcome = run('plan', 'what-if', '--add', '10', 'cmp-3', '--remove', 'cmp-4', '--out',
                  'cmp-5,cmp-6', '+1h', '2030-05-03 12:00', '--demand-factor', '1.5', '--end',
                  '+3d')
    assert outcome.code == 0, outcome.err
    assert service.last_request.json() == {
        'pool': 'host', 'add': [{'count': 10, 'like': 'cmp-3'}], 'remove': ['cmp-4'],
        'out': [{'resources': ['cmp-5', 'cmp-6'], 'start': '+3600s',
                 'end': '2030-05-03T12:00:00Z'}], 'demand_factor': 1.5, 'end': '+259200s'}
    assert 'moves' in outcome.out and 'Lose resources: 1 moves, 1 refused.' in outcome.out
    assert 'Use  now:  25% ▃' in outcome.out and 'Use then:    - ▅' in outcome.out


def test_days_are_listed_instead_of_leases(run, service):
    [day] = run('plan', 'what-if', '--days', '-f', 'json').json
    assert (day['now'], day['then']) == (0.25, 0.5)
    assert '|  25% |  50% |' in run('plan', 'what-if', '--days').out


def test_csv_has_the_names_of_resources_and_no_summary(run, service):
    lines = run('plan', 'what-if', '--csv', '--long').out.splitlines()
    assert lines[0].startswith('"lease_id","kind","outcome"')
    assert len(lines) == 3 and lines[1].endswith('"cmp-3 cmp-5","cmp-4"')
    [change, _] = run('plan', 'what-if', '-f', 'json', '--long').json
    assert change['resources'] == ['cmp-3', 'cmp-5']


def test_removed_hosts_may_be_listed_with_commas(run, service):
    run('plan', 'what-if', '--remove', 'cmp-1, cmp-2', '--remove', 'cmp-3')
    assert service.last_request.json()['remove'] == ['cmp-1', 'cmp-2', 'cmp-3']


def test_the_summary_says_if_leases_are_unaffected_or_unlisted(run, service, requests_mock):
    found = WHAT_IF['what_if']
    many = {**found['leases'], 'displaced': {**NONE, 'moves': 2000}}
    requests_mock.post(f'{canned.URL}/what-if', json={'what_if': {**found, 'leases': many}})
    assert 'Listed are the first 2 of 2000.' in run('plan', 'what-if').out
    none = {**found['leases'], 'displaced': NONE}
    requests_mock.post(f'{canned.URL}/what-if', json={'what_if': {
        **found, 'leases': none, 'changes': []}})
    assert 'No lease would move, wait or be refused.' in run('plan', 'what-if').out


def test_a_forecast_has_hours_a_sparkline_and_when_it_runs_short(run, service):
    outcome = run('plan', 'forecast', '--require', 'gpu=A100', '--require', 'vcpus>=8')
    assert outcome.code == 0, outcome.err
    assert service.last_request.qs['criteria'] == [
        '["and", ["==", "$gpu", "a100"], [">=", "$vcpus", "8"]]']
    assert 'Expected: █▁ (the highest block is 4 resources)' in outcome.out
    assert 'May run short from 2030-05-01 12:00 UTC on.' in outcome.out
    assert 'Runs short' not in outcome.out and 'no bands' not in outcome.out
    assert '| 3.50     |' in outcome.out


def test_a_forecast_of_a_young_pool_has_no_bands_and_says_why(run, requests_mock):
    young = {**HOUR, 'low80': None, 'high80': None, 'low95': None, 'high95': None}
    requests_mock.get(f'{canned.URL}/forecast', json={'forecast': {
        **FORECAST['forecast'], 'past_error': None, 'hours': [young]}})
    out = run('plan', 'forecast').out
    assert 'None' not in out and '| -' in out
    assert 'There are no bands yet: they need 17 days of history' in out


@pytest.mark.parametrize('bands', [{}, {'low80': None, 'high80': None, 'low95': None,
                                        'high95': None}])
def test_a_forecast_as_a_picture(run, requests_mock, tmp_path, bands):
    pytest.importorskip('matplotlib')
    requests_mock.get(f'{canned.URL}/forecast', json={'forecast': {
        **FORECAST['forecast'], 'hours': [{**HOUR, **bands}]}})
    path = tmp_path / 'forecast.svg'
    assert run('plan', 'forecast', '--plot', str(path)).code == 0
    assert '<svg' in path.read_text()
    assert 'does not end in' in run('plan', 'forecast', '--plot', 'forecast.txt').err


def test_a_forecast_as_csv(run, service):
    lines = run('plan', 'forecast', '--csv').out.splitlines()
    assert lines[0] == ('"start","expected","low80","high80","low95","high95","allocated",'
                        '"missing"')
    assert lines[1] == '"2030-05-01T12:00:00Z",3.5,2.0,5.0,1.0,6.0,1.0,0.0'


@pytest.mark.parametrize(('words', 'said'), [
    (['what-if', '--demand-factor', '0'], 'is not a factor'),
    (['what-if', '--demand-factor', '-1'], 'is not a factor'),
    (['what-if', '--demand-factor', '1e9'], 'is not a factor'),
    (['what-if', '--add', 'ten', 'cmp-3'], 'is not a number'),
    (['what-if', '--out', 'cmp-3', 'soon', 'later'], '--out'),
    (['forecast', '--require', 'gpu'], 'is not a condition')])
def test_mistakes_are_told_before_anything_is_sent(run, service, words, said):
    outcome = run('plan', *words)
    assert outcome.code == 2 and said in outcome.err
    assert not service.called


def test_a_sparkline_is_not_wider_than_it_may_be():
    assert len(charts.sparkline(list(range(168)), 168, 60)) <= 60
    assert charts.sparkline([None, 0, 4], 4, 60) == ' ▁█'
    assert charts.sparkline([0], 0, 60) == '▁'
