# SPDX-License-Identifier: Apache-2.0
"""A lease is shown in sections, with the names of its hosts."""
import pytest
from unit.client import canned

from climate.client.commands import lease_sections

LEASE_URL = f'{canned.URL}/leases/{canned.LEASE_ID}'
HOSTS = {'hosts': [canned.a_host(), canned.a_host(id='4', hypervisor_hostname='cmp-4')]}


@pytest.fixture
def lease(requests_mock):
    requests_mock.get(LEASE_URL, json={'lease': canned.a_lease(status='active')})
    return requests_mock


def test_hosts_have_their_names_for_those_who_may_see_them(run, lease):
    lease.get(f'{LEASE_URL}/hosts', json=HOSTS)
    assert '  physical:host, pending: cmp-3, cmp-4\n' in run('lease', 'show', canned.LEASE_ID).out


def test_hosts_have_their_numbers_for_others(run, lease):
    assert 'pending: number 3, number 4\n' in run('lease', 'show', canned.LEASE_ID).out


def test_sections_are_readable_at_80_columns(run, lease):
    lease.get(f'{LEASE_URL}/hosts', json=HOSTS)
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
