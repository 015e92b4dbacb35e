# SPDX-License-Identifier: Apache-2.0
"""Two managers share leases of every type; one stands still in the middle, and comes too late."""
import time

import addressed
import clusters
import leaks
import network_scene
import pytest
import scene as scenes
import stack_scene as stacks

from tools.cloud import climate_service
from tools.cloud import processes

pytestmark = pytest.mark.services

SECOND = 'climate-manager-second'
# Longer than claims live without being prolonged, see tools/cloud/templates/climate.conf.
LATE_SECONDS = 14


@pytest.fixture
def kinds(backend):
    return leaks.ALL


@pytest.fixture
def second(cloud, scene):
    """A second manager beside the ordinary one."""
    processes.start(cloud, SECOND, [cloud.climate_venv / 'bin' / 'climate-manager', '--config-file',
                                    climate_service.conf_file(cloud)])
    yield SECOND
    processes.stop(cloud, SECOND)


@pytest.fixture
def addresses(scene):
    found = addressed.Addresses(scene, first=221)
    found.enrol()
    scene.afterwards(found.withdraw)
    return found


@pytest.fixture
def asked(scene, admin, demo, storage, addresses):
    """A reservation of each type."""
    network_scene.Neutron(scene, admin, demo).enrol(2)
    magnum = clusters.Magnum(demo)
    template = magnum.template(scene.name())
    scene.afterwards(lambda: magnum.call('DELETE', f'/clustertemplates/{template}'))
    return [addresses.request(2), {'resource_type': network_scene.TYPE, 'subnet': '10.42.0.0/24'},
            {'resource_type': 'virtual:volume', 'size_gb': 1, 'amount': 2, 'on_end': 'delete'},
            stacks.with_room(1),
            {'resource_type': 'virtual:cluster', 'cluster_template_id': template, 'node_count': 1}]


def test_each_thing_is_made_once_and_deleted_though_a_manager_comes_too_late(
        scene, cloud, second, asked, admin, demo, addresses, storage):
    leases = scene.climate().leases
    made = []
    for each in asked:
        made.append(leases.create(scene.name(), duration='20m', reservations=[each]))
        scene.remember(made[-1]['id'])
    _come_too_late(cloud, second)
    made = [scene.wait(each['id'], 'active', 240) for each in made]

    assert len(addresses.there()) == 2
    assert len(network_scene.Neutron(scene, admin, demo).networks()) == 1
    assert len(storage.volumes(made[2])) == 2
    assert len(stacks.Heat(demo).every()) == 1
    name = f'reservation-{made[4]["reservations"][0]["id"]}'
    assert len(clusters.Magnum(demo).named(name)) == 1

    for each in made:
        scene.climate('admin').leases.end(each['id'])
    _come_too_late(cloud, 'climate-manager')
    for each in made:
        scene.wait(each['id'], 'terminated', 240)
    assert addresses.there() == {}
    assert stacks.Heat(demo).every() == []


def _come_too_late(cloud, manager):
    """Suspend a manager until others may have taken over its work."""
    with scenes.frozen(cloud, manager):
        # Nobody asks the API: half of the questions would wait for this manager.
        time.sleep(LATE_SECONDS)
