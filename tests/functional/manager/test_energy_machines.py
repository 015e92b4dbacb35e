# SPDX-License-Identifier: Apache-2.0
"""Storage back ends that nobody has leased sleep, all of one machine together."""
import backends_world
import pytest
from support import builders
from support import cloud_points

from climate import errors
from climate.db import power
from climate.domain import energy
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.domain import sleep
from climate.manager.audit import comparison
from climate.manager.energy import power_saving
from climate.manager.health import checks
from climate.manager.pools import refresh
from climate.plugins import sleepable

NOON, hours, minutes, seconds = builders.NOON, builders.hours, builders.minutes, builders.seconds
SSD, HDD, TAPE = backends_world.SSD, backends_world.HDD, backends_world.TAPE
ADMIN = builders.an_admin()


@pytest.fixture
def manager(conf, database, clock):
    found = builders.Manager(conf, database, clock, classes=backends_world.configured(conf))
    found.cloud.machines.add_backend(TAPE, 'tape', 300)
    return found


@pytest.fixture
def volumes(manager):
    return manager.cloud.as_service().volumes


def _enrolled(manager):
    """The ids of the two back ends of one machine."""
    return [each.id for each in backends_world.enrol(manager, SSD, HDD)]


def _states(keeping, ids):
    known = keeping.states()
    return [known.get(each, sleep.AWAKE) for each in ids]


def _lease(manager, start=None, **more):
    start = start or manager.clock.now
    return manager.book(backends_world.room(**more), start=start, end=start + hours(1))


def _up(manager):
    return {host: each.up for host, each in backends_world.services(manager).items()}


def test_the_back_ends_of_a_machine_sleep_and_cinder_knows_why(manager, keeping):
    ids = _enrolled(manager)
    keeping.all_asleep()
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2
    for host in ('storage@ssd', 'storage@hdd'):
        found = backends_world.services(manager)[host]
        assert (found.up, found.enabled, found.reason) == (False, False, sleepable.REASON)
    others = _up(manager)
    assert others['ordinary@plain'] and others['archive@tape']


def test_a_back_end_that_sleeps_is_neither_sick_nor_missing(manager, keeping, caplog):
    ids = _enrolled(manager)
    keeping.all_asleep()
    before = manager.client.list_resources(ADMIN, 'backend')
    health_checks = checks.HealthChecks(manager.core, 'this manager')
    reader = refresh.Refresher(manager.core, 'this manager')
    for _ in range(20):
        assert not health_checks.check(manager.clock.advance(minutes(1)))
        assert reader.refresh(manager.clock()) == []
    assert 'does not know it' not in caplog.text
    assert comparison.Auditor(manager.core).compare() == []
    found = manager.client.list_resources(ADMIN, 'backend')
    assert found == before
    assert [(each.id, each.power_state, each.verdict.state) for each in found] == [
        (key, sleep.ASLEEP, health.WELL) for key in ids]


@pytest.mark.proof
def test_a_future_lease_wakes_its_machine_and_starts_in_time(manager, keeping, volumes):
    ids = _enrolled(manager)
    keeping.all_asleep()
    lease = _lease(manager, NOON + hours(5))
    keeping.until(NOON + hours(5) - minutes(16))
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2
    keeping.until(NOON + hours(5) - minutes(5))
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    assert all(each.enabled for each in backends_world.services(manager).values())
    keeping.until(NOON + hours(5) + minutes(1))
    assert manager.lease(lease).state == lifecycle.ACTIVE, manager.lease(lease).reason
    assert [each.status for each in volumes.every()] == ['available']
    # The one without a lease stays awake with the other, and both sleep after its end.
    keeping.until(NOON + hours(5) + minutes(50))
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    keeping.until(NOON + hours(7))
    assert (manager.lease(lease).state, volumes.every()) == (lifecycle.TERMINATED, [])
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2


def test_an_immediate_lease_waits_until_its_back_end_is_awake(manager, keeping):
    ids = _enrolled(manager)
    keeping.all_asleep()
    lease = _lease(manager)
    manager.event_loop.tick(manager.clock())
    assert manager.lease(lease).state == lifecycle.PENDING
    assert _states(keeping, ids) == [sleep.WAKING] * 2
    keeping.step()
    manager.expect(lease, lifecycle.ACTIVE, manager.clock.now + minutes(1))
    assert _states(keeping, ids) == [sleep.AWAKE] * 2


def test_a_machine_with_a_back_end_that_is_not_enrolled_stays_awake(manager, keeping):
    [ssd] = backends_world.enrol(manager, SSD)
    keeping.all_asleep()
    assert _states(keeping, [ssd.id]) == [sleep.AWAKE]
    assert _up(manager)['storage@ssd']
    # The other one goes, so the machine may sleep.
    with manager.cloud.state() as connection:
        connection.execute('DELETE FROM backends WHERE name = ?', (HDD,))
    keeping.all_asleep()
    assert _states(keeping, [ssd.id]) == [sleep.ASLEEP]


def test_a_machine_with_a_back_end_out_of_use_or_of_service_stays_awake(manager, keeping):
    ids = _enrolled(manager)
    manager.client.update_resource(ADMIN, 'backend', ids[1], {}, reservable=False)
    keeping.all_asleep()
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    with pytest.raises(errors.ResourceInUse, match='another resource on its machine'):
        manager.client.set_power(ADMIN, 'backend', ids[0], False)
    manager.client.update_resource(ADMIN, 'backend', ids[1], {}, reservable=True)
    manager.cloud.machines.mark_storage('storage@hdd', up=False)
    keeping.all_asleep()
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    assert backends_world.services(manager)['storage@ssd'].enabled


def test_a_volume_of_anybody_keeps_the_machine_awake(manager, keeping, volumes):
    ids = _enrolled(manager)
    volumes.ensure_type('past-climate', {'volume_backend_name': 'hdd'})
    volumes.allow('past-climate', 'other')
    volume_id = backends_world.stranger(manager, 'past-climate')()
    keeping.all_asleep()
    assert volumes.volume(volume_id).backend == HDD
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    volumes.delete(volume_id)
    manager.clock.advance(seconds(3))
    keeping.all_asleep()
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2


@pytest.mark.parametrize('call', ['cinder.services', 'cinder.disable_service'])
@pytest.mark.parametrize('when', ['before', 'after'])
def test_a_volume_that_a_stranger_creates_meanwhile_keeps_the_machine_awake(
        manager, keeping, volumes, call, when):
    ids = _enrolled(manager)
    volumes.ensure_type('past-climate', {'volume_backend_name': 'ssd'})
    volumes.allow('past-climate', 'other')
    create, made = backends_world.stranger(manager, 'past-climate'), []
    cloud_points.once_at(manager.cloud, call, lambda: made.append(create()), when)
    keeping.all_asleep()
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    for host in ('storage@ssd', 'storage@hdd'):
        found = backends_world.services(manager)[host]
        assert (found.up, found.enabled, found.reason) == (True, True, None)
    manager.clock.advance(seconds(3))
    assert volumes.volume(made[0]).status == 'available'


def test_a_volume_that_can_only_go_elsewhere_keeps_nothing_awake(manager, keeping, volumes):
    ids = _enrolled(manager)
    manager.clock.advance(hours(1))
    backends_world.stranger(manager, 'ordinary')()
    assert volumes.every()[0].status == 'creating'
    keeping.step(2)
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2


def test_an_administrators_own_disable_is_never_undone(manager, keeping):
    ids = _enrolled(manager)
    manager.cloud.machines.mark_storage('storage@hdd', enabled=False, reason='my own')
    keeping.all_asleep()
    found = backends_world.services(manager)
    assert (found['storage@hdd'].up, found['storage@hdd'].reason) == (True, 'my own')
    assert found['storage@ssd'].enabled
    assert _states(keeping, ids) == [sleep.AWAKE] * 2


def test_a_back_end_disabled_during_the_sleep_stays_disabled(manager, keeping):
    ids = _enrolled(manager)
    keeping.all_asleep()
    manager.cloud.machines.mark_storage('storage@hdd', enabled=False, reason='my own')
    manager.client.set_power(ADMIN, 'backend', ids[0], True)
    keeping.step()
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    found = backends_world.services(manager)
    assert (found['storage@hdd'].enabled, found['storage@hdd'].reason) == (False, 'my own')
    assert found['storage@ssd'].enabled


@pytest.mark.proof
def test_each_back_end_is_awake_as_soon_as_its_own_service_is_up(manager, keeping):
    ids = _enrolled(manager)
    keeping.all_asleep()
    manager.cloud.machines.mark_storage('storage@ssd', up=True)
    keeping.step(2)
    assert _states(keeping, ids) == [sleep.AWAKE, sleep.WAKING]
    keeping.until(manager.clock.now + minutes(40))
    assert _states(keeping, ids) == [sleep.AWAKE, sleep.FAILED]
    found = {each.id: each.reservable for each in manager.client.list_resources(ADMIN, 'backend')}
    assert found == {ids[0]: True, ids[1]: False}
    # Repaired, and woken by its name.
    manager.cloud.machines.mark_storage('storage@hdd', up=True)
    manager.client.set_power(ADMIN, 'backend', ids[1], True)
    keeping.step()
    assert _states(keeping, ids) == [sleep.AWAKE] * 2


def test_a_back_end_is_not_awake_before_cinder_lists_it(manager, keeping):
    ids = _enrolled(manager)
    keeping.all_asleep()
    manager.client.set_power(ADMIN, 'backend', ids[0], True)
    with manager.cloud.state() as connection:
        # Cinder has not heard of it since it was started.
        connection.execute('DELETE FROM backends WHERE name = ?', (SSD,))
    keeping.step()
    assert _states(keeping, ids) == [sleep.WAKING, sleep.AWAKE]


def test_a_machine_that_somebody_switches_on_is_awake_with_all_on_it(manager, keeping):
    ids = _enrolled(manager)
    keeping.all_asleep()
    manager.cloud.machines.switch(backends_world.MACHINE, up=True)
    keeping.step(2)
    assert _states(keeping, ids) == [sleep.AWAKE] * 2
    assert all(each.enabled for each in backends_world.services(manager).values())


def test_an_administrator_puts_the_machine_to_sleep_by_any_of_its_back_ends(manager, keeping):
    ids = _enrolled(manager)
    manager.client.set_power(ADMIN, 'backend', ids[1], False)
    keeping.step()
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2
    shown = manager.client.get_resource(ADMIN, 'backend', ids[0])
    assert (shown.power_state, shown.power_since) == (sleep.ASLEEP, NOON)
    with pytest.raises(errors.ResourceInUse, match='Wake it first'):
        manager.client.delete_resource(ADMIN, 'backend', ids[0])
    manager.client.set_power(ADMIN, 'backend', ids[0], True)
    keeping.step()
    assert _states(keeping, ids) == [sleep.AWAKE] * 2


@pytest.mark.proof
def test_a_machine_of_two_pools_sleeps_if_both_may_and_wakes_for_either(manager, keeping):
    [host] = manager.enrol(1)
    local = f'{host.name}@local#local'
    manager.cloud.machines.add_backend(local, 'local', 100)
    [backend] = backends_world.enrol(manager, local)
    lease = manager.book(start=NOON, end=NOON + hours(2))
    keeping.until(NOON + hours(1))
    assert _states(keeping, [host.id, backend.id]) == [sleep.AWAKE] * 2
    keeping.until(NOON + hours(3))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert _states(keeping, [host.id, backend.id]) == [sleep.ASLEEP] * 2
    mine = _lease(manager)
    manager.event_loop.tick(manager.clock())
    keeping.step()
    assert _states(keeping, [host.id, backend.id]) == [sleep.AWAKE] * 2
    [compute] = manager.cloud.as_service().computes.of_hosts([host.name])
    assert (compute.up, compute.enabled) == (True, True)
    manager.expect(mine, lifecycle.ACTIVE, manager.clock.now + minutes(1))


def test_a_back_end_enrolled_while_its_machine_falls_asleep_wakes_all(manager, keeping):
    [ssd] = backends_world.enrol(manager, SSD)
    manager.client.set_power(ADMIN, 'backend', ssd.id, False)
    [hdd] = backends_world.enrol(manager, HDD)
    keeping.step(2)
    assert _states(keeping, [ssd.id, hdd.id]) == [sleep.AWAKE] * 2
    assert all(each.up and each.enabled for each in backends_world.services(manager).values())


def test_two_managers_at_once_harm_nothing(manager, keeping):
    ids = _enrolled(manager)
    other = power_saving.PowerSaving(manager.core, 'other', keeping)
    manager.clock.advance(hours(1))
    for _ in range(2):
        for each in (keeping.keeper, other):
            each.decide(manager.clock())
        for each in (keeping.keeper, other):
            each.carry_on()
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2
    with manager.database.reader() as connection:
        assert power.cycles(connection, NOON) == dict.fromkeys(ids, 1)


def test_a_spare_back_end_keeps_its_machine_awake_and_others_sleep(manager, keeping, conf):
    conf.set_override('spare', 1, group='energy')
    ids = [*_enrolled(manager), *(each.id for each in backends_world.enrol(manager, TAPE))]
    keeping.all_asleep()
    assert _states(keeping, ids) == [sleep.ASLEEP, sleep.ASLEEP, sleep.AWAKE]
    # With two spare ones, only the machine of one may sleep.
    conf.set_override('spare', 2, group='energy')
    manager.client.set_power(ADMIN, 'backend', ids[0], True)
    keeping.all_asleep()
    assert _states(keeping, ids) == [sleep.AWAKE, sleep.AWAKE, sleep.ASLEEP]


@pytest.mark.proof
def test_a_maintenance_of_one_back_end_keeps_the_power_of_its_machine(manager, keeping):
    ids = _enrolled(manager)
    manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'backend', NOON + minutes(20), NOON + hours(2), 'new disks', resources=(HDD,)))
    keeping.until(NOON + hours(1) + minutes(50))
    # It fell asleep before, and is not woken for it.
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2
    manager.client.set_power(ADMIN, 'backend', ids[0], True)
    keeping.until(NOON + hours(1) + minutes(59))
    assert _states(keeping, ids) == [sleep.AWAKE] * 2


@pytest.mark.proof
def test_a_maintenance_of_one_back_end_lets_no_spare_one_wake_its_machine(
        manager, keeping, conf):
    ids = _enrolled(manager)
    keeping.all_asleep()
    start = manager.clock.now + minutes(1)
    manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'backend', start, start + hours(2), 'new disks', resources=(HDD,)))
    keeping.until(start)
    conf.set_override('spare', 1, group='energy')
    keeping.until(start + hours(1))
    assert _states(keeping, ids) == [sleep.ASLEEP] * 2
    keeping.until(start + hours(2) + minutes(2))
    assert _states(keeping, ids) == [sleep.AWAKE] * 2


@pytest.mark.proof
def test_a_lease_on_one_back_end_wakes_nothing_ahead_while_another_is_maintained(manager, keeping):
    backends_world.enrol(manager, SSD, HDD)
    keeping.all_asleep()
    start = NOON + hours(4) - minutes(1)
    manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'backend', NOON + hours(2), NOON + hours(4), 'new disks', resources=(HDD,)))
    manager.book(backends_world.room(), start=start, end=NOON + hours(6))
    keeping.until(NOON + hours(2))
    keeping.switched.clear()
    keeping.until(start - minutes(1))
    assert not keeping.switched
    # The lease must be kept, and its own back end has no maintenance.
    keeping.until(start + minutes(1))
    assert keeping.switched


@pytest.mark.proof
def test_a_machine_that_is_maintained_is_no_spare_one(manager, keeping, conf):
    [tape] = backends_world.enrol(manager, TAPE)
    backends_world.enrol(manager, HDD, SSD)
    keeping.all_asleep()
    manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'backend', NOON + hours(2), NOON + hours(4), 'new disks', resources=(HDD,)))
    keeping.until(NOON + hours(2))
    conf.set_override('spare', 1, group='energy')
    keeping.until(NOON + hours(2) + minutes(5))
    assert _states(keeping, [tape.id]) == [sleep.AWAKE]


def test_the_watts_of_the_configuration_are_those_of_a_machine(manager, keeping, conf):
    conf.set_override('watts', 100.0, group='energy')
    _enrolled(manager)
    keeping.all_asleep()
    manager.clock.advance(hours(4))
    found = manager.client.report_energy(
        ADMIN, energy.EnergyQuery(NOON, NOON + hours(5), 'backend'))
    assert [(each.hours_asleep, each.watts) for each in found.lines] == [(4, 50)] * 2
