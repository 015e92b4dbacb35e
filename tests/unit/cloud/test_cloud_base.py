# SPDX-License-Identifier: Apache-2.0
"""The real and the simulated cloud keep one contract."""
import inspect

import pytest

from climate.cloud import base
from climate.cloud import call_guard
from climate.cloud import faults
from climate.cloud import openstack
from climate.cloud import registry
from climate.cloud import simulated


@pytest.fixture
def conf(configured):
    return configured()


def interfaces(conf, driver):
    """Return {attribute of CloudServices: its class} of all installed adapters."""
    return {name: kind for adapter in registry.load(conf, driver).values()
            for name, kind in adapter.interfaces.items()}


def interface_of(kind):
    """Return the abstract ServiceInterface that a class of an adapter implements."""
    [interface] = [parent for parent in kind.__mro__[1:]
                   if base.ServiceInterface in parent.__bases__ and parent.__abstractmethods__]
    return interface


def called(method):
    """Return the parameters of a method, without annotations."""
    return [(each.name, each.kind, each.default)
            for each in inspect.signature(method).parameters.values()]


def test_each_service_has_a_real_and_a_simulated_adapter_with_the_same_interfaces(conf):
    real, played = registry.load(conf, 'openstack'), registry.load(conf, 'simulated')
    assert real.keys() == played.keys() >= {'keystone', 'nova', 'placement', 'glance'}
    for name, adapter in real.items():
        assert adapter.options is played[name].options
        assert {each: interface_of(kind) for each, kind in adapter.interfaces.items()} == {
            each: interface_of(kind) for each, kind in played[name].interfaces.items()}


@pytest.mark.parametrize('driver', registry.DRIVERS)
def test_a_method_is_called_the_same_way_everywhere(conf, driver):
    for kind in interfaces(conf, driver).values():
        interface = interface_of(kind)
        for name in interface.__abstractmethods__:
            assert called(getattr(kind, name)) == called(getattr(interface, name))


@pytest.mark.parametrize('kind', [openstack.OpenStackCloud, simulated.SimulatedCloud])
def test_a_cloud_is_called_the_same_way_whether_real_or_simulated(kind):
    for name in base.CloudDriver.__abstractmethods__:
        assert called(getattr(kind, name)) == called(getattr(base.CloudDriver, name))


@pytest.mark.parametrize('driver', registry.DRIVERS)
def test_no_method_of_an_adapter_lets_a_foreign_error_out(conf, driver):
    for kind in interfaces(conf, driver).values():
        for name in interface_of(kind).__abstractmethods__:
            guarded = call_guard.guarded(kind, faults.FOREIGN, faults.cloud_error)
            assert hasattr(getattr(guarded, name), '__wrapped__'), name
