# SPDX-License-Identifier: Apache-2.0
"""One bad item of a periodic task stops no other item: each task of the table has its case.

A case arranges several items, poisons the one that has the first turn, runs the task as the manager
does, and asserts that the others had their turn.
"""
import contextlib
import dataclasses
import datetime
import threading
import uuid

import acts
import oslo_messaging as messaging
from oslo_messaging import transport
import pytest
import sleepers_world
import sqlalchemy as sa
from support import billing_cases
from support import builders
from support import delivery_rounds
from support import loopback
from support import receivers

from climate import errors
from climate.db import tables
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.domain import records
from climate.domain import sleep
from climate.domain.series import series_records
from climate.manager import periodic
from climate.manager.leases import target_watch
from climate.notifiers import webhook

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN = builders.an_admin()
NO = errors.CloudError(service='The cloud', reason='no')
DOWN = errors.CloudUnreachable(service='Cinder', reason='it is down')
ALWAYS = 10 ** 6

#: Tasks without items that could stop each other, with the reason.
WITHOUT_ITEMS = {
    'close days of usage': 'days are closed in order; until then, usage is counted from rows',
    'delete old refusals': 'one statement deletes them all',
    'order the wait queue by the use of projects': 'the shares of all projects are one result',
}
CASES = {}


def case(name):
    """Register the case of the task of that name."""
    def register(function):
        CASES[name] = function
        return function
    return register


class World:
    """A manager, its periodic tasks, and methods that poison rows of its database.

    :ivar sent: the payloads that the bus took.
    :ivar refused: texts; the bus refuses messages with one of them.
    """

    def __init__(self, manager, conf):
        self.manager, self.conf = manager, conf
        self.sent, self.refused = [], set()
        self.periodic = periodic.Periodic(manager.core, 'this manager', threading.Event())

    def run(self, name, times=1):
        task, _ = self.periodic.tasks()[name]
        for _ in range(times):
            task(self.manager.clock())

    def send_notification(self, target, ctxt, message, version, retry=None):
        """Take a message, as a driver of oslo.messaging."""
        if any(text in str(message) for text in self.refused):
            raise messaging.MessageDeliveryFailure('too large')
        self.sent.append(message['payload'])

    def poison_writes(self, table, column, value):
        """Make the database refuse each write of the rows of a table with that value."""
        with self.manager.database.writer() as connection:
            for what in ('INSERT', 'UPDATE'):
                connection.exec_driver_sql(
                    f'CREATE TRIGGER poison_{table.name}_{what} BEFORE {what} ON {table.name} '
                    f"WHEN NEW.{column} = '{value}' BEGIN SELECT RAISE(ABORT, 'poison'); END")

    def spoil(self, table, key, **values):
        """Write values into a row that Climate itself never writes."""
        with self.manager.database.writer() as connection:
            connection.execute(sa.update(table).where(
                table.c.id == key).values(**values))

    def rows(self, table):
        with self.manager.database.reader() as connection:
            return connection.execute(sa.select(table)).all()

    def deliveries(self):
        return sorted(row.state for row in self.rows(tables.DELIVERIES))

    def leases(self, count, **more):
        """Return leases of one host each, in the order in which tasks find them."""
        found = [self.manager.book(builders.hosts(1), **more) for _ in range(count)]
        self.manager.run()
        return sorted(found, key=lambda lease: lease.id)

    def is_enabled(self, host):
        [compute] = self.manager.cloud.as_service().computes.of_hosts([host.name])
        return compute.enabled


@pytest.fixture
def world(manager, conf, monkeypatch, tmp_path):
    if manager.database.dialect != 'sqlite':
        pytest.skip('The triggers that poison rows are written for SQLite.')
    sleepers_world.configured(conf)
    # The clock of a test stands or jumps.
    conf.set_override('clock_jump_seconds', 0, group='manager')
    conf.set_override('fair_share_half_life_days', 7, group='acquire')
    for name, value in {'sample_minutes': 30, 'idle_hours': 2}.items():
        conf.set_override(name, value, group='idle')
    conf.register_opts([], group='oslo_messaging_notifications')
    messaging.get_notification_transport(conf, url='fake:/')
    found = World(manager, conf)
    bus = transport.NotificationTransport(found)
    messaging.Notifier(bus, 'nobody')
    conf.set_override('driver', ['messagingv2'], group='oslo_messaging_notifications')
    monkeypatch.setattr(messaging, 'get_notification_transport', lambda *_, **__: bus)
    return found


@case('send notifications to the bus')
def _send(world, _):
    world.manager.enrol(1)
    first, *others = [world.manager.book(
        acts.dummy(), start=NOON + hours(2), end=NOON + hours(3)) for _ in range(3)]
    world.refused.add(first.id)
    world.run('copy notifications to subscriptions')
    seconds = [0]
    world.periodic._core = dataclasses.replace(world.manager.core, monotonic=lambda: seconds[0])
    task, _ = world.periodic.tasks()['send notifications to the bus']

    def later():
        seconds[0] += 100
        task(world.manager.clock())
        return {each['lease_id'] for each in world.sent}
    for _ in range(5):
        later()
    assert later() == {each.id for each in others}
    world.refused.clear()
    assert first.id in later()


@case('copy notifications to subscriptions')
def _copy(world, _):
    delivery_rounds.subscribe(world.manager, 'https://hooks.example/')
    for _ in range(2):
        world.manager.book(acts.dummy(), end=NOON + hours(3))
    row = world.rows(tables.OUTBOX)[0]
    world.spoil(tables.OUTBOX, row.id, payload={**row.payload, 'reservations': [7]})
    world.run('copy notifications to subscriptions')
    assert len(world.rows(tables.DELIVERIES)) == 1
    assert all(row.fanned_out for row in world.rows(tables.OUTBOX))


def _deliver(world, transport_name, address):
    delivery_rounds.subscribe(world.manager, address, events=('change',), transport=transport_name)
    delivery_rounds.subscribe(world.manager, address, events=('change',), transport=transport_name)
    world.manager.book(acts.dummy(), end=NOON + hours(3))
    world.run('copy notifications to subscriptions')
    first = world.rows(tables.DELIVERIES)[0]
    world.spoil(tables.DELIVERIES, first.id, content={'lease': {}})
    # Neither can the failure be written down.
    world.poison_writes(tables.SUBSCRIPTIONS, 'id', first.subscription_id)
    world.run(f'deliver notifications by {transport_name}')
    assert world.deliveries() == ['delivered', 'waiting']


@case('deliver notifications by webhook')
def _deliver_by_webhook(world, tmp_path):
    with delivery_rounds.hooks(tmp_path, world.conf) as hooks:
        [deliverer] = [each for each in world.periodic.deliverers if each.name == 'webhook']
        deliverer._notifier = webhook.Webhook(world.conf, loopback.resolve)
        _deliver(world, 'webhook', hooks.url)


@case('deliver notifications by mail')
def _deliver_by_mail(world, tmp_path):
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context) as box:
        for name, value in {'host': 'localhost', 'port': box.port, 'ca_file': authority,
                            'username': 'climate', 'password': 'pass-word',
                            'sender': 'climate@example.org'}.items():
            world.conf.set_override(name, value, group='mail')
        _deliver(world, 'mail', 'ann@example.org')


@case('watch leased targets')
def _watch(world, _):
    manager = world.manager
    manager.enrol(1)
    servers = sorted((manager.cloud.boot('demo', 'vm', flavor='2') for _ in range(2)),
                     key=lambda server: server.id)
    leases = [manager.book(records.ReservationRequest(
        'virtual:instance', {'resource_id': each.id}), end=NOON + hours(5)) for each in servers]
    manager.run()
    manager.cloud.delete_server(servers[1].id)
    # Nova fails for the first server, when it is asked with the others and alone.
    manager.cloud.fail('nova.server', 2, NO)
    world.run('watch leased targets')
    assert [manager.lease(each).event('check_lease') is not None for each in leases] == [
        False, True]


@case('refresh facts')
def _refresh(world, _):
    first, second = world.manager.enrol(2)
    lease = world.manager.book(
        builders.hosts(1, criteria='["=", "$hypervisor_hostname", "compute-1"]'),
        end=NOON + hours(9))
    world.spoil(tables.RESERVATIONS, lease.reservations[0].id, request={})
    for each in (first, second):
        world.manager.cloud.change_host(each.name, vcpus=7)
    world.run('refresh facts')
    assert world.manager.client.get_resource(ADMIN, 'host', second.id).capacity['vcpus'] == 7


@case('expire offers')
def _expire(world, _):
    world.manager.enrol(2)
    held = sorted((world.manager.hold(builders.a_lease(builders.hosts(1), end=NOON + hours(1)))
                   for _ in range(2)), key=lambda each: each.id)
    world.spoil(tables.OFFERS, held[0].id, request=[7])
    world.manager.clock.advance(minutes(5))
    world.run('expire offers')
    assert {row.id: row.place is not None for row in world.rows(tables.OFFERS)} == {
        held[0].id: True, held[1].id: False}


@case('release resources that were returned')
def _release(world, _):
    with world.manager.database.writer() as connection:
        for number in range(2):
            connection.execute(sa.insert(tables.GIVEN_BACK).values(id=f'{number}', until=NOON))
    world.run('release resources that were returned')
    assert world.rows(tables.GIVEN_BACK) == []


@case('remind of ends')
def _remind(world, _):
    delivery_rounds.subscribe(world.manager, 'https://hooks.example/', events=(),
                              before_end=(3600,))
    for _ in range(2):
        world.manager.book(acts.dummy(), end=NOON + hours(2))
    with _failing_once(target='reminder_recipients'):
        world.run('remind of ends')
        world.manager.clock.advance(hours(1))
        world.run('remind of ends')
    assert len(world.rows(tables.DELIVERIES)) == 1


@contextlib.contextmanager
def _failing_once(target):
    """Make a pure function of the domain fail at its first call: no row makes it fail."""
    from climate.domain import notifications
    real, calls = getattr(notifications, target), []

    def fails_once(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyError('poison')
        return real(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notifications, target, fails_once)
        yield


@case('report extensions that are possible')
def _extensions(world, _):
    first, second = (world.manager.active(acts.dummy(), end=NOON + hours(3)) for _ in range(2))
    world.manager.client.create_limit_book(builders.an_admin(), None, {'extensions': [
        {'name': 'last hour', 'within': '1h'}]})
    world.manager.clock.advance(hours(2))
    world.poison_writes(tables.LEASES, 'id', first.id)
    world.run('report extensions that are possible')
    assert [row.payload['lease_id'] for row in world.rows(tables.OUTBOX)
            if row.event_type == 'lease.extension_open'] == [second.id]


@case('report limits that are near')
def _limits(world, _):
    world.conf.set_override('subscriptions_per_project', 1, group='notifications')
    for project in ('a', 'b'):
        delivery_rounds.subscribe(world.manager, 'https://hooks.example/',
                                  caller=builders.a_member('ann', project))
    world.poison_writes(tables.NEAR_LIMITS, 'project_id', 'a')
    world.run('report limits that are near')
    assert [row.project_id for row in world.rows(tables.NEAR_LIMITS)] == ['b']


@case('report limits of the limit book that are near')
def _limits_of_the_book(world, _):
    world.manager.enrol(2)
    for project in ('a', 'b'):
        world.manager.create(builders.a_lease(end=NOON + hours(1)),
                             caller=builders.a_member('ann', project))
    world.manager.client.create_limit_book(ADMIN, None, {'limits': [
        {'name': 'one lease', 'measure': 'open_leases', 'most': 1}]})
    world.poison_writes(tables.NEAR_LIMITS, 'project_id', 'a')
    world.run('report limits of the limit book that are near')
    assert [row.project_id for row in world.rows(tables.NEAR_LIMITS)] == ['b']


@case('delete unused trusts')
def _trusts(world, _):
    for _ in range(2):
        world.manager.book(acts.dummy(), end=NOON + hours(1))
    with world.manager.database.writer() as connection:
        connection.execute(sa.update(tables.LEASES).values(trust_id=None))
    world.manager.clock.advance(hours(1))
    world.manager.cloud.fail('keystone.delete_trust', 1, NO)
    world.run('delete unused trusts')
    assert len(world.manager.cloud.as_service().keystone.trusts()) == 1
    world.run('delete unused trusts')
    assert world.manager.cloud.as_service().keystone.trusts() == []


@case('delete early creations')
def _early(world, _):
    with world.manager.database.writer() as connection:
        connection.execute(sa.insert(tables.EARLY_CREATIONS), [
            {'id': f'row {place}', 'reservation_id': f'reservation {place}', 'created_at': NOON,
             'resource_type': kind, 'closing': False}
            for place, kind in enumerate(['disabled:type', 'virtual:instance', 'disabled:type'])])
    world.manager.clock.advance(hours(1))
    world.run('delete early creations')
    assert {row.resource_type for row in world.rows(tables.EARLY_CREATIONS)} == {'disabled:type'}


@case('bill')
def _bill(world, _):
    world.manager.enrol(2)
    world.manager.client.create_price_book(ADMIN, None, billing_cases.BOOK)
    first, second = world.leases(2, end=NOON + hours(1))
    world.manager.run_until(NOON + hours(2))
    world.poison_writes(tables.BILLS, 'lease_id', first.id)
    world.run('bill')
    assert {row.lease_id for row in world.rows(tables.BILLS)} == {second.id}
    assert {row.lease_id for row in world.rows(tables.FAILED_BILLS)} == {first.id}


@case('check health')
def _check(world, _):
    first, second = world.manager.enrol(2)
    for each in (first, second):
        world.manager.cloud.mark_host(each.name, up=False)
    world.poison_writes(tables.RESOURCE_HEALTH, 'resource_id', first.id)
    # Cinder says nothing of its backends, and Nova everything of its hosts.
    for _ in range(20):
        world.run('check health')
        world.manager.clock.advance(builders.seconds(30))
    assert world.manager.client.get_resource(
        ADMIN, 'host', second.id).verdict.state == health.SICK


@case('move leases off broken resources')
def _heal(world, _):
    found = world.manager.enrol(4)
    leases = world.leases(2, start=NOON + hours(1), end=NOON + hours(2))
    broken = {world.manager.lease(each).reservations[0].resource_ids[0] for each in leases}
    for each in broken:
        world.manager.client.set_out_of_order(ADMIN, 'host', each, 'a fan is broken')
    world.poison_writes(tables.LEASES, 'id', leases[0].id)
    world.run('move leases off broken resources')
    assert len(found) == 4
    assert world.manager.lease(leases[1]).reservations[0].resource_ids[0] not in broken
    assert world.manager.lease(leases[0]).reservations[0].resource_ids[0] in broken


@case('flag running leases')
def _flag(world, _):
    hosts = world.manager.enrol(2)
    first, second = world.leases(2, end=NOON + hours(9))
    for each in hosts:
        world.manager.client.set_out_of_order(ADMIN, 'host', each.id, 'a fan is broken')
    world.poison_writes(tables.LEASES, 'id', first.id)
    world.run('flag running leases')
    assert [world.manager.lease(each).degraded for each in (first, second)] == [False, True]


@case('carry out maintenance')
def _maintain(world, _):
    manager = world.manager
    hosts = manager.enrol(4)
    leases = world.leases(2, start=NOON + hours(1), end=NOON + hours(2))
    taken = {manager.lease(each).reservations[0].resource_ids[0] for each in leases}

    def plan(*names, rule=None):
        return manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
            'host', NOON + hours(1), NOON + hours(3), 'new firmware', rule=rule, resources=names))
    idle = [each for each in hosts if each.id not in taken]
    spoilt = plan(idle[0].name, rule='FREQ=DAILY')
    world.spoil(tables.MAINTENANCES, spoilt.id, rule='FREQ=NEVER', expanded_to=NOON)
    world.poison_writes(tables.LEASES, 'id', leases[0].id)
    plan(idle[1].name, *[each.name for each in hosts if each.id in taken])
    manager.clock.advance(hours(1))
    # Nova refuses the first host of the first window.
    manager.cloud.fail('nova.disable_service', 1, NO)
    world.run('carry out maintenance')
    assert [world.is_enabled(each) for each in hosts].count(False) == 3
    manager.clock.advance(minutes(1))
    world.run('carry out maintenance')
    assert not any(map(world.is_enabled, hosts))
    manager.clock.advance(hours(3))
    world.run('carry out maintenance', times=2)
    assert all(map(world.is_enabled, hosts))


@case('book series')
def _series(world, _):
    manager = world.manager
    manager.enrol(1)
    series = [manager.client.create_series(
        builders.a_member(), str(uuid.uuid4()), series_records.SeriesRequest(
            name='lab', reservations=(builders.hosts(),), start=f'{NOON + hours(start):%FT%T}',
            seconds=3600, repeat='every day for 70 times', time_zone='UTC')) for start in (1, 3)]
    world.spoil(tables.SERIES, series[0].id, rule='FREQ=NEVER')
    manager.clock.advance(datetime.timedelta(days=2))
    world.run('book series')
    found = [manager.client.get_series(builders.a_member(), each.id) for each in series]
    assert [len(each.occurrences) for each in found] == [60, 62]


@case('watch idle leases')
def _idle(world, _):
    world.manager.enrol(2)
    first, second = world.leases(2, end=NOON + hours(48))
    world.poison_writes(tables.LEASES, 'id', first.id)
    for _ in range(12):
        world.run('watch idle leases')
        world.manager.clock.advance(minutes(30))
    assert world.manager.lease(first).idle_since is None
    assert world.manager.lease(second).idle_since is not None


@case('save energy')
def _sleep(world, _):
    first, second = world.manager.enrol(2)
    world.poison_writes(tables.POWER_STATES, 'resource_id', first.id)
    world.manager.clock.advance(hours(2))
    world.run('save energy', times=3)
    states = {row.resource_id: row.state for row in world.rows(tables.POWER_STATES)}
    assert states.get(second.id) == sleep.ASLEEP
    assert first.id not in states


@case('audit')
def _audit(world, _):
    world.manager.enrol(2)
    world.conf.set_override('audit_fix', True, group='manager')
    world.conf.set_override('audit_grace_seconds', 0, group='manager')
    nova = world.manager.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-1'])
    for call in ('backends', 'types', 'services', 'volumes'):
        world.manager.cloud.fail(f'cinder.{call}', ALWAYS, DOWN)
    with pytest.raises(errors.CloudUnreachable):
        world.run('audit')
    assert 'compute-1' in nova.aggregate('freepool').hosts


def test_each_periodic_task_has_a_case(world):
    assert set(world.periodic.tasks()) == {*CASES, *WITHOUT_ITEMS}


@pytest.mark.usefixtures('each_lease_has_a_trust')
@pytest.mark.parametrize('name', CASES)
def test_one_bad_item_stops_no_other_one(world, name, tmp_path):
    CASES[name](world, tmp_path)


def test_deleted_servers_are_noticed_while_cinder_is_down(world):
    manager = world.manager
    manager.enrol(1)
    server = manager.cloud.boot('demo', 'vm', flavor='2')
    lease = manager.book(records.ReservationRequest(
        'virtual:instance', {'resource_id': server.id}), end=NOON + hours(5))
    trust = manager.cloud.as_service().keystone.create_trust(builders.a_member())
    volume = manager.cloud.as_user(trust.id).volumes.create('data', 1, 'ordinary', {})
    manager.clock.advance(minutes(1))
    manager.book(records.ReservationRequest(
        'virtual:volume', {'resource_id': volume}), end=NOON + hours(5))
    manager.expect(lease, lifecycle.ACTIVE)
    manager.cloud.delete_server(server.id)
    manager.cloud.fail('cinder.volume', ALWAYS, DOWN)
    assert target_watch.TargetWatch(manager.core).check_all(manager.clock()) == {server.id}
