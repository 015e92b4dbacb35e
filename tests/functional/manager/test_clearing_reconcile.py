# SPDX-License-Identifier: Apache-2.0
"""Host clearing that meets trouble finds another way, or undoes what it did."""
import dataclasses
import itertools

import acts
import clearings
import pytest
from support import builders
from support import cloud_points

from climate import errors
from climate.db import resources
from climate.domain import lifecycle
from climate.domain.clearing import plans
from climate.manager.clearing import plan_store


def test_a_timed_out_clearing_is_undone_and_every_server_runs(manager, cloud, conf):
    conf.set_override('migrate_seconds', 60, group='simulated')
    before = {each.id for each in cloud.servers()}
    lease = manager.create(clearings.a_request(acquire=clearings.HALF_A_MINUTE))
    manager.run()
    assert len(clearings.disabled(cloud)) == 2
    lease = clearings.cleared(manager, lease)
    assert lease.state == lifecycle.TIMEDOUT
    assert '0 of 2 hosts were cleared, and 0 of 4 instances moved' in lease.reason
    assert clearings.disabled(cloud) == {}
    manager.run_until(manager.clock() + clearings.seconds(120))
    assert {each.id for each in cloud.servers()} == before
    assert {status for status, _ in clearings.servers(cloud).values()} == {'ACTIVE'}
    assert acts.freepool(manager) == () if acts.nova(manager).aggregate('freepool') else True
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert 'timedout' in ''.join(acts.news(manager))


@pytest.mark.proof
def test_a_stopped_server_on_its_way_is_confirmed_before_it_is_over(manager, cloud, conf):
    for name in clearings.servers(cloud):
        cloud.mark_server(clearings.by_name(cloud, name).id, 'SHUTOFF')
    conf.set_override('migrate_seconds', 60, group='simulated')
    lease = manager.create(clearings.a_request(acquire=clearings.HALF_A_MINUTE))
    lease = clearings.cleared(manager, lease)
    assert lease.state == lifecycle.TIMEDOUT
    assert {status for status, _ in clearings.servers(cloud).values()} == {'SHUTOFF'}
    assert clearings.disabled(cloud) == {}


def test_a_lease_that_is_deleted_meanwhile_leaves_nothing(manager, cloud, conf):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request())
    for _ in range(3):
        manager.run()
        manager.clock.advance(clearings.seconds(1))
    assert clearings.disabled(cloud)
    manager.delete(lease)
    manager.run_until(manager.clock() + clearings.seconds(60))
    assert manager.lease(lease).deleted_at is not None
    assert clearings.disabled(cloud) == {}
    assert manager.client.list_resources(builders.an_admin(), 'host') == []
    assert acts.trusts(manager) == []


def test_a_move_that_fails_goes_to_another_target(manager, cloud):
    cloud.spoil_moves('c4')
    lease = clearings.acquired(manager, manager.create(clearings.a_request(1)))
    [mine] = acts.aggregate(manager, lease).hosts
    assert {host for name, (_, host) in clearings.servers(cloud).items()
            if name.startswith(mine)} <= {'c2', 'c3'}
    assert 'move failed' in acts.history(manager, lease)


def test_a_host_whose_servers_go_nowhere_is_given_up_for_another(manager, cloud):
    cloud.add_flavor('big', 'big', ram=40 * 1024)
    cloud.delete_server(clearings.by_name(cloud, 'c1-0').id)
    cloud.delete_server(clearings.by_name(cloud, 'c1-1').id)
    cloud.boot('other', 'big', host='c1', flavor='big')
    cloud.change_host('c2', memory_mb=30 * 1024)
    cloud.change_host('c3', memory_mb=30 * 1024)
    # The one server of c1 fits on c4 alone, and does not come there.
    cloud.spoil_moves('c4')
    lease = manager.create(clearings.a_request(1))
    assert [host['name'] for host in lease.acquisition.plan['hosts']] == ['c1']
    lease = clearings.acquired(manager, lease)
    assert acts.aggregate(manager, lease).hosts[0] in ('c2', 'c3')
    assert clearings.servers(cloud)['big'] == ('ACTIVE', 'c1')
    assert clearings.disabled(cloud) == {}
    assert 'host given up' in acts.history(manager, lease)


@pytest.mark.usefixtures('polls_each_second')
def test_a_server_that_is_suspended_on_the_way_spoils_its_host_alone(manager, cloud, conf):
    conf.set_override('parallel_moves', 1, group='acquire')
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(1))
    manager.run()
    [host] = clearings.disabled(cloud)
    manager.clock.advance(clearings.seconds(1))
    manager.run()
    [waiting] = [each for each in cloud.servers() if each.host == host and each.task is None]
    cloud.mark_server(waiting.id, 'SUSPENDED')
    lease = clearings.acquired(manager, lease)
    assert host not in acts.aggregate(manager, lease).hosts
    assert clearings.disabled(cloud) == {}


@pytest.mark.parametrize('reason', ['a disk is broken', None])
def test_a_host_that_an_administrator_disables_stays_disabled(manager, cloud, conf, reason):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(1))
    manager.run()
    [host] = clearings.disabled(cloud)
    cloud.mark_host(host, enabled=False, reason=reason)
    lease = clearings.acquired(manager, lease)
    assert host not in acts.aggregate(manager, lease).hosts
    assert clearings.disabled(cloud) == {host: reason}


def test_a_host_whose_cell_did_not_answer_for_a_while_is_enabled_again(manager, cloud, conf):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(1))
    manager.run()
    [host] = clearings.disabled(cloud)
    cloud.silence_cell(host)
    lease = clearings.acquired(manager, lease)
    assert host not in acts.aggregate(manager, lease).hosts
    cloud.silence_cell()
    manager.run_until(manager.clock() + builders.minutes(2))
    assert clearings.disabled(cloud) == {}


def _no_plan(manager, lease):
    """Return the reasons why there was no plan for a lease."""
    return [line.why for line in manager.client.lease_history(builders.an_admin(), lease.id)
            if line.what == plans.NO_PLAN]


@pytest.mark.parametrize('steps', [1, 2])
def test_a_host_that_an_administrator_enables_is_his_again(manager, cloud, conf, steps):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(1))
    for _ in range(steps):
        manager.run()
        manager.clock.advance(clearings.seconds(1))
    [host] = clearings.disabled(cloud)
    cloud.mark_host(host, enabled=True)
    lease = clearings.acquired(manager, lease)
    assert host not in acts.aggregate(manager, lease).hosts
    assert f'host {host}: somebody has enabled it' in [
        line.why for line in manager.client.lease_history(builders.an_admin(), lease.id)]
    assert clearings.disabled(cloud) == {}


def test_without_the_host_that_an_administrator_enables_it_says_what_is_missing(
        manager, cloud, conf):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(3))
    manager.run()
    cloud.mark_host('c2', enabled=True)
    lease = clearings.cleared(manager, lease, within=30)
    assert lease.state == lifecycle.ACQUIRING
    assert 'Only 2 of 3 hosts can be acquired now.' in lease.reason
    assert 'c2' not in clearings.disabled(cloud)
    for why in _no_plan(manager, lease):
        assert 'c2 (somebody has enabled it)' in why
        assert 'criteria' not in why


@pytest.mark.proof
def test_a_host_to_which_servers_are_on_their_way_is_not_cleared(manager, cloud, conf):
    conf.set_override('parallel_moves', 1, group='acquire')
    conf.set_override('migrate_seconds', 30, group='simulated')
    cloud.remove_host('c4')
    # The servers of c1 go to c2, which would be the next to be cleared too.
    cloud.change_host('c3', memory_mb=32 * 1024)
    lease = manager.create(clearings.a_request(1))
    while not any(each.task for each in cloud.servers()):
        manager.run()
        manager.clock.advance(clearings.seconds(1))
    [waiting] = [each for each in cloud.servers() if each.host == 'c1' and each.task is None]
    cloud.mark_server(waiting.id, 'SUSPENDED')
    lease = clearings.acquired(manager, lease)
    assert acts.aggregate(manager, lease).hosts == ('c3',)


def test_a_server_that_is_deleted_needs_no_move(manager, cloud, conf):
    conf.set_override('parallel_moves', 1, group='acquire')
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(1))
    manager.run()
    [host] = clearings.disabled(cloud)
    cloud.delete_server(clearings.by_name(cloud, f'{host}-1').id)
    lease = clearings.cleared(manager, lease)
    assert acts.aggregate(manager, lease).hosts == (host,)
    assert 'server gone' in acts.history(manager, lease)


def test_a_trait_that_was_lost_does_not_bar_the_host_for_the_lease(manager, cloud):
    lease = manager.create(clearings.a_request(1))
    manager.run()
    cloud.lose_traits(2)
    lease = clearings.cleared(manager, lease)
    [host] = acts.aggregate(manager, lease).hosts
    assert cloud.as_service().computes.BARRED not in cloud.as_service().placement.traits(host)
    cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id})


def test_two_that_hunt_at_the_same_time_do_not_get_the_same_hosts(manager, cloud):
    one, two = manager.create(clearings.a_request(1)), manager.create(clearings.a_request(1))
    one, two = clearings.cleared(manager, one), clearings.cleared(manager, two)
    assert [one.state, two.state] == [lifecycle.ACTIVE] * 2, (one.reason, two.reason)
    assert acts.aggregate(manager, one).hosts != acts.aggregate(manager, two).hosts
    assert clearings.disabled(cloud) == {}


def test_each_reservation_gets_hosts_that_meet_its_criteria(manager, cloud):
    cloud.change_host('c3', vcpus=32)
    lease = manager.book(
        builders.hosts(1), builders.hosts(1, criteria='[">=", "$vcpus", "32"]'),
        duration_seconds=clearings.HOUR, acquire=clearings.BEST_EFFORT)
    lease = clearings.acquired(manager, lease)
    assert acts.aggregate(manager, lease, 1).hosts == ('c3',)
    assert acts.aggregate(manager, lease, 0).hosts == ('c1',)
    with pytest.raises(errors.NotEnough, match=r'c2 .it does not meet the criteria'):
        manager.book(
            builders.hosts(1, criteria='[">=", "$vcpus", "64"]'), duration_seconds=clearings.HOUR,
            acquire=clearings.BEST_EFFORT)


@pytest.mark.proof
def test_a_hunt_that_cannot_go_on_says_why_and_goes_on_when_it_can(manager, cloud, conf):
    conf.set_override('parallel_moves', 1, group='acquire')
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(3))
    manager.run()
    manager.clock.advance(clearings.seconds(1))
    manager.run()
    waiting = clearings.by_name(cloud, 'c3-1')
    cloud.mark_server(waiting.id, 'SUSPENDED')
    lease = clearings.cleared(manager, lease, within=40)
    assert lease.state == lifecycle.ACQUIRING
    assert 'Only 2 of 3 hosts can be acquired now.' in lease.reason
    assert f'server {waiting.id} is SUSPENDED' in _no_plan(manager, lease)[0]
    cloud.mark_server(waiting.id, 'ACTIVE')
    lease = clearings.acquired(manager, lease)
    assert clearings.disabled(cloud) == {}


@pytest.mark.proof
def test_servers_that_are_busy_do_not_keep_others_from_leaving(manager, cloud, conf):
    conf.set_override('parallel_moves', 1, group='acquire')
    lease = manager.create(clearings.a_request(1))
    [host] = plans.from_json(lease.acquisition.plan).hosts
    first, second = [move.server_id for move in host.moves]
    conf.set_override('image_seconds', 1000, group='simulated')
    cloud.as_service().servers.create_image(first, 'a', 'b')
    lease = clearings.cleared(manager, lease, within=20)
    places = {each.id: each.host for each in cloud.servers()}
    assert places[first] == host.service_host
    assert places[second] != host.service_host
    lease = clearings.acquired(manager, lease, within=plans.BUSY_SECONDS + 30)
    assert acts.aggregate(manager, lease).hosts != (host.service_host,)


def test_a_host_is_not_given_up_because_one_of_its_servers_is_busy_for_a_moment(
        manager, cloud, conf):
    lease = manager.create(clearings.a_request(1))
    [host] = plans.from_json(lease.acquisition.plan).hosts
    first, second = host.moves
    conf.set_override('image_seconds', 20, group='simulated')
    cloud.as_service().servers.create_image(first.server_id, 'a', 'b')
    cloud.spoil_moves(second.target)
    lease = clearings.acquired(manager, lease)
    assert acts.aggregate(manager, lease).hosts == (host.service_host,)


def test_a_server_that_is_stopped_at_the_moment_of_its_move_is_confirmed_there(manager, cloud):
    lease = manager.create(clearings.a_request(1))
    [host] = plans.from_json(lease.acquisition.plan).hosts

    def stop_it():
        for move in host.moves:
            cloud.mark_server(move.server_id, 'SHUTOFF')
    cloud_points.once_at(cloud, 'nova.migrate', stop_it)
    lease = clearings.acquired(manager, lease)
    assert acts.aggregate(manager, lease).hosts == (host.service_host,)
    assert [each.status for each in cloud.servers()
            if each.name.startswith(host.name)] == ['SHUTOFF'] * 2


@pytest.mark.proof
def test_while_nothing_changes_it_looks_for_hosts_less_and_less_often(manager, cloud, conf):
    conf.set_override('migrate_seconds', 5, group='simulated')
    lease = manager.create(clearings.a_request(3))
    manager.run()
    waiting = clearings.by_name(cloud, 'c3-1')
    cloud.mark_server(waiting.id, 'SUSPENDED')
    clearings.cleared(manager, lease, within=20)
    looks = []
    cloud.faults.on_point = lambda name, when: looks.append(manager.clock()) if (
        (name, when) == ('nova.aggregates', 'before')) else None
    lease = clearings.cleared(manager, lease, within=200)
    assert lease.state == lifecycle.ACQUIRING
    assert 5 <= len(looks) <= 12
    pauses = {(two - one).seconds for one, two in itertools.pairwise(looks)}
    assert max(pauses) == plans.LONGEST_LOOK_SECONDS
    assert 'Only 2 of 3 hosts can be acquired now.' in lease.reason
    assert len(_no_plan(manager, lease)) < 5
    # What is enrolled is found at once, without another look.
    del looks[:]
    cloud.add_host('pooled')
    manager.client.create_resource(builders.an_admin(), 'host', 'pooled', {})
    lease = clearings.acquired(manager, lease, within=10)


def test_other_reservations_of_a_best_effort_must_fit_without_clearing(manager, cloud):
    def ask(vcpus):
        return manager.book(
            builders.hosts(1), builders.instances(vcpus=vcpus),
            duration_seconds=clearings.HOUR, acquire=clearings.BEST_EFFORT)
    with pytest.raises(errors.NotEnough):
        ask(1)
    cloud.add_host('pooled', vcpus=2)
    manager.client.create_resource(builders.an_admin(), 'host', 'pooled', {})
    with pytest.raises(errors.NotEnough):
        ask(100)
    lease = clearings.acquired(manager, ask(1))
    # The two share out what is there between them.
    names = {each.id: each.name
             for each in manager.client.list_resources(builders.an_admin(), 'host')}
    assert {names[key] for each in lease.reservations for key in each.resource_ids} == {
        'c1', 'pooled'}


def test_a_deletion_that_was_given_up_enables_services_when_it_is_ordered_again(
        manager, cloud, conf):
    conf.set_override('migrate_seconds', 600, group='simulated')
    lease = manager.create(clearings.a_request())
    manager.run()
    assert len(clearings.disabled(cloud)) == 2
    cloud.fail('nova.enable_service', 999, errors.CloudError(service='Nova', reason='no'))
    manager.delete(lease)
    manager.expect(lease, lifecycle.ERROR, manager.clock() + builders.minutes(10))
    cloud.fail('nova.enable_service', 0, None)
    manager.delete(lease)
    manager.run_until(manager.clock() + builders.minutes(10))
    assert manager.lease(lease).deleted_at is not None
    assert clearings.disabled(cloud) == {}


def test_news_tell_nothing_of_the_servers_of_others(manager, cloud):
    lease = clearings.acquired(manager, manager.create(clearings.a_request()))
    told = acts.news_as_text(manager)
    assert lease.id in told
    assert not [each.id for each in cloud.servers() if each.id in told]


def test_a_host_that_somebody_else_has_enrolled_is_lost_and_the_others_of_that_write_are_not(
        manager, cloud):
    lease = manager.create(clearings.a_request())
    before = plans.from_json(lease.acquisition.plan)
    assert {host.name for host in before.hosts} == {'c1', 'c2'}
    after = dataclasses.replace(before, hosts=tuple(
        dataclasses.replace(host, state=plans.ENROLLING, moves=()) for host in before.hosts))
    with manager.database.writer() as connection:
        resources.add(connection, 'host', 'c1', {}, manager.clock())
    written = plan_store.PlanStore(manager.core).write(lease, before, after, manager.clock())
    found = {host.name: host for host in written.hosts}
    assert (found['c1'].state, found['c1'].why) == (plans.DROPPED, 'somebody has enrolled it')
    assert (found['c2'].state, found['c2'].why) == (plans.ENROLLING, None)
    assert found['c2'].resource_id is not None
