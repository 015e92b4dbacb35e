# SPDX-License-Identifier: Apache-2.0
"""Scripts for the commands of python-blazarclient go on with the commands of the same name."""
import pytest
from unit.client import canned

URL = canned.URL
LEASE_URL = f'{URL}/leases/{canned.LEASE_ID}'
HOSTS = f'{URL}/os-hosts'


@pytest.fixture
def service(requests_mock):
    """A service that has the lease "demo" and the host cmp-3."""
    lease, host = {'lease': canned.a_lease()}, {'host': canned.a_host()}
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease()]})
    requests_mock.get(LEASE_URL, json=lease)
    requests_mock.put(LEASE_URL, json=lease)
    requests_mock.put(f'{LEASE_URL}?dry_run=true', json={**lease, 'losses': []})
    requests_mock.post(f'{URL}/leases', json=lease, status_code=201)
    requests_mock.get(HOSTS, json={'hosts': [
        canned.a_host(), canned.a_host(id='4', hypervisor_hostname='abc')]})
    requests_mock.get(f'{HOSTS}/3', json=host)
    requests_mock.put(f'{HOSTS}/3', json=host)
    requests_mock.post(HOSTS, json=host, status_code=201)
    allocation = {'resource_id': '3', 'reservations': []}
    requests_mock.get(f'{HOSTS}/allocations', json={'allocations': [allocation]})
    requests_mock.get(f'{HOSTS}/3/allocation', json={'allocation': allocation})
    return requests_mock


@pytest.mark.parametrize(('words', 'expected'), [
    ('--prolong-for 1h', {'end': '2030-05-01T11:00:00Z'}),
    ('--prolong-for 2d', {'end': '2030-05-03T10:00:00Z'}),
    ('--reduce-by 30m', {'end': '2030-05-01T09:30:00Z'}),
    ('--defer-by 90s', {'start': '2030-05-01T08:01:30Z'}),
    ('--advance-by 1d', {'start': '2030-04-30T08:00:00Z'}),
    ('--defer-by 1h --prolong-for 1h', {'start': '2030-05-01T09:00:00Z',
                                        'end': '2030-05-01T11:00:00Z'}),
    ('--end-date 2030-05-02T08:00', {'end': '2030-05-02T08:00:00Z'}),
    ('--start-date 2030-05-01T07:00 --name new', {'start': '2030-05-01T07:00:00Z', 'name': 'new'}),
    ('--before-end-date 2030-05-01T09:00', {'before_end': '2030-05-01T09:00:00Z'})])
def test_a_lease_is_changed(run, service, words, expected):
    outcome = run('lease', 'set', 'demo', *words.split())
    assert outcome.code == 0, outcome.err
    assert canned.last_change(service).json() == expected


@pytest.mark.parametrize('words', [
    '--prolong-for 1h --reduce-by 1h', '--prolong-for 1h --end-date now',
    '--end now --reduce-by 1h', '--defer-by 1h --advance-by 1h',
    '--start now --defer-by 1h', '--prolong-for never'])
def test_changes_that_contradict_each_other_are_refused(run, service, words):
    assert run('lease', 'set', 'demo', *words.split()).code == 2
    assert service.call_count == 0


def test_a_lease_is_created(run, service):
    outcome = run(
        'lease', 'create', 'demo', '--start-date', '2030-05-01 08:00', '--end-date',
        '2030-05-01 10:00', '--before-end-date', '2030-05-01 09:00', '--reservation',
        'resource_type=virtual:instance,vcpus=1,memory_mb=512,disk_gb=1,amount=1,affinity=None,'
        'resource_properties=""')
    assert outcome.code == 0, outcome.err
    sent = canned.last_change(service).json()
    assert (sent['start'], sent['end'], sent['before_end']) == (
        '2030-05-01T08:00:00Z', '2030-05-01T10:00:00Z', '2030-05-01T09:00:00Z')
    assert sent['reservations'] == [{
        'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1,
        'amount': 1, 'affinity': None, 'resource_properties': ''}]


@pytest.mark.parametrize('words', [
    'allocation list host', 'allocation list host --sort-by resource_id',
    'allocation list --reservation-id r1 host', 'allocation show host 3',
    'allocation show host cmp-3 --lease-id ' + canned.LEASE_ID, 'allocation show 3',
    'lease list --sort-by name', 'host list --sort-by hypervisor_hostname'])
def test_other_commands_take_the_arguments(run, service, words):
    outcome = run(*words.split())
    assert outcome.code == 0, outcome.err


def test_filters_of_allocations_are_sent(run, service):
    run('allocation', 'list', 'host', '--lease-id', canned.LEASE_ID, '--reservation-id', 'r1')
    assert [each.qs for each in service.request_history if each.path.endswith('allocations')] == [
        {'lease_id': [canned.LEASE_ID], 'reservation_id': ['r1']}]


def test_a_list_is_sorted_by_the_column(run, service):
    names = run('host', 'list', '--sort-by', 'hypervisor_hostname', '-f', 'value', '-c',
                'hypervisor_hostname').out
    assert names == 'abc\ncmp-3\n'


def test_allocations_of_another_pool_are_not_mistaken_for_those_of_hosts(run, service):
    outcome = run('allocation', 'list', 'volume')
    assert outcome.code == 2
    assert service.call_count == 0


@pytest.mark.parametrize('words', ['host create cmp-3', 'host set cmp-3'])
def test_hosts_have_extra_capabilities(run, service, words):
    outcome = run(*words.split(), '--extra', 'gpu=True')
    assert outcome.code == 0, outcome.err
    assert canned.last_change(service).json()['gpu'] == 'True'
