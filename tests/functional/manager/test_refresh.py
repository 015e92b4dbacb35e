# SPDX-License-Identifier: Apache-2.0
"""Changes in the cloud after the enrolment of a host reach its stored facts."""
import logging

import acts
import pytest
from support import builders
from support import cloud_points

from climate import errors
from climate.db import managers
from climate.manager.pools import refresh

NOON, hours = builders.NOON, builders.hours
_sized = builders.instances


def _resource(manager, host):
    return manager.client.get_resource(builders.an_admin(), 'host', host.id)


def test_b_inventory_and_traits_are_refreshed(manager, poll_cloud):
    host, other = manager.enrol(2)
    assert poll_cloud() == []
    manager.cloud.change_host('compute-1', vcpus=48, memory_mb=8192, disk_gb=9,
                              traits=['CUSTOM_FAST'])
    assert poll_cloud() == ['compute-1']
    after = _resource(manager, host)
    assert after.capacity == {'vcpus': 48, 'memory_mb': 8192, 'disk_gb': 9, 'VCPU': 48 * 4,
                              'MEMORY_MB': 8192 - 512, 'DISK_GB': 9}
    assert after.facts['traits'] == 'CUSTOM_FAST'
    assert after.facts['max_unit:VCPU'] == '48'
    assert _resource(manager, other) == other
    assert poll_cloud() == []


def test_b_a_host_that_gained_capacity_is_leased_for_it(manager, poll_cloud):
    manager.enrol(1)
    wanted = builders.hosts(1, criteria='[">=", "$vcpus", "48"]')
    with pytest.raises(errors.NotEnough):
        manager.book(wanted)
    manager.cloud.change_host('compute-1', vcpus=48)
    poll_cloud()
    manager.book(wanted)


def test_properties_set_by_operators_survive_a_refresh(manager, poll_cloud):
    [host] = manager.enrol(1, rack='7')
    manager.cloud.change_host('compute-1', traits=[])
    poll_cloud()
    assert _resource(manager, host).properties == {'rack': '7'}


def test_a_refresh_of_many_hosts_costs_two_calls(manager, poll_cloud):
    manager.enrol(4)
    calls = cloud_points.calls(manager.cloud)
    poll_cloud()
    assert sorted(calls) == ['nova.hypervisors', 'placement.survey']


def test_the_zone_of_a_leased_host_stays_its_own(manager, poll_cloud):
    [host] = manager.enrol(1)
    manager.active()
    zone = acts.nova(manager).hypervisor('compute-1').availability_zone
    assert zone.startswith('climate_')
    assert poll_cloud() == []
    assert _resource(manager, host).facts['availability_zone'] == 'nova'


def test_a_host_that_shrinks_below_its_allocations_keeps_its_leases_and_is_logged(
        manager, poll_cloud, caplog):
    [host] = manager.enrol(1)
    first = manager.book(_sized(40))
    later = manager.book(_sized(4), start=NOON + hours(2), end=NOON + hours(3))
    manager.cloud.change_host('compute-1', vcpus=2)
    with caplog.at_level(logging.WARNING):
        poll_cloud()
    [line] = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert 'compute-1' in line and first.id in line and later.id not in line
    assert _resource(manager, host).capacity['VCPU'] == 8
    assert len(manager.lease(first).reservations[0].resource_ids) == 40
    with pytest.raises(errors.NotEnough):
        manager.book(_sized(1))
    manager.book(_sized(4), start=NOON + hours(2), end=NOON + hours(3))


@pytest.mark.parametrize('request_of', [
    lambda criteria: builders.hosts(1, criteria=criteria),
    lambda criteria: _sized(1, resource_properties=criteria)], ids=['whole', 'slots'])
def test_a_host_that_no_longer_meets_the_criteria_of_a_lease_is_logged(
        manager, poll_cloud, caplog, request_of):
    manager.enrol(1)
    lease = manager.book(request_of('["==", "$vcpus", "16"]'))
    manager.cloud.change_host('compute-1', vcpus=15)
    with caplog.at_level(logging.WARNING):
        poll_cloud()
    assert lease.id in caplog.text


def test_a_host_missing_in_the_cloud_is_kept_and_logged_once(manager, poll_cloud, caplog):
    host, _ = manager.enrol(2)
    manager.cloud.remove_host('compute-1')
    with caplog.at_level(logging.WARNING):
        assert poll_cloud() == poll_cloud() == []
    [line] = [each.getMessage() for each in caplog.records]
    assert 'compute-1' in line
    assert _resource(manager, host) == host
    manager.cloud.add_host('compute-1', vcpus=3)
    assert poll_cloud() == ['compute-1']


def test_two_hypervisors_of_one_name_change_nothing(manager, poll_cloud):
    [host] = manager.enrol(1)
    manager.cloud.add_host('compute-1', service_host='another-cell', vcpus=3)
    assert poll_cloud() == []
    assert _resource(manager, host) == host


def test_a_cloud_that_fails_changes_nothing(manager, poll_cloud, caplog):
    [host] = manager.enrol(1)
    manager.cloud.change_host('compute-1', vcpus=3)
    manager.cloud.fail('placement.survey', 1, errors.CloudError(service='Placement', reason='no'))
    assert poll_cloud() == []
    assert 'The facts of the pool host: failed; the next pass tries it again: Placement: no' in (
        caplog.text)
    assert _resource(manager, host) == host
    assert poll_cloud() == ['compute-1']


def test_a_host_that_is_withdrawn_while_the_cloud_is_asked_stays_withdrawn(manager, poll_cloud):
    [host] = manager.enrol(1)
    manager.cloud.change_host('compute-1', vcpus=3)
    cloud_points.once_at(
        manager.cloud, 'placement.survey',
        lambda: manager.client.delete_resource(builders.an_admin(), 'host', host.id))
    assert poll_cloud() == []
    assert manager.client.list_resources(builders.an_admin(), 'host') == []


def test_one_manager_refreshes_and_two_at_once_are_harmless(manager):
    [host] = manager.enrol(1)
    manager.cloud.change_host('compute-1', vcpus=3)
    one = refresh.Refresher(manager.core, 'one')
    two = refresh.Refresher(manager.core, 'two')
    with manager.database.writer() as connection:
        managers.seen(connection, 'one', 'a', NOON, NOON, 0)
        managers.seen(connection, 'two', 'b', NOON + hours(1), NOON, 0)
    assert two.refresh(NOON) == []
    interrupted = []
    cloud_points.once_at(manager.cloud, 'placement.survey',
                         lambda: interrupted.extend(one.refresh(NOON)), 'after')
    assert one.refresh(NOON) == interrupted == ['compute-1']
    assert _resource(manager, host).capacity['vcpus'] == 3
    # The eldest is silent: the next one does it.
    with manager.database.writer() as connection:
        managers.seen(connection, 'two', 'b', NOON, NOON + hours(1), 0)
    manager.cloud.change_host('compute-1', vcpus=4)
    assert two.refresh(NOON + hours(1)) == ['compute-1']
