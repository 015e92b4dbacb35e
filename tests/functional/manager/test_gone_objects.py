# SPDX-License-Identifier: Apache-2.0
"""Objects of running leases that are removed or changed behind Climate's back."""
import acts
import pytest
from support import builders
from support import cloud_removals
import test_outages

from climate.domain import lifecycle
from climate.manager.audit import comparison
from climate.manager.audit import repairs

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
#: Objects of the cloud itself that a lease has while it runs.
OF_THE_CLOUD = {'physical:host': ('hosts',), 'virtual:instance': ('hosts', 'providers'),
                'flavor:instance': ('hosts', 'providers')}

#: What the audit does not compare: {resource type: tables}. The lease ends without it all the same.
NOT_AUDITED = {
    # Its owner may delete a server. An aggregate with a zone is known without its metadata.
    'physical:host': {'aggregate_metadata', 'servers'}, 'virtual:network': {'ports'},
    'virtual:instance': {'aggregate_metadata', 'flavor_access'},
    'flavor:instance': {'flavor_access'},
    'virtual:volume': {'volume_type_access', 'volume_quotas'},
    # Climate cannot list the stacks of all projects.
    'virtual:stack': {'stacks', 'stack_parts', 'trusts'},
    'virtual:cluster': {'node_groups', 'cluster_nodes', 'flavor_access', 'servers'},
}


@pytest.fixture
def manager(conf, database, clock):
    return test_outages.resourceful(conf, database, clock)


def _restore(manager, kind, taken):
    """Put back the objects that a lease used and that are not its own."""
    with manager.cloud.state() as connection:
        for table, row in taken:
            if table in OF_THE_CLOUD.get(kind, ()):
                connection.execute(
                    f'INSERT INTO {table} ({", ".join(row)}) '
                    f'VALUES ({", ".join("?" for _ in row)})', tuple(row.values()))


def _running(manager, kind):
    """Return (a running lease with a server if it can have one, the objects that it has)."""
    before = set(cloud_removals.rows(manager.cloud))
    lease = manager.create(builders.a_lease(
        test_outages.asked(kind), end=manager.clock() + hours(9)))
    manager.run_until(manager.clock() + minutes(5))
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    [reservation] = lease.reservations
    if kind == 'physical:host':
        manager.cloud.boot('demo', 'mine', {'reservation': reservation.id})
    elif kind.endswith(':instance'):
        manager.cloud.boot('demo', 'mine', flavor=reservation.id)
    objects = set(cloud_removals.rows(manager.cloud)) - before
    names = {each.name for each in manager.client.list_resources(builders.an_admin(), 'host')
             if each.id in reservation.resource_ids}
    with manager.cloud.state() as connection:
        for table in OF_THE_CLOUD.get(kind, ()):
            objects |= {(table, row['rowid']) for row in connection.execute(
                f'SELECT rowid AS rowid, name FROM {table}')
                if row['name'].removeprefix('climate_') in names}
    return lease, sorted(objects)


def _drifts(manager):
    return [(each.kind, each.what, each.problem) for each in comparison.Auditor(
        manager.core).look()]


@pytest.mark.proof
@pytest.mark.parametrize('kind', test_outages.TYPES)
def test_a_lease_ends_whatever_of_it_is_gone(manager, kind):
    count, unreported = 1, set()
    number = 0
    while number <= count:
        lease, objects = _running(manager, kind)
        count = len(objects)
        gone = objects[number:number + 1] or objects
        taken = cloud_removals.remove(manager.cloud, gone)
        if not _drifts(manager):
            unreported |= {table for table, _ in taken}
        (acts.end, acts.delete)[number % 2](manager, lease)
        manager.run_until(manager.clock() + hours(1))
        lease = manager.lease(lease)
        assert lease.state == lifecycle.TERMINATED, (gone, lease.reason)
        assert test_outages.held(manager) == [], gone
        left = [each for each in manager.cloud.servers() if each.name == 'mine']
        assert not left, gone
        _restore(manager, kind, taken)
        number += 1
    assert unreported <= NOT_AUDITED.get(kind, set())


def _hosts(manager):
    return manager.client.list_resources(builders.an_admin(), 'host')


def _fix(manager):
    auditor = comparison.Auditor(manager.core)
    repairs.Repairs(manager.core).make(auditor.look())


def test_a_host_that_is_gone_frees_the_others_and_can_be_withdrawn(manager):
    lease = manager.active(builders.hosts(3), end=NOON + hours(9))
    ids = lease.reservations[0].resource_ids
    gone = next(each for each in _hosts(manager) if each.id in ids)
    manager.cloud.remove_host(gone.name)
    manager.clock.advance(minutes(1))
    acts.end(manager, lease)
    assert manager.lease(lease).state == lifecycle.TERMINATED, manager.lease(lease).reason
    manager.client.delete_resource(builders.an_admin(), 'host', gone.id)
    assert len(_hosts(manager)) == 5
    manager.active(builders.hosts(5), end=manager.clock() + hours(1))


@pytest.mark.parametrize('kind', ['virtual:instance', 'flavor:instance'])
@pytest.mark.parametrize('fixed', [False, True])
def test_servers_whose_flavor_was_deleted_end_with_their_lease(manager, kind, fixed):
    lease, _ = _running(manager, kind)
    with manager.cloud.state() as connection:
        connection.execute('DELETE FROM flavors WHERE id = ?', (lease.reservations[0].id,))
        # Nova lists no server by a flavor of the same id that was created later.
        connection.execute("UPDATE servers SET flavor_id = 'the first one'")
    if fixed:
        _fix(manager)
        assert _drifts(manager) == []
    acts.end(manager, lease)
    manager.run_until(manager.clock() + minutes(5))
    assert manager.lease(lease).state == lifecycle.TERMINATED, manager.lease(lease).reason
    assert manager.cloud.servers() == []
    assert 'delete server' in acts.history(manager, lease)


@pytest.mark.parametrize('kind', ['physical:host', 'virtual:instance', 'flavor:instance'])
def test_an_aggregate_that_was_renamed_is_reported_and_ends_with_its_lease(manager, kind):
    lease, _ = _running(manager, kind)
    [reservation] = lease.reservations
    with manager.cloud.state() as connection:
        connection.execute("UPDATE aggregates SET name = 'by hand' WHERE name = ?",
                           (reservation.id,))
    _fix(manager)
    assert any('its aggregate is named by hand' in problem for _, _, problem in _drifts(manager))
    acts.end(manager, lease)
    manager.run_until(manager.clock() + minutes(5))
    assert manager.lease(lease).state == lifecycle.TERMINATED, manager.lease(lease).reason
    assert [each.name for each in manager.cloud.aggregates()] == ['freepool']
    assert _drifts(manager) == []
    manager.active(builders.hosts(6), end=manager.clock() + hours(1))


def test_a_service_that_is_renamed_just_before_a_start_is_used_by_its_new_name(manager):
    lease = manager.create(builders.a_lease(
        builders.hosts(6), start=NOON + hours(1), end=NOON + hours(2)))
    manager.run_until(NOON + minutes(59))
    manager.cloud.rehome_host(_hosts(manager)[0].name, 'renamed')
    manager.run_until(NOON + hours(1) + minutes(1))
    assert manager.lease(lease).state == lifecycle.ACTIVE, manager.lease(lease).reason
    assert 'renamed' in acts.aggregate(manager, lease).hosts
    manager.run_until(NOON + hours(3))
    assert manager.lease(lease).state == lifecycle.TERMINATED, manager.lease(lease).reason
