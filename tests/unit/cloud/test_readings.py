# SPDX-License-Identifier: Apache-2.0
"""A cloud for one look is asked once for each thing."""
import pytest

from climate.cloud import readings
from climate.cloud import simulated


@pytest.fixture
def cloud(conf):
    return simulated.SimulatedCloud(conf)


@pytest.fixture
def calls(cloud):
    """The names of the calls that are made of the cloud."""
    found = []
    cloud.faults.on_point = lambda name, when: found.append(name) if when == 'before' else None
    return found


def test_what_several_ask_for_is_read_once_and_is_the_same(cloud, calls):
    looked_at = readings.Readings(cloud)
    first = looked_at.as_service().nova.hypervisors()
    assert looked_at.as_service().nova.hypervisors() is first
    assert calls == ['nova.hypervisors']


def test_other_arguments_are_another_question(cloud, calls):
    nova = readings.Readings(cloud).as_service().nova
    assert nova.hypervisor('compute-1').name == 'compute-1'
    assert nova.hypervisor('compute-2').name == 'compute-2'
    assert nova.hypervisor(name='compute-2').name == 'compute-2'
    assert calls == ['nova.hypervisor'] * 3


def test_another_look_reads_anew(cloud):
    assert readings.Readings(cloud).as_service().nova.aggregates() == []
    cloud.as_service().nova.ensure_aggregate('rack 7')
    [found] = readings.Readings(cloud).as_service().nova.aggregates()
    assert found.name == 'rack 7'


def test_nothing_can_be_changed(cloud):
    nova = readings.Readings(cloud).as_service().nova
    with pytest.raises(TypeError, match='ensure_aggregate changes the cloud'):
        nova.ensure_aggregate('rack 7')
    assert cloud.aggregates() == []


def test_it_tells_which_services_are_connected(cloud):
    services = readings.Readings(cloud).as_service()
    assert 'nova' in services
    assert 'cinder' not in services
