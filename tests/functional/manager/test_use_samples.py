# SPDX-License-Identifier: Apache-2.0
"""Samples of use: what is counted as used of each type, once for each slot."""
import datetime

import pytest
from support import builders
from support import db_rows

from climate import errors
from climate.cloud.simulated import neutron
from climate.db import managers
from climate.db import migrate
from climate.db import use_samples
from climate.domain import records
from climate.domain import use_sampling
from climate.manager.idle import sampler

NOON, HOURS, MINUTES = builders.NOON, builders.hours, builders.minutes


@pytest.fixture
def manager(conf, manager):
    conf.set_override('sample_minutes', 10, group='idle')
    return manager


def sample(manager, owner='this manager'):
    return sampler.Sampler(manager.core, owner).step(manager.clock())


def running(manager, *reservations, end=48):
    return manager.active(*reservations, end=NOON + HOURS(end))


def shares(manager, lease, place=0):
    """The share in use of each resource of a reservation, by its latest hour, in order."""
    samples = in_hours(manager, lease, place)
    return [round(each.used_seconds / each.seconds, 3) for _, _, _, each in samples]


def in_hours(manager, lease, place=0):
    with manager.database.reader() as connection:
        return use_samples.by_hour(connection, [lease.reservations[place].id],
                                   NOON - HOURS(1), NOON + HOURS(99))


def test_a_host_is_used_by_the_vcpus_of_the_servers_that_run_on_it(manager):
    manager.enrol(2)
    manager.cloud.add_flavor('four', 'four', vcpus=4)
    lease = running(manager, builders.hosts(2))
    server = manager.cloud.boot('demo', 'one', {'reservation': lease.reservations[0].id},
                                flavor='four')
    capacity = manager.cloud.as_service().nova.hypervisors()[0].vcpus
    assert sample(manager) == 2
    assert sorted(shares(manager, lease)) == [0.0, round(4 / capacity, 3)]
    idle = sorted(each.idle_seconds for _, _, _, each in in_hours(manager, lease))
    assert idle == [0, 600]

    manager.cloud.mark_server(server.id, 'SHUTOFF')
    manager.clock.now = NOON + HOURS(1)
    sample(manager)
    assert [each.idle_seconds for _, _, hour, each in in_hours(manager, lease)
            if hour == NOON + HOURS(1)] == [600, 600]


@pytest.mark.parametrize('kind, request_', [
    ('flavor:instance', {'flavor_id': '2', 'amount': 4, 'affinity': None}),
    ('virtual:instance', {'vcpus': 1, 'memory_mb': 1024, 'disk_gb': 1, 'amount': 4,
                          'affinity': True})])
def test_capacity_is_used_by_its_running_servers(manager, kind, request_):
    manager.enrol(1)
    lease = running(manager, records.ReservationRequest(kind, request_))
    [mine] = lease.reservations
    manager.cloud.boot('demo', 'one', flavor=mine.id)
    sample(manager)
    assert shares(manager, lease) == [0.25]


def test_a_leased_server_is_used_while_it_runs(manager):
    manager.enrol(1)
    server = manager.cloud.boot('demo', 'mine', flavor='1')
    lease = running(manager, records.ReservationRequest(
        'virtual:instance', {'resource_id': server.id}))
    sample(manager)
    assert shares(manager, lease) == [1.0]
    manager.cloud.mark_server(server.id, 'SHUTOFF')
    manager.clock.advance(HOURS(1))
    sample(manager)
    assert shares(manager, lease) == [1.0, 0.0]


def test_volume_capacity_is_used_by_attached_volumes(manager):
    manager.client.create_resource(builders.an_admin(), 'backend', 'storage@ssd#ssd', {})
    lease = running(manager, records.ReservationRequest(
        'virtual:volume', {'size_gb': 10, 'amount': 2}))
    sample(manager)
    assert shares(manager, lease) == [0.0]
    server = manager.cloud.boot('demo', 'one')
    trust = manager.cloud.as_service().keystone.create_trust(builders.a_member())
    [one, _] = lease.reservations[0].binding['volume_ids']
    manager.cloud.as_user(trust.id).attachments.attach_volume(server.id, one)
    manager.clock.advance(HOURS(1))
    sample(manager)
    assert shares(manager, lease) == [0.0, 0.5]


def test_an_address_is_used_while_it_points_to_a_port(manager):
    manager.client.create_resources(builders.an_admin(), 'address', '172.24.4.210-172.24.4.211',
                                    {}, {'network_id': neutron.PUBLIC})
    lease = running(manager, records.ReservationRequest('virtual:floatingip', {
        'network_id': neutron.PUBLIC, 'amount': 2, 'required_floatingips': []}))
    first = manager.cloud.as_service().floating_ips.every()[0]
    manager.cloud.network.associate(first.address, 'a-port')
    sample(manager)
    assert sorted(shares(manager, lease)) == [0.0, 1.0]


def test_a_network_is_used_while_the_project_has_a_port_on_it(manager):
    manager.client.create_resources(builders.an_admin(), 'segment', 'physnet1:vlan:3000-3001',
                                    {}, {})
    lease = running(manager, records.ReservationRequest('virtual:network', {}))
    sample(manager)
    assert shares(manager, lease) == [0.0]
    network_id = lease.reservations[0].binding['network_id']
    server = manager.cloud.boot('demo', 'one')
    manager.cloud.network.add_port(network_id, '10.0.0.9', 'demo', device_id=server.id)
    manager.clock.advance(HOURS(1))
    sample(manager)
    assert shares(manager, lease) == [0.0, 1.0]


def test_slots_add_up_within_the_hour(manager):
    manager.enrol(1)
    lease = running(manager)
    for minute in (0, 4, 11, 19, 25):
        manager.clock.now = NOON + MINUTES(minute)
        sample(manager)
    [(_, _, hour, one)] = in_hours(manager, lease)
    assert (hour, one) == (NOON, use_sampling.Sample(1800, 1800, 0.0))


def test_managers_count_a_slot_once(manager):
    manager.enrol(1)
    lease = running(manager)
    first, second = (sampler.Sampler(manager.core, name) for name in ('one', 'two'))
    # The second one reads the cloud while the first one writes.
    looked = second._measured(manager.clock())
    assert first.step(manager.clock()) == 1
    assert second._write(use_sampling.slot_of(manager.clock(), 10), looked) is None
    assert [each.seconds for _, _, _, each in in_hours(manager, lease)] == [600]


def test_the_cloud_is_called_by_the_eldest_manager_alone(manager):
    manager.enrol(1)
    running(manager)
    with manager.database.writer() as connection:
        managers.seen(connection, 'old', 'here', NOON - HOURS(2), NOON, 0)
        managers.seen(connection, 'young', 'there', NOON - HOURS(1), NOON, 0)
    assert sample(manager, 'young') is None
    assert sample(manager, 'old') == 1


def test_a_crash_while_samples_are_written_loses_the_slot_at_most(manager, monkeypatch):
    manager.enrol(1)
    lease = running(manager)

    def crash(*_):
        raise KeyboardInterrupt()
    with monkeypatch.context() as patched:
        patched.setattr(use_samples, 'delete', crash)
        with pytest.raises(KeyboardInterrupt):
            sample(manager)
    assert in_hours(manager, lease) == []
    assert sample(manager) == 1
    assert [each.seconds for _, _, _, each in in_hours(manager, lease)] == [600]


def test_a_service_that_does_not_answer_gives_no_sample(manager):
    manager.enrol(1)
    manager.client.create_resource(builders.an_admin(), 'backend', 'storage@ssd#ssd', {})
    hosts = running(manager)
    room = running(manager, records.ReservationRequest(
        'virtual:volume', {'size_gb': 10, 'amount': 1}))
    manager.cloud.fail('cinder.volumes', 1, errors.CloudUnreachable(
        service='Cinder', reason='it is down'))
    assert sample(manager) == 1
    assert shares(manager, hosts) == [0.0]
    assert in_hours(manager, room) == []


def test_a_host_whose_cell_does_not_answer_gives_no_sample(manager):
    manager.enrol(2)
    lease = running(manager, builders.hosts(2))
    known = manager.cloud.as_service().nova.aggregate(lease.reservations[0].id).hosts
    manager.cloud.silence_cell(known[0])
    assert sample(manager) == 1


def test_a_lease_is_sampled_only_while_it_runs(manager):
    manager.enrol(2)
    over = running(manager, end=1)
    manager.book(start=NOON + HOURS(5), end=NOON + HOURS(6))
    manager.run_until(NOON + HOURS(2))
    assert sample(manager) == 0
    assert in_hours(manager, over) == []


def test_the_calls_do_not_grow_with_the_leases(manager, monkeypatch):
    made = []
    monkeypatch.setattr(manager.cloud.faults, 'refuse', made.append)

    def calls():
        made.clear()
        sample(manager)
        return list(made)
    manager.enrol(4)
    running(manager)
    few = calls()
    for _ in range(3):
        running(manager)
    manager.clock.advance(MINUTES(10))
    assert calls() == few


def test_old_samples_are_purged_by_time_and_by_command(manager, conf, database):
    conf.set_override('keep_days', 2, group='idle')
    manager.enrol(1)
    lease = running(manager, end=24 * 10)
    for day in range(4):
        manager.clock.now = NOON + HOURS(24 * day)
        sample(manager)
    with database.reader() as connection:
        kept = {hour for _, _, hour, _ in use_samples.by_hour(
            connection, [lease.reservations[0].id], NOON, NOON + HOURS(999))}
    assert kept == {NOON + datetime.timedelta(days=day) for day in (1, 2, 3)}
    db_rows.closed(database, NOON + HOURS(60))
    migrate.purge(database, NOON + HOURS(60))
    with database.reader() as connection:
        assert len(use_samples.since(connection, NOON)) == 1
        assert use_samples.by_hour(connection, [lease.reservations[0].id], NOON,
                                   NOON + HOURS(60)) == []
