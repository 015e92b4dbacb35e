# SPDX-License-Identifier: Apache-2.0
"""The invariants of hosts fail after an action that breaks them."""
import types

import model_host_truths as truths
import model_points
import model_power
import model_records
import model_truths
import pytest
import sqlalchemy as sa
from support import builders

from climate.cloud import volume_models as models
from climate.db import tables
from climate.domain import health
from climate.domain import maintenance_windows
from climate.domain import sleep
from climate.manager.energy import machines
from climate.manager.health import checks
from climate.manager.leases import health_moves
from climate.manager.maintenance import windows
from climate.plugins import sleepable

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN = builders.an_admin()


class _Look:
    """Checks the invariants after each step, as the model does."""

    def __init__(self, manager):
        self._manager = manager
        self._before = self._seen_before = None

    def __call__(self):
        manager = self._manager
        recorded = model_records.read(manager.database)
        seen = truths.look(manager.database, manager.cloud)
        model_truths.check(recorded, self._before, manager.clock())
        truths.check(recorded, self._before, seen, self._seen_before)
        self._before, self._seen_before = recorded, seen

    def refuses(self, words):
        with pytest.raises(AssertionError, match=words):
            self()


@pytest.fixture
def hosts(conf, manager):
    """Two enrolled hosts that can sleep."""
    conf.set_override('driver', 'simulated', group='energy')
    return manager.enrol(2)


@pytest.fixture
def look(hosts, manager):
    """callable: all is true; `look.refuses(words)`: something is not."""
    found = _Look(manager)
    found()
    return found


@pytest.fixture
def lease(look, manager):
    """A lease that will run on the first host."""
    return manager.book(end=NOON + hours(2))


def _write(manager, statement):
    with manager.database.writer() as connection:
        connection.execute(statement)


def _power(manager, host, state):
    _write(manager, sa.insert(tables.POWER_STATES).values(
        resource_id=host.id, state=state, since=manager.clock()))


@pytest.mark.parametrize('state', sleep.SLEEPING)
def test_a_lease_that_runs_on_a_host_that_sleeps_is_seen(manager, hosts, look, lease, state):
    manager.run()
    look()
    _power(manager, hosts[0], state)
    look.refuses(f'which is {state}')


def test_a_start_on_a_host_that_is_off_is_seen(manager, hosts, look, lease):
    manager.cloud.mark_host(hosts[0].name, up=False)
    look()
    manager.cloud.mark_host(hosts[0].name, up=True)
    manager.run()
    manager.cloud.mark_host(hosts[0].name, up=False)
    look.refuses('which is off')


def test_a_start_on_a_host_that_is_out_of_order_is_seen(manager, hosts, look, lease):
    def is_out_of_order(state):
        _write(manager, sa.update(tables.RESOURCES).where(tables.RESOURCES.c.id == hosts[0].id)
               .values(health_state=state))
    is_out_of_order(health.OUT_OF_ORDER)
    look()
    is_out_of_order(health.WELL)
    manager.run()
    is_out_of_order(health.OUT_OF_ORDER)
    look.refuses('which is out of order')


def test_a_host_that_is_well_and_kept_free_is_seen(manager, hosts, look):
    manager.client.set_out_of_order(ADMIN, 'host', hosts[0].id, 'a fan')
    look()
    _write(manager, sa.update(tables.RESOURCES).values(health_state=health.WELL))
    look.refuses('is of a host that is well')


def test_a_host_that_is_awake_and_closed_for_its_sleep_is_seen(manager, hosts, look):
    manager.cloud.as_service().computes.disable(hosts[0].name, sleepable.REASON)
    look.refuses('and its host is None')


def _maintained(manager, host):
    found = manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'host', NOON, NOON + hours(1), 'new firmware', resources=(host.name,)))
    windows.Windows(manager.core, 'here').carry_on(manager.clock())
    return found


def test_a_host_that_is_closed_after_its_maintenance_is_seen(manager, hosts, look):
    _maintained(manager, hosts[0])
    look()
    _write(manager, sa.update(tables.MAINTENANCE_WINDOWS).values(state=maintenance_windows.DONE))
    look.refuses('is closed for ever')


def test_a_host_that_is_open_during_its_maintenance_is_seen(manager, hosts, look):
    _maintained(manager, hosts[0])
    look()
    manager.cloud.mark_host(hosts[0].name, enabled=True)
    look.refuses('is open during')


def test_a_lease_on_a_sick_host_of_which_nobody_was_told_is_seen(manager, hosts):
    manager.book(builders.hosts(2), start=NOON + hours(1), end=NOON + hours(2))
    manager.client.set_out_of_order(ADMIN, 'host', hosts[0].id, 'a fan')

    def known():
        truths.those_on_sick_hosts_know(
            model_records.read(manager.database),
            truths.told_of_sick_hosts(manager.database, health_moves.NOTIFICATION), NOON, hours(1))
    with pytest.raises(AssertionError, match='nobody was notified'):
        known()
    checks.HealthChecks(manager.core, 'here').check(NOON)
    health_moves.HealthMoves(manager.core).move_soon(NOON)
    known()


def test_a_lease_that_waits_for_a_host_that_sleeps_is_seen(manager, hosts):
    manager.book(start=NOON + minutes(30), end=NOON + hours(2))
    _power(manager, hosts[0], sleep.ASLEEP)

    def look(now):
        truths.nobody_waits_for_a_sleeper(
            model_records.read(manager.database), truths.look(manager.database, manager.cloud),
            now, NOON, minutes(20))
    look(NOON + minutes(50))
    with pytest.raises(AssertionError, match='which sleeps'):
        look(NOON + minutes(51))


def test_a_machine_that_is_switched_off_while_it_is_in_use_is_seen(
        conf, manager, hosts, look, lease):
    bmcs = model_power.Bmcs(conf, manager.cloud, manager.database, model_points.Points(),
                            manager.clock)
    first, other = (machines.Machine(each.name, (each,)) for each in hosts)
    bmcs.sleep(other)
    assert bmcs.wrong == []
    manager.run()
    manager.cloud.boot('demo', 'vm', {'reservation': manager.lease(lease).reservations[0].id})
    bmcs.sleep(first)
    assert [each.split()[5] for each in bmcs.wrong] == ['server', 'lease']
    volumes = ('volume of somebody',)
    assert model_power.nothing_in_use_is_switched_off(other, (), volumes, ()) == [
        f'{other.name} was switched off with volume volume of somebody on it.']


def test_storage_that_is_closed_while_it_counts_as_awake_is_seen():
    recorded = types.SimpleNamespace(resources={7: types.SimpleNamespace(
        id=7, pool='backend', name='storage@ssd#ssd', withdrawn_at=None)})

    def look(state, **values):
        service = models.StorageService('cinder-volume', 'storage@ssd', **{
            'enabled': True, 'up': True, **values})
        truths.storage_that_is_closed_sleeps(
            recorded, truths.Seen({7: state}, {}, {}, {}, {service.host: service}))
    look(sleep.AWAKE)
    look(sleep.AWAKE, enabled=False, reason='my own')
    look(sleep.ASLEEP, enabled=False, reason=sleepable.REASON)
    with pytest.raises(AssertionError, match='is awake'):
        look(sleep.AWAKE, enabled=False, reason=sleepable.REASON)
