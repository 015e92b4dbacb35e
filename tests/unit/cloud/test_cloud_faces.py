# SPDX-License-Identifier: Apache-2.0
"""The real and the simulated cloud keep one contract."""
import inspect

import pytest

from climate.cloud import base
from climate.cloud import computes
from climate.cloud import flavors
from climate.cloud import images
from climate.cloud import keystone
from climate.cloud import nova
from climate.cloud import openstack
from climate.cloud import placement
from climate.cloud import servers
from climate.cloud import simulated
from climate.cloud.simulated import changes
from climate.cloud.simulated import computes as simulated_computes
from climate.cloud.simulated import flavors as simulated_flavors
from climate.cloud.simulated import images as simulated_images
from climate.cloud.simulated import keystone as simulated_keystone
from climate.cloud.simulated import nova as simulated_nova
from climate.cloud.simulated import placement as simulated_placement

FACES = [
    (base.Cloud, openstack.OpenStackCloud, simulated.SimulatedCloud),
    (base.Nova, nova.Nova, simulated_nova.Nova),
    (base.Flavors, flavors.Flavors, simulated_flavors.Flavors),
    (base.Placement, placement.Placement, simulated_placement.Placement),
    (base.Keystone, keystone.Keystone, simulated_keystone.Keystone),
    (base.Servers, servers.Servers, changes.Servers),
    (base.Images, images.Images, simulated_images.Images),
    (base.Computes, computes.Computes, simulated_computes.Computes),
]


@pytest.mark.parametrize('face, kind', [
    (face, kind) for face, *kinds in FACES for kind in kinds])
def test_a_method_is_called_the_same_way_everywhere(face, kind):
    for name in face.__abstractmethods__:
        assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(face, name))


@pytest.mark.parametrize('kind', [
    nova.Nova, flavors.Flavors, placement.Placement, keystone.Keystone, servers.Servers,
    images.Images, computes.Computes])
def test_no_method_of_a_real_adapter_lets_a_foreign_error_out(kind):
    [face] = kind.__bases__
    for name in face.__abstractmethods__:
        assert hasattr(getattr(kind, name), '__wrapped__'), name
