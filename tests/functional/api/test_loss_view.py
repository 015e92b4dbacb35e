# SPDX-License-Identifier: Apache-2.0
"""The losses in dry runs of REST 1.1, and who reads which of them."""
import pytest
from support import builders

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
V = {'version': '1.1'}


@pytest.fixture
def place(manager):
    """The path of a running lease with a server of its project and one of another project."""
    manager.enrol(2)
    lease = manager.active(builders.hosts(2))
    [reservation] = lease.reservations
    manager.cloud.boot('demo', 'web', {'reservation': reservation.id})
    manager.cloud.share_aggregate(reservation.id, 'friends')
    manager.cloud.boot('friends', 'guest', {'reservation': reservation.id})
    manager.clock.advance(builders.minutes(10))
    return f'/v1/leases/{lease.id}'


def named(losses):
    return sorted((loss['name'] or '', loss['project_id'], bool(loss['resource']))
                  for loss in losses)


def test_a_member_reads_the_own_servers_only_and_no_hosts(api, place):
    losses = api.delete(f'{place}?dry_run=true', **V).json['losses']
    assert named(losses) == [('', None, False), ('web', 'demo', False)]
    own = next(loss for loss in losses if loss['name'])
    assert {key: own[key] for key in ('kind', 'fate', 'saved', 'at')} == {
        'kind': 'server', 'fate': 'deleted', 'saved': False, 'at': None}


def test_an_operator_reads_all_servers_and_their_hosts(api, place):
    losses = api.delete(f'{place}?dry_run=true', **ADMIN).json['losses']
    assert named(losses) == [('guest', 'friends', True), ('web', 'demo', True)]


def test_a_dry_run_of_a_change_has_the_lease_and_the_losses(api, place):
    answer = api.put(f'{place}?dry_run=true', {'end': 'now'}, **V)
    assert answer.json['lease']['end'] == '2030-05-01T12:10:00Z'
    assert len(answer.json['losses']) == 2
    assert api.put(f'{place}?dry_run=true', {'name': 'other'}, **V).json['losses'] == []
    sooner = api.put(f'{place}?dry_run=true', {'end': '2030-05-01T12:30:00Z'}, **V).json
    assert {loss['at'] for loss in sooner['losses']} == {'2030-05-01T12:30:00Z'}
    assert 'losses' not in api.put(place, {'name': 'other'}, **V).json


def test_a_cloud_that_cannot_list_the_servers_is_503(api, place, manager):
    manager.cloud.silence_cell('compute-1', 'compute-2')
    answer = api.delete(f'{place}?dry_run=true', **V)
    assert (answer.status_int, answer.json['error_name']) == (503, 'cloud_unreachable')
