# SPDX-License-Identifier: Apache-2.0
"""Idle leases: found, reported, and reclaimed unless they are in use."""

import pytest
import sqlalchemy as sa
from support import builders
from support import programs

from climate import errors
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.idle import detection
from climate.manager.idle import reclaim
from climate.manager.idle import rules

NOON, HOURS, MINUTES, SECONDS = (builders.NOON, builders.hours, builders.minutes, builders.seconds)
SAMPLED = 30


@pytest.fixture
def conf(conf):
    for name, value in {'sample_minutes': SAMPLED, 'idle_hours': 2, 'idle_grace_hours': 3,
                        'action': 'end'}.items():
        conf.set_override(name, value, group='idle')
    return conf


@pytest.fixture
def manager(manager):
    manager.enrol(4)
    return manager


def pass_hours(manager, hours, owner='this manager'):
    """Advance the clock; take samples, judge leases, and carry out events."""
    step = detection.IdleDetection(manager.core, owner).step
    until = manager.clock.now + HOURS(hours)
    step(manager.clock.now)
    while manager.clock.now < until:
        manager.run_until(min(until, manager.clock.now + MINUTES(SAMPLED)))
        step(manager.clock.now)
    manager.run()
    return manager


def running(manager, *reservations, end=48, **more):
    return manager.active(*reservations, end=NOON + HOURS(end), **more)


def boot(manager, lease, name='vm', flavor=None):
    [reservation] = lease.reservations
    hints = {} if flavor else {'reservation': reservation.id}
    return manager.cloud.boot('demo', name, hints, flavor=flavor and reservation.id)


def told(manager, start='lease.idle'):
    """The (event type, payload) of notifications that wait in the outbox."""
    with manager.database.reader() as connection:
        return [(row.event_type, row.payload) for row in connection.execute(
            sa.select(tables.OUTBOX).order_by(tables.OUTBOX.c.id))
            if row.event_type.startswith(start)]


def history(manager, lease):
    return [each.what for each in manager.client.lease_history(builders.a_member(), lease.id)]


def reclaim_of(manager, lease):
    return manager.lease(lease).event(event_kinds.RECLAIM)


def test_an_idle_lease_is_reported_once_and_ends_after_the_grace_time(manager):
    lease = running(manager)
    assert manager.lease(pass_hours(manager, 1) and lease).idle_since is None
    pass_hours(manager, 1.5)
    marked = manager.lease(lease)
    assert marked.idle_since == NOON
    assert marked.reclaim_at == NOON + HOURS(5)
    [(kind, payload)] = told(manager)
    assert kind == 'lease.idle'
    assert (payload['id'], payload['reclaim_at']) == (lease.id, '2030-05-01T17:00:00+00:00')
    pass_hours(manager, 2)
    assert len(told(manager)) == 1
    assert manager.lease(lease).state == lifecycle.ACTIVE

    pass_hours(manager, 1)
    over = manager.lease(lease)
    assert over.state == lifecycle.TERMINATED
    assert over.end == NOON + HOURS(5)
    assert (over.idle_since, over.reclaim_at) == (None, None)
    assert over.reason_text.owner == 'Nothing ran on it since 2030-05-01 12:00 UTC, so it ends now.'
    assert len(told(manager, 'lease.reclaim')) == 1
    nova = manager.cloud.as_service().nova
    assert len(nova.aggregate('freepool').hosts) == 4
    # Others get its host at once.
    manager.book(builders.hosts(4), start=None, end=NOON + HOURS(9))


def test_a_lease_is_idle_since_its_start_and_not_since_the_next_full_hour(manager):
    manager.run_until(NOON + MINUTES(25))
    lease = manager.active(end=NOON + HOURS(48), start=NOON + MINUTES(25))
    pass_hours(manager, 3)
    found = manager.lease(lease)
    assert found.idle_since == NOON + MINUTES(25)
    assert told(manager)[0][1]['idle_since'] == '2030-05-01T12:25:00+00:00'


@pytest.mark.parametrize(('minutes', 'since'), [(70, 90), (95, 120), (50, 60), (10, 30)])
def test_a_lease_is_idle_since_the_last_sample_in_which_something_ran(manager, minutes, since):
    lease = running(manager)
    server = boot(manager, lease)
    pass_hours(manager, minutes / 60)
    manager.cloud.delete_server(server.id)
    pass_hours(manager, 6 - minutes / 60)
    assert manager.lease(lease).idle_since == NOON + MINUTES(since)


def test_hours_without_samples_are_not_idle(manager):
    lease = running(manager)
    pass_hours(manager, 0.5)
    manager.run_until(NOON + HOURS(3))
    pass_hours(manager, 3)
    # A quarter of the time that is watched may lack samples, and no hour before it.
    assert manager.lease(lease).idle_since == NOON + HOURS(2)


def test_a_lease_in_use_is_not_idle(manager):
    lease = running(manager)
    boot(manager, lease)
    pass_hours(manager, 12)
    assert manager.lease(lease).idle_since is None
    assert told(manager) == []


def test_a_lease_that_is_used_again_is_not_idle_any_more(manager):
    lease = running(manager)
    pass_hours(manager, 3)
    boot(manager, lease)
    pass_hours(manager, 1)
    found = manager.lease(lease)
    assert (found.idle_since, found.reclaim_at) == (None, None)
    assert [kind for kind, _ in told(manager)] == ['lease.idle', 'lease.idle_over']
    pass_hours(manager, 6)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert reclaim_of(manager, lease).status == lifecycle.EVENT_DONE


def test_a_server_that_was_booted_after_the_last_sample_saves_the_lease(manager):
    lease = running(manager)
    pass_hours(manager, 4.5)
    manager.clock.now = NOON + HOURS(5) - MINUTES(1)
    server = boot(manager, lease)
    found = manager.expect(lease, lifecycle.ACTIVE, NOON + HOURS(5) + MINUTES(1))
    assert found.reclaim_at is None and found.task is None
    assert [each.id for each in manager.cloud.servers()] == [server.id]
    assert 'reclaim_lease' in history(manager, lease)
    assert boot(manager, lease, 'another')


@pytest.mark.parametrize('status', ['SHUTOFF', 'SUSPENDED', 'ERROR'])
def test_a_stopped_server_is_idle_but_its_lease_is_never_reclaimed(manager, status):
    lease = running(manager)
    server = boot(manager, lease)
    manager.clock.advance(MINUTES(1))
    manager.cloud.servers()
    manager.cloud.mark_server(server.id, status)
    pass_hours(manager, 4)
    assert manager.lease(lease).idle_since is not None
    pass_hours(manager, 12)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert [each.id for each in manager.cloud.servers()] == [server.id]


def test_a_server_without_a_host_yet_keeps_its_lease(manager):
    """One that the scheduler has let in has no host yet."""
    lease = running(manager)
    pass_hours(manager, 4.5)
    server = boot(manager, lease)
    with manager.cloud.state() as connection:
        connection.execute("UPDATE servers SET host = NULL, status = 'BUILD', task = 'scheduling'")
    manager.expect(lease, lifecycle.ACTIVE, NOON + HOURS(5) + MINUTES(1))
    assert [each.id for each in manager.cloud.servers()] == [server.id]


def test_a_lease_is_not_reclaimed_while_a_cell_does_not_answer(manager):
    lease = running(manager)
    pass_hours(manager, 4.5)
    boot(manager, lease)
    hosts = manager.cloud.as_service().nova.aggregate(lease.reservations[0].id).hosts
    manager.cloud.silence_cell(*hosts)
    manager.expect(lease, lifecycle.ACTIVE, NOON + HOURS(5) + MINUTES(1))
    assert len(manager.cloud.servers()) == 1


@pytest.mark.parametrize('call', ['nova.aggregate', 'nova.set_aggregate_metadata',
                                  'nova.servers_on', 'nova.servers'])
def test_a_failing_cloud_delays_a_reclaim_and_leaves_no_lease_closed(manager, call):
    lease = running(manager)
    pass_hours(manager, 4.5)
    manager.cloud.fail(call, 3, errors.CloudUnreachable(service='Nova', reason='away'))
    manager.run_until(NOON + HOURS(5) + MINUTES(2))
    found = manager.lease(lease)
    if found.state == lifecycle.ACTIVE:
        assert found.task is None
        assert boot(manager, lease)
    else:
        assert found.state == lifecycle.TERMINATED


def test_a_lease_closed_in_a_crash_is_reopened(manager):
    """The manager dies when the lease is closed; then its owner is exempted."""
    lease = running(manager)
    pass_hours(manager, 4.5)
    manager.clock.now = NOON + HOURS(5)

    def die(name, when):
        if (name, when) == ('nova.servers_on', 'after') and deaths:
            deaths.pop()
            raise KeyboardInterrupt()
    deaths = [1, 2]
    manager.cloud.faults.on_point = lambda name, when: die(name, when) if len(deaths) == 1 else (
        deaths.pop() if (name, when) == ('nova.servers_on', 'after') else None)
    with pytest.raises(KeyboardInterrupt):
        manager.run()
    manager.cloud.faults.on_point = None
    assert manager.lease(lease).task == 'reclaim'
    with pytest.raises(errors.Conflict):
        boot(manager, lease)
    exempt(manager, lease)
    manager.clock.advance(MINUTES(2))
    manager.run()
    found = manager.lease(lease)
    assert (found.state, found.task) == (lifecycle.ACTIVE, None)
    assert boot(manager, lease)


def exempt(manager, lease, exempted=True):
    return manager.client.update_lease(builders.an_admin(), lease.id, records.LeaseChanges(
        idle_exempt=exempted))


def test_exempt_leases_and_projects_are_never_idle(manager, conf):
    mine = running(manager, idle_exempt=True)
    pass_hours(manager, 8)
    assert manager.lease(mine).idle_since is None
    exempt(manager, mine, False)
    pass_hours(manager, 1)
    assert manager.lease(mine).idle_since is not None
    conf.set_override('exempt_projects', ['demo'], group='idle')
    pass_hours(manager, 12)
    assert manager.lease(mine).idle_since is None
    assert manager.lease(mine).state == lifecycle.ACTIVE


def test_a_lease_that_is_exempted_loses_its_marks_at_once(manager):
    lease = running(manager)
    pass_hours(manager, 3)
    exempt(manager, lease)
    found = manager.lease(lease)
    assert (found.idle_exempt, found.idle_since, found.reclaim_at) == (True, None, None)
    pass_hours(manager, 12)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert 'exempt from idle' in history(manager, lease)


def test_an_idle_lease_is_only_reported_by_default(manager, conf):
    conf.clear_override('action', group='idle')
    lease = running(manager)
    pass_hours(manager, 12)
    found = manager.lease(lease)
    assert found.idle_since == NOON and found.reclaim_at is None
    assert reclaim_of(manager, lease) is None
    assert len(told(manager)) == 1


def test_idle_hosts_are_reclaimed_down_to_the_requested_minimum(manager, conf):
    conf.set_override('action', 'shrink', group='idle')
    conf.set_override('idle_percent', 50, group='idle')
    lease = running(manager, builders.hosts(1, 4))
    server = boot(manager, lease)
    assert len(lease.reservations[0].resource_ids) == 4
    pass_hours(manager, 6)
    found = manager.lease(lease)
    [reservation] = found.reservations
    assert found.state == lifecycle.ACTIVE
    assert (reservation.request['min'], reservation.request['max']) == (1, 1)
    assert manager.cloud.as_service().nova.aggregate(reservation.id).hosts == (server.host,)
    assert len(manager.cloud.as_service().nova.aggregate('freepool').hosts) == 3
    assert boot(manager, found, 'two').host == server.host
    with manager.database.reader() as connection:
        held = connection.execute(sa.select(tables.RESOURCES.c.name).where(
            tables.RESOURCES.c.held_by == reservation.id)).scalars().all()
    assert held == [server.hypervisor or server.host]
    # Others get them.
    running(manager, builders.hosts(3), start=None)


def test_a_lease_keeps_its_minimum_of_hosts(manager, conf):
    conf.set_override('action', 'shrink', group='idle')
    lease = running(manager, builders.hosts(2, 4))
    pass_hours(manager, 12)
    assert len(manager.lease(lease).reservations[0].resource_ids) == 2
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert len([kind for kind, _ in told(manager)]) == 1


def test_a_host_with_a_new_server_is_not_reclaimed(manager, conf):
    conf.set_override('action', 'shrink', group='idle')
    lease = running(manager, builders.hosts(1, 2))
    pass_hours(manager, 4.5)
    server = boot(manager, lease)
    manager.run_until(NOON + HOURS(5) + MINUTES(1))
    [reservation] = manager.lease(lease).reservations
    assert [each.id for each in manager.cloud.servers()] == [server.id]
    assert server.host in manager.cloud.as_service().nova.aggregate(reservation.id).hosts


def test_idle_capacity_is_ended(manager):
    lease = running(manager, builders.instances(2, affinity=False))
    pass_hours(manager, 6)
    assert manager.lease(lease).state == lifecycle.TERMINATED


def test_capacity_with_a_server_booted_late_is_reopened(manager):
    lease = running(manager, builders.instances(2, affinity=False))
    pass_hours(manager, 4.5)
    boot(manager, lease, flavor=True)
    manager.expect(lease, lifecycle.ACTIVE, NOON + HOURS(5) + MINUTES(1))
    assert boot(manager, lease, 'two', flavor=True)


def test_a_lease_that_is_being_changed_is_not_reclaimed(manager):
    lease = running(manager, builders.hosts(2))
    pass_hours(manager, 4.5)
    manager.clock.now = NOON + HOURS(5) - SECONDS(1)
    manager.cloud.faults.fail('nova.add_host', 1, errors.CloudError(
        service='Nova', reason='no'))
    [reservation] = lease.reservations
    manager.client.swap_resource(builders.a_member(), lease.id, str(reservation.resource_ids[0]))
    manager.run()
    assert manager.lease(lease).reclaim_at == NOON + HOURS(5)
    manager.clock.now = NOON + HOURS(5)
    manager.run()
    # The change is tried again in a second.
    waiting = manager.lease(lease)
    assert (waiting.task, waiting.reclaim_at) == ('update', None)
    manager.run_until(NOON + HOURS(5.5))
    found = manager.lease(lease)
    assert (found.state, found.task, found.end) == (lifecycle.ACTIVE, None, lease.end)
    assert len(manager.cloud.as_service().nova.aggregate(reservation.id).hosts) == 2


def test_a_lease_whose_end_passes_during_the_reclaim_ends_then(manager, monkeypatch):
    lease = running(manager, end=5.001)
    pass_hours(manager, 4.5)
    carry_out = reclaim.Reclaim.carry_out

    def slowly(*arguments):
        outcome = carry_out(*arguments)
        monkeypatch.undo()
        manager.clock.now = lease.end + MINUTES(1)
        return outcome
    monkeypatch.setattr(reclaim.Reclaim, 'carry_out', slowly)
    manager.run_until(NOON + HOURS(6))
    over = manager.lease(lease)
    assert (over.state, over.end) == (lifecycle.TERMINATED, lease.end)


def test_a_lease_that_cannot_be_closed_is_only_reported(manager):
    manager.client.create_resource(builders.an_admin(), 'backend', 'storage@ssd#ssd', {})
    lease = running(manager, records.ReservationRequest(
        'virtual:volume', {'size_gb': 10, 'amount': 1, 'on_end': 'delete'}))
    pass_hours(manager, 12)
    found = manager.lease(lease)
    assert (found.state, found.reclaim_at) == (lifecycle.ACTIVE, None)
    assert found.idle_since is not None


def test_a_type_that_measures_nothing_is_never_idle(manager):
    lease = running(manager, records.ReservationRequest('virtual:dummy', {}))
    pass_hours(manager, 12)
    assert manager.lease(lease).idle_since is None


def test_a_lease_with_too_few_samples_is_not_idle(manager):
    lease = running(manager)
    manager.cloud.fail('nova.services', 99, errors.CloudUnreachable(
        service='Nova', reason='away'))
    pass_hours(manager, 12)
    assert manager.lease(lease).idle_since is None


def test_two_managers_report_and_reclaim_an_idle_lease_once(manager):
    lease = running(manager)
    one, two = (detection.IdleDetection(manager.core, name) for name in ('one', 'two'))
    for half in range(13):
        manager.run_until(NOON + MINUTES(SAMPLED * half))
        for each in (one, two):
            each.step(manager.clock())
            each.judge(manager.clock())
    manager.run()
    assert len(told(manager)) == 1
    assert len(told(manager, 'lease.reclaim')) == 1
    assert manager.lease(lease).state == lifecycle.TERMINATED


@pytest.mark.proof
def test_owners_get_a_summary_once_a_week(manager, conf):
    conf.set_override('action', 'none', group='idle')
    lease, other = running(manager, end=999), running(manager, end=999)
    pass_hours(manager, 24 * 8)
    found = told(manager, 'project.idle_summary')
    # The first week began with nothing to tell: Wednesday; the next one on Monday.
    assert [payload['week'] for _, payload in found] == ['2030-05-06T00:00:00+00:00']
    [(_, payload)] = found
    assert (payload['project_id'], payload['user_id']) == ('demo', 'demo')
    assert {each['id'] for each in payload['leases']} == {lease.id, other.id}


def test_an_owner_may_delete_a_lease_before_its_reclaim(manager):
    lease = running(manager)
    pass_hours(manager, 4.5)
    manager.delete(lease)
    pass_hours(manager, 2)
    assert manager.cloud.aggregates()[0].name == 'freepool'
    assert told(manager, 'lease.reclaim') == []


def test_samples_must_be_kept_as_long_as_leases_are_watched(conf):
    for name, value in (('sample_minutes', 5), ('keep_days', 1), ('idle_hours', 25)):
        conf.set_override(name, value, group='idle')
    with pytest.raises(errors.ConfigurationError, match='keep_days'):
        rules.check(conf)


@pytest.mark.parametrize('name, value', [('idle_hours', -1), ('idle_percent', 101),
                                         ('action', 'delete'), ('sample_minutes', 61),
                                         ('idle_grace_hours', -2)])
def test_invalid_options_of_idle_are_refused_by_name(tmp_path, name, value):
    file = builders.on_files(tmp_path, f'[idle]\n{name} = {value}\n')
    status, _out, err = programs.run('climate-manager', '--config-file', file)
    assert status == 1
    assert name in err
