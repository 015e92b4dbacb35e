# SPDX-License-Identifier: Apache-2.0
"""The command that reports what sleeps, run as a user runs it."""
import canned
import pytest

ENERGY = f'{canned.URL}/energy'
LINE = {'pool': 'host', 'id': '1', 'name': 'cmp-1', 'power_state': 'asleep',
        'power_since': '2030-05-01T12:00:00Z', 'hours_asleep': 4.0, 'watts': 250.0,
        'kwh_saved': 1.0}
AWAKE = {**LINE, 'name': 'cmp-2', 'power_state': 'awake', 'power_since': None, 'watts': None,
         'hours_asleep': 0.0, 'kwh_saved': None}
REPORT = {'energy': {'start': '2030-04-24T16:00:00Z', 'end': '2030-05-01T16:00:00Z',
                     'resources': [LINE, AWAKE],
                     'total': {'hours_asleep': 4.0, 'kwh_saved': 1.0}}}


@pytest.fixture
def service(requests_mock):
    requests_mock.get(ENERGY, json=REPORT)
    return requests_mock


def test_energy_is_shown_by_host_with_its_total(run, service):
    outcome = run('energy', '--pool', 'host', '--start', '2030-04-24')
    assert outcome.code == 0, outcome.err
    assert 'cmp-1' in outcome.out
    assert '2030-05-01 12:00 UTC' in outcome.out
    assert outcome.out.endswith('Total: 4 hours asleep, 1 kWh saved.\n')
    assert service.last_request.qs == {'pool': ['host'], 'start': ['2030-04-24t00:00:00z']}


def test_programs_get_the_lines_only(run, service):
    lines = run('energy', '-f', 'json').json
    assert [each['kwh_saved'] for each in lines] == [1.0, None]
