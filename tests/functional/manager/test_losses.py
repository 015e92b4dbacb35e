# SPDX-License-Identifier: Apache-2.0
"""A dry run lists exactly the objects that the end or the change of a lease then deletes."""
import pytest
import stacks
from support import builders
from support import every_type

from climate import errors
from climate.cloud.simulated import neutron
from climate.domain import lifecycle
from climate.domain import records

NOON, MEMBER = builders.NOON, builders.a_member()


def objects(manager):
    """{(kind, id)} of all objects of users in the cloud."""
    services = manager.cloud.as_service()
    listed = {
        'server': manager.cloud.servers(), 'stack': manager.cloud.stacks(),
        'volume': services.volumes.every(), 'floating IP': services.floating_ips.every(),
        'network': services.segments.every(), 'router': services.network_parts.routers(),
        'port': [port for port in services.network_parts.every_port()
                 if not port.owner.startswith('network:')],
        'trunk': services.network_parts.trunks()}
    found = {(kind, each.id) for kind, things in listed.items() for each in things}
    clusters = services.clusters.names()
    return (found | {('cluster', key) for key in clusters}
            | {('node group', group.id) for key in clusters
               for group in services.clusters.groups(key) if not group.is_default})


def settled(manager, *reservations):
    """A running lease."""
    lease = manager.book(*reservations, end=NOON + builders.hours(9))
    return manager.expect(lease, lifecycle.ACTIVE, manager.clock() + builders.minutes(5))


def booted(manager, lease, count=2):
    """The lease, with servers on its hosts, one of them of an administrator."""
    [reservation] = lease.reservations
    for number in range(count):
        manager.cloud.boot('demo', f'web-{number}', {'reservation': reservation.id})
    manager.cloud.boot('other', 'foreign', host='compute-1', forced=True)
    return lease


def with_hosts(manager, **more):
    return booted(manager, settled(manager, builders.hosts(2, **more)))


def with_capacity(manager, request):
    lease = settled(manager, request)
    for name in ('web', 'db'):
        manager.cloud.boot('demo', name, flavor=lease.reservations[0].id)
    return lease


def with_server(manager, on_end='delete'):
    server = manager.cloud.boot('demo', 'mine', flavor='1', host='compute-8')
    manager.clock.advance(builders.minutes(1))
    return settled(manager, builders.a_server(server, on_end=on_end))


def with_volumes(manager):
    every_type.POOLS[1].enrol(manager)
    return settled(manager, records.ReservationRequest(
        'virtual:volume', {'size_gb': 10, 'amount': 2, 'on_end': 'delete'}))


def with_addresses(manager):
    every_type.POOLS[0].enrol(manager, 2)
    return settled(manager, every_type.POOLS[0].asked(amount=2))


def with_network(manager):
    every_type.POOLS[2].enrol(manager)
    lease = settled(manager, records.ReservationRequest('virtual:network', {
        'subnet': '10.42.0.0/24', 'router': True, 'external_network': neutron.PUBLIC}))
    network_id = lease.reservations[0].binding['network_id']
    port_id = manager.cloud.network.add_port(network_id, '10.42.0.20', 'demo')
    manager.cloud.network.add_trunk(port_id)
    return lease


def with_cluster(manager):
    return settled(manager, records.ReservationRequest('virtual:cluster', {
        'cluster_template_id': 'kubernetes', 'node_count': 2}))


def with_stack(manager):
    return settled(manager, stacks.with_room(2))


#: {type: makes a running lease of the type with objects in the cloud}
CASES = {
    'physical:host': with_hosts,
    'virtual:instance': lambda manager: with_capacity(manager, builders.instances(2)),
    'flavor:instance': lambda manager: with_capacity(manager, builders.flavor_instances(2)),
    'virtual:volume': with_volumes,
    'virtual:floatingip': with_addresses,
    'virtual:network': with_network,
    'virtual:cluster': with_cluster,
    'virtual:stack': with_stack,
    'virtual:dummy': lambda manager: settled(
        manager, records.ReservationRequest('virtual:dummy', {})),
}


def lost(losses):
    return {(loss.kind, loss.id) for loss in losses}


def deletes(manager, action):
    """The objects that an action deletes, the work of the next day included."""
    before = objects(manager)
    action()
    manager.run_until(manager.clock() + builders.minutes(30))
    return before - objects(manager)


def test_every_type_is_a_case(manager):
    assert set(CASES) >= set(manager.core.registry.plugins)


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('resource_type', sorted(CASES))
def test_a_dry_run_lists_exactly_what_the_deletion_deletes(manager, resource_type):
    manager.enrol(4)
    lease = CASES[resource_type](manager)
    before = objects(manager)
    losses = manager.client.preview_deletion(MEMBER, lease.id)
    assert objects(manager) == before
    assert {loss.at for loss in losses} <= {None}
    assert all(loss.name or loss.kind in ('port', 'trunk') for loss in losses)
    ended = manager.change(lease, end_now=True, dry_run=True)
    assert ended.losses == tuple(losses)
    assert deletes(manager, lambda: manager.delete(lease)) == lost(losses)
    assert bool(losses) == (resource_type != 'virtual:dummy')


def test_a_shrunk_lease_of_hosts_names_the_servers_that_it_deletes(manager):
    manager.enrol(4)
    lease = booted(manager, settled(manager, builders.hosts(3)), count=6)
    change = {'reservations': (records.ReservationRequest(
        None, {'min': 1, 'max': 1}, id=lease.reservations[0].id),)}
    losses = manager.change(lease, dry_run=True, **change).losses
    assert losses
    assert {loss.resource for loss in losses} <= {f'compute-{number}' for number in (1, 2, 3)}
    assert deletes(manager, lambda: manager.change(lease, **change)) == lost(losses)
    assert manager.change_reservation(lease, min=1, max=2).id == lease.id


@pytest.mark.parametrize('request_of', [builders.instances, builders.flavor_instances])
def test_shrunk_capacity_names_the_servers_that_it_deletes(manager, request_of):
    manager.enrol(4)
    lease = with_capacity(manager, request_of(2))
    change = {'reservations': (records.ReservationRequest(
        None, {'amount': 1}, id=lease.reservations[0].id),)}
    losses = manager.change(lease, dry_run=True, **change).losses
    assert [loss.kind for loss in losses] == ['server']
    assert deletes(manager, lambda: manager.change(lease, **change)) == lost(losses)


def test_fewer_addresses_name_those_that_are_deleted(manager):
    lease = with_addresses(manager)
    change = {'reservations': (records.ReservationRequest(
        None, {'amount': 1}, id=lease.reservations[0].id),)}
    losses = manager.change(lease, dry_run=True, **change).losses
    assert [(loss.kind, loss.name.startswith('172.24.4.')) for loss in losses] == [
        ('floating IP', True)]
    assert deletes(manager, lambda: manager.change(lease, **change)) == lost(losses)


@pytest.mark.proof
@pytest.mark.usefixtures('rare_polls')
def test_a_swap_names_the_servers_on_the_host_that_leaves(manager):
    manager.enrol(4)
    lease = booted(manager, settled(manager, builders.hosts(2)))
    old = manager.client.preview_swap(MEMBER, lease.id, 'compute-1')
    assert {loss.resource for loss in old.losses} == {'compute-1'}
    assert manager.lease(lease).reservations == lease.reservations
    assert deletes(manager, lambda: manager.client.swap_resource(
        MEMBER, lease.id, 'compute-1')) == lost(old.losses)


def test_servers_that_get_images_first_say_so(manager):
    manager.enrol(2)
    lease = with_hosts(manager, before_end='snapshot')
    assert {loss.saved for loss in manager.client.preview_deletion(MEMBER, lease.id)} == {True}


@pytest.mark.parametrize('on_end, fates', [
    ('suspend', [('suspended', False)]), ('shelve', [('shelved', False)]), ('migrate', []),
    ('snapshot', [('deleted', True)])])
def test_a_leased_server_has_the_fate_that_its_request_names(manager, on_end, fates):
    lease = with_server(manager, on_end)
    losses = manager.client.preview_deletion(MEMBER, lease.id)
    assert [(loss.fate, loss.saved) for loss in losses] == fates


def test_an_earlier_end_names_what_is_lost_then_and_a_later_one_nothing(manager):
    manager.enrol(2)
    lease = with_hosts(manager)
    sooner = lease.end - builders.hours(1)
    losses = manager.change(lease, end=sooner, dry_run=True).losses
    assert {loss.name for loss in losses} == {'web-0', 'web-1'}
    assert {loss.at for loss in losses} == {sooner}
    assert manager.change(lease, end=lease.end + builders.hours(1), dry_run=True).losses == ()
    assert manager.change(lease, name='other', dry_run=True).losses == ()


def test_a_lease_that_has_not_started_loses_nothing(manager):
    manager.enrol(2)
    lease = manager.book(builders.hosts(2), start=builders.at(3), end=builders.at(5))
    assert manager.client.preview_deletion(MEMBER, lease.id) == []
    assert manager.change_reservation(lease, min=1, max=1).losses is None


def test_a_deleted_lease_is_not_found(manager):
    manager.enrol(1)
    lease = manager.book()
    manager.delete(lease)
    with pytest.raises(errors.LeaseNotFound):
        manager.client.preview_deletion(MEMBER, lease.id)


def test_a_cloud_that_is_down_is_an_error_and_no_empty_list(manager):
    manager.enrol(2)
    lease = with_hosts(manager)
    manager.cloud.silence_cell('compute-1', 'compute-2')
    with pytest.raises(errors.CloudUnreachable):
        manager.client.preview_deletion(MEMBER, lease.id)


def test_a_withdrawal_is_refused_in_a_dry_run_as_it_is_then(manager):
    first, second = manager.enrol(2)
    manager.active(builders.hosts(1))
    taken, free = ((first, second) if manager.client.get_resource(
        builders.an_admin(), 'host', first.id).held_by else (second, first))
    with pytest.raises(errors.ResourceInUse):
        manager.client.preview_withdrawal(builders.an_admin(), 'host', taken.id)
    manager.client.preview_withdrawal(builders.an_admin(), 'host', free.id)
    manager.cloud.boot('other', 'foreign', host=free.name, forced=True)
    with pytest.raises(errors.ResourceInUse, match='servers run on it'):
        manager.client.preview_withdrawal(builders.an_admin(), 'host', free.id)
