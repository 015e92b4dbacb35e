# SPDX-License-Identifier: Apache-2.0
"""A manager is killed before and after each change in Neutron, and another one takes over."""
import addressed
import leaks
import mortal as mortals
import pytest
import scene as scenes

pytestmark = pytest.mark.services

CHANGES = '^/?floatingips'


@pytest.fixture
def kinds():
    return ('trusts', *leaks.NETWORK)


@pytest.fixture
def addresses(scene):
    found = addressed.Addresses(scene, 211)
    found.enrol()
    scene.afterwards(found.withdraw)
    return found


def test_a_manager_that_is_killed_at_any_change_makes_each_address_once_and_leaves_none(
        scene, addresses, mortal):
    port_id = addresses.inside().port_id
    made = []

    def start():
        made.append(addresses.lease(2, [215], active=False, duration='30m'))

    def change(amount):
        scene.climate().leases.update(made[-1]['id'], reservations=[
            {'id': made[-1]['reservations'][0]['id'], 'amount': amount}])

    def has(count):
        def settled():
            found = scene.climate('admin').leases.get(made[-1]['id'])
            return found['status'] == 'active' and len(addresses.there()) == count
        scenes.until(settled, f'{count} addresses', mortals.SECONDS)
        there = addresses.there()
        assert 215 in there
        tag = f'reservation:{made[-1]["reservations"][0]["id"]}'
        assert all(tag in each.tags for each in there.values())

    def end():
        scene.people['demo'].network.update_ip(addresses.there()[215].id, port_id=port_id)
        scene.climate('admin').leases.end(made[-1]['id'])

    def ended():
        scene.wait(made[-1]['id'], 'terminated', mortals.SECONDS)
        assert addresses.there() == {}

    # (what is asked for, what holds then): from nothing to nothing.
    steps = [(start, lambda: has(2)),
             (lambda: change(3), lambda: has(3)),
             (lambda: change(1), lambda: has(1)),
             (end, ended)]
    changes = [mortal.changes(CHANGES, lambda ask=ask, holds=holds: (ask(), holds()))
               for ask, holds in steps]
    assert all(changes), changes
    for moment in mortals.MOMENTS:
        for (ask, holds), calls in zip(steps, changes, strict=True):
            mortal.dies(calls, moment, ask)
            holds()
    print(f'killed at {changes}')
