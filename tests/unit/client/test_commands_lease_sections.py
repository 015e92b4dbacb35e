# SPDX-License-Identifier: Apache-2.0
"""A lease is shown in sections, with the names of its hosts."""
import pytest
from unit.client import canned

from climate.client.commands import lease_sections

LEASE_URL = f'{canned.URL}/leases/{canned.LEASE_ID}'
WELL = {'state': 'well', 'since': None, 'reason': None}


def resource(**changes):
    return {'reservation_id': 'r1', 'id': '3', 'name': 'cmp-3', 'health': WELL, **changes}


HOSTS = {'resources': [resource(), resource(id='4', name='cmp-4')]}


@pytest.fixture
def lease(requests_mock):
    requests_mock.get(LEASE_URL, json={'lease': canned.a_lease(status='active')})
    return requests_mock


def test_hosts_have_their_names_for_those_who_may_see_them(run, lease):
    lease.get(f'{LEASE_URL}/resources', json=HOSTS)
    assert '  physical:host, pending: cmp-3, cmp-4\n' in run('lease', 'show', canned.LEASE_ID).out


def test_hosts_have_their_numbers_for_others(run, lease):
    assert 'pending: number 3, number 4\n' in run('lease', 'show', canned.LEASE_ID).out


def test_a_broken_host_has_the_command_that_swaps_it(run, lease):
    health = {'state': 'out_of_order', 'since': '2030-05-01T08:00:00Z', 'reason': 'a fan'}
    lease.get(f'{LEASE_URL}/resources', json={'resources': [
        resource(health=health), resource(id='4', name=None, health={**WELL, 'state': 'flaky'})]})
    out = run('lease', 'show', canned.LEASE_ID).out
    assert ('    cmp-3 is out of service since 2030-05-01 08:00 UTC: a fan\n'
            '    to swap it: climate lease swap demo cmp-3\n') in out
    assert '    number 4 is flaky\n    to swap it: climate lease swap demo 4\n' in out
    lease.get(LEASE_URL, json={'lease': canned.a_lease()})
    assert 'to swap it' not in run('lease', 'show', canned.LEASE_ID).out


def test_sections_are_readable_at_80_columns(run, lease):
    lease.get(f'{LEASE_URL}/resources', json=HOSTS)
    lease.get(LEASE_URL, json={'lease': canned.a_lease(status_reason='It waits. ' * 30)})
    out = run('lease', 'show', canned.LEASE_ID, width=80).out
    assert max(map(len, out.splitlines())) <= 80, out
    assert [line for line in out.splitlines() if line and not line.startswith(' ')] == [
        'Lease demo', 'Reservations', 'Boot a server with this lease', 'Events', 'Record']


def test_programs_and_those_who_name_columns_get_a_table(run, lease):
    assert run('lease', 'show', canned.LEASE_ID, '-c', 'name').out.splitlines()[3] == (
        '| name  | demo  |')
    assert '| reservations ' in run('lease', 'show', canned.LEASE_ID, '--max-width', '100').out
    assert run('lease', 'show', canned.LEASE_ID, '-f', 'json').json['name'] == 'demo'


@pytest.mark.parametrize(('criteria', 'text'), [
    ('[">=", "$vcpus", "16"]', 'vcpus>=16'),
    (['and', ['==', '$gpu', 'A100'], ['>', '$vcpus', 8]], 'gpu=A100 and vcpus>8'),
    (['or', ['and', ['=', '$a', '1'], ['!=', '$b', '2']], ['=', '$c', '3']],
     '(a=1 and b!=2) or c=3'),
    (['in', '$rack', ['r1', 'r2']], '["in", "$rack", ["r1", "r2"]]'),
    ('not json', 'not json'), ('[]', '[]')])
def test_criteria_are_shown_as_conditions(criteria, text):
    assert lease_sections.criteria_text(criteria) == text
