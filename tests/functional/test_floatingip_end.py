# SPDX-License-Identifier: Apache-2.0
"""The end of leases of floating IPs: what is deleted, when, and what is not."""
import dataclasses

import floating_scene as scene
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.audit import comparison
from climate.manager.audit import repairs
from climate.manager.pools import refresh

LATE = builders.at(3) + builders.minutes(1)


@pytest.fixture
def manager(conf, database, clock):
    """A manager with the addresses .210 to .213."""
    return scene.a_manager(conf, database, clock)


@pytest.fixture
def slow_router(conf):
    """A router needs a while to forget an address."""
    conf.set_override('floating_ip_seconds', 20, group='simulated')


def drifts(manager):
    return {each.what: each for each in comparison.Auditor(manager.core).compare()}


def test_an_address_is_deleted_once_its_router_has_forgotten_it(slow_router, manager):
    lease = scene.leased(manager, 2)
    manager.run()
    manager.cloud.network.associate('172.24.4.210', 'a port')
    manager.run_until(builders.at(3))
    [left] = manager.cloud.network.floating_ips()
    assert (left.address, left.port_id, left.status) == ('172.24.4.210', None, 'ACTIVE')
    assert manager.lease(lease).state == lifecycle.ACTIVE
    with pytest.raises(errors.NotEnough):
        scene.leased(manager, 4, end=4)
    manager.expect(lease, lifecycle.TERMINATED, LATE)
    assert scene.there(manager) == {}


def test_a_router_that_never_forgets_holds_no_lease_back_for_ever(conf, manager):
    conf.set_override('floating_ip_seconds', 10 ** 6, group='simulated')
    lease = scene.leased(manager, 1)
    manager.run()
    manager.cloud.network.associate('172.24.4.210', 'a port')
    manager.expect(lease, lifecycle.TERMINATED, LATE + builders.minutes(1))
    assert scene.there(manager) == {}


@pytest.mark.proof
def test_the_next_lease_waits_until_the_address_is_deleted(slow_router, manager):
    scene.leased(manager, 4)
    after = scene.leased(manager, 4, start=3, end=5)
    manager.run()
    for number in range(210, 214):
        manager.cloud.network.associate(f'172.24.4.{number}', 'a port')
    before = {each.id for each in manager.cloud.network.floating_ips()}
    manager.expect(after, lifecycle.PENDING, builders.at(3))
    manager.expect(after, lifecycle.ACTIVE, LATE)
    assert len(scene.there(manager)) == 4
    assert before.isdisjoint(each.id for each in manager.cloud.network.floating_ips())


def test_a_shrinking_lease_waits_for_the_router_too(slow_router, manager):
    lease = scene.leased(manager, 2, ['172.24.4.213'])
    manager.run()
    manager.cloud.network.associate('172.24.4.210', 'a port')
    scene.change(manager, lease, amount=1)
    assert scene.there(manager) == {210: 'demo', 213: 'demo'}
    manager.run_until(builders.NOON + builders.minutes(1))
    assert scene.there(manager) == {213: 'demo'}


def test_a_floating_ip_of_the_users_own_stays_whatever_is_written_on_it(manager):
    lease = scene.leased(manager, 1, start=1)
    [reservation] = lease.reservations
    manager.cloud.network.take_address(scene.PUBLIC, '172.24.4.50', 'demo')
    manager.cloud.network.mark('172.24.4.50', f'Climate reservation {reservation.id}')
    manager.run_until(builders.at(1))
    assert scene.there(manager) == {50: 'demo', 210: 'demo'}
    manager.run_until(LATE)
    assert scene.there(manager) == {50: 'demo'}
    assert drifts(manager) == {}


@pytest.mark.proof
def test_a_floating_ip_that_an_administrator_gave_to_the_project_stays(manager):
    lease = scene.leased(manager, 1, ['172.24.4.211'], start=1)
    manager.cloud.network.take_address(scene.PUBLIC, '172.24.4.211', 'demo')
    manager.run_until(LATE)
    assert scene.there(manager) == {211: 'demo'}
    assert manager.lease(lease).state != lifecycle.ACTIVE


def test_floating_ips_of_a_lost_start_are_found_by_their_description_and_cleared(manager):
    lease = scene.leased(manager, 1)
    manager.run()
    [made] = manager.cloud.network.floating_ips()
    [reservation] = lease.reservations
    manager.run_until(LATE)
    manager.cloud.network.take_address(scene.PUBLIC, made.address, 'demo')
    manager.cloud.network.mark(made.address, made.description)
    found = drifts(manager)
    [what] = [each for each in found if reservation.id in each]
    assert repairs.Repairs(manager.core).make([found[what]]) == {found[what]: None}
    assert scene.there(manager) == {}


def test_a_mark_of_an_ended_lease_on_the_address_of_another_does_not_delete_it(manager):
    first = scene.leased(manager, 1, ['172.24.4.210'])
    manager.run()
    manager.run_until(LATE)
    scene.leased(manager, 1, ['172.24.4.210'], start=4, end=9)
    manager.run_until(builders.at(4))
    manager.cloud.network.mark('172.24.4.210', f'Climate reservation {first.reservations[0].id}')
    repairs.Repairs(manager.core).make(drifts(manager).values())
    assert scene.there(manager) == {210: 'demo'}


def test_an_audit_makes_again_what_the_owner_deleted(manager):
    scene.leased(manager, 2)
    manager.run()
    manager.cloud.network.delete_floating_ip('172.24.4.210')
    found = drifts(manager)
    assert [each.problem for each in found.values()] == ['floating IP 172.24.4.210 is missing']
    repairs.Repairs(manager.core).make(found.values())
    assert scene.there(manager) == {210: 'demo', 211: 'demo'}
    assert drifts(manager) == {}


def test_an_audit_names_the_addresses_that_cannot_be_leased_any_more(manager):
    network = manager.cloud.network
    scene.leased(manager, 1, ['172.24.4.210'])
    manager.run()
    assert drifts(manager) == {}
    network.take_address(scene.PUBLIC, '172.24.4.211', 'other')
    network.set_pools(scene.PUBLIC, [('172.24.4.10', '172.24.4.200'),
                                     ('172.24.4.213', '172.24.4.220')])
    found = {what: each.problem for what, each in drifts(manager).items()}
    assert set(found) == {f'address 172.24.4.{number}@{scene.PUBLIC}' for number in (211, 213)}
    assert 'in use in Neutron' in found[f'address 172.24.4.211@{scene.PUBLIC}']
    assert 'allocation pool' in found[f'address 172.24.4.213@{scene.PUBLIC}']


def test_a_lease_whose_address_another_project_has_is_degraded(manager):
    lease = scene.leased(manager, 1)
    manager.run()
    manager.cloud.network.delete_floating_ip('172.24.4.210')
    manager.cloud.network.take_address(scene.PUBLIC, '172.24.4.210', 'other')
    refresh.Refresher(manager.core, None).refresh(builders.NOON)
    assert manager.lease(lease).degraded
    manager.run_until(LATE)
    assert scene.there(manager) == {210: 'other'}


def test_a_full_quota_does_not_keep_a_lease_from_shrinking_or_a_new_name(manager):
    lease = scene.leased(manager, 3, start=1)
    manager.cloud.network.set_quota('demo', 'floatingip', 1)
    scene.change(manager, lease, amount=2)
    with pytest.raises(errors.Conflict):
        scene.change(manager, lease, amount=3)
    scene.change(manager, lease, amount=1)
    manager.run_until(builders.at(1))
    assert scene.there(manager) == {210: 'demo'}
    [reservation] = manager.lease(lease).reservations
    manager.client.update_lease(builders.a_member(), lease.id, records.LeaseChanges(
        name='other', reservations=(records.ReservationRequest(
            None, {'amount': 1}, id=reservation.id),)))
    assert manager.lease(lease).name == 'other'


def test_an_address_with_a_zone_is_no_second_name_of_it(manager):
    for name in ('fe80::1%eth0', '172.24.4.240%x'):
        with pytest.raises(errors.BadField):
            scene.enrol_one(manager, name)


def test_deleting_a_lease_while_it_starts_leaves_nothing(manager):
    lease = scene.leased(manager, 2)
    manager.cloud.fail('neutron.tag_floating_ip', 1, errors.CloudUnreachable(
        service='Neutron', reason='no'))
    manager.run()
    assert scene.there(manager) == {210: 'demo'}
    assert manager.lease(lease).state == lifecycle.PENDING
    manager.delete(lease)
    manager.run_until(builders.NOON + builders.minutes(5))
    assert scene.there(manager) == {}
    assert dataclasses.asdict(manager.lease(lease))['deleted_at'] is not None
