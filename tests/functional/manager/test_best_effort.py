# SPDX-License-Identifier: Apache-2.0
"""Hosts are cleared of other people's servers for a best-effort lease, and given back after it."""
import datetime
import itertools
import os

import acts
import builders
import pytest

from climate import errors
from climate.db import resources
from climate.domain import hunt
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import audit as auditing
from climate.manager import repairs

NOON, hours = builders.NOON, builders.hours
BEST_EFFORT = records.Acquire('best-effort')
HOUR = 3600
# Of the fault points of a hunt, so that the processes are killed at one of so many.
STRIDE = int(os.environ.get('CLIMATE_TEST_STRIDE', '17'))


def seconds(count):
    return datetime.timedelta(seconds=count)


@pytest.fixture
def lend(manager, conf):
    """callable(*names): hosts of the cloud are lent to best effort."""
    def build(*names):
        conf.set_override('lent_aggregate', 'lent', group='acquire')
        nova = acts.nova(manager)
        nova.add_hosts(nova.ensure_aggregate('lent'), names)
    return build


@pytest.fixture
def cloud(conf, manager, lend):
    """Four alike hosts: c1 to c3 are lent and have two servers of others each, c4 is free."""
    for name in list(manager.cloud.host_names()):
        manager.cloud.remove_host(name)
    for number in range(1, 5):
        manager.cloud.add_host(f'c{number}')
    lend('c1', 'c2', 'c3')
    for host in ('c1', 'c2', 'c3'):
        for number in range(2):
            manager.cloud.boot('other', f'{host}-{number}', host=host, flavor='2')
    return manager.cloud


def a_request(least=2, acquire=BEST_EFFORT, **more):
    return builders.a_lease(builders.hosts(least), duration_seconds=HOUR, acquire=acquire, **more)


def servers(cloud):
    """{name: (status, host)} of all servers."""
    return {each.name: (each.status, each.host) for each in cloud.servers()}


def fences(cloud):
    """{service host: why it is disabled}."""
    return {each.host: each.reason for each in cloud.as_service().computes.every()
            if not each.enabled}


def by_name(cloud, name):
    [found] = [each for each in cloud.servers() if each.name == name]
    return found


def hunted(manager, lease, within=100, step=1):
    """The lease after the clock ran until it was acquired, or given up."""
    until = manager.clock() + seconds(within)
    while manager.clock() < until:
        manager.run()
        found = manager.lease(lease)
        if found.state not in (lifecycle.ACQUIRING, lifecycle.PENDING):
            return found
        manager.clock.advance(seconds(step))
    return manager.lease(lease)


def test_two_hosts_are_cleared_leased_and_given_back(manager, cloud):
    before = {each.id for each in cloud.servers()}
    lease = manager.create(a_request())
    assert lease.state == lifecycle.ACQUIRING
    assert not fences(cloud)
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    mine = acts.aggregate(manager, lease).hosts
    assert set(mine) < {'c1', 'c2', 'c3'}
    assert len(mine) == 2
    assert {each.id for each in cloud.servers()} == before
    assert {host for status, host in servers(cloud).values()} == {'c1', 'c2', 'c3', 'c4'} - set(
        mine)
    assert {status for status, host in servers(cloud).values()} == {'ACTIVE'}
    assert fences(cloud) == {}
    assert cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id}).host in mine
    with pytest.raises(errors.Conflict):
        cloud.boot('other', 'not mine', host=mine[0])
    manager.run_until(lease.end + seconds(5))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert acts.freepool(manager) == ()
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.nova(manager).aggregate('lent').hosts == ('c1', 'c2', 'c3')
    cloud.boot('other', 'theirs again', host=mine[0])


def test_the_history_tells_every_fence_and_every_move(manager, cloud):
    lease = hunted(manager, manager.create(a_request()))
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
    cloud.delete_server(by_name(cloud, f'{server.host}-1').id)
    cloud.delete_server(server.id)
    nova = cloud.as_service().nova
    nova.add_hosts(nova.ensure_aggregate('east', zone='east'), [server.host])


def _group(cloud, server):
    group = cloud.as_service().flavors.ensure_group('near', 'affinity')
    cloud.boot('other', 'near', {'group': group}, host=server.host, flavor='1')


def _pci(cloud, server):
    cloud.add_flavor('pci', 'pci', extra_specs={'pci_passthrough:alias': 'gpu:1'})
    cloud.boot('other', 'pci', host=server.host, flavor='pci')


@pytest.mark.parametrize('spoil, reason', [
    (_pin, 'is marked climate:pinned'), (_lease_it, 'is leased'), (_suspend, 'is SUSPENDED'),
    (_disable, 'a disk is broken'), (_put_down, 'service is down'), (_zone, 'in the zone east'),
    (_group, 'affinity'), (_pci, 'part of its host')])
def test_another_host_is_chosen_and_where_there_is_none_it_says_why(
        manager, cloud, spoil, reason):
    spoil(cloud, by_name(cloud, 'c1-0'))
    lease = hunted(manager, manager.create(a_request()))
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert acts.aggregate(manager, lease).hosts == ('c2', 'c3')
    before = servers(cloud), fences(cloud), acts.everything(manager)
    manager.clock.advance(seconds(1))
    with pytest.raises(errors.NotEnough, match='c1 ') as caught:
        manager.create(a_request(1))
    assert reason in caught.value.message
    assert caught.value.kwargs['free'] == 0
    assert (servers(cloud), fences(cloud), acts.everything(manager)) == before


def test_where_the_others_have_no_room_nothing_is_touched(manager, cloud):
    for number in range(3):
        cloud.boot('other', f'large-{number}', host='c4', flavor='4')
    cloud.change_host('c4', memory_mb=26 * 1024)
    before = servers(cloud), fences(cloud), acts.everything(manager)
    with pytest.raises(errors.NotEnough, match='no room') as caught:
        manager.create(a_request(3))
    assert caught.value.kwargs['free'] == 2
    assert (servers(cloud), fences(cloud), acts.everything(manager)) == before
    assert acts.nova(manager).aggregate('freepool') is None


def test_without_lent_hosts_there_is_nothing_to_clear(manager, cloud, conf):
    conf.set_override('lent_aggregate', '', group='acquire')
    with pytest.raises(errors.NotEnough, match='no other host is lent'):
        manager.create(a_request())


def test_enrolled_hosts_that_are_free_come_first_and_are_held(manager, cloud):
    manager.cloud.add_host('pooled')
    manager.client.create_resource(builders.an_admin(), 'host', 'pooled', {})
    manager.core.conf.set_override('migrate_seconds', 10, group='simulated')
    lease = manager.create(a_request())
    manager.run()
    with pytest.raises(errors.NotEnough):
        manager.create(builders.a_lease())
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert acts.aggregate(manager, lease).hosts == ('c1', 'pooled')
    manager.run_until(lease.end + seconds(5))
    assert acts.freepool(manager) == ('pooled',)


def test_a_dry_run_shows_the_plan_and_moves_nothing(manager, cloud):
    lease = manager.create(a_request(dry_run=True))
    plan = hunt.from_json(lease.acquisition.plan)
    assert [host.name for host in plan.hosts] == ['c1', 'c2']
    assert all(move.target in ('c3', 'c4') for host in plan.hosts for move in host.moves)
    manager.run()
    assert not fences(cloud)
    assert acts.everything(manager)['leases'] == []


def test_servers_of_any_size_go_only_where_there_is_room_for_all(manager, cloud):
    cloud.change_host('c3', memory_mb=3 * 2048 + 512)
    cloud.change_host('c4', memory_mb=3 * 2048 + 512)
    lease = hunted(manager, manager.create(a_request()))
    assert lease.state == lifecycle.ACTIVE, lease.reason
    placed = [host for _, host in servers(cloud).values()]
    assert (placed.count('c3'), placed.count('c4')) == (3, 3)


def test_stopped_servers_are_moved_confirmed_and_stay_stopped(manager, cloud):
    cloud.mark_server(by_name(cloud, 'c1-0').id, 'SHUTOFF')
    manager.core.conf.set_override('migrate_seconds', 5, group='simulated')
    lease = hunted(manager, manager.create(a_request(3)))
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert servers(cloud)['c1-0'] == ('SHUTOFF', 'c4')


def test_stopped_servers_stay_where_they_may_not_be_moved(manager, cloud, conf):
    conf.set_override('move_stopped', False, group='acquire')
    cloud.mark_server(by_name(cloud, 'c1-0').id, 'SHUTOFF')
    with pytest.raises(errors.NotEnough, match=r'c1 .server .* is stopped'):
        manager.create(a_request(3))


def test_no_more_servers_move_at_a_time_than_may(manager, cloud, conf):
    conf.set_override('parallel_moves', 3, group='acquire')
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(a_request(3))
    most = 0
    while manager.lease(lease).state == lifecycle.ACQUIRING:
        manager.run()
        moving = [each for each in cloud.servers() if each.task == 'migrating']
        most = max(most, len(moving))
        manager.clock.advance(seconds(1))
    assert most == 3


def test_when_its_time_is_over_all_is_undone_and_every_server_runs(manager, cloud, conf):
    conf.set_override('migrate_seconds', 60, group='simulated')
    before = {each.id for each in cloud.servers()}
    lease = manager.create(a_request(acquire=records.Acquire('best-effort', timeout_seconds=30)))
    manager.run()
    assert len(fences(cloud)) == 2
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.TIMEDOUT
    assert '0 of 2 hosts were cleared, and 0 of 4 instances moved' in lease.reason
    assert fences(cloud) == {}
    manager.run_until(manager.clock() + seconds(120))
    assert {each.id for each in cloud.servers()} == before
    assert {status for status, _ in servers(cloud).values()} == {'ACTIVE'}
    assert acts.freepool(manager) == () if acts.nova(manager).aggregate('freepool') else True
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert 'timedout' in ''.join(acts.news(manager))


def test_a_stopped_server_on_its_way_is_confirmed_before_it_is_over(manager, cloud, conf):
    for name in servers(cloud):
        cloud.mark_server(by_name(cloud, name).id, 'SHUTOFF')
    conf.set_override('migrate_seconds', 60, group='simulated')
    lease = manager.create(a_request(acquire=records.Acquire('best-effort', timeout_seconds=30)))
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.TIMEDOUT
    assert {status for status, _ in servers(cloud).values()} == {'SHUTOFF'}
    assert fences(cloud) == {}


def test_a_lease_that_is_deleted_meanwhile_leaves_nothing(manager, cloud, conf):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(a_request())
    for _ in range(3):
        manager.run()
        manager.clock.advance(seconds(1))
    assert fences(cloud)
    acts.delete(manager, lease)
    manager.run_until(manager.clock() + seconds(60))
    assert manager.lease(lease).deleted_at is not None
    assert fences(cloud) == {}
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.trusts(manager) == []


def test_a_move_that_fails_goes_to_another_target(manager, cloud):
    cloud.spoil_moves('c4')
    lease = hunted(manager, manager.create(a_request(1)))
    assert lease.state == lifecycle.ACTIVE, lease.reason
    [mine] = acts.aggregate(manager, lease).hosts
    assert {host for name, (_, host) in servers(cloud).items() if name.startswith(mine)} <= {
        'c2', 'c3'}
    assert 'move failed' in acts.history(manager, lease)


def test_a_host_whose_servers_go_nowhere_is_given_up_for_another(manager, cloud):
    cloud.add_flavor('big', 'big', ram=40 * 1024)
    cloud.delete_server(by_name(cloud, 'c1-0').id)
    cloud.delete_server(by_name(cloud, 'c1-1').id)
    cloud.boot('other', 'big', host='c1', flavor='big')
    cloud.change_host('c2', memory_mb=30 * 1024)
    cloud.change_host('c3', memory_mb=30 * 1024)
    # The one server of c1 fits on c4 alone, and does not come there.
    cloud.spoil_moves('c4')
    lease = manager.create(a_request(1))
    assert [host['name'] for host in lease.acquisition.plan['hosts']] == ['c1']
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert acts.aggregate(manager, lease).hosts[0] in ('c2', 'c3')
    assert servers(cloud)['big'] == ('ACTIVE', 'c1')
    assert fences(cloud) == {}
    assert 'host given up' in acts.history(manager, lease)


def test_a_server_that_is_suspended_on_the_way_spoils_its_host_alone(manager, cloud, conf):
    conf.set_override('parallel_moves', 1, group='acquire')
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(a_request(1))
    manager.run()
    [host] = fences(cloud)
    manager.clock.advance(seconds(1))
    manager.run()
    [waiting] = [each for each in cloud.servers() if each.host == host and each.task is None]
    cloud.mark_server(waiting.id, 'SUSPENDED')
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert host not in acts.aggregate(manager, lease).hosts
    assert fences(cloud) == {}


@pytest.mark.parametrize('reason', ['a disk is broken', None])
def test_what_an_administrator_disables_stays_disabled(manager, cloud, conf, reason):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(a_request(1))
    manager.run()
    [host] = fences(cloud)
    cloud.mark_host(host, enabled=False, reason=reason)
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert host not in acts.aggregate(manager, lease).hosts
    assert fences(cloud) == {host: reason}


def test_a_host_that_an_administrator_enables_is_his_again(manager, cloud, conf):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(a_request(1))
    for _ in range(2):
        manager.run()
        manager.clock.advance(seconds(1))
    [host] = fences(cloud)
    cloud.mark_host(host, enabled=True)
    manager.run()
    assert fences(cloud).get(host) is None
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason


def test_a_server_that_is_deleted_needs_no_move(manager, cloud, conf):
    conf.set_override('parallel_moves', 1, group='acquire')
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(a_request(1))
    manager.run()
    [host] = fences(cloud)
    cloud.delete_server(by_name(cloud, f'{host}-1').id)
    lease = hunted(manager, lease)
    assert acts.aggregate(manager, lease).hosts == (host,)
    assert 'server gone' in acts.history(manager, lease)


def test_a_trait_that_was_lost_does_not_bar_the_host_for_the_lease(manager, cloud):
    lease = manager.create(a_request(1))
    manager.run()
    cloud.lose_traits(2)
    lease = hunted(manager, lease)
    [host] = acts.aggregate(manager, lease).hosts
    assert cloud.as_service().computes.BARRED not in cloud.as_service().placement.traits(host)
    cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id})


def test_two_that_hunt_at_the_same_time_do_not_get_the_same_hosts(manager, cloud):
    one, two = manager.create(a_request(1)), manager.create(a_request(1))
    one, two = hunted(manager, one), hunted(manager, two)
    assert [one.state, two.state] == [lifecycle.ACTIVE] * 2, (one.reason, two.reason)
    assert acts.aggregate(manager, one).hosts != acts.aggregate(manager, two).hosts
    assert fences(cloud) == {}


def test_each_reservation_gets_hosts_that_meet_its_criteria(manager, cloud):
    cloud.change_host('c3', vcpus=32)
    lease = manager.create(builders.a_lease(
        builders.hosts(1), builders.hosts(1, criteria='[">=", "$vcpus", "32"]'),
        duration_seconds=HOUR, acquire=BEST_EFFORT))
    lease = hunted(manager, lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert acts.aggregate(manager, lease, 1).hosts == ('c3',)
    assert acts.aggregate(manager, lease, 0).hosts == ('c1',)
    with pytest.raises(errors.NotEnough, match=r'c2 .it does not meet the criteria'):
        manager.create(builders.a_lease(
            builders.hosts(1, criteria='[">=", "$vcpus", "64"]'), duration_seconds=HOUR,
            acquire=BEST_EFFORT))


class Killed(BaseException):
    """Stands for the end of the process at that moment."""


def _killed_at(cloud, number, work):
    """Whether `work` came to the fault point of that number, at which the process was killed.

    What it had claimed is taken over when the time of its claim is over.
    """
    count = itertools.count(1)

    def on_point(name, when):
        if next(count) == number:
            raise Killed()
    cloud.faults.on_point = on_point
    try:
        work()
    except Killed:
        return True
    finally:
        cloud.faults.on_point = None
    return False


def _spread_again(manager, cloud):
    """Put the servers back to where they were at first."""
    manager.clock.advance(seconds(10))
    manager.core.conf.set_override('migrate_seconds', 0, group='simulated')
    for each in cloud.servers():
        if each.host != each.name[:2]:
            cloud.as_service().servers.migrate(each.id, each.name[:2])
            if each.status == 'SHUTOFF':
                cloud.as_service().servers.migrate(each.id)
    manager.core.conf.set_override('migrate_seconds', 2, group='simulated')


def _is_whole(manager, cloud, before):
    """Nothing of a hunt is left but what its lease has."""
    assert fences(cloud) == {}
    assert not [each for each in cloud.host_names() if cloud.as_service().computes.BARRED
                in cloud.as_service().placement.traits(each)]
    assert {each.id for each in cloud.servers()} == before
    assert {status for status, _ in servers(cloud).values()} == {'ACTIVE', 'SHUTOFF'}


@pytest.mark.parametrize('seconds_given', [600, 3])
def test_a_hunt_that_is_killed_anywhere_is_carried_on_or_undone(
        manager, cloud, conf, seconds_given):
    conf.set_override('parallel_moves', 2, group='acquire')
    conf.set_override('migrate_seconds', 2, group='simulated')
    cloud.mark_server(by_name(cloud, 'c1-0').id, 'SHUTOFF')
    before = {each.id for each in cloud.servers()}
    number, was_killed = 1, True
    while was_killed:
        lease = manager.create(a_request(acquire=records.Acquire(
            'best-effort', timeout_seconds=seconds_given)))
        was_killed = _killed_at(cloud, number, lambda lease=lease: hunted(manager, lease))
        manager.clock.advance(seconds(60))
        lease = hunted(manager, lease)
        assert lease.state == (lifecycle.ACTIVE if seconds_given > 60 else lifecycle.TIMEDOUT), (
            number, lease.reason)
        _is_whole(manager, cloud, before)
        if lease.state == lifecycle.ACTIVE:
            mine = acts.aggregate(manager, lease).hosts
            assert len(mine) == 2
            assert not set(mine) & {host for _, host in servers(cloud).values()}
            acts.delete(manager, lease)
        manager.run_until(manager.clock() + seconds(10))
        assert manager.client.list_resources(builders.an_admin(), 'host') == [], number
        assert acts.nova(manager).aggregate('freepool') is None or not acts.freepool(manager)
        _spread_again(manager, cloud)
        number += STRIDE
    assert number > 60


def _drifts(manager):
    found = auditing.Auditor(manager.core).look()
    return [(each.kind, each.what) for each in found], found


def test_an_audit_takes_down_a_fence_that_no_lease_needs(manager, cloud):
    lease = manager.create(a_request(1))
    computes = cloud.as_service().computes
    computes.fence('c1', hunt.fence_of(lease.id))
    cloud.mark_host('c2', enabled=False, reason='a disk is broken')
    assert _drifts(manager)[0] == []
    computes.unfence('c1', hunt.fence_of(lease.id))
    lease = hunted(manager, lease)
    assert fences(cloud) == {'c2': 'a disk is broken'}
    computes.fence('c4', hunt.fence_of(lease.id))
    told, found = _drifts(manager)
    assert told == [('fence', 'service of c4')]
    assert repairs.Repairs(manager.core).make(found) == {found[0]: None}
    assert fences(cloud) == {'c2': 'a disk is broken'}
    assert _drifts(manager)[0] == []


def test_an_audit_gives_back_a_host_that_is_lent_to_nobody(manager, cloud):
    lease = hunted(manager, manager.create(a_request(1)))
    cloud.add_host('c5')
    host = manager.client.create_resource(builders.an_admin(), 'host', 'c5', {})
    with manager.database.writer() as connection:
        resources.change(connection, host.id, NOON, lent_to=lease.reservations[0].id)
    assert _drifts(manager)[0] == []
    acts.delete(manager, lease)
    manager.run()
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    host = manager.client.create_resource(builders.an_admin(), 'host', 'c5', {})
    with manager.database.writer() as connection:
        resources.change(connection, host.id, NOON, lent_to=lease.reservations[0].id)
    told, found = _drifts(manager)
    assert told == [('lent', 'host c5')]
    assert repairs.Repairs(manager.core).make(found) == {found[0]: None}
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.freepool(manager) == ()
