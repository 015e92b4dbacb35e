# SPDX-License-Identifier: Apache-2.0
"""Two hypervisors of one service host, as Ironic has them: not enrolled, not started on, not mixed.

Aggregates name service hosts, so a lease of one of the two would have the other one as well.
"""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.manager.pools import refresh

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def _twin(manager):
    """Give the first enrolled host a second hypervisor, on which somebody has a server."""
    manager.cloud.add_host('node-7', service_host='elsewhere')
    server = manager.cloud.boot('eve', 'of somebody else', host='node-7')
    manager.cloud.rehome_host('node-7', 'compute-1')
    return server


def test_a_hypervisor_that_shares_its_service_host_is_not_enrolled(manager):
    manager.cloud.add_host('node-7', service_host='compute-1')
    for name, other in (('compute-1', 'node-7'), ('node-7', 'compute-1')):
        with pytest.raises(errors.ResourceInUse) as refused:
            manager.client.create_resource(builders.an_admin(), 'host', name, {})
        assert f'shares the service host compute-1 with {other}' in refused.value.message
        assert 'its own nova-compute' in refused.value.message
        assert isinstance(refused.value, errors.Conflict)
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert not acts.nova(manager).aggregates()


def test_a_lease_does_not_start_on_a_host_that_has_got_a_second_hypervisor(manager):
    manager.enrol(2)
    lease = manager.book(builders.hosts(1), start=NOON + hours(1), end=NOON + hours(2))
    _twin(manager)
    refresh.Refresher(manager.core, 'this manager').refresh(manager.clock())
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + minutes(1))
    assert acts.aggregate(manager, lease).hosts == ('compute-2',)


@pytest.mark.proof
def test_an_end_deletes_no_servers_of_another_hypervisor_and_waits_for_them(manager):
    manager.enrol(1)
    lease = manager.active(builders.hosts(1, before_end='snapshot'), end=NOON + hours(3))
    mine = manager.cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id})
    others = _twin(manager)
    manager.run_until(NOON + hours(3) + minutes(2))
    assert [each.id for each in manager.cloud.servers()] == [others.id]
    assert [each['server_id'] for each in manager.cloud.images()] == [mine.id]
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE
    assert lease.task == 'end'
    assert acts.aggregate(manager, lease).hosts == ('compute-1',)
    manager.cloud.delete_server(others.id)
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(3) + minutes(10))
    assert acts.is_clean(manager, 1)


@pytest.mark.proof
def test_an_end_leaves_servers_alone_where_another_hypervisor_has_taken_the_service_host(manager):
    manager.enrol(1)
    manager.active(end=NOON + hours(3))
    others = _twin(manager)
    manager.cloud.remove_host('compute-1')
    manager.run_until(NOON + hours(3) + minutes(2))
    assert [each.id for each in manager.cloud.servers()] == [others.id]


@pytest.mark.proof
def test_a_host_taken_from_a_running_lease_keeps_servers_of_another_hypervisor(manager):
    _, second = manager.enrol(2)
    lease = manager.active(builders.hosts(2), end=NOON + hours(3))
    others = _twin(manager)
    manager.change_reservation(
        lease, min=1, max=1, resource_properties='["=", "$hypervisor_hostname", "compute-2"]')
    manager.run_until(NOON + minutes(1))
    assert manager.lease(lease).reservations[0].resource_ids == (second.id,)
    assert others.id in [each.id for each in manager.cloud.servers()]


def test_a_host_that_has_got_a_second_hypervisor_can_be_withdrawn(manager):
    [host] = manager.enrol(1)
    others = _twin(manager)
    manager.client.delete_resource(builders.an_admin(), 'host', host.id)
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.freepool(manager) == ()
    assert [each.id for each in manager.cloud.servers()] == [others.id]
