# SPDX-License-Identifier: Apache-2.0
"""Messages of best effort: only administrators read of servers and hosts of others."""
import pytest
from support import builders

from climate import errors

ADMIN = 'root:demo:admin,member,reader'
WANTED = {'name': 'urgent', 'duration': '1h', 'acquire': {'type': 'best-effort'},
          'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]}


@pytest.fixture
def cloud(conf, manager):
    """Two ordinary hosts; one is lent and has a server of somebody else."""
    for name in list(manager.cloud.host_names()):
        manager.cloud.remove_host(name)
    for name in ('lent-1', 'plain-1'):
        manager.cloud.add_host(name)
    conf.set_override('lent_aggregate', 'lent', group='acquire')
    nova = manager.cloud.as_service().nova
    nova.add_hosts(nova.ensure_aggregate('lent'), ['lent-1'])
    manager.cloud.boot('other', 'secret', host='lent-1', flavor='2')
    return manager.cloud


def told(api, lease, token):
    """Return the answers about a lease that a caller reads, as text."""
    return ''.join(api.get(f'/v1/leases/{lease["id"]}{more}', version='1.1', token=token).text
                   for more in ('', '/history'))


def test_administrators_alone_see_moved_servers_and_their_hosts(api, manager, cloud):
    [server] = cloud.servers()
    answer = api.post('/v1/leases', WANTED, version='1.1')
    assert answer.status_int == 202
    manager.run_until(builders.NOON + builders.minutes(2))
    lease = answer.json['lease']
    for named in (server.id, 'lent-1', 'plain-1'):
        assert named not in told(api, lease, builders.DEMO)
        assert named in told(api, lease, ADMIN)
    shown = api.get(f'/v1/leases/{lease["id"]}', version='1.1').json['lease']
    assert shown['status'] == 'active'
    [host] = shown['acquire']['plan']['hosts']
    [reservation] = shown['reservations']
    assert host == {'reservation_id': reservation['id'], 'state': 'ready',
                    'servers': 1, 'moved': 1}
    seen = api.get(f'/v1/leases/{lease["id"]}', version='1.1', token=ADMIN).json['lease']
    [named] = seen['acquire']['plan']['hosts']
    assert {key: named[key] for key in host} == host
    assert len(named['moves']) == named['servers']


@pytest.mark.proof
def test_administrators_alone_see_names_of_hosts_that_cannot_be_returned(api, manager, cloud):
    lease = api.post('/v1/leases', WANTED, version='1.1').json['lease']
    cloud.fail('placement.empty_child', 999, errors.CloudError(
        service='Placement', reason='lent-1 is ill'))
    manager.run_until(builders.at(12))
    assert 'lent-1' not in told(api, lease, builders.DEMO)
    assert 'could not be returned' in told(api, lease, builders.DEMO)
    assert 'lent-1 is ill' in told(api, lease, ADMIN)


def test_a_member_is_told_that_servers_of_his_own_are_in_the_way(api, manager, cloud):
    mine = manager.cloud.boot('demo', 'mine', host='lent-1', flavor='2')
    answer = api.post('/v1/leases', WANTED, version='1.1')
    assert answer.status_int == 409
    assert 'of your own project are not moved' in answer.json['error_message']
    assert answer.json['details']['own_servers'] == [mine.id]
    assert mine.id in answer.json['error_message']
    assert 'lent-1' not in answer.text


@pytest.mark.parametrize('name', ['hypervisor_hostname', 'service_name'])
def test_no_lent_host_is_found_by_its_name_even_by_those_who_may_name_hosts(
        api, cloud, conf, manager, tmp_path, name):
    rules = tmp_path / 'policy.yaml'
    rules.write_text('"climate:leases:hidden_criteria": ""\n')
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    api = builders.Api(conf, manager)
    path = '/v1/leases?dry_run=true'

    def ask(*criteria):
        [hosts] = WANTED['reservations']
        return api.post(path, WANTED | {'reservations': [
            {**hosts, 'resource_properties': list(criteria)}]}, version='1.1')
    there, nowhere = (ask('==', f'${name}', host) for host in ('lent-1', 'lent-2'))
    assert (there.status_int, nowhere.status_int) == (409, 409)
    assert there.json['error_message'] == nowhere.json['error_message']
    assert there.json['details'] == nowhere.json['details']
    assert ask('>=', '$vcpus', '1').status_int == 200


def test_beside_hosts_all_must_fit_and_the_refusal_says_so(api, cloud):
    room = {'resource_type': 'virtual:instance', 'vcpus': 999, 'memory_mb': 1, 'disk_gb': 1,
            'amount': 1}
    answer = api.post('/v1/leases', WANTED | {'reservations': [*WANTED['reservations'], room]},
                      version='1.1')
    assert answer.status_int == 409
    assert 'clears whole hosts only' in answer.json['error_message']


def test_administrators_alone_see_why_a_host_cannot_be_cleared(api, cloud):
    [server] = cloud.servers()
    cloud.as_service().servers.mark(server.id, {'climate:pinned': 'true'})
    for token, named in ((builders.DEMO, False), (ADMIN, True)):
        answer = api.post('/v1/leases', WANTED, version='1.1', token=token)
        assert answer.status_int == 409
        assert answer.json['error_name'] == 'not_enough'
        assert '0' in answer.json['error_message']
        assert (server.id in answer.text) is ('lent-1' in answer.text) is named
