# SPDX-License-Identifier: Apache-2.0
"""Maintenance: leases move, owners are notified, and Nova starts no server there meanwhile."""
import acts
import pytest
from support import builders
from support import thinning

from climate import errors
from climate.db import journal
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.manager.health import checks
from climate.manager.maintenance import windows
from climate.manager.notifications import fan_out

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN = builders.an_admin()


def _plan(manager, *names, start=10, end=14, **more):
    return manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'host', NOON + hours(start), NOON + hours(end), 'new firmware', resources=names, **more))


def _lease(manager, start=11, length=2, count=1):
    return manager.book(
        builders.hosts(count), start=NOON + hours(start), end=NOON + hours(start + length))


def _now(manager, length=20):
    lease = manager.book(builders.hosts(1), end=NOON + hours(length))
    manager.run()
    return manager.lease(lease)


@pytest.fixture
def carry_on(manager):
    """callable(hours after noon): do what a manager does periodically, at that moment."""
    found = windows.Windows(manager.core, 'this manager')

    def at(moment=None):
        if moment is not None:
            manager.run_until(NOON + hours(moment))
        found.carry_on(manager.clock())
        manager.run()
    return at


def _has(manager, lease):
    return set(manager.lease(lease).reservations[0].resource_ids)


def _compute(manager, host):
    [found] = manager.cloud.as_service().computes.of_hosts([host.name])
    return found


def _what(found):
    return {each.lease_id: each.what for each in found.affected}


def test_future_leases_move_and_new_ones_avoid_a_maintenance(manager):
    first, second = manager.enrol(2)
    lease, other = _lease(manager), _lease(manager, start=20)
    assert _has(manager, lease) == {first.id}
    found = _plan(manager, first.name)
    assert _what(found) == {lease.id: maintenance_windows.MOVES}
    assert _has(manager, lease) == {second.id}
    assert 'moved' in acts.history(manager, lease)
    assert _has(manager, other) == {first.id}
    with pytest.raises(errors.NotEnough):
        _lease(manager, start=9, length=2, count=2)
    assert _has(manager, _lease(manager, start=8, length=2, count=2)) == {first.id, second.id}
    assert _has(manager, _lease(manager, start=14, length=2, count=2)) == {first.id, second.id}


def test_a_preview_says_which_leases_move_and_which_cannot_and_changes_nothing(manager):
    first, second, _ = manager.enrol(3)
    one, two = _lease(manager), _lease(manager)
    assert _has(manager, one) | _has(manager, two) == {first.id, second.id}
    found = _plan(manager, first.name, second.name, dry_run=True)
    assert sorted(_what(found).values()) == [maintenance_windows.MOVES, maintenance_windows.STUCK]
    [stuck] = [each for each in found.affected if each.what == maintenance_windows.STUCK]
    assert 'free' in stuck.why
    assert _has(manager, one) | _has(manager, two) == {first.id, second.id}
    assert manager.client.list_maintenances(ADMIN) == []


def test_the_owner_of_a_lease_that_cannot_move_is_notified_once(manager, carry_on):
    [host] = manager.enrol(1)
    lease = _lease(manager)
    assert _what(_plan(manager, host.name)) == {lease.id: maintenance_windows.STUCK}
    for _ in range(3):
        carry_on()
    assert acts.history(manager, lease).count('maintenance') == 1
    fan_out.fan_out(manager.core, manager.clock())
    with manager.database.writer() as connection:
        sent = [(name, payload) for _, name, payload in journal.unsent(
            connection, 'a test', manager.clock(), manager.clock(), 100)]
    [payload] = [payload for name, payload in sent if name == 'lease.maintenance']
    assert 'new firmware' in payload['reason']
    assert payload['reason'].startswith('1 of its resources has maintenance from ')
    assert host.name not in payload['reason']


def test_a_lease_moves_as_soon_as_a_resource_is_free(manager, carry_on):
    first, second = manager.enrol(2)
    lease, other = _lease(manager), _lease(manager)
    mine = _has(manager, lease)
    _plan(manager, first.name if mine == {first.id} else second.name)
    assert _has(manager, lease) == mine
    manager.delete(other)
    carry_on()
    assert _has(manager, lease) != mine
    with pytest.raises(errors.NotEnough):
        _lease(manager)


def test_nova_starts_no_server_on_a_host_during_its_maintenance(manager, carry_on):
    first, second = manager.enrol(2)
    found = _plan(manager, first.name)
    carry_on(9.9)
    assert _compute(manager, first).enabled
    carry_on(10)
    assert not _compute(manager, first).enabled
    reason = _compute(manager, first).reason
    assert reason.startswith(f'climate: maintenance {found.id}, ')
    assert manager.client.get_maintenance(ADMIN, found.id).reason == found.reason
    assert _compute(manager, second).enabled
    # What is being maintained is not sick.
    health_checks = checks.HealthChecks(manager.core, 'this manager')
    for _ in range(10):
        health_checks.check(manager.clock.advance(builders.seconds(30)))
    shown = manager.client.get_resource(ADMIN, 'host', first.id)
    assert shown.verdict.state == health.WELL
    assert [each.state for each in shown.maintenances] == [maintenance_windows.RUNNING]
    carry_on(14)
    assert _compute(manager, first).enabled
    assert manager.client.list_maintenances(ADMIN) == []
    assert manager.client.get_resource(ADMIN, 'host', first.id).maintenances == ()
    assert len(_has(manager, _lease(manager, start=15, count=2))) == 2


def test_a_host_that_an_earlier_release_disabled_is_enabled_after_the_upgrade(manager, carry_on):
    [host] = manager.enrol(1)
    found = _plan(manager, host.name)
    carry_on(10)
    manager.cloud.mark_host(host.name, enabled=False,
                            reason=f'climate: maintenance {found.windows[0].id}')
    carry_on(14)
    assert _compute(manager, host).enabled


def test_a_host_that_an_administrator_disabled_is_left_alone(manager, carry_on):
    [host] = manager.enrol(1)
    _plan(manager, host.name)
    manager.cloud.mark_host(host.name, enabled=False, reason='mine')
    carry_on(10)
    carry_on(14)
    assert (_compute(manager, host).enabled, _compute(manager, host).reason) == (False, 'mine')


def test_the_end_of_one_maintenance_does_not_open_hosts_of_another(
        manager, carry_on):
    [host] = manager.enrol(1)
    _plan(manager, host.name, start=10, end=12)
    _plan(manager, host.name, start=11, end=14)
    carry_on(10)
    carry_on(11)
    carry_on(12)
    carry_on(12.1)
    assert not _compute(manager, host).enabled
    carry_on(14)
    assert _compute(manager, host).enabled
    assert manager.client.list_maintenances(ADMIN) == []


@pytest.mark.parametrize(('mode', 'what'), [
    (maintenance_windows.LEFT, maintenance_windows.STAYS),
    (maintenance_windows.SWAP, maintenance_windows.ASKED)])
def test_a_running_lease_stays_and_its_owner_is_notified(manager, carry_on, mode, what):
    first, _ = manager.enrol(2)
    lease = _now(manager)
    assert _what(_plan(manager, first.name, running=mode)) == {lease.id: what}
    carry_on(10)
    assert _has(manager, lease) == {first.id}
    assert acts.history(manager, lease).count('maintenance') == 1
    assert manager.lease(lease).end == NOON + hours(20)


def test_a_swap_makes_way_for_maintenance_without_a_quarantine(manager, carry_on):
    first, second = manager.enrol(2)
    lease = _now(manager)
    _plan(manager, first.name, running=maintenance_windows.SWAP)
    manager.client.swap_resource(builders.a_member(), lease.id, first.name)
    carry_on()
    assert _has(manager, lease) == {second.id}
    assert manager.client.get_resource(ADMIN, 'host', first.id).verdict.state == health.WELL
    assert _has(manager, _lease(manager, start=2, length=8)) == {first.id}
    with pytest.raises(errors.NotEnough):
        _lease(manager, start=10, length=1)


def test_a_running_lease_ends_with_notice(manager, carry_on):
    first, _ = manager.enrol(2)
    lease = _now(manager)
    found = _plan(manager, first.name, running=maintenance_windows.END, notice_minutes=60)
    assert _what(found) == {lease.id: maintenance_windows.ENDS}
    assert manager.lease(lease).end == NOON + hours(10)
    for _ in range(3):
        carry_on()
    assert acts.history(manager, lease).count('maintenance') == 1
    carry_on(10)
    assert manager.lease(lease).state == lifecycle.TERMINATED


def test_a_notice_is_never_shorter_than_announced(manager):
    first, _ = manager.enrol(2)
    lease = _now(manager)
    _plan(manager, first.name, start=1, end=5, running=maintenance_windows.END, notice_minutes=120)
    assert manager.lease(lease).end == NOON + hours(2)


def test_a_lease_does_not_end_after_the_maintenance_for_which_it_would_end(manager, carry_on):
    first, _ = manager.enrol(2)
    lease = _now(manager)
    found = _plan(manager, first.name, start=1, end=2, running=maintenance_windows.END,
                  notice_minutes=120)
    assert _what(found) == {lease.id: maintenance_windows.STAYS}
    for moment in (0.5, 1, 2):
        carry_on(moment)
    assert (manager.lease(lease).state, manager.lease(lease).end) == (
        lifecycle.ACTIVE, NOON + hours(20))
    assert acts.history(manager, lease).count('maintenance') == 1


def test_a_lease_ends_before_the_first_window_for_which_the_notice_is_early_enough(
        manager, carry_on):
    first, _ = manager.enrol(2)
    lease = _now(manager, length=100)
    found = _plan(manager, first.name, start=1, end=2, running=maintenance_windows.END,
                  notice_minutes=24 * 60, rule='FREQ=DAILY;COUNT=3')
    assert _what(found) == {lease.id: maintenance_windows.ENDS}
    for _ in range(3):
        carry_on()
    assert manager.lease(lease).end == NOON + hours(25)
    carry_on(25)
    assert manager.lease(lease).state == lifecycle.TERMINATED


@pytest.mark.parametrize('leave', ['end', 'delete', 'shrink'])
def test_a_host_that_a_lease_leaves_early_is_not_leased_into_its_maintenance(manager, leave):
    first, second = manager.enrol(2)
    lease = manager.active(builders.hosts(1, 2), end=NOON + hours(20))
    _plan(manager, second.name)
    manager.clock.advance(minutes(1))
    if leave == 'shrink':
        manager.change_reservation(lease, max=1)
    elif leave == 'end':
        manager.change(lease, end_now=True)
    else:
        manager.delete(lease)
    manager.run()
    # Before the maintenance is carried on.
    with pytest.raises(errors.NotEnough):
        manager.book(builders.hosts(2), end=NOON + hours(11))
    if leave != 'shrink':
        assert _has(manager, manager.book(end=NOON + hours(11))) == {first.id}
    assert _has(manager, manager.book(end=NOON + hours(9))) == {second.id}


def test_a_lease_is_not_prolonged_into_a_maintenance(manager):
    [host] = manager.enrol(1)
    lease = _now(manager, length=5)
    _plan(manager, host.name)
    with pytest.raises(errors.NotEnough) as caught:
        manager.change(lease, end=NOON + hours(11))
    assert 'have maintenance from 2030-05-01 22:00:00' in caught.value.owner_message
    assert 'new firmware' in caught.value.owner_message
    assert manager.change(lease, end=NOON + hours(10)).end == NOON + hours(10)


def test_a_deleted_maintenance_is_undone(manager, carry_on):
    first, second = manager.enrol(2)
    found = _plan(manager, first.name)
    carry_on(11)
    assert not _compute(manager, first).enabled
    manager.client.delete_maintenance(ADMIN, found.id)
    assert manager.client.get_maintenance(ADMIN, found.id).closing
    carry_on()
    assert _compute(manager, first).enabled
    with pytest.raises(errors.MaintenanceNotFound):
        manager.client.get_maintenance(ADMIN, found.id)
    assert _has(manager, _lease(manager, start=12, count=2)) == {first.id, second.id}


def test_a_host_that_is_withdrawn_meanwhile_is_enabled_again(manager, carry_on):
    [host] = manager.enrol(1)
    _plan(manager, host.name)
    carry_on(10)
    assert not _compute(manager, host).enabled
    manager.client.delete_resource(ADMIN, 'host', host.id)
    carry_on(14)
    assert _compute(manager, host).enabled
    assert manager.client.list_maintenances(ADMIN) == []


def test_a_window_without_any_manager_leaves_hosts_open(manager, carry_on):
    [host] = manager.enrol(1)
    _plan(manager, host.name)
    carry_on(20)
    assert _compute(manager, host).enabled
    assert manager.client.list_maintenances(ADMIN) == []


def test_a_window_is_retried_after_an_error_of_the_cloud(manager, carry_on):
    first, second = manager.enrol(2)
    _plan(manager, first.name, second.name)
    manager.cloud.fail('nova.disable_service', 1, acts.NO)
    carry_on(10)
    carry_on(10.1)
    assert not _compute(manager, first).enabled
    assert not _compute(manager, second).enabled
    manager.cloud.fail('nova.enable_service', 1, acts.NO)
    carry_on(14)
    carry_on(14.1)
    assert _compute(manager, first).enabled
    assert _compute(manager, second).enabled


def test_recurring_windows_are_added_as_time_passes(conf, manager, carry_on):
    conf.set_override('recurring_days', 15, group='health')
    [host] = manager.enrol(1)
    found = _plan(manager, host.name, rule='FREQ=WEEKLY')
    assert [each.start for each in found.windows] == [
        NOON + hours(10 + 168 * week) for week in range(3)]
    with pytest.raises(errors.NotEnough):
        _lease(manager, start=168 + 11)
    carry_on(168)
    carry_on()
    [again] = manager.client.list_maintenances(ADMIN)
    assert [each.start for each in again.windows] == [
        NOON + hours(10 + 168 * week) for week in range(1, 4)]
    with pytest.raises(errors.NotEnough):
        _lease(manager, start=3 * 168 + 11)


def test_a_rule_that_ends_is_over_after_its_last_window(manager, carry_on):
    [host] = manager.enrol(1)
    found = _plan(manager, host.name, rule='FREQ=DAILY;COUNT=2')
    assert len(found.windows) == 2
    assert found.rule == 'FREQ=DAILY;COUNT=2'
    carry_on(15)
    assert len(manager.client.list_maintenances(ADMIN)) == 1
    carry_on(40)
    carry_on()
    assert manager.client.list_maintenances(ADMIN) == []


@pytest.mark.parametrize(('rule', 'words'), thinning.few([
    ('FREQ=HOURLY', 'FREQ must be one of'), ('weekly', 'is not a part of a rule'),
    ('FREQ=WEEKLY;BYDAY=XX', 'is not a rule'), ('FREQ=WEEKLY;BYDAY=SU', 'first occurrence'),
    ('FREQ=DAILY;COUNT=2;UNTIL=20300601', 'give one of them'),
    ('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'first occurrence'),
    ('FREQ=DAILY;COUNT=x', 'COUNT must be'), ('FREQ=DAILY;BYHOUR=1,2', 'BYHOUR'),
    ('FREQ=DAILY;UNTIL=soon', 'UNTIL must be'), ('FREQ=DAILY;INTERVAL=0', 'INTERVAL must be')], 5))
def test_a_rule_that_cannot_be_used_is_refused_with_the_reason(manager, rule, words):
    [host] = manager.enrol(1)
    with pytest.raises(errors.BadField) as caught:
        _plan(manager, host.name, rule=rule)
    assert words in caught.value.message
    assert caught.value.kwargs['field'] == 'rrule'


def test_windows_that_overlap_are_refused(manager):
    [host] = manager.enrol(1)
    with pytest.raises(errors.BadField, match='overlap'):
        _plan(manager, host.name, start=10, end=40, rule='FREQ=DAILY')


def test_criteria_choose_the_hosts_of_a_maintenance(manager):
    manager.enrol(2, rack='r1')
    found = manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'host', NOON + hours(1), NOON + hours(2), 'x', criteria='["=", "$rack", "r1"]'))
    assert found.names == ('compute-1', 'compute-2')
    with pytest.raises(errors.BadField, match='no resource'):
        _plan(manager, 'compute-9')


def test_two_managers_carry_out_a_window_once(conf, database, clock, manager):
    first, second = manager.enrol(2)
    lease = _lease(manager)
    _plan(manager, first.name)
    other = builders.Manager(conf, database, clock, cloud=manager.cloud)
    both = [windows.Windows(each.core, name) for each, name in (
        (manager, 'one'), (other, 'two'))]
    clock.now = NOON + hours(10)
    [window] = manager.client.list_maintenances(ADMIN)[0].windows
    claimed, _ = both[0]._claim(window, maintenance_windows.CLOSING, clock(), 1)
    both[1].carry_on(clock())
    assert _compute(manager, first).enabled
    # The claim of a manager that died expires.
    clock.advance(minutes(2))
    both[1].carry_on(clock())
    assert not _compute(manager, first).enabled
    with pytest.raises(errors.LostRace):
        both[0]._begin(claimed, [], clock())
    assert _has(manager, lease) == {second.id}
