# SPDX-License-Identifier: Apache-2.0
"""A manager is killed before and after each change in Neutron, and another one takes over."""
import leaks
import mortal as mortals
import network_scene
import pytest

pytestmark = pytest.mark.services

CHANGES = '^/?(networks|subnets|routers|ports)'


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.NETWORK)


def test_a_manager_that_is_killed_at_any_change_makes_one_network_and_leaves_none(
        scene, admin, demo, mortal):
    neutron = network_scene.Neutron(scene, admin, demo)
    neutron.enrol()
    made = []

    def start():
        made.append(neutron.leased(active=False, **neutron.with_router()))

    def started():
        [reservation] = scene.wait(made[-1]['id'], 'active', mortals.SECONDS)['reservations']
        network = neutron.one()
        [router], [_] = neutron.routers(), neutron.interfaces(network.id)
        assert (reservation['network_id'], reservation['router_id']) == (network.id, router.id)
        assert [reservation['subnet_id']] == network.subnet_ids
        assert len(network.tags) == 2
        neutron.demo.network.create_port(network_id=network.id)

    def end():
        scene.climate('admin').leases.end(made[-1]['id'])

    def ended():
        scene.wait(made[-1]['id'], 'terminated', mortals.SECONDS)
        assert neutron.nothing()

    of_start = mortal.changes(CHANGES, lambda: (start(), started()))
    of_end = mortal.changes(CHANGES, lambda: (end(), ended()))
    assert len(of_start) == 5, of_start
    assert len(of_end) == 4, of_end
    for moment in mortals.MOMENTS:
        mortal.dies(of_start, moment, start)
        started()
        mortal.dies(of_end, moment, end)
        ended()
    print(f'killed at {of_start} and {of_end}')
