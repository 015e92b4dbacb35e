# SPDX-License-Identifier: Apache-2.0
"""Leases of networks from their creation to their end, on the simulated cloud."""
import dataclasses

import pytest
from support import builders
from support import cloud_points
from support import thinning

from climate import errors
from climate.cloud.simulated import neutron
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.audit import comparison
from climate.plugins.compute import host
from climate.plugins.network import network

CLASSES = {'virtual:network': network.NetworkPlugin, 'physical:host': host.HostPlugin}
WITH_ROUTER = {'subnet': '10.42.0.0/24', 'router': True, 'external_network': neutron.PUBLIC}
LATE = builders.at(3) + builders.minutes(1)


@pytest.fixture
def manager(conf, database, clock):
    """A manager with the segments 3000 to 3002."""
    found = builders.Manager(conf, database, clock, classes=CLASSES)
    enrol(found, 'physnet1:vlan:3000-3002')
    return found


def enrol(manager, name):
    found = manager.client.create_resources(builders.an_admin(), 'segment', name, {}, {})
    return [each.name for each in found]


def enrol_one(manager, name):
    return manager.client.create_resource(builders.an_admin(), 'segment', name, {}, {}).name


def leased(manager, start=None, end=3, **request):
    return manager.book(
        records.ReservationRequest('virtual:network', request),
        start=start and builders.at(start),
        end=builders.at(end))


def running(manager, **request):
    """A lease that has started, and its network."""
    lease = leased(manager, **request)
    lease = manager.expect(lease, lifecycle.ACTIVE)
    [found] = [each for each in there(manager)
               if each.id == lease.reservations[0].binding['network_id']]
    return lease, found


def there(manager):
    """The networks in the cloud that are on a segment."""
    return [each for each in manager.cloud.network.networks() if each.segment]


def numbers(manager):
    """{id of the segment: project} of the networks in the cloud."""
    return {each.segment[2]: each.project_id for each in there(manager)}


def nothing_left(manager):
    assert there(manager) == []
    assert manager.cloud.network.routers() == []
    assert manager.cloud.as_service().keystone.trusts() == []


def change(manager, lease, **request):
    manager.change_reservation(lease, **request)
    manager.run()


def fields(manager, lease):
    [reservation] = manager.lease(lease).reservations
    return network.NetworkPlugin.fields(reservation)


def test_a_network_is_made_at_the_start_and_deleted_at_the_end(manager):
    lease = leased(manager, start=1, **WITH_ROUTER)
    assert lease.state == lifecycle.PENDING
    assert fields(manager, lease)['segment'] is None
    assert there(manager) == []

    lease = manager.expect(lease, lifecycle.ACTIVE, builders.at(1))
    [reservation] = lease.reservations
    [made], [router] = there(manager), manager.cloud.network.routers()
    assert (made.name, made.project_id, made.segment) == (
        'a lease', 'demo', ('physnet1', 'vlan', made.segment[2]))
    assert set(made.tags) == {'climate', f'reservation:{reservation.id}'}
    assert (router.project_id, router.external_network_id) == ('demo', neutron.PUBLIC)
    [port] = manager.cloud.network.ports(made.id)
    assert (port.owner, port.device_id) == ('network:router_interface', router.id)
    shown = fields(manager, lease)
    assert shown['segment'] == f'physnet1:vlan:{made.segment[2]}'
    assert (shown['segmentation_id'], shown['network_type']) == (made.segment[2], 'vlan')
    assert (shown['network_id'], shown['router_id']) == (made.id, router.id)
    assert [shown['subnet_id']] == list(made.subnet_ids)

    manager.expect(lease, lifecycle.TERMINATED, LATE)
    nothing_left(manager)


def test_two_leases_never_get_the_same_segment(manager):
    for _ in range(3):
        leased(manager)
    with pytest.raises(errors.NotEnough) as refused:
        leased(manager)
    assert refused.value.message.startswith('Only 0 of 1 segments are free')
    manager.run()
    assert sorted(numbers(manager)) == [3000, 3001, 3002]


def test_a_named_segment_is_given_and_one_outside_every_range_is_refused(manager):
    leased(manager, required_segment=' physnet1:vlan:3002 ')
    with pytest.raises(errors.NotEnough):
        leased(manager, required_segment='physnet1:vlan:3002')
    with pytest.raises(errors.NotEnough, match='physnet1:vlan:3500'):
        leased(manager, required_segment='physnet1:vlan:3500')
    manager.run()
    assert numbers(manager) == {3002: 'demo'}


def test_criteria_choose_the_segment(manager):
    leased(manager, resource_properties=['>', '$segmentation_id', '3001'])
    manager.run()
    assert numbers(manager) == {3002: 'demo'}
    with pytest.raises(errors.BadRequest):
        leased(manager, resource_properties=['==', '$rack', 'left'])


def test_a_network_name_is_kept(manager):
    _, made = running(manager, network_name='lab')
    assert made.name == 'lab'


def test_prolonging_keeps_the_network_and_ending_early_frees_the_segment(manager):
    lease, before = running(manager, **WITH_ROUTER)
    manager.change(lease, end=builders.at(6))
    manager.run_until(builders.at(4))
    assert there(manager) == [before]
    manager.change(lease, end_now=True)
    manager.run()
    nothing_left(manager)


def test_a_lease_is_deleted_before_its_start_and_while_it_runs(manager):
    waiting = leased(manager, start=1)
    running_one, _ = running(manager, **WITH_ROUTER)
    for each in (waiting, running_one):
        manager.delete(each)
    manager.run()
    nothing_left(manager)
    assert len([leased(manager) for _ in range(3)]) == 3


def test_a_lease_is_deleted_while_it_starts(manager):
    lease = leased(manager, **WITH_ROUTER)
    deleted = cloud_points.once_at(
        manager.cloud, 'neutron.create_subnet',
        lambda: manager.delete(lease), 'after')
    manager.run_until(builders.NOON + builders.minutes(10))
    assert deleted
    nothing_left(manager)


def test_a_running_reservation_keeps_its_network_but_may_end_otherwise(manager):
    lease, made = running(manager, **WITH_ROUTER)
    for request in ({'router': False, 'external_network': None}, {'subnet': '10.43.0.0/24'},
                    {'required_segment': 'physnet1:vlan:3002'}, {'network_name': 'x'}):
        with pytest.raises(errors.Conflict) as refused:
            change(manager, lease, **request)
        assert next(iter(request)) in refused.value.message
    change(manager, lease, on_end='wait')
    assert manager.lease(lease).reservations[0].request['on_end'] == 'wait'
    assert there(manager) == [made]


def test_a_pending_reservation_may_change_all(manager):
    lease = leased(manager, start=1)
    change(manager, lease, **WITH_ROUTER, required_segment='physnet1:vlan:3001')
    manager.run_until(builders.at(1))
    assert numbers(manager) == {3001: 'demo'}
    assert len(manager.cloud.network.routers()) == 1


def test_a_dead_trust_keeps_a_bare_network_neither_from_starting_nor_from_ending(manager):
    lease = leased(manager, start=1)
    manager.cloud.delete_trustor('demo')
    manager.run_until(builders.at(1))
    assert set(numbers(manager).values()) == {'demo'}
    manager.expect(lease, lifecycle.TERMINATED, LATE)
    nothing_left(manager)


@pytest.mark.proof
def test_a_trust_that_dies_before_the_subnet_is_made_leaves_nothing(manager):
    lease = leased(manager, start=1, **WITH_ROUTER)
    manager.cloud.delete_trustor('demo')
    manager.run_until(builders.at(2))
    assert manager.lease(lease).state != lifecycle.ACTIVE
    assert 'trust' in manager.lease(lease).reason
    manager.run_until(LATE)
    nothing_left(manager)


def test_a_trust_that_dies_during_the_lease_does_not_matter(manager):
    lease, _ = running(manager, **WITH_ROUTER)
    manager.cloud.delete_trustor('demo')
    manager.expect(lease, lifecycle.TERMINATED, LATE)
    nothing_left(manager)


def test_a_lease_ends_although_its_owner_changed_or_deleted_its_network(manager):
    one, first = running(manager)
    two, second = running(manager)
    manager.cloud.network.unmark(first.id)
    manager.cloud.network.delete_network(second.id)
    manager.run_until(LATE)
    assert {manager.lease(each).state for each in (one, two)} == {lifecycle.TERMINATED}
    nothing_left(manager)


def test_a_segment_that_an_administrator_took_is_replaced_and_not_touched(manager):
    for number in (3000, 3001):
        manager.cloud.network.take_segment(('physnet1', 'vlan', number))
    lease, _ = running(manager)
    assert numbers(manager) == {3000: 'admin', 3001: 'admin', 3002: 'demo'}
    manager.expect(lease, lifecycle.TERMINATED, LATE)
    assert numbers(manager) == {3000: 'admin', 3001: 'admin'}


@pytest.mark.proof
def test_a_network_of_the_same_project_on_the_segment_is_not_taken_for_that_of_the_lease(manager):
    mine = manager.cloud.network.take_segment(('physnet1', 'vlan', 3001), 'demo')
    lease = leased(manager, required_segment='physnet1:vlan:3001')
    manager.run_until(builders.at(1))
    assert 'physnet1:vlan:3001' in manager.lease(lease).reason
    manager.run_until(LATE)
    assert there(manager) == [mine]


def test_other_networks_and_routers_that_the_owner_marks_stay(manager):
    hands = manager.cloud.network
    lease, _ = running(manager, **WITH_ROUTER)
    other = hands.take_segment(('leased', 'vlan', 7), 'demo')
    same = hands.take_segment(('physnet1', 'vlan', 4000), 'demo')
    mine = hands.add_router('demo')
    for each in (other.id, same.id):
        hands.describe(each, f'Climate reservation {lease.reservations[0].id}')
    hands.describe(mine.id, f'Climate reservation {lease.reservations[0].id}')
    manager.expect(lease, lifecycle.TERMINATED, LATE)
    assert {each.id for each in there(manager)} == {other.id, same.id}
    assert [each.id for each in hands.routers()] == [mine.id]


def test_the_id_of_a_lease_that_a_user_writes_on_a_router_is_no_trace_and_breaks_no_audit(manager):
    lease, _ = running(manager)
    manager.run_until(LATE)
    mine = manager.cloud.network.add_router('demo')
    manager.cloud.network.describe(mine.id, f'Climate reservation {lease.id}')
    assert comparison.Auditor(manager.core).compare() == []


@pytest.mark.parametrize('name', ['network', 'subnet', 'router', 'port'])
def test_a_full_quota_is_said_with_its_name_when_the_lease_is_made_and_before_it_starts(
        manager, name):
    hands = manager.cloud.network
    hands.set_quota('demo', name, 0)
    with pytest.raises(errors.Conflict) as refused:
        leased(manager, start=1, **WITH_ROUTER)
    assert f'"{name}"' in refused.value.message
    hands.set_quota('demo', name, 1)
    lease = leased(manager, start=1, **WITH_ROUTER)
    hands.set_quota('demo', name, 0)
    manager.run_until(builders.at(2))
    assert f'"{name}"' in manager.lease(lease).reason
    nothing_made(manager)
    hands.set_quota('demo', name, 1)
    manager.run_until(LATE)
    nothing_left(manager)


def nothing_made(manager):
    assert (there(manager), manager.cloud.network.routers()) == ([], [])


@pytest.mark.parametrize('call', ['create_network', 'tag_network', 'create_subnet',
                                  'create_router', 'add_interface'])
def test_a_start_that_breaks_off_is_completed_and_makes_nothing_twice(manager, call):
    lease = leased(manager, end=5, **WITH_ROUTER)

    def lose_answer():
        raise errors.CloudUnreachable(service='Neutron', reason='no')
    lost = cloud_points.once_at(manager.cloud, f'neutron.{call}', lose_answer, 'after')
    manager.run_until(builders.NOON + builders.minutes(30))
    assert lost
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert len(there(manager)) == len(manager.cloud.network.routers()) == 1
    assert len(there(manager)[0].subnet_ids) == 1
    assert len(there(manager)[0].tags) == 2
    manager.run_until(builders.at(6))
    nothing_left(manager)


@pytest.mark.parametrize('call', thinning.few([
    'networks', 'routers', 'ports', 'trunks', 'remove_interface', 'delete_router',
    'delete_network'], 3))
def test_neutron_is_down_for_a_moment_at_the_end(manager, call):
    lease, _ = running(manager, **WITH_ROUTER)
    manager.cloud.fail(f'neutron.{call}', 4,
                       errors.CloudUnreachable(service='Neutron', reason='no'))
    manager.expect(lease, lifecycle.TERMINATED, LATE + builders.hours(1))
    nothing_left(manager)


@dataclasses.dataclass
class Full:
    """A network with all that can hang on one.

    :ivar own: the owner's other network, and the owner's router on both.
    """

    lease: records.Lease
    network: object
    server: object
    own: str
    router: object


@pytest.fixture
def full(manager):
    hands = manager.cloud.network
    lease, made = running(manager, **WITH_ROUTER)
    server = manager.cloud.boot('demo', 'vm')
    first = hands.add_port(made.id, '10.42.0.5', 'demo', 'compute:nova', server.id)
    parent = hands.add_port(made.id, '10.42.0.6', 'demo', '')
    own = hands.add_network('own', '10.50.0.0/24', external=False, project_id='demo')
    child = hands.add_port(own, '10.50.0.7', 'demo', '')
    sub = hands.add_port(made.id, '10.42.0.8', 'demo', '')
    outside = hands.add_port(own, '10.50.0.9', 'demo', '')
    hands.add_trunk(parent, [child])
    hands.add_trunk(outside, [sub])
    hands.add_port(made.id, '10.42.0.20', 'other', '')
    hands.take_address(neutron.PUBLIC, '172.24.4.250', 'demo')
    hands.associate('172.24.4.250', first)
    mine = hands.add_router('demo')
    hands.connect(mine.id, made.id, '10.60.0.0/24')
    hands.connect(mine.id, own, '10.61.0.0/24')
    hands.add_port(made.id, '10.42.0.2', '', 'network:dhcp', 'dhcp')
    return Full(lease, made, server, own, mine)


def test_attached_resources_of_a_network_are_removed_in_order(conf, manager, full):
    conf.set_override('port_seconds', 20, group='simulated')
    hands = manager.cloud.network
    manager.run_until(LATE + builders.minutes(5))
    lease = manager.lease(full.lease)
    assert lease.state == lifecycle.TERMINATED, lease.reason
    assert there(manager) == []
    # What is not the lease's stays: the owner's router, network, trunk, server and floating IP.
    assert hands.routers() == [full.router]
    assert [each.id for each in hands.networks()] == [full.own]
    assert len(hands.ports(full.own)) == 3
    assert [each.sub_port_ids for each in hands.trunks()] == [()]
    assert [each.id for each in manager.cloud.servers()] == [full.server.id]
    assert [each.port_id for each in hands.floating_ips()] == [None]


def test_a_port_that_nova_never_detaches_does_not_hold_the_segment(conf, manager):
    conf.set_override('port_seconds', 10 ** 6, group='simulated')
    lease, made = running(manager)
    server = manager.cloud.boot('demo', 'vm')
    manager.cloud.network.add_port(made.id, '10.42.0.5', 'demo', 'compute:nova', server.id)
    manager.run_until(LATE)
    assert there(manager) == [made]
    manager.expect(lease, lifecycle.TERMINATED, LATE + builders.minutes(5))
    nothing_left(manager)


def test_the_history_tells_which_server_loses_a_port(manager, full):
    manager.run_until(LATE)
    [line] = [each for each in manager.client.lease_history(
        builders.a_member(), full.lease.id) if each.what == 'detach server from network']
    assert full.server.id in line.text.owner


@pytest.mark.usefixtures('rare_polls')
def test_a_lease_waits_for_its_owner_to_leave_the_network(manager):
    lease, made = running(manager, on_end='wait', **WITH_ROUTER)
    port = manager.cloud.network.add_port(made.id, '10.42.0.5', 'demo', '')
    lease = manager.expect(lease, lifecycle.ACTIVE, LATE + builders.minutes(20))
    assert there(manager) == [made]
    assert len(manager.cloud.network.routers()) == 1
    # The other two segments are free, and this one is not.
    with pytest.raises(errors.NotEnough):
        manager.book(
            *(records.ReservationRequest('virtual:network', {}) for _ in range(3)),
            start=manager.clock.now, end=manager.clock.now + builders.hours(1))
    [line] = [each for each in manager.client.lease_history(builders.a_member(), lease.id)
              if each.what == 'end held back by network']
    assert port in line.text.owner
    manager.cloud.network.delete_port(port)
    manager.expect(lease, lifecycle.TERMINATED, LATE + builders.minutes(30))
    nothing_left(manager)


@pytest.mark.proof
@pytest.mark.usefixtures('rare_polls')
def test_a_lease_that_waited_too_long_is_in_error_and_ends_when_it_is_deleted(conf, manager):
    lease, made = running(manager, on_end='wait')
    port = manager.cloud.network.add_port(made.id, '10.42.0.5', 'demo', '')
    foreign = manager.cloud.network.add_port(made.id, '10.42.0.6', 'other', '')
    lease = manager.expect(lease, lifecycle.ERROR, LATE + builders.hours(6))
    assert port in lease.reason
    assert foreign not in lease.reason
    assert there(manager) == [made]
    for each in (port, foreign):
        manager.cloud.network.delete_port(each)
    manager.delete(lease)
    manager.run()
    nothing_left(manager)


def test_the_option_says_what_happens_at_the_end(conf, manager):
    conf.set_override('on_end', 'wait', group='virtual:network')
    assert leased(manager).reservations[0].request['on_end'] == 'wait'


@pytest.mark.parametrize('request_, field', thinning.few([
    ({'subnet': 'here'}, 'subnet'), ({'subnet': '10.42.0.1/24'}, 'subnet'),
    ({'subnet': '10.42.0.0/31'}, 'subnet'), ({'subnet': '0.0.0.0/0'}, 'subnet'),
    ({'subnet': '224.0.0.0/24'}, 'subnet'), ({'subnet': '127.0.0.0/8'}, 'subnet'),
    ({'router': True}, 'router'), ({'external_network': neutron.PUBLIC}, 'external_network'),
    ({**WITH_ROUTER, 'external_network': 'nowhere'}, 'external_network'),
    ({**WITH_ROUTER, 'subnet': '172.24.0.0/16'}, 'subnet'),
    ({'on_end': 'never'}, 'on_end'), ({'amount': 2}, 'amount'),
    ({'required_segment': 'x'}, 'required_segment'),
    ({'required_segment': 'physnet1:vlan:4095'}, 'required_segment'),
    ({'required_segment': 'physnet1:vlan:0'}, 'required_segment'),
    ({'required_segment': 'physnet1:vxlan:7'}, 'required_segment'),
    ({'required_segment': 'physnet1:vlan:3000-3001'}, 'required_segment'),
    ({'network_name': ''}, 'network_name')], 9))
def test_bad_requests_name_their_field(manager, request_, field):
    with pytest.raises(errors.BadRequest) as refused:
        leased(manager, **request_)
    assert field in refused.value.message


def test_an_inner_network_is_no_external_one(manager):
    inner = manager.cloud.network.add_network('inner', '10.9.0.0/24', external=False)
    with pytest.raises(errors.BadField) as refused:
        leased(manager, **{**WITH_ROUTER, 'external_network': inner})
    assert refused.value.details['field'] == 'external_network'


@pytest.mark.parametrize('name', [
    'physnet1:vlan:3099-3000', 'physnet1:vlan:4000-4095', 'physnet1:vlan:0-10', 'physnet1:flat:1',
    'physnet1:vlan:', 'physnet1:vlan:x-y', 'physnet1', 'physnet1:vlan:1-4000',
    'physnet1:vlan:10-99999999999'])
def test_malformed_ranges_are_refused(manager, name):
    with pytest.raises(errors.BadField):
        enrol(manager, name)
    with pytest.raises(errors.BadField):
        enrol_one(manager, name)


def test_overlapping_ranges_are_enrolled_not_at_all(manager):
    with pytest.raises(errors.ResourceKnown, match='physnet1:vlan:3002'):
        enrol(manager, 'physnet1:vlan:3002-3005')
    with pytest.raises(errors.ResourceKnown):
        enrol_one(manager, 'physnet1:vlan:3001')
    assert enrol(manager, 'physnet1:vlan:3003-3004') == [
        'physnet1:vlan:3003', 'physnet1:vlan:3004']
    assert enrol_one(manager, 'leased:vlan:3001') == 'leased:vlan:3001'


def test_a_segment_in_use_or_shared_or_of_an_unknown_network_is_not_enrolled(manager):
    taken = manager.cloud.network.take_segment(('physnet1', 'vlan', 3050))
    with pytest.raises(errors.ResourceInUse) as refused:
        enrol(manager, 'physnet1:vlan:3049-3051')
    assert taken.id in refused.value.message
    manager.cloud.network.share_range(('physnet1', 'vlan', 3060), 3070)
    for name in ('physnet1:vlan:3070-3071', 'physnet1:vlan:3055-3060', 'physnet1:vlan:3055-3080'):
        with pytest.raises(errors.BadField, match='shared range'):
            enrol(manager, name)
    with pytest.raises(errors.BadField, match='physnet9'):
        enrol_one(manager, 'physnet9:vlan:3000')


def test_a_leased_segment_is_not_withdrawn(manager):
    leased(manager, required_segment='physnet1:vlan:3001')
    [found] = [each for each in manager.client.list_resources(builders.an_admin(), 'segment')
               if each.name == 'physnet1:vlan:3001']
    with pytest.raises(errors.ResourceInUse):
        manager.client.delete_resource(builders.an_admin(), 'segment', found.id)


def test_hosts_and_networks_start_together_or_not_at_all(manager):
    manager.enrol(1)
    manager.active(
        builders.hosts(1), records.ReservationRequest('virtual:network', WITH_ROUTER),
        end=builders.at(2))
    with pytest.raises(errors.NotEnough):
        manager.book(
            records.ReservationRequest('virtual:network', {}), builders.hosts(1),
            start=builders.at(1), end=builders.at(3))
    manager.run_until(builders.at(2) + builders.minutes(1))
    nothing_left(manager)
