# SPDX-License-Identifier: Apache-2.0
"""Leases of floating IPs from their creation to their end, on the simulated cloud."""
import floating_scene as scene
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle


@pytest.fixture
def manager(conf, database, clock):
    """A manager with the addresses .210 to .213."""
    return scene.a_manager(conf, database, clock)


def test_floating_ips_are_made_at_the_start_and_deleted_at_the_end(manager):
    lease = scene.leased(manager, 2, ['172.24.4.212'], start=1)
    assert lease.state == lifecycle.PENDING
    assert scene.there(manager) == {}

    lease = manager.expect(lease, lifecycle.ACTIVE, builders.at(1))
    [reservation] = lease.reservations
    made = manager.cloud.network.floating_ips()
    assert scene.there(manager) == {210: 'demo', 212: 'demo'}
    for each in made:
        assert set(each.tags) == {'climate', f'reservation:{reservation.id}'}
    assert reservation.binding['floating_ips'] == {each.address: each.id for each in made}
    manager.cloud.network.associate('172.24.4.212', 'a port')

    manager.run_until(builders.at(3) + builders.minutes(1))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert scene.there(manager) == {}
    assert manager.cloud.as_service().keystone.trusts() == []
    scene.leased(manager, 4, start=4, end=5)


def test_two_leases_never_get_the_same_address(manager):
    scene.leased(manager, 3)
    with pytest.raises(errors.NotEnough) as refused:
        scene.leased(manager, 2)
    assert refused.value.message.startswith('Only 1 of 2 addresses are free')
    with pytest.raises(errors.NotEnough):
        scene.leased(manager, 1, ['172.24.4.210'])
    scene.leased(manager, 1)
    manager.run()
    assert sorted(scene.there(manager)) == [210, 211, 212, 213]


def test_an_address_that_nobody_enrolled_is_not_free(manager):
    with pytest.raises(errors.NotEnough):
        scene.leased(manager, 1, ['172.24.4.220'])


def test_a_running_lease_grows_and_shrinks_and_keeps_what_it_names(manager):
    lease = scene.leased(manager, 2, ['172.24.4.213'])
    manager.run()
    before = {each.address: each.id for each in manager.cloud.network.floating_ips()}
    scene.change(manager, lease, amount=4)
    after = {each.address: each.id for each in manager.cloud.network.floating_ips()}
    assert len(after) == 4
    assert before.items() <= after.items()
    scene.change(manager, lease, amount=1)
    assert scene.there(manager) == {213: 'demo'}
    scene.leased(manager, 3)


def test_a_running_lease_that_names_no_addresses_any_more_keeps_them(manager):
    lease = scene.leased(manager, 2, ['172.24.4.213'])
    manager.run()
    before = manager.cloud.network.floating_ips()
    scene.change(manager, lease, required_floatingips=[])
    assert manager.cloud.network.floating_ips() == before
    assert manager.lease(lease).reservations[0].request['required_floatingips'] == []
    with pytest.raises(errors.Conflict):
        scene.change(manager, lease, required_floatingips=['172.24.4.211'])
    scene.change(manager, lease, amount=1)
    assert scene.there(manager) == {213: 'demo'}


def test_a_lease_that_has_not_started_may_name_others(manager):
    lease = scene.leased(manager, 2, ['172.24.4.213'], start=1)
    scene.change(manager, lease, required_floatingips=['172.24.4.210', '172.24.4.211'])
    manager.run_until(builders.at(1))
    assert sorted(scene.there(manager)) == [210, 211]


def test_a_reservation_keeps_its_network(manager):
    lease = scene.leased(manager, 1, start=1)
    other = manager.cloud.network.add_network('other', '10.9.0.0/24')
    with pytest.raises(errors.Conflict, match='network_id'):
        scene.change(manager, lease, network_id=other)


def test_prolonging_keeps_addresses_and_ending_early_frees_them(manager):
    lease = scene.leased(manager, 2)
    manager.run()
    before = manager.cloud.network.floating_ips()
    manager.change(lease, end=builders.at(6))
    manager.run_until(builders.at(4))
    assert manager.cloud.network.floating_ips() == before
    manager.change(lease, end_now=True)
    manager.run()
    assert scene.there(manager) == {}


def test_a_dead_trust_neither_keeps_a_lease_from_starting_nor_leaves_anything(manager):
    lease = scene.leased(manager, 1, start=1)
    manager.cloud.delete_trustor('demo')
    manager.run_until(builders.at(1))
    assert scene.there(manager) == {210: 'demo'}
    manager.run_until(builders.at(3) + builders.minutes(1))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert scene.there(manager) == {}


def test_a_lease_ends_although_its_owner_changed_or_deleted_its_floating_ips(manager):
    lease = scene.leased(manager, 3)
    manager.run()
    manager.cloud.network.untag('172.24.4.210')
    manager.cloud.network.delete_floating_ip('172.24.4.211')
    manager.run_until(builders.at(3) + builders.minutes(1))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert scene.there(manager) == {}


def test_an_address_that_an_administrator_took_is_replaced(manager):
    lease = scene.leased(manager, 1, start=1)
    manager.cloud.network.take_address(scene.PUBLIC, '172.24.4.210', 'admin')
    manager.expect(lease, lifecycle.ACTIVE, builders.at(1))
    assert scene.there(manager) == {210: 'admin', 211: 'demo'}
    manager.run_until(builders.at(3) + builders.minutes(1))
    assert scene.there(manager) == {210: 'admin'}


@pytest.mark.proof
def test_a_named_address_that_is_taken_fails_the_start_and_says_so(manager):
    lease = scene.leased(manager, 1, ['172.24.4.210'], start=1)
    manager.cloud.network.take_address(scene.PUBLIC, '172.24.4.210', 'admin')
    manager.run_until(builders.at(2))
    lease = manager.lease(lease)
    assert lease.state != lifecycle.ACTIVE
    assert '172.24.4.210' in lease.reason
    manager.run_until(builders.at(3) + builders.minutes(1))
    assert scene.there(manager) == {210: 'admin'}


def test_a_full_quota_is_said_with_its_name_when_the_lease_is_made(manager):
    manager.cloud.network.set_quota('demo', 'floatingip', 2)
    with pytest.raises(errors.Conflict, match='"floatingip"'):
        scene.leased(manager, 3, start=1)
    lease = scene.leased(manager, 2)
    manager.run()
    with pytest.raises(errors.Conflict):
        scene.change(manager, lease, amount=3)
    scene.change(manager, lease, amount=1)
    scene.change(manager, lease, amount=2)
    assert len(scene.there(manager)) == 2


@pytest.mark.proof
def test_a_quota_that_is_full_at_the_start_is_the_reason(manager):
    lease = scene.leased(manager, 2, start=1)
    manager.cloud.network.set_quota('demo', 'floatingip', 0)
    manager.run_until(builders.at(2))
    assert '"floatingip"' in manager.lease(lease).reason
    assert scene.there(manager) == {}


def test_neutron_is_down_for_a_moment(manager):
    lease = scene.leased(manager, 2, end=5)
    manager.cloud.fail('neutron.create_floating_ip', 1,
                       errors.CloudUnreachable(service='Neutron', reason='no'))
    manager.expect(lease, lifecycle.ACTIVE, builders.NOON + builders.minutes(30))
    assert len(scene.there(manager)) == 2
    manager.cloud.fail('neutron.delete_floating_ip', 1,
                       errors.CloudUnreachable(service='Neutron', reason='no'))
    manager.expect(lease, lifecycle.TERMINATED, builders.at(6))
    assert scene.there(manager) == {}


@pytest.mark.parametrize('call', ['create_floating_ip', 'tag_floating_ip'])
def test_a_start_that_breaks_off_is_completed_without_a_second_floating_ip(manager, call):
    lease = scene.leased(manager, 2, end=5)
    manager.cloud.fail(f'neutron.{call}', 1, errors.CloudError(service='Neutron', reason='no'))
    manager.expect(lease, lifecycle.ACTIVE, builders.NOON + builders.minutes(30))
    assert len(scene.there(manager)) == 2
    assert all(each.tags for each in manager.cloud.network.floating_ips())


@pytest.mark.parametrize('amount, required, field', [
    (1, ['not an address'], 'required_floatingips'), (2, ['172.24.4.210'] * 2, 'twice'),
    (1, ['172.24.4.210', '172.24.4.211'], 'amount is 1'), (0, [], 'amount'), (-1, [], 'amount'),
    (10 ** 9, [], 'amount')])
def test_bad_requests_name_their_field(manager, amount, required, field):
    with pytest.raises(errors.BadField) as refused:
        scene.leased(manager, amount, required)
    assert field in refused.value.message


def test_an_unknown_or_inner_network_is_refused(manager):
    inner = manager.cloud.network.add_network('inner', '10.9.0.0/24', external=False)
    for network_id in ('nowhere', inner):
        with pytest.raises(errors.BadField) as refused:
            scene.leased(manager, 1, network_id=network_id)
        assert refused.value.details['field'] == 'network_id'


def test_an_id_that_would_be_another_path_of_neutron_is_not_asked_for(manager):
    with pytest.raises(errors.BadField, match='does not match') as refused:
        scene.leased(manager, 1, network_id='../ports?device_id=x')
    assert refused.value.details['field'] == 'virtual:floatingip.network_id'


@pytest.mark.parametrize('address, why', [
    ('172.24.4.1', 'gateway'), ('172.24.4.0', 'network'), ('172.24.4.255', 'broadcast'),
    ('172.24.4.150', 'allocation pool'),
    ('somewhere', 'not an IP'), ('172.24.4.210.', 'not an IP')])
def test_addresses_that_nobody_may_lease_are_not_enrolled(manager, address, why):
    with pytest.raises(errors.BadField) as refused:
        scene.enrol_one(manager, address)
    assert why in refused.value.message


@pytest.mark.parametrize('text', [
    '172.24.4.220-172.24.4.219', '172.24.4.220-x', '172.24.4.220-2001:db8::1', '172.24.4.221/28',
    '10.0.0.0/8', '-'])
def test_malformed_ranges_are_refused(manager, text):
    with pytest.raises(errors.BadField):
        scene.enrol(manager, text)


def test_a_range_that_overlaps_is_enrolled_not_at_all(manager):
    with pytest.raises(errors.ResourceKnown) as refused:
        scene.enrol(manager, '172.24.4.212-172.24.4.220')
    assert '172.24.4.212' in refused.value.message
    with pytest.raises(errors.BadField):
        scene.enrol(manager, '172.24.4.250-172.24.4.255')
    assert len(manager.client.list_resources(builders.an_admin(), 'address')) == 4
    made = scene.enrol(manager, '172.24.4.224/30')
    assert [each.facts['address'] for each in made] == [
        f'172.24.4.{number}' for number in range(224, 228)]


def test_an_address_in_use_or_of_no_subnet_is_not_enrolled(manager):
    manager.cloud.network.add_port(scene.PUBLIC, '172.24.4.240', owner='network:router_gateway')
    with pytest.raises(errors.ResourceInUse, match='router_gateway'):
        scene.enrol_one(manager, '172.24.4.240')
    with pytest.raises(errors.NotFound):
        scene.enrol_one(manager, '10.1.2.3')
    with pytest.raises(errors.BadField):
        scene.enrol_one(manager, '172.24.4.241', 'nowhere')


def test_two_networks_may_have_equal_addresses(manager):
    other = manager.cloud.network.add_network('other', '172.24.4.0/24')
    scene.enrol_one(manager, '172.24.4.210', other)
    scene.leased(manager, 1, ['172.24.4.210'], network_id=other)
    scene.leased(manager, 4)
    manager.run()
    assert len(manager.cloud.network.floating_ips()) == 5


def test_an_address_of_ipv6_is_not_enrolled(manager):
    six = manager.cloud.network.add_network('six', '2001:db8::/64', '2001:db8::1')
    for name in ('2001:db8::10', '2001:db8::10-2001:db8::11'):
        with pytest.raises(errors.BadField, match='IPv4'):
            (scene.enrol if '-' in name else scene.enrol_one)(manager, name, six)
    with pytest.raises(errors.NotEnough):
        scene.leased(manager, 1, ['2001:DB8:0::0011'], network_id=six)


def test_a_leased_address_is_not_withdrawn(manager):
    scene.leased(manager, 1, ['172.24.4.211'])
    [found] = [each for each in manager.client.list_resources(builders.an_admin(), 'address')
               if each.facts['address'] == '172.24.4.211']
    with pytest.raises(errors.ResourceInUse):
        manager.client.delete_resource(builders.an_admin(), 'address', found.id)


def test_hosts_and_addresses_start_together_or_not_at_all(manager):
    manager.enrol(1)
    manager.active(builders.hosts(1), scene.addresses(2), end=builders.at(2))
    with pytest.raises(errors.NotEnough):
        manager.book(scene.addresses(2), builders.hosts(1),
                     start=builders.at(1),
                     end=builders.at(3))
    manager.run_until(builders.at(2) + builders.minutes(1))
    assert scene.there(manager) == {}
