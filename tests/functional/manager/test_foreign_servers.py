# SPDX-License-Identifier: Apache-2.0
"""Servers that somebody forced onto leased hosts, past the filters of Nova's scheduler."""
import acts
import audit_installation
import builders
import pytest

from climate import errors
from climate.domain import lifecycle
from climate.manager.audit import comparison

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


@pytest.fixture
def leased(manager):
    """A running lease of one host, with a server of its own."""
    manager.enrol(2)
    lease = acts.active(manager, end=NOON + hours(2))
    manager.cloud.boot('demo', 'own', {'reservation': lease.reservations[0].id})
    return lease


def _names(manager):
    return [each.name for each in manager.cloud.servers()]


def test_the_end_of_a_lease_deletes_only_servers_of_projects_that_it_is_for(
        manager, leased, caplog):
    [host] = acts.aggregate(manager, leased).hosts
    forced = manager.cloud.force('eve', 'forced', host)
    manager.run_until(NOON + hours(2) + minutes(1))
    assert _names(manager) == ['forced']
    lease = manager.lease(leased)
    assert lease.state != lifecycle.TERMINATED
    assert f'foreign servers keep its hosts, move or delete them: {forced.id} on {host}' in (
        caplog.text)
    assert host not in acts.freepool(manager)

    manager.cloud.delete_server(forced.id)
    manager.run_until(NOON + hours(2) + minutes(30))
    assert manager.lease(leased).state == lifecycle.TERMINATED
    assert acts.is_clean(manager, 2)


def test_an_end_that_waits_for_foreign_servers_in_vain_says_why(manager, leased):
    [host] = acts.aggregate(manager, leased).hosts
    manager.cloud.force('eve', 'forced', host)
    manager.run_until(NOON + hours(26))
    lease = manager.lease(leased)
    assert lease.state == lifecycle.ERROR
    assert 'an administrator must move them' in lease.reason
    assert 'lease.error' in acts.news(manager)
    assert _names(manager) == ['forced']


def test_an_option_deletes_foreign_servers_too(manager, conf, leased):
    conf.set_override('foreign_servers', 'delete', group='physical:host')
    manager.cloud.force('eve', 'forced', acts.aggregate(manager, leased).hosts[0])
    manager.run_until(NOON + hours(3))
    assert manager.lease(leased).state == lifecycle.TERMINATED
    assert acts.is_clean(manager, 2)


def test_a_project_with_which_the_hosts_are_shared_is_not_foreign(manager, leased):
    nova = manager.cloud.as_service().nova
    aggregate = acts.aggregate(manager, leased)
    nova.set_aggregate_metadata(aggregate, {'friend': 'true'})
    manager.cloud.force('friend', 'shared', aggregate.hosts[0])
    assert comparison.Auditor(manager.core).look() == []
    manager.run_until(NOON + hours(3))
    assert manager.lease(leased).state == lifecycle.TERMINATED
    assert acts.is_clean(manager, 2)


def test_a_lease_that_shrinks_does_not_delete_a_foreign_server(manager):
    manager.enrol(2)
    lease = acts.active(manager, builders.hosts(2), end=NOON + hours(9))
    for host in acts.aggregate(manager, lease).hosts:
        manager.cloud.force('eve', f'forced-{host}', host)
    [reservation] = lease.reservations
    acts.change(manager, lease, reservations=acts.asked(reservation, min=1, max=1))
    manager.run_until(NOON + minutes(5))
    assert len(_names(manager)) == 2


def test_with_the_filter_no_server_is_foreign(manager, leased):
    """Servers of the lease, of instance capacity and ordinary ones are where they may be."""
    manager.client.create_resource(builders.an_admin(), 'host', 'compute-3', {})
    capacity = acts.active(manager, audit_installation.ROOM, end=NOON + hours(2))
    manager.cloud.boot('demo', 'in capacity', flavor=capacity.reservations[0].id)
    with pytest.raises(errors.Conflict):
        manager.cloud.boot('eve', 'ordinary', host='compute-1')
    manager.cloud.boot('eve', 'ordinary')
    assert comparison.Auditor(manager.core).look() == []
