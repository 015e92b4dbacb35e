# SPDX-License-Identifier: Apache-2.0
"""The slots of a reservation with several needs, such as the masters and workers of a cluster."""
import dataclasses

import leased_scene
import pytest

from climate.domain import records
from climate.manager import lease_cloud
from climate.plugins import base
from climate.plugins.compute import capacity

SIZES = {'vcpus': 1, 'ram': 512, 'disk': 1, 'ephemeral': 0, 'swap': 0}
MASTERS = 'masters'


@pytest.fixture
def scene(conf):
    return leased_scene.Scene(conf)


def _capacity(scene, allocated):
    """Return the Capacity of a cluster with {need key: Resources}; it has not started yet."""
    reservation = records.Reservation('r', 'l', 'virtual:cluster', {}, allocated={
        key: tuple(host.id for host in hosts) for key, hosts in allocated.items()})
    lease = dataclasses.replace(scene.lease_record, reservations=(reservation,))
    cloud = lease_cloud.ActionCloud(scene.cloud, lease, base.Attempt(
        now=scene.clock(), since=scene.clock(), failures=1))
    return capacity.Capacity(scene.conf, cloud, lease, reservation, allocated)


def _slots(scene):
    """Return {host name: {resource class: slots}} of the classes of reservations."""
    children = scene.service.placement.children('climate_')
    return {name.removeprefix('climate_'): {
        resource_class: found['total'] for resource_class, found in inventory.items()
        if found['total']} for name, inventory in children.items()}


def test_a_need_keeps_no_slots_on_a_host_that_moved_to_another_need_between_two_tries(scene):
    first, second = scene.pool
    flavors = {key: (SIZES, {}) for key in (MASTERS, capacity.WORKERS)}
    _capacity(scene, {MASTERS: [first], capacity.WORKERS: [second]}).grant(flavors)
    # Both hosts stay in the aggregate, and no try has stored a binding.
    again = _capacity(scene, {MASTERS: [second], capacity.WORKERS: [first]})
    again.reclaim(again.grant(flavors))
    assert _slots(scene) == {'compute-1': {capacity.class_name('r'): 1},
                             'compute-2': {capacity.class_name('r', MASTERS): 1}}
