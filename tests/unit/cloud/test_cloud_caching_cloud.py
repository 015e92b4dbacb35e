# SPDX-License-Identifier: Apache-2.0
"""A caching view of the cloud makes each call once."""
import pytest

from climate.cloud import caching_cloud
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


def test_a_repeated_call_is_made_once_and_returns_the_same_object(cloud, calls):
    looked_at = caching_cloud.CachingCloud(cloud)
    first = looked_at.as_service().nova.hypervisors()
    assert looked_at.as_service().nova.hypervisors() is first
    assert calls == ['nova.hypervisors']


def test_a_call_with_other_arguments_is_another_call(cloud, calls):
    nova = caching_cloud.CachingCloud(cloud).as_service().nova
    assert nova.hypervisor('compute-1').name == 'compute-1'
    assert nova.hypervisor('compute-2').name == 'compute-2'
    assert nova.hypervisor(name='compute-2').name == 'compute-2'
    assert calls == ['nova.hypervisor'] * 3


def test_another_view_reads_again(cloud):
    assert caching_cloud.CachingCloud(cloud).as_service().nova.aggregates() == []
    cloud.as_service().nova.ensure_aggregate('rack 7')
    [found] = caching_cloud.CachingCloud(cloud).as_service().nova.aggregates()
    assert found.name == 'rack 7'


def test_a_call_that_changes_the_cloud_is_refused(cloud):
    nova = caching_cloud.CachingCloud(cloud).as_service().nova
    with pytest.raises(TypeError, match='ensure_aggregate changes the cloud'):
        nova.ensure_aggregate('rack 7')
    assert cloud.aggregates() == []


def test_the_view_contains_the_connected_services(cloud):
    services = caching_cloud.CachingCloud(cloud).as_service()
    assert 'nova' in services
    assert 'cinder' not in services
