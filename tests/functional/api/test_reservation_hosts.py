# SPDX-License-Identifier: Apache-2.0
"""The question of Nova's scheduler: may a project use a reservation now, and on which hosts."""
import pytest
from support import builders
from support import every_type

from climate import errors

NOVA = 'nova:service:service'
LATER = builders.at(1)


@pytest.fixture
def ask(api):
    """The answer about a reservation, for a project."""
    def asked(reservation_id, project='demo', version='1.1'):
        return api.get(f'/v1/reservations/{reservation_id}/hosts?project_id={project}',
                       token=NOVA, version=version)
    return asked


@pytest.fixture
def enrolled(manager):
    return manager.enrol(4)


def reservation_of(lease):
    return lease.reservations[0].id


def test_a_lease_that_runs_shows_its_hosts(ask, manager, enrolled):
    lease = manager.book(builders.hosts(2))
    manager.run()
    mine = manager.lease(lease).reservations[0].resource_ids
    had = [host for host in enrolled if host.id in mine]
    answer = ask(reservation_of(lease))
    assert (answer.status_int, answer.json) == (200, {'reservation': {
        'id': reservation_of(lease), 'lease_id': lease.id, 'project_id': 'demo',
        'active': True, 'usable': True, 'reason': None, 'ordinary': False,
        'server_id': None, 'room': None,
        'hosts': [host.name for host in had],
        'service_hosts': [host.facts['service_name'] for host in had]}})


def test_a_lease_that_has_not_started_says_when_it_will(ask, manager, enrolled):
    lease = manager.book(start=LATER, end=LATER + builders.hours(1))
    manager.run()
    found = ask(reservation_of(lease)).json['reservation']
    assert (found['active'], found['usable']) == (False, False)
    assert found['reason'] == (
        f'Lease {lease.id} has not started; it starts at 2030-05-01 13:00:00 UTC.')
    assert found['hosts'] == found['service_hosts'] == []


def test_a_lease_is_not_usable_before_its_start_was_carried_out(ask, manager, enrolled):
    lease = manager.book()
    assert not ask(reservation_of(lease)).json['reservation']['usable']
    manager.run()
    assert ask(reservation_of(lease)).json['reservation']['usable']


def test_a_lease_is_over_the_moment_its_end_comes(ask, manager, clock, enrolled):
    lease = manager.book()
    manager.run()
    clock.advance(builders.hours(1))
    found = ask(reservation_of(lease)).json['reservation']
    assert not found['usable']
    assert 'ended at 2030-05-01 13:00:00 UTC' in found['reason']
    manager.run()
    assert ask(reservation_of(lease)).json['reservation'] == found


def test_another_project_is_told_that_it_is_not_its_own(ask, manager, enrolled):
    lease = manager.book()
    manager.run()
    found = ask(reservation_of(lease), project='other').json['reservation']
    assert (found['active'], found['usable'], found['project_id']) == (True, False, 'demo')
    assert found['reason'] == 'It belongs to another project.'
    assert len(found['service_hosts']) == 1


def test_a_lease_that_is_deleted_is_not_usable_at_once(ask, manager, api, enrolled):
    lease = manager.book()
    manager.run()
    assert api.delete(f'/v1/leases/{lease.id}', version='1.1').status_int == 204
    found = ask(reservation_of(lease)).json['reservation']
    assert (found['usable'], found['hosts']) == (False, [])
    manager.run()
    found = ask(reservation_of(lease)).json['reservation']
    assert found['reason'] == f'Lease {lease.id} was deleted.'


def test_a_host_that_a_running_lease_gave_up_is_not_shown(ask, manager, api, enrolled):
    lease = manager.book(builders.hosts(3))
    manager.run()
    body = {'reservations': [{'id': reservation_of(lease), 'min': 1, 'max': 1}]}
    assert api.put(f'/v1/leases/{lease.id}', body, version='1.1').status_int == 200
    assert len(ask(reservation_of(lease)).json['reservation']['hosts']) == 1


def test_a_host_that_a_running_lease_gains_is_shown_when_it_is_there(ask, manager, api, enrolled):
    lease = manager.book()
    manager.run()
    body = {'reservations': [{'id': reservation_of(lease), 'min': 3, 'max': 3}]}
    assert api.put(f'/v1/leases/{lease.id}', body, version='1.1').status_int == 200
    assert len(ask(reservation_of(lease)).json['reservation']['hosts']) == 1
    manager.run()
    assert len(ask(reservation_of(lease)).json['reservation']['hosts']) == 3


def test_a_reservation_of_a_type_without_hosts_has_none(ask, manager):
    lease = manager.book(builders.records.ReservationRequest('virtual:dummy', {}))
    manager.run()
    found = ask(reservation_of(lease)).json['reservation']
    assert (found['usable'], found['hosts']) == (True, [])


def test_a_lease_stands_for_its_only_reservation_for_servers(ask, manager, enrolled):
    dummy = builders.records.ReservationRequest('virtual:dummy', {})
    lease = manager.book(builders.hosts(2), dummy)
    manager.run()
    assert ask(lease.id).json == ask(lease.reservations[0].id).json
    assert ask(lease.id).json['reservation']['usable']
    assert not ask(lease.id, project='other').json['reservation']['usable']


def test_a_lease_with_several_reservations_names_them(ask, manager, enrolled):
    lease = manager.book(builders.hosts(1), builders.hosts(2))
    manager.run()
    found = ask(lease.id).json['reservation']
    ids = ', '.join(each.id for each in lease.reservations)
    assert found['reason'] == (
        f'Lease {lease.id} has 2 reservations: name one of them instead: {ids}.')
    assert (found['active'], found['usable'], found['hosts']) == (False, False, [])


def test_a_lease_without_reservations_for_servers_says_so(ask, manager):
    lease = manager.book(builders.records.ReservationRequest('virtual:dummy', {}))
    assert ask(lease.id).json['reservation']['reason'] == (
        f'Lease {lease.id} has no reservation for servers.')


@pytest.mark.parametrize('known', ['nothing', '7', 'x' * 37, '0' * 36])
def test_an_unknown_reservation_is_not_found(ask, known):
    answer = ask(known)
    assert (answer.status_int, answer.json['error_name']) == (404, 'reservation_not_found')


@pytest.mark.parametrize('query', ['', '?project_id=', f'?project_id={"p" * 256}'])
def test_the_project_must_be_named(api, query):
    answer = api.get(f'/v1/reservations/x/hosts{query}', token=NOVA, version='1.1')
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith('project_id: name the project')


@pytest.mark.parametrize('path', ['/v1/reservations', '/v1/reservations/x',
                                  '/v1/reservations/x/hosts/y'])
def test_paths_around_the_hosts_are_not_served(api, path):
    assert api.get(path, token=builders.ADMIN, version='1.1').status_int in (404, 405)


_TARGETS = {'a volume': (every_type.own_volume, every_type.leased_volume),
            'a stack': (every_type.own_stack, every_type.leased_stack)}


@pytest.mark.parametrize('kind', _TARGETS)
def test_a_target_that_is_no_server_is_none_to_nova(ask, manager, api, enrolled, kind):
    made, asked = _TARGETS[kind]
    target_id = made(manager)
    manager.clock.advance(builders.minutes(1))
    lease = manager.book(builders.hosts(1), asked(target_id), end=(
        manager.clock() + builders.hours(2)))
    manager.run_until(manager.clock() + builders.minutes(2))
    hosts, target = lease.reservations
    # Somebody's server may have the same id as the volume, and is an ordinary one.
    assert api.get(f'/v1/servers/{target_id}/hosts?project_id=demo', version='1.1',
                   token=NOVA).status_int == 404
    told = ask(target.id).json['reservation']
    assert (told['usable'], told['hosts'], told['server_id'], told['ordinary']) == (
        True, [], None, False)
    assert ask(lease.id).json == ask(hosts.id).json
    server = manager.cloud.boot('demo', 'vm', {'reservation': hosts.id}, flavor='1')
    assert server.host in ask(hosts.id).json['reservation']['hosts']
    with pytest.raises(errors.Conflict):
        manager.cloud.boot('demo', 'lost', {'reservation': target.id}, flavor='1')


_WITH_SERVERS = {
    'a stack': ('virtual:stack', {'flavor_parameter': 'size', 'template': {
        'heat_template_version': '2021-04-16',
        'parameters': {'size': {'type': 'string', 'default': '2'}},
        'resources': {'vm': {'type': 'OS::Nova::Server', 'properties': {
            'flavor': {'get_param': 'size'}}}}}}),
    'a cluster': ('virtual:cluster', {'cluster_template_id': 'kubernetes', 'node_count': 1}),
}


@pytest.mark.parametrize('kind', _WITH_SERVERS)
def test_servers_that_the_start_itself_boots_are_let_in(ask, conf, manager, enrolled, kind):
    conf.set_override('stack_seconds', 60, group='simulated')
    conf.set_override('cluster_seconds', 60, group='simulated')
    resource_type, request = _WITH_SERVERS[kind]
    lease = manager.book(builders.records.ReservationRequest(resource_type, request), end=LATER)
    assert not ask(reservation_of(lease)).json['reservation']['usable']
    manager.run()
    found = ask(reservation_of(lease)).json['reservation']
    assert manager.lease(lease).task == 'start'
    assert (found['usable'], bool(found['hosts'])) == (True, True)
    assert not ask(reservation_of(lease), project='other').json['reservation']['usable']
    manager.delete(lease)
    assert not ask(reservation_of(lease)).json['reservation']['usable']


def test_rest_1_0_does_not_show_hosts(ask, manager, enrolled):
    lease = manager.book()
    answer = ask(reservation_of(lease), version='1.0')
    assert answer.status_int == 404
    assert 'from REST 1.1 on' in answer.json['error_message']
