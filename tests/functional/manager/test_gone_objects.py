# SPDX-License-Identifier: Apache-2.0
"""Objects of running leases that are removed or changed behind Climate's back."""
import acts
import gone_world
import pytest
from support import builders
from support import thinning
import test_outages

from climate.domain import lifecycle

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
#: What the audit does not compare: {form: tables}. The lease ends without it all the same.
_SERVER, _ACCESS = {'servers'}, {'flavor_access'}
# Climate cannot list the stacks of all projects.
_STACK = {'stacks', 'stack_parts', 'trusts'}
_NODES = {'node_groups', 'cluster_nodes', 'servers', 'flavor_access'}
_VOLUMES = {'volume_type_access', 'volume_quotas'}
NOT_AUDITED = {
    # Its owner may delete a server or a port. An aggregate with the zone of its reservation needs
    # no mark: earlier releases gave it none.
    'physical:host': _SERVER | {'aggregate_metadata'}, 'virtual:instance': _SERVER | _ACCESS,
    'flavor:instance': _SERVER | _ACCESS,
    'virtual:network': {'ports'}, 'network that waits': {'ports'},
    'virtual:volume': _VOLUMES, 'volume type': _VOLUMES | {'volumes'},
    'volumes, imaged': _VOLUMES, 'volumes, retyped': _VOLUMES,
    'virtual:stack': _STACK, 'existing stack': _STACK,
    'stack with servers': _STACK | _SERVER | _ACCESS,
    'virtual:cluster': _NODES, 'further nodes': _NODES,
}
#: What is as good as before if somebody recreates it, so that there is nothing to report.
AS_GOOD = {
    'hosts', 'aggregates', 'aggregate_hosts', 'aggregate_metadata', 'resource_classes', 'servers',
    'volume_types', 'network_segments', 'ports', 'port_devices', 'node_groups', 'cluster_nodes',
    'stacks', 'stack_parts', 'trusts', 'flavor_access', 'volume_type_access', 'volume_quotas',
    # Nova does not show that a flavor of the same id is another one.
    'flavors'}
EMPTY_PROVIDER = {'physical:host': {'providers'}}
#: What the end of a lease may leave: {form: tables}. Cinder forgets them with the type, and Magnum
#: with the cluster.
_TYPE, _CLUSTER = {'volume_quotas', 'volume_type_access'}, {'cluster_nodes', 'node_groups'}
LEFT = {'volumes, retyped': {'volumes'} | _TYPE, 'volumes, imaged': _TYPE,
        'volume type': _TYPE, 'virtual:volume': _TYPE,
        'virtual:cluster': _CLUSTER, 'further nodes': _CLUSTER}
#: What belongs to the owner once Climate's name is not on it.
OF_THE_OWNER = {'routers'}


@pytest.fixture
def manager(conf, database, clock):
    return test_outages.resourceful(conf, database, clock)


def _through(manager, form, change, end, place):
    """Change an object of a running lease, or all of them, and let the lease end.

    :returns: (the changed objects, the Drifts, the tables of what the lease left, whether there
        are further objects).
    """
    with gone_world.unchanged(manager) as before:
        request = gone_world.FORMS[form](manager)
        existing = gone_world.rows(manager)
        lease = gone_world.running(manager, form, request)
        objects = [each for each in gone_world.objects(manager, lease, form, before)
                   if change is gone_world.remove or each[0] == 'providers'
                   or (each not in before and each[0] != 'trusts')]
        changed = objects[place:place + 1] or objects
        change(manager, changed)
        drifts = gone_world.drifts(manager)
        end(manager, lease)
        gone_world.run_for(manager, hours(1))
        lease = manager.lease(lease)
        assert lease.state == lifecycle.TERMINATED, (changed, lease.reason)
        assert test_outages.held(manager) == [], changed
        left = {key[0] for key, row in gone_world.rows(manager).items() if key not in existing
                and not row.get('name', '').startswith('mine')} - set(gone_world.POOLED)
    return changed, drifts, left, place < len(objects)


#: A network that waits at the end waits for a router that only its owner knows, too.
CASES = [(form, change) for form in gone_world.FORMS for change in (
    gone_world.remove, gone_world.recreate, gone_world.blank)
    if (form, change) != ('network that waits', gone_world.blank)]


@pytest.mark.proof
@pytest.mark.parametrize(('form', 'change'), CASES)
def test_a_lease_ends_whatever_of_it_is_gone_or_recreated(manager, form, change):
    place, more, unreported = 0, True, set()
    while more:
        changed, drifts, left, more = _through(
            manager, form, change, (acts.end, builders.Manager.delete)[place % 2], place)
        if not drifts:
            unreported |= {table for table, _ in changed}
        allowed = LEFT.get(form, set()) | (OF_THE_OWNER if change is gone_world.blank else set())
        assert left <= allowed, changed
        place += 1
    known = NOT_AUDITED.get(form, set())
    assert unreported <= (known if change is gone_world.remove else known | AS_GOOD | (
        EMPTY_PROVIDER.get(form, set())))


def _hosts(manager):
    return manager.client.list_resources(builders.an_admin(), 'host')


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
    lease = gone_world.running(manager, kind)
    with manager.cloud.state() as connection:
        connection.execute('DELETE FROM flavors WHERE id = ?', (lease.reservations[0].id,))
        # Nova lists no server by a flavor of the same id that was created later.
        connection.execute("UPDATE servers SET flavor_id = 'the first one'")
    if fixed:
        gone_world.fix(manager)
        assert gone_world.drifts(manager) == []
    acts.end(manager, lease)
    manager.expect(lease, lifecycle.TERMINATED, manager.clock() + minutes(5))
    assert manager.cloud.servers() == []
    assert 'delete server' in acts.history(manager, lease)


NODES = ['stack with servers', 'virtual:cluster', 'further nodes']


@pytest.mark.parametrize('form', NODES)
def test_nodes_end_with_their_lease_if_no_service_knows_them_any_more(manager, form):
    own = manager.cloud.servers()
    lease = gone_world.running(manager, form)
    with manager.cloud.state() as connection:
        for table in ('stacks', 'stack_parts', 'node_groups', 'cluster_nodes', 'clusters'):
            connection.execute(f'DELETE FROM {table}')
        connection.execute("UPDATE servers SET flavor_id = 'the first one'")
    acts.end(manager, lease)
    manager.expect(lease, lifecycle.TERMINATED, manager.clock() + minutes(5))
    assert [each for each in manager.cloud.servers() if not each.name.startswith('mine')] == own
    assert 'delete server' in acts.history(manager, lease)


@pytest.mark.parametrize('form', thinning.few([
    'physical:host', 'virtual:instance', 'flavor:instance', *NODES], 3))
def test_an_aggregate_that_was_renamed_is_reported_and_ends_with_its_lease(manager, form):
    lease = gone_world.running(manager, form)
    [reservation] = lease.reservations
    with manager.cloud.state() as connection:
        connection.execute("UPDATE aggregates SET name = 'by hand' WHERE name = ?",
                           (reservation.id,))
    gone_world.fix(manager)
    assert [each.problem for each in gone_world.drifts(manager)] == [
        f'its aggregate is named by hand: rename it back to {reservation.id}']
    acts.end(manager, lease)
    manager.expect(lease, lifecycle.TERMINATED, manager.clock() + minutes(5))
    assert [each.name for each in manager.cloud.aggregates()] == ['freepool']
    assert gone_world.drifts(manager) == []
    manager.active(builders.hosts(5), end=manager.clock() + hours(1))


@pytest.mark.parametrize('form', ['virtual:volume', 'volume type'])
@pytest.mark.parametrize('fixed', [False, True])
def test_volumes_end_with_their_lease_though_their_type_was_renamed(manager, form, fixed):
    lease = gone_world.running(manager, form)
    assert manager.cloud.as_service().volumes.every() != []
    with manager.cloud.state() as connection:
        for table, column in (('volume_types', 'name'), ('volumes', 'type_name'),
                              ('volume_type_access', 'type_name')):
            connection.execute(f"UPDATE {table} SET {column} = 'by hand' WHERE {column} LIKE ?",
                               (f'reservation:{lease.reservations[0].id}:%',))
    assert 'its volume type' in gone_world.drifts(manager)[0].problem
    if fixed:
        gone_world.fix(manager)
        assert gone_world.drifts(manager) == []
    acts.end(manager, lease)
    manager.run_until(manager.clock() + hours(1))
    lease = manager.lease(lease)
    volumes = manager.cloud.as_service().volumes
    assert volumes.types()[1:] == [], lease.reason
    assert lease.state == lifecycle.TERMINATED, lease.reason
    assert volumes.every() == []


def test_a_volume_type_for_the_end_that_is_gone_is_reported(manager):
    gone_world.running(manager, 'volumes, retyped')
    with manager.cloud.state() as connection:
        connection.execute("DELETE FROM volume_types WHERE name = 'ordinary'")
    [drift] = gone_world.drifts(manager)
    assert (drift.problem, drift.repair) == (
        'the volume type ordinary, which its volumes are to get at the end, is gone', None)


def test_a_service_that_is_renamed_just_before_a_start_is_used_by_its_new_name(manager):
    lease = manager.book(builders.hosts(6), start=NOON + hours(1), end=NOON + hours(2))
    manager.run_until(NOON + minutes(59))
    manager.cloud.rehome_host(_hosts(manager)[0].name, 'renamed')
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + minutes(1))
    assert 'renamed' in acts.aggregate(manager, lease).hosts
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(3))


def _shrink(manager, lease):
    manager.change_reservation(lease, min=1, max=1)


def _swap(manager, lease):
    manager.client.swap_resource(
        builders.a_member(), lease.id, str(lease.reservations[0].resource_ids[0]))


@pytest.mark.parametrize('table', ['aggregates', 'aggregate_hosts'])
@pytest.mark.parametrize('change', [_shrink, _swap])
@pytest.mark.parametrize('zone', thinning.few(['where_none', 'never'], 1))
def test_a_host_that_a_change_takes_out_of_a_lease_is_free_though_its_aggregate_is_gone(
        manager, change, table, zone):
    manager.core.conf.set_override('reservation_zone', zone, group='nova')
    lease = manager.active(builders.hosts(2), end=NOON + hours(9))
    [reservation] = lease.reservations
    names = {each.id: each.name for each in _hosts(manager)}
    # Nova lets no host with servers leave a zone.
    servers = {key: manager.cloud.boot('demo', 'mine', {'reservation': reservation.id},
                                       host=names[key])
               for key in reservation.resource_ids} if zone == 'never' else {}
    number = acts.aggregate(manager, lease).id
    with manager.cloud.state() as connection:
        for name in ('aggregate_hosts', table):
            column = 'id' if name == 'aggregates' else 'aggregate_id'
            connection.execute(f'DELETE FROM {name} WHERE {column} = ?', (number,))
    change(manager, lease)
    gone_world.run_for(manager, minutes(30))
    lease = manager.lease(lease)
    kept = set(lease.reservations[0].resource_ids)
    [left] = set(reservation.resource_ids) - kept
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert names[left] in acts.freepool(manager)
    assert gone_world.drifts(manager) == []
    assert {each.id for each in manager.cloud.servers() if each.name == 'mine'} == {
        each.id for key, each in servers.items() if key in kept}


@pytest.mark.parametrize('leave', [acts.end, _shrink])
def test_servers_of_friends_end_with_their_lease_though_its_aggregate_is_gone(manager, leave):
    manager.core.conf.set_override('reservation_zone', 'never', group='nova')
    lease = manager.active(builders.hosts(2), end=NOON + hours(9))
    [reservation] = lease.reservations
    manager.cloud.share_aggregate(reservation.id, 'friends')
    hosts = {each.name: manager.cloud.boot('friends', 'a guest', {'reservation': reservation.id},
                                           host=each.name).id
             for each in _hosts(manager) if each.id in reservation.resource_ids}
    with manager.cloud.state() as connection:
        connection.execute('DELETE FROM aggregate_hosts WHERE host IN (?, ?)', tuple(hosts))
        connection.execute('DELETE FROM aggregates WHERE name = ?', (reservation.id,))
    manager.clock.advance(minutes(1))
    leave(manager, lease)
    gone_world.run_for(manager, minutes(30))
    free = set(hosts) & set(acts.freepool(manager))
    assert len(free) == (2 if leave is acts.end else 1)
    assert {each.id for each in manager.cloud.servers() if each.name == 'a guest'} == {
        key for host, key in hosts.items() if host not in free}


@pytest.mark.parametrize('foreign_servers', ['keep', 'delete'])
@pytest.mark.parametrize('end', [acts.end, _shrink])
def test_a_host_that_somebody_puts_into_the_aggregate_of_a_lease_only_leaves_it(
        manager, end, foreign_servers):
    for group, name, value in (('nova', 'reservation_zone', 'never'),
                               ('physical:host', 'foreign_servers', foreign_servers)):
        manager.core.conf.set_override(name, value, group=group)
    lease = manager.active(builders.hosts(2), end=NOON + hours(9))
    manager.cloud.add_host('by hand')
    server = manager.cloud.boot('eve', 'of somebody else', host='by hand')
    own = manager.cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id})
    acts.nova(manager).add_hosts(acts.aggregate(manager, lease), ['by hand'])
    manager.clock.advance(minutes(1))
    end(manager, lease)
    gone_world.run_for(manager, minutes(30))
    assert manager.lease(lease).state == (
        lifecycle.TERMINATED if end is acts.end else lifecycle.ACTIVE), manager.lease(lease).reason
    assert gone_world.drifts(manager) == []
    assert 'by hand' not in acts.freepool(manager)
    there = {each.id for each in manager.cloud.servers()}
    assert server.id in there
    assert end is _shrink or own.id not in there
