# SPDX-License-Identifier: Apache-2.0
"""Best effort as clients of REST see it: its plan, its messages, its refusals."""
import pytest
from support import builders

# A caller who may see the moved servers of others.
ADMIN = 'root:demo:admin,member,reader'


@pytest.fixture
def theirs(conf, manager):
    """A server of somebody else, on a lent host."""
    conf.set_override('lent_aggregate', 'lent', group='acquire')
    nova = manager.cloud.as_service().nova
    nova.add_hosts(nova.ensure_aggregate('lent'), ['compute-1'])
    return manager.cloud.boot('other', 'theirs', host='compute-1', flavor='2')


@pytest.fixture
def ask(api):
    """callable(hosts, path, **acquire): the answer to a request at REST 1.1."""
    def make(hosts=1, path='/v1/leases', **acquire):
        return api.post(path, {
            'name': 'x', 'duration': '1h', 'acquire': {'type': 'best-effort', **acquire},
            'reservations': [{'resource_type': 'physical:host', 'min': hosts, 'max': hosts}]},
            version='1.1', token=ADMIN)
    return make


def _plan(lease, state, moves):
    """The plan that a lease shows while its one host, and its one server, are in these states."""
    [reservation] = lease['reservations']
    [host] = lease['acquire']['plan']['hosts']
    assert host['moves'][0].pop('to').startswith('compute-')
    assert host == {'host': 'compute-1', 'reservation_id': reservation['id'], 'state': state,
                    'why': None, 'servers': 1,
                    'moved': sum(move['state'] == 'moved' for move in moves), 'moves': moves}


def test_the_plan_is_shown_from_the_request_on(api, ask, manager, theirs):
    answer = ask(strategy='least-memory', timeout_seconds=60)
    assert answer.status_int == 202
    lease = answer.json['lease']
    move = {'server_id': theirs.id, 'from': 'compute-1'}
    assert lease['acquire']['plan']['strategy'] == 'least-memory'
    _plan(lease, 'planned', [{**move, 'state': 'planned'}])
    path = f'/v1/leases/{lease["id"]}'
    assert api.get(path, version='1.1').json['lease']['status'] == 'in_progress'
    assert api.get(path, version='1.0').json['lease']['status'] == 'CREATING'
    manager.run_until(builders.NOON + builders.minutes(0.5))
    lease = api.get(path, version='1.1', token=ADMIN).json['lease']
    assert lease['status'] == 'active'
    _plan(lease, 'ready', [{**move, 'state': 'moved'}])
    words = [line['what'] for line in api.get(f'{path}/history', version='1.1').json['history']]
    assert words[:9] == ['create', 'attempt', 'fence', 'move', 'moved', 'cleared', 'host ready',
                         'acquired', 'start_lease']


def test_a_dry_run_shows_it_and_keeps_nothing(api, ask, theirs):
    answer = ask(path='/v1/leases?dry_run=true')
    assert answer.status_int == 200
    _plan(answer.json['lease'], 'planned', [
        {'server_id': theirs.id, 'from': 'compute-1', 'state': 'planned'}])
    assert api.get('/v1/leases', version='1.1').json['leases'] == []


def test_a_host_that_cannot_be_cleared_is_refused_with_the_reasons(ask, manager, theirs):
    manager.cloud.as_service().servers.mark(theirs.id, {'climate:pinned': 'yes'})
    answer = ask()
    assert answer.status_int == 409
    assert answer.json['error_name'] == 'not_enough'
    assert answer.json['details']['reasons'] == {
        'compute-1': f'server {theirs.id} is marked climate:pinned'}


def test_an_unknown_strategy_is_refused_with_the_known(ask, theirs):
    answer = ask(strategy='by-dice')
    assert answer.status_int == 400
    assert 'cheapest, fewest-instances, least-memory, stopped-first' in answer.json[
        'error_message']


def test_a_best_effort_whose_time_passes_is_told_so_at_both_versions(
        api, ask, manager, theirs, conf):
    conf.set_override('migrate_seconds', 600, group='simulated')
    lease = ask(timeout_seconds=30).json['lease']
    manager.run_until(builders.NOON + builders.minutes(1))
    path = f'/v1/leases/{lease["id"]}'
    assert api.get(path, version='1.0').json['lease']['status'] == 'ERROR'
    lease = api.get(path, version='1.1').json['lease']
    assert lease['status'] == 'timedout'
    assert '0 of 1 hosts were cleared' in lease['status_reason']
