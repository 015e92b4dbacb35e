# SPDX-License-Identifier: Apache-2.0
"""Hosts are cleared of other people's servers for a best-effort lease, and returned after it."""
import acts
import clearings
import pytest
from support import builders
from support import thinning

from climate import errors
from climate.domain import lifecycle
from climate.domain.clearing import plans


def test_two_hosts_are_cleared_leased_and_given_back(manager, cloud):
    before = {each.id for each in cloud.servers()}
    lease = manager.create(clearings.a_request())
    assert lease.state == lifecycle.ACQUIRING
    assert not clearings.disabled(cloud)
    lease = clearings.acquired(manager, lease)
    mine = acts.aggregate(manager, lease).hosts
    assert set(mine) < {'c1', 'c2', 'c3'}
    assert len(mine) == 2
    assert {each.id for each in cloud.servers()} == before
    statuses, places = zip(*clearings.servers(cloud).values(), strict=True)
    assert set(places) == {'c1', 'c2', 'c3', 'c4'} - set(mine)
    assert set(statuses) == {'ACTIVE'}
    assert clearings.disabled(cloud) == {}
    assert cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id}).host in mine
    with pytest.raises(errors.Conflict):
        cloud.boot('other', 'not mine', host=mine[0])
    manager.expect(lease, lifecycle.TERMINATED, lease.end + clearings.seconds(5))
    assert acts.freepool(manager) == ()
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.nova(manager).aggregate('lent').hosts == ('c1', 'c2', 'c3')
    cloud.boot('other', 'theirs again', host=mine[0])


def test_the_history_tells_every_disabled_service_and_every_move(manager, cloud):
    lease = clearings.cleared(manager, manager.create(clearings.a_request()))
    with manager.database.reader() as connection:
        told = [(row.what, row.why) for row in acts.journal.history(connection, lease.id)]
    words = [what for what, _ in told]
    assert (words.count('fence'), words.count('move'), words.count('moved'),
            words.count('cleared'), words.count('host ready')) == (2, 4, 4, 2, 2)
    moved = {why.split()[1] for what, why in told if what == 'moved'}
    assert moved == {each.id for each in cloud.servers() if each.host in ('c3', 'c4')
                     and each.name.startswith(('c1', 'c2'))}
    assert words.index('fence') < words.index('move') < words.index('moved') < words.index(
        'cleared') < words.index('acquired')


def _pin(cloud, server):
    cloud.as_service().servers.mark(server.id, {'climate:pinned': ''})


def _lease_it(cloud, server):
    cloud.as_service().servers.mark(server.id, {'climate:lease_id': 'x'})


def _suspend(cloud, server):
    cloud.mark_server(server.id, 'SUSPENDED')


def _disable(cloud, server):
    cloud.mark_host(server.host, enabled=False, reason='a disk is broken')


def _put_down(cloud, server):
    cloud.mark_host(server.host, up=False)


def _zone(cloud, server):
    cloud.delete_server(clearings.by_name(cloud, f'{server.host}-1').id)
    cloud.delete_server(server.id)
    nova = cloud.as_service().nova
    nova.add_hosts(nova.ensure_aggregate('east', zone='east'), [server.host])


def _give_zones(cloud, **hosts):
    nova = cloud.as_service().nova
    for zone, names in hosts.items():
        nova.add_hosts(nova.ensure_aggregate(f'hosts of {zone}', zone=zone), names)


@pytest.fixture
def zoned(conf, manager):
    """Two hosts in each of two zones; all but the last one are lent, with two servers each."""
    cloud = clearings.lent_cloud(conf, manager)
    for each in cloud.servers():
        cloud.delete_server(each.id)
    _give_zones(cloud, az1=('c1', 'c2'), az2=('c3', 'c4'))
    for host in ('c1', 'c2', 'c3'):
        for number in range(2):
            cloud.boot('other', f'{host}-{number}', host=host, flavor='2')
    return cloud


def test_hosts_in_zones_are_cleared_within_their_zone_and_returned(manager, zoned):
    criteria = '["==", "$availability_zone", "az2"]'
    lease = clearings.cleared(manager, manager.book(
        builders.hosts(1, resource_properties=criteria), duration_seconds=clearings.HOUR,
        acquire=clearings.BEST_EFFORT))
    assert lease.state == lifecycle.ACTIVE, lease.reason
    own = acts.aggregate(manager, lease)
    assert (own.hosts, own.zone) == (('c3',), None)
    assert {host for _, host in clearings.servers(zoned).values()} == {'c1', 'c2', 'c4'}
    assert acts.nova(manager).hypervisor('c3').availability_zone == 'az2'
    lease = clearings.cleared(manager, manager.create(clearings.a_request(1)))
    [first] = acts.aggregate(manager, lease).hosts
    assert clearings.servers(zoned)[f'{first}-0'][1] in {'c1', 'c2'} - {first}
    manager.run_until(lease.end + clearings.seconds(5))
    assert acts.freepool(manager) == ()
    assert acts.nova(manager).aggregate('lent').hosts == ('c1', 'c2', 'c3')
    assert clearings.disabled(zoned) == {}


def _group(cloud, server):
    group = cloud.as_service().flavors.ensure_group('near', 'affinity')
    cloud.boot('other', 'near', {'group': group}, host=server.host, flavor='1')


def _pci(cloud, server):
    cloud.add_flavor('pci', 'pci', extra_specs={'pci_passthrough:alias': 'gpu:1'})
    cloud.boot('other', 'pci', host=server.host, flavor='pci')


def _own(cloud, server):
    cloud.boot('demo', 'mine', host=server.host, flavor='2')


@pytest.mark.parametrize('spoil, reason', thinning.few([
    (_own, 'is of the same project'), (_pin, 'is marked climate:pinned'),
    (_lease_it, 'is leased'), (_suspend, 'is SUSPENDED'),
    (_disable, 'a disk is broken'), (_put_down, 'service is down'),
    (_group, 'affinity'), (_pci, 'part of its host')], 4))
def test_another_host_is_chosen_and_where_there_is_none_it_says_why(
        manager, cloud, spoil, reason):
    spoil(cloud, clearings.by_name(cloud, 'c1-0'))
    lease = clearings.acquired(manager, manager.create(clearings.a_request()))
    assert acts.aggregate(manager, lease).hosts == ('c2', 'c3')
    before = clearings.servers(cloud), clearings.disabled(cloud), acts.everything(manager)
    manager.clock.advance(clearings.seconds(1))
    with pytest.raises(errors.NotEnough, match='c1 ') as caught:
        manager.create(clearings.a_request(1))
    assert reason in caught.value.message
    assert caught.value.kwargs['free'] == 0
    assert (clearings.servers(cloud), clearings.disabled(cloud), acts.everything(manager)) == before


def test_a_host_in_a_zone_stays_where_each_lease_has_one_of_its_own(manager, cloud, conf):
    conf.set_override('reservation_zone', 'always', group='nova')
    _zone(cloud, clearings.by_name(cloud, 'c1-0'))
    lease = clearings.cleared(manager, manager.create(clearings.a_request()))
    assert acts.aggregate(manager, lease).hosts == ('c2', 'c3')
    with pytest.raises(errors.NotEnough, match='into the zone east'):
        manager.create(clearings.a_request(1))


def test_no_host_is_touched_if_the_servers_fit_nowhere_else(manager, cloud):
    for number in range(3):
        cloud.boot('other', f'large-{number}', host='c4', flavor='4')
    cloud.change_host('c4', memory_mb=26 * 1024)
    before = clearings.servers(cloud), clearings.disabled(cloud), acts.everything(manager)
    with pytest.raises(errors.NotEnough, match='not enough capacity') as caught:
        manager.create(clearings.a_request(3))
    assert caught.value.kwargs['free'] == 2
    assert (clearings.servers(cloud), clearings.disabled(cloud), acts.everything(manager)) == before
    assert acts.nova(manager).aggregate('freepool') is None


def test_without_lent_hosts_there_is_nothing_to_clear(manager, cloud, conf):
    conf.set_override('lent_aggregate', '', group='acquire')
    with pytest.raises(errors.NotEnough, match='No other host is lent'):
        manager.create(clearings.a_request())


def test_enrolled_hosts_that_are_free_come_first_and_are_held(manager, cloud):
    manager.cloud.add_host('pooled')
    manager.client.create_resource(builders.an_admin(), 'host', 'pooled', {})
    manager.core.conf.set_override('migrate_seconds', 10, group='simulated')
    lease = manager.create(clearings.a_request())
    manager.run()
    with pytest.raises(errors.NotEnough):
        manager.book()
    lease = clearings.acquired(manager, lease)
    assert acts.aggregate(manager, lease).hosts == ('c1', 'pooled')
    manager.run_until(lease.end + clearings.seconds(5))
    assert acts.freepool(manager) == ('pooled',)


def test_a_dry_run_shows_the_plan_and_moves_nothing(manager, cloud):
    lease = manager.create(clearings.a_request(dry_run=True))
    plan = plans.from_json(lease.acquisition.plan)
    assert [host.name for host in plan.hosts] == ['c1', 'c2']
    assert all(move.target in ('c3', 'c4') for host in plan.hosts for move in host.moves)
    manager.run()
    assert not clearings.disabled(cloud)
    assert acts.everything(manager)['leases'] == []


def test_servers_of_any_size_go_only_where_there_is_room_for_all(manager, cloud):
    cloud.change_host('c3', memory_mb=3 * 2048 + 512)
    cloud.change_host('c4', memory_mb=3 * 2048 + 512)
    clearings.acquired(manager, manager.create(clearings.a_request()))
    placed = [host for _, host in clearings.servers(cloud).values()]
    assert (placed.count('c3'), placed.count('c4')) == (3, 3)


def test_stopped_servers_are_moved_confirmed_and_stay_stopped(manager, cloud):
    cloud.mark_server(clearings.by_name(cloud, 'c1-0').id, 'SHUTOFF')
    manager.core.conf.set_override('migrate_seconds', 5, group='simulated')
    clearings.acquired(manager, manager.create(clearings.a_request(3)))
    assert clearings.servers(cloud)['c1-0'] == ('SHUTOFF', 'c4')


def test_stopped_servers_stay_where_they_may_not_be_moved(manager, cloud, conf):
    conf.set_override('move_stopped', False, group='acquire')
    cloud.mark_server(clearings.by_name(cloud, 'c1-0').id, 'SHUTOFF')
    with pytest.raises(errors.NotEnough, match=r'c1 .server .* is stopped'):
        manager.create(clearings.a_request(3))


def test_no_more_servers_move_at_a_time_than_may(manager, cloud, conf):
    conf.set_override('parallel_moves', 3, group='acquire')
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(3))
    most = 0
    while manager.lease(lease).state == lifecycle.ACQUIRING:
        manager.run()
        moving = [each for each in cloud.servers() if each.task == 'migrating']
        most = max(most, len(moving))
        manager.clock.advance(clearings.seconds(1))
    assert most == 3
