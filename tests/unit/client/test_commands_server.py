# SPDX-License-Identifier: Apache-2.0
"""Leased servers in the client: the commands, and the library below them."""
import pytest
from unit.client import canned

from climate.client import errors

URL = canned.URL
NOVA = canned.NOVA
SERVER_ID = canned.SERVER_ID
WITH_NOVA = {'OS_AUTH_TYPE': 'admin_token', 'OS_ENDPOINT': URL, 'OS_TOKEN': 'a-token',
             'OS_COMPUTE_ENDPOINT_OVERRIDE': f'{NOVA}/'}


@pytest.fixture
def cloud(requests_mock):
    """A service with a lease of the server web-1, and the Nova that has it."""
    lease = canned.a_lease(start='2020-05-01T08:00:00Z', end='2999-05-01T08:00:00Z',
                           status='active', reservations=[canned.a_leased_server()])
    requests_mock.get(f'{URL}/leases', json={'leases': [lease]})
    requests_mock.get(f'{URL}/leases/{canned.LEASE_ID}', json={'lease': lease})
    requests_mock.post(f'{URL}/leases', json={'lease': lease}, status_code=201)
    requests_mock.get(f'{NOVA}/servers', json={'servers': [{'id': SERVER_ID, 'name': 'web-1'}]})
    requests_mock.get(f'{NOVA}/servers/detail', json={'servers': [canned.a_server()]})
    requests_mock.get(f'{NOVA}/servers/{SERVER_ID}', json={'server': canned.a_server()})
    return requests_mock


def asked_of(requests_mock, host):
    return [call for call in requests_mock.request_history if call.hostname == host]


def test_a_server_is_leased_by_name(run, cloud):
    outcome = run('server', 'lease', 'web-1', '--duration', '2h', '--on-end', 'suspend',
                  environ=WITH_NOVA)
    assert outcome.code == 0, outcome.err
    assert cloud.last_request.json() == {
        'name': 'lease-web-1', 'start': 'now', 'duration': 7200, 'reservations': [{
            'resource_type': 'virtual:instance', 'resource_id': SERVER_ID,
            'on_end': 'suspend'}]}
    assert f'nothing: server {SERVER_ID} is leased itself' in outcome.out
    assert cloud.request_history[0].qs == {'name': ['^web\\-1$']}


def test_a_later_lease_of_a_server_with_a_name_of_its_own(run, cloud):
    run('server', 'lease', SERVER_ID, '--start', '2030-5-1 08:00', '--end', '2030-5-1 10:00',
        '--before-end', '2030-5-1 09:00', '--name', 'mine', '--key', 'k', '--dry-run')
    assert cloud.call_count == 1
    assert cloud.last_request.json() == {
        'name': 'mine', 'start': '2030-05-01T08:00:00Z', 'end': '2030-05-01T10:00:00Z',
        'before_end': '2030-05-01T09:00:00Z', 'reservations': [{
            'resource_type': 'virtual:instance', 'resource_id': SERVER_ID}]}
    assert cloud.last_request.headers['Idempotency-Key'] == 'k'
    assert cloud.last_request.qs == {'dry_run': ['true']}


def test_lease_and_wait_reports_progress(run, cloud):
    outcome = run('server', 'lease', 'web-1', '--duration', '2h', '--wait', '-f', 'value', '-c',
                  'status', environ=WITH_NOVA)
    assert (outcome.out, outcome.err) == ('active\n', 'Lease demo: active\n')


def test_a_name_that_nova_only_nearly_has_is_not_found(run, cloud):
    outcome = run('server', 'lease', 'Web-1', '--duration', '2h', environ=WITH_NOVA)
    assert (outcome.code, outcome.err) == (1, (
        'No server is called "Web-1".\nHint: "climate server list" shows what exists.\n'))


def test_a_name_of_several_servers_is_refused_with_their_ids(with_nova, cloud):
    cloud.get(f'{NOVA}/servers', [
        {'json': {'servers': [{'id': 'a', 'name': 'web'}], 'servers_links': [
            {'rel': 'next', 'href': f'{NOVA}/servers?name=web&marker=a'}]}},
        {'json': {'servers': [{'id': 'b', 'name': 'web'}]}}])
    with pytest.raises(errors.Ambiguous, match=r'2 servers are called "web".*: a, b') as caught:
        with_nova.servers.lease('web', duration='1h')
    assert caught.value.ids == ['a', 'b']


def test_an_id_that_nova_does_not_have_is_refused_in_its_words(with_nova, cloud):
    cloud.get(f'{NOVA}/servers/{SERVER_ID}', status_code=404, json={
        'itemNotFound': {'code': 404, 'message': f'Instance {SERVER_ID} could not be found.'}})
    with pytest.raises(errors.NotFound, match=r'^Instance 7.* could not be found'):
        with_nova.servers.lease(SERVER_ID, duration='1h')


def test_without_a_compute_service_only_ids_work(run, cloud):
    outcome = run('server', 'lease', 'web-1', '--duration', '2h')
    assert outcome.code == 1
    assert 'No compute service is known here' in outcome.err
    assert 'give the id of the server' in outcome.err
    assert run('server', 'lease', SERVER_ID, '--duration', '2h').code == 0
    assert cloud.last_request.json()['name'] == f'lease-{SERVER_ID}'


def test_a_long_name_of_a_server_still_makes_a_name_of_a_lease(with_nova, cloud):
    cloud.get(f'{NOVA}/servers/{SERVER_ID}', json={'server': canned.a_server(name='n' * 255)})
    with_nova.servers.lease(SERVER_ID, duration='1h')
    assert cloud.last_request.json()['name'] == 'lease-' + 'n' * 74


@pytest.mark.parametrize('words, expected', [
    ([], 'The lease has no end: give --duration 2h'),
    (['--duration', '1h', '--on-end', 'burn'], 'snapshot, delete, suspend, shelve, migrate'),
])
def test_a_wrong_lease_of_a_server_sends_nothing(run, requests_mock, words, expected):
    outcome = run('server', 'lease', 'web-1', *words)
    assert outcome.code != 0
    assert expected.split(',')[0] in outcome.err
    assert requests_mock.call_count == 0


def test_servers_are_listed_with_lease_status_and_remaining_time(run, cloud):
    outcome = run('server', 'list', environ=WITH_NOVA)
    header, row = [line.split('|')[1:-1] for line in outcome.out.splitlines() if '|' in line]
    assert [cell.strip() for cell in header] == ['name', 'status', 'remaining', 'id']
    cells = [cell.strip() for cell in row]
    assert [cells[0], cells[1], cells[3]] == ['web-1', 'active', SERVER_ID]
    assert cells[2].endswith(' left')


def test_more_columns_tell_what_nova_says(run, cloud):
    [found] = run('server', 'list', '--long', '-f', 'json', environ=WITH_NOVA).json
    found.pop('remaining')
    assert found == {
        'id': SERVER_ID, 'name': 'web-1', 'lease_name': 'demo', 'status': 'active',
        'start': '2020-05-01T08:00:00Z', 'end': '2999-05-01T08:00:00Z', 'on_end': 'snapshot',
        'compute_status': 'ACTIVE', 'host': 'cmp-3', 'lease_id': canned.LEASE_ID,
        'reservation_id': 'r9', 'project_id': 'p1'}


@pytest.mark.parametrize('lease, reservation, status', [
    ('inactive', 'pending', 'reserved'), ('starting', 'pending', 'reserved'),
    ('active', 'active', 'active'), ('updating', 'active', 'active'),
    ('terminating', 'active', 'ending'), ('deleting', 'pending', 'ending'),
    ('terminated', 'deleted', 'ended'), ('active', 'deleted', 'ended'),
    ('timedout', 'pending', 'ended'), ('error', 'active', 'error'),
    ('active', 'error', 'error')])
def test_a_leased_server_has_a_status(climate, requests_mock, lease, reservation, status):
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease(
        status=lease, reservations=[canned.a_leased_server(status=reservation)])]})
    assert [server['status'] for server in climate.servers.list(ended=True)] == [status]
    assert [server['status'] for server in climate.servers.list()] == (
        [] if status == 'ended' else [status])


def test_a_server_that_is_gone_keeps_its_name(run, cloud):
    cloud.get(f'{NOVA}/servers/detail', json={'servers': []})
    cloud.get(f'{URL}/leases', json={'leases': [canned.a_lease(
        status='terminated', reservations=[canned.a_leased_server(
            status='deleted', resource_name='web-1')])]})
    [found] = run('server', 'list', '--ended', '-f', 'json', environ=WITH_NOVA).json
    assert (found['id'], found['name'], found['status']) == (SERVER_ID, 'web-1', 'ended')


def test_reservations_without_a_server_are_not_listed(climate, requests_mock):
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease(reservations=[
        canned.a_lease()['reservations'][0], canned.a_leased_server(resource_id=None),
        {'id': 'r3', 'resource_type': 'virtual:instance', 'status': 'active', 'vcpus': 1},
        canned.a_leased_server()])]})
    assert [server['reservation_id'] for server in climate.servers.list()] == ['r9']


def test_nova_is_asked_page_by_page_until_all_are_known(with_nova, cloud):
    others = [canned.a_server(id=f'other-{number}') for number in range(3)]
    cloud.get(f'{NOVA}/servers/detail', [
        {'json': {'servers': others, 'servers_links': [
            {'rel': 'next', 'href': f'{NOVA}/servers/detail?marker=x'}]}},
        {'json': {'servers': [canned.a_server()], 'servers_links': [
            {'rel': 'next', 'href': f'{NOVA}/servers/detail?marker=y'}]}}])
    [found] = with_nova.servers.list(all_projects=True)
    assert found['name'] == 'web-1'
    calls = asked_of(cloud, 'nova.example')
    assert [call.qs for call in calls] == [{'all_tenants': ['1']}, {'marker': ['x']}]


def test_nova_is_not_asked_where_nothing_is_leased(with_nova, requests_mock):
    requests_mock.get(f'{URL}/leases', json={'leases': []})
    assert list(with_nova.servers.list()) == []
    assert requests_mock.call_count == 1


def test_the_list_is_there_without_a_compute_service(run, cloud):
    outcome = run('server', 'list', '--long', '-f', 'json')
    assert (outcome.json[0]['id'], outcome.json[0]['name']) == (SERVER_ID, '')
    assert outcome.err == ''


def test_the_list_is_there_when_nova_is_not(run, cloud):
    cloud.get(f'{NOVA}/servers/detail', status_code=503, json={
        'computeFault': {'code': 503, 'message': 'Busy.'}})
    outcome = run('server', 'list', environ=WITH_NOVA)
    assert outcome.code == 0
    assert SERVER_ID in outcome.out
    assert outcome.err == (
        'The names of servers are missing, because Nova cannot be reached: Busy.\n')
