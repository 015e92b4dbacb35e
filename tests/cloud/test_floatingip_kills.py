# SPDX-License-Identifier: Apache-2.0
"""A manager dies before and after each call to the real Neutron, and another one takes over."""
import addressed
import builders
import dying
import leaks
import pytest

from climate import context
from climate.domain import lifecycle
from climate.domain import records

pytestmark = pytest.mark.services

TYPES = ['virtual:floatingip']


@pytest.fixture
def kinds():
    return ('trusts', *leaks.NETWORK)


@pytest.fixture
def addresses(scene):
    return addressed.Addresses(scene, 211)


@pytest.fixture
def owner(demo):
    return context.RequestContext(
        user_id=demo.current_user_id, project_id=demo.current_project_id,
        roles=['member', 'reader'], auth_token=demo.session.get_token(), overwrite=False)


@pytest.fixture
def managers(cloud, database, addresses):
    found = dying.Managers(cloud, database, TYPES, 'neutron')
    found.manager.client.create_resources(
        builders.an_admin(), 'address', addresses.range, {}, {'network_id': addresses.network_id})
    return found


def live(managers, addresses, owner, port_id, fatal=None):
    """A lease that starts, grows, shrinks and ends, with a death on the way.

    :returns: the points that were passed.
    """
    managers.begin(fatal)

    def change(amount):
        managers.manager.client.update_lease(owner, lease.id, records.LeaseChanges(reservations=(
            records.ReservationRequest(None, {'amount': amount}, id=lease.reservations[0].id),)))
        managers.run_until(owner, lease, lifecycle.ACTIVE, f'amount {amount}')
        assert len(addresses.there()) == amount, fatal
    lease = managers.manager.create(builders.a_lease(records.ReservationRequest(
        addressed.TYPE, {'network_id': addresses.network_id, 'amount': 2,
                         'required_floatingips': [addressed.address(215)]}),
        end=managers.manager.clock() + builders.hours(24)), owner)
    managers.run_until(owner, lease, lifecycle.ACTIVE, 'start')
    made = addresses.there()
    assert (len(made), 215 in made) == (2, True), fatal
    assert all(f'reservation:{lease.reservations[0].id}' in each.tags for each in made.values())
    addresses.scene.people['demo'].network.update_ip(made[215].id, port_id=port_id)
    change(3)
    change(1)
    assert addresses.there()[215].port_id == port_id
    managers.manager.client.update_lease(owner, lease.id, records.LeaseChanges(end_now=True))
    managers.run_until(owner, lease, lifecycle.TERMINATED, 'end')
    assert addresses.there() == {}, fatal
    assert managers.points.fatal is None, f'{fatal} was never passed.'
    return managers.points.seen


def test_a_manager_that_dies_at_any_call_makes_each_address_once_and_leaves_none(
        managers, addresses, owner):
    port_id = addresses.inside().port_id
    points = live(managers, addresses, owner, port_id)
    assert {each[1] for each in points} == {
        'create', 'tag', 'detach', 'delete', 'of_project', 'quota'}
    for fatal in points:
        live(managers, addresses, owner, port_id, fatal)
        print(f'died at {fatal}', flush=True)
    print(f'died at {len(points)} points: {points}')
