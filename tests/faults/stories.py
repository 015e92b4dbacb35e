# SPDX-License-Identifier: Apache-2.0
"""The use cases that are interrupted at every point, and the checks of their results."""
import dataclasses
import datetime
import itertools
import re
import uuid

import sqlalchemy as sa
from support import billing_cases
from support import billing_truths
from support import builders

from climate import errors
from climate.cloud.simulated import neutron
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import subscriptions
from climate.db import tables
from climate.db import usage_days
from climate.db import use_samples
from climate.db import work_slots
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import ledger
from climate.domain import lifecycle
from climate.domain import maintenance
from climate.domain import notification_kinds
from climate.domain import records
from climate.domain import subscriptions as subscribed
from climate.domain import use
from climate.manager.audit import comparison
from climate.manager.billing import biller
from climate.manager.health import blocking
from climate.manager.idle import takings
from climate.manager.leases import early
from climate.manager.leases import healing
from climate.manager.leases import target_watch
from climate.manager.leases import trusts
from climate.manager.maintenance import windows
from climate.manager.notifications import fan_out
from climate.manager.usage import days

LEASE = str(uuid.UUID(int=1))
OTHER = str(uuid.UUID(int=2))
_GROUP = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_AGES = datetime.timedelta(days=900)


class Story:
    """One use case.

    `arrange` runs undisturbed; `act` may be cut short, and is called again by whoever asked, as
    a client does that got no answer; `is_over` says when nothing is left to do.
    """

    name = None
    hosts = 4
    #: A real process dies at the commits of `act`, where `act` calls no cloud.
    dies_at_commits = False
    #: Whether it calls the cloud, so that a manager can be killed at a call.
    calls_cloud = True

    def arrange(self, manager):
        for name in sorted(manager.cloud.host_names())[:self.hosts]:
            manager.client.create_resource(builders.an_admin(), 'host', name, {})

    def act(self, manager):
        raise NotImplementedError

    def is_over(self, manager):
        raise NotImplementedError


class Start(Story):
    name = 'start'

    def act(self, manager):
        _create(manager, 2)

    def is_over(self, manager):
        return _lease(manager).state in (lifecycle.ACTIVE, lifecycle.ERROR)


class StartOfTwo(Start):
    name = 'start of two reservations'

    def act(self, manager):
        _create(manager, 1, 1)


class _OfActive(Story):
    """A lease of two hosts runs, with a server on each."""

    def arrange(self, manager):
        super().arrange(manager)
        _create(manager, 2)
        wait_for(manager, lambda: Start.is_over(self, manager))
        [reservation] = _lease(manager).reservations
        for name in ('one', 'two'):
            manager.cloud.boot('demo', name, {'reservation': reservation.id})

    @staticmethod
    def _resize(manager, count):
        lease = _lease(manager)
        [reservation] = lease.reservations
        if reservation.request['max'] != count:
            manager.client.update_lease(builders.a_member(), LEASE, records.LeaseChanges(
                reservations=(records.ReservationRequest(
                    None, {'min': count, 'max': count}, id=reservation.id),)))


class End(_OfActive):
    name = 'end'

    def act(self, manager):
        lease = _lease(manager)
        if lease.state == lifecycle.ACTIVE and lease.end > manager.core.clock():
            manager.client.update_lease(builders.a_member(), LEASE,
                                        records.LeaseChanges(end_now=True))

    def is_over(self, manager):
        dropped = _lease(manager).event('drop_trust')
        return dropped is not None and dropped.status == lifecycle.EVENT_DONE


class Delete(_OfActive):
    name = 'delete'

    def act(self, manager):
        if _lease(manager).event('delete_lease') is None:
            manager.client.delete_lease(builders.a_member(), LEASE)

    is_over = End.is_over


class Grow(_OfActive):
    name = 'grow'

    def act(self, manager):
        self._resize(manager, 3)

    def is_over(self, manager):
        updated = _lease(manager).event('update_lease')
        return updated is not None and updated.status != lifecycle.EVENT_UNDONE and (
            updated.status != lifecycle.EVENT_IN_PROGRESS)


class Shrink(Grow):
    name = 'shrink'

    def act(self, manager):
        self._resize(manager, 1)


class Swap(_OfActive):
    name = 'swap of a host'

    def act(self, manager):
        lease = _lease(manager)
        [reservation] = lease.reservations
        if 1 in reservation.resource_ids:
            manager.client.swap_resource(builders.a_member(), LEASE, '1')

    is_over = Grow.is_over


class HealAhead(Story):
    name = 'another host before the start'
    hosts = 2
    calls_cloud = False

    def arrange(self, manager):
        super().arrange(manager)
        _create_lease(manager, builders.hosts(1), later=True)

    def act(self, manager):
        [host] = [each for each in manager.client.list_resources(builders.an_admin(), 'host')
                  if each.id == 1]
        if host.is_well:
            manager.client.set_out_of_order(builders.an_admin(), 'host', 1, 'a fan is broken')
        # What a manager does periodically.
        now = manager.core.clock()
        blocking.prolong(manager.core, now)
        healing.Healing(manager.core).heal(now)
        blocking.prolong(manager.core, now)

    def is_over(self, manager):
        return _lease(manager).reservations[0].resource_ids == (2,)


class Maintain(HealAhead):
    name = 'maintenance'
    calls_cloud = True

    def act(self, manager):
        now = manager.core.clock()
        if not manager.client.list_maintenances(builders.an_admin()):
            manager.client.create_maintenance(builders.an_admin(), maintenance.Request(
                'host', now, now + builders.hours(30), 'new firmware', resources=('1',)))
        self.carry_on(manager)

    @staticmethod
    def carry_on(manager):
        windows.Windows(manager.core, 'this manager').carry_on(manager.core.clock())

    def is_over(self, manager):
        [found] = manager.client.list_maintenances(builders.an_admin())
        if found.windows[0].state != maintenance.RUNNING:
            self.carry_on(manager)
            return False
        [closed] = manager.cloud.as_service().computes.of_hosts(['compute-1'])
        return not closed.enabled and super().is_over(manager)


class EndOfMaintenance(Maintain):
    name = 'end of maintenance'

    def arrange(self, manager):
        super().arrange(manager)
        Maintain.act(self, manager)
        wait_for(manager, lambda: Maintain.is_over(self, manager))

    def act(self, manager):
        for each in manager.client.list_maintenances(builders.an_admin()):
            if not each.closing:
                manager.client.delete_maintenance(builders.an_admin(), each.id)
        self.carry_on(manager)

    def is_over(self, manager):
        if manager.client.list_maintenances(builders.an_admin()):
            self.carry_on(manager)
            return False
        [opened] = manager.cloud.as_service().computes.of_hosts(['compute-1'])
        return opened.enabled


class StartOfInstances(Start):
    name = 'start of instances'
    hosts = 2

    def act(self, manager):
        _create_lease(manager, records.ReservationRequest('virtual:instance', {
            'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': False}))


class Stage(Story):
    name = 'stage of instances'
    hosts = 2
    asked = records.ReservationRequest('virtual:instance', {
        'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': False})

    def arrange(self, manager):
        super().arrange(manager)
        _create_lease(manager, self.asked, later=True)

    def arrange_staged(self, manager):
        Stage.arrange(self, manager)
        Stage.act(self, manager)
        wait_for(manager, lambda: Stage.is_over(self, manager))

    def act(self, manager):
        staged = _lease(manager).event('stage_lease')
        if staged.status == lifecycle.EVENT_UNDONE and staged.claim_no == 0:
            # Its moment has come.
            with manager.database.writer() as connection:
                events.move(connection, staged, manager.core.clock(), manager.core.clock())
            manager.core.notify()

    def is_over(self, manager):
        return _lease(manager).event('stage_lease').status == lifecycle.EVENT_DONE


class StageOfHosts(Stage):
    name = 'stage of hosts'
    asked = builders.hosts(2)


class StartOfStaged(Stage):
    name = 'start of staged instances'
    arrange = Stage.arrange_staged
    is_over = Start.is_over

    def act(self, manager):
        Wake.act(self, manager)


class StartOfStagedHosts(StartOfStaged):
    name = 'start of staged hosts'
    asked = builders.hosts(2)


class DeleteOfStaged(Stage):
    name = 'delete of staged instances'
    arrange = Stage.arrange_staged
    act = Delete.act
    is_over = End.is_over


class DeleteOfStagedHosts(DeleteOfStaged):
    name = 'delete of staged hosts'
    asked = builders.hosts(2)


class ChangeOfAffinity(Start):
    name = 'change of an affinity'
    hosts = 2

    def arrange(self, manager):
        super().arrange(manager)
        _create_lease(manager, records.ReservationRequest('virtual:instance', {
            'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': False}),
            later=True)

    def act(self, manager):
        lease = _lease(manager)
        [reservation] = lease.reservations
        if reservation.request['affinity'] is False:
            manager.client.update_lease(builders.a_member(), LEASE, records.LeaseChanges(
                reservations=(records.ReservationRequest(
                    None, {'affinity': True}, id=reservation.id),)))
        Wake.act(self, manager)


class _OfInstances(Story):
    """Two instances run on a lease of two, one on each of two hosts."""

    hosts = 2

    def arrange(self, manager):
        super().arrange(manager)
        StartOfInstances.act(self, manager)
        wait_for(manager, lambda: Start.is_over(self, manager))
        [reservation] = _lease(manager).reservations
        for name in ('one', 'two'):
            manager.cloud.boot('demo', name, flavor=reservation.id)


class EndOfInstances(_OfInstances):
    name = 'end of instances'
    act = End.act
    is_over = End.is_over


class ShrinkOfInstances(_OfInstances):
    name = 'shrink of instances'
    is_over = Grow.is_over

    def act(self, manager):
        lease = _lease(manager)
        [reservation] = lease.reservations
        if reservation.request['amount'] != 1:
            manager.client.update_lease(builders.a_member(), LEASE, records.LeaseChanges(
                reservations=(records.ReservationRequest(
                    None, {'amount': 1}, id=reservation.id),)))


class _OfServer(Story):
    """A server is booted with its lease."""

    hosts = 2
    on_end = 'snapshot'

    def boot(self, manager, later):
        """Do what nova-api does with the middleware, all of it or the rest of it."""
        _create_lease(manager, records.ReservationRequest('virtual:instance', {
            'resource_id': None, 'flavor_id': '1', 'on_end': self.on_end}), later=later)
        [reservation] = _lease(manager).reservations
        if not manager.cloud.servers():
            manager.cloud.boot('demo', 'vm', {'reservation': reservation.id}, flavor='1',
                               metadata={'climate:lease_id': LEASE})
        [server] = manager.cloud.servers()
        manager.client.bind_reservation(builders.a_member(), reservation.id, server.id)

    def arrange_asleep(self, manager):
        super().arrange(manager)
        self.boot(manager, later=True)
        wait_for(manager, lambda: Sleep.is_over(self, manager))

    def arrange_awake(self, manager):
        self.arrange_asleep(manager)
        Wake.act(self, manager)
        wait_for(manager, lambda: Start.is_over(self, manager))


class BootNow(_OfServer):
    name = 'boot with a lease that starts now'
    is_over = Start.is_over

    def act(self, manager):
        self.boot(manager, later=False)


class Sleep(_OfServer):
    name = 'boot with a lease that starts later'

    def act(self, manager):
        self.boot(manager, later=True)

    def is_over(self, manager):
        prepared = _lease(manager).event('prepare_lease')
        return prepared.status in (lifecycle.EVENT_DONE, lifecycle.EVENT_ERROR)


class Wake(_OfServer):
    name = 'start of a server that sleeps'
    arrange = _OfServer.arrange_asleep
    is_over = Start.is_over

    def act(self, manager):
        lease = _lease(manager)
        if lease.start > manager.core.clock():
            manager.client.update_lease(builders.a_member(), LEASE, records.LeaseChanges(
                start_now=True))


class EndOfServer(_OfServer):
    name = 'end of a server'
    arrange = _OfServer.arrange_awake
    act = End.act
    is_over = End.is_over


class MoveAtTheEnd(EndOfServer):
    name = 'end of a server that lives on'
    on_end = 'migrate'


class ServerGone(_OfServer):
    name = 'end of a lease whose server was deleted'
    arrange = _OfServer.arrange_awake
    is_over = End.is_over

    def act(self, manager):
        for server in manager.cloud.servers():
            manager.cloud.delete_server(server.id)
        if _lease(manager).event('check_lease') is None:
            target_watch.Watch(manager.core).look(manager.core.clock())


class _BesideAnother(Story):
    """Another lease has all hosts until it is ended; this one is acquired after that."""

    acquire = records.Acquire('retries')

    def arrange(self, manager):
        super().arrange(manager)
        _create(manager, 4, lease_id=OTHER)
        wait_for(manager, lambda: _lease(manager, OTHER).state == lifecycle.ACTIVE)

    def act(self, manager):
        _create(manager, 2, acquire=self.acquire)
        self.end_other(manager)

    def end_other(self, manager):
        other = _lease(manager, OTHER)
        if other.state == lifecycle.ACTIVE and other.end > manager.core.clock():
            manager.client.update_lease(builders.a_member(), OTHER,
                                        records.LeaseChanges(end_now=True))

    def is_over(self, manager):
        dropped = _lease(manager, OTHER).event('drop_trust')
        return (Start.is_over(self, manager) and dropped is not None
                and dropped.status == lifecycle.EVENT_DONE)


class Retries(_BesideAnother):
    name = 'acquisition with retries'


class Wait(_BesideAnother):
    name = 'acquisition in the queue'
    acquire = records.Acquire('wait')


class DeleteOfWaiting(_BesideAnother):
    name = 'delete of a lease that waits'
    acquire = records.Acquire('wait')

    def arrange(self, manager):
        super().arrange(manager)
        _create(manager, 2, acquire=self.acquire)
        wait_for(manager, lambda: _lease(manager).event('acquire_lease').claim_no > 0)

    def act(self, manager):
        lease = _lease(manager)
        if lease.deleted_at is None and lease.event('delete_lease') is None:
            manager.client.delete_lease(builders.a_member(), LEASE)
        self.end_other(manager)

    def is_over(self, manager):
        dropped = [_lease(manager, each).event('drop_trust') for each in (LEASE, OTHER)]
        return all(each is not None and each.status == lifecycle.EVENT_DONE for each in dropped)


class Heal(Story):
    name = 'start after all'
    hosts = 1

    def arrange(self, manager):
        super().arrange(manager)
        # The cloud of this process only; it works again in the next one.
        manager.cloud.fail('nova.create_aggregate', 99, errors.CloudError(
            service='Nova', reason='no'))
        _create(manager, 1)
        wait_for(manager, lambda: _lease(manager).state == lifecycle.ERROR)

    def act(self, manager):
        # Whatever says that a host is in use lets those be tried again that need one.
        [host] = manager.client.list_resources(builders.an_admin(), 'host')
        manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, True)

    def is_over(self, manager):
        return _lease(manager).state == lifecycle.ACTIVE


class StartOfAddresses(Start):
    """Two floating IPs are made, one of which is named."""

    name = 'start of floating IPs'
    hosts = 0

    def arrange(self, manager):
        manager.client.create_resources(
            builders.an_admin(), 'address', '172.24.4.210-172.24.4.213', {},
            {'network_id': neutron.PUBLIC})

    def act(self, manager):
        _create_lease(manager, records.ReservationRequest('virtual:floatingip', {
            'network_id': neutron.PUBLIC, 'amount': 2,
            'required_floatingips': ['172.24.4.212']}))


class _OfAddresses(StartOfAddresses):
    """Two floating IPs run, and one points to a port."""

    def arrange(self, manager):
        super().arrange(manager)
        StartOfAddresses.act(self, manager)
        wait_for(manager, lambda: Start.is_over(self, manager))
        manager.cloud.network.associate('172.24.4.210', 'a port')

    @staticmethod
    def resize(manager, amount):
        [reservation] = _lease(manager).reservations
        if reservation.request['amount'] != amount:
            manager.client.update_lease(builders.a_member(), LEASE, records.LeaseChanges(
                reservations=(records.ReservationRequest(
                    None, {'amount': amount}, id=reservation.id),)))


class GrowthOfAddresses(_OfAddresses):
    name = 'growth of floating IPs'
    is_over = Grow.is_over

    def act(self, manager):
        self.resize(manager, 4)


class ShrinkOfAddresses(GrowthOfAddresses):
    name = 'shrink of floating IPs'

    def act(self, manager):
        self.resize(manager, 1)


class EndOfAddresses(_OfAddresses):
    name = 'end of floating IPs'
    act = End.act
    is_over = End.is_over


class DeleteOfAddresses(_OfAddresses):
    name = 'delete of floating IPs'
    act = Delete.act
    is_over = End.is_over


#: The aggregate of hosts that may be cleared.
LENT = 'lent'


class HostClearing(Story):
    """A host is lent that has a server of somebody else."""

    name = 'best effort'
    hosts = 0
    is_over = Start.is_over

    def arrange(self, manager):
        nova = manager.cloud.as_service().nova
        nova.add_hosts(nova.ensure_aggregate(LENT), ['compute-1'])
        manager.cloud.boot('other', 'theirs', host='compute-1', flavor='2')

    def act(self, manager):
        _create(manager, 1, acquire=records.Acquire('best-effort'))


class EndOfClearing(HostClearing):
    name = 'end of a best effort'
    act = End.act

    def arrange(self, manager):
        super().arrange(manager)
        HostClearing.act(self, manager)
        wait_for(manager, lambda: Start.is_over(self, manager))

    def is_over(self, manager):
        given = _lease(manager).event('give_back')
        return (End.is_over(self, manager) and given is not None
                and given.status == lifecycle.EVENT_DONE)


class DeleteOfClearing(HostClearing):
    name = 'delete of a best effort that goes on'
    act = Delete.act
    is_over = End.is_over

    def arrange(self, manager):
        super().arrange(manager)
        # The compute service is disabled, and its server goes nowhere.
        manager.cloud.spoil_moves(*manager.cloud.host_names())
        HostClearing.act(self, manager)
        wait_for(manager, lambda: 'can be had now' in _lease(manager).reason)


class EndOfIdle(Story):
    """A lease of two hosts on which nothing runs is taken back."""

    name = 'end of an idle lease'
    action = 'end'

    def arrange(self, manager):
        super().arrange(manager)
        _create_lease(manager, builders.hosts(1, 2))
        wait_for(manager, lambda: Start.is_over(self, manager))
        hour = use.hour_of(manager.core.clock())
        keys = takings.keys_of(_lease(manager))
        with manager.database.writer() as connection:
            for back in range(-2, 26):
                use_samples.add(connection, hour - builders.hours(back), dict.fromkeys(
                    keys, use.Sample(3600, 3600, 0)))

    def act(self, manager):
        manager.core.conf.set_override('action', self.action, group='idle')
        now = manager.core.clock()
        with manager.database.writer() as connection:
            lease = leases.get(connection, LEASE)
            if lease.event(event_kinds.RECLAIM) is None:
                leases.change(connection, lease, now, idle_since=builders.NOON, reclaim_at=now)
                events.change(connection, LEASE, lease_events.reclaimed(lease, now), now)

    is_over = End.is_over


class ShrinkOfIdle(EndOfIdle):
    name = 'shrink of an idle lease'
    action = 'shrink'

    def is_over(self, manager):
        return _lease(manager).event(event_kinds.RECLAIM).status == lifecycle.EVENT_DONE


class Bill(Story):
    """Two leases are billed that have ended, one of them in a month that is over."""

    name = 'bill'
    hosts = 2
    dies_at_commits = True

    def arrange(self, manager):
        super().arrange(manager)
        now = manager.core.clock()
        month = ledger.begin_of(ledger.month_of(now))
        spans = {LEASE: (month - builders.hours(24), now - builders.seconds(1)),
                 OTHER: (month - builders.hours(5), month - builders.hours(2))}
        _live_and_end(manager, spans)
        manager.client.create_price_book(builders.an_admin(), None, billing_cases.BOOK)
        with manager.database.writer() as connection:
            connection.execute(sa.update(tables.PRICE_BOOKS).values(
                valid_from=month - builders.hours(48)))
            # Days are closed by another story.
            work_slots.take(connection, 'usage', _midnight(now) - builders.hours(24))

    def act(self, manager):
        manager.core.conf.set_override('close_days', 0, group='billing')
        while biller.Biller(manager.core).bill(manager.core.clock()):
            continue

    def is_over(self, manager):
        return bool(billing_truths.closed_months(manager.database))


class CloseOfDays(Story):
    """Three days of usage are closed."""

    name = 'close of days'
    hosts = 2
    dies_at_commits = True

    def arrange(self, manager):
        super().arrange(manager)
        midnight = _midnight(manager.core.clock())
        _live_and_end(manager, {
            LEASE: (midnight - builders.hours(64), midnight - builders.hours(19)),
            OTHER: (midnight - builders.hours(30), midnight - builders.hours(12))})

    def act(self, manager):
        days.close(manager.database, manager.core.clock(), most=None)

    def is_over(self, manager):
        with manager.database.reader() as connection:
            return usage_days.closed_until(connection) is not None


def _midnight(now):
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _live_and_end(manager, spans):
    """Let leases of a host live and end, and move all of them into the past.

    :param spans: {lease id: (start, end)}.
    """
    for lease_id in spans:
        _create_lease(manager, builders.hosts(1), lease_id=lease_id)
    wait_for(manager, lambda: all(_lease(manager, lease_id).state == lifecycle.ACTIVE
                                  for lease_id in spans))
    manager.clock.advance(builders.seconds(5))
    for lease_id in spans:
        manager.client.update_lease(builders.a_member(), lease_id,
                                    records.LeaseChanges(end_now=True))
    wait_for(manager, lambda: all(_lease(manager, lease_id).ended_at is not None
                                  and _is_rid_of_its_trust(manager, lease_id)
                                  for lease_id in spans))
    with manager.database.writer() as connection:
        for lease_id, (start, end) in spans.items():
            reservations = [row.id for row in connection.execute(sa.select(
                tables.RESERVATIONS.c.id).where(tables.RESERVATIONS.c.lease_id == lease_id))]
            for table, key, values in (
                    (tables.LEASES, tables.LEASES.c.id == lease_id,
                     {'created_at': start, 'start': start, 'end': end, 'ended_at': end}),
                    (tables.RESERVATIONS, tables.RESERVATIONS.c.lease_id == lease_id,
                     {'started_at': start}),
                    (tables.HISTORY, tables.HISTORY.c.lease_id == lease_id, {'at': start}),
                    (tables.ALLOCATIONS, tables.ALLOCATIONS.c.reservation_id.in_(reservations),
                     {'start': start, 'end': end, 'promised_until': None})):
                connection.execute(sa.update(table).where(key).values(**values))


def _is_rid_of_its_trust(manager, lease_id):
    dropped = _lease(manager, lease_id).event('drop_trust')
    return dropped is not None and dropped.status == lifecycle.EVENT_DONE


class Enrol(Story):
    name = 'enrol'
    hosts = 1

    def act(self, manager):
        try:
            manager.client.create_resource(builders.an_admin(), 'host', 'compute-2',
                                           {'rack': '7'})
        except errors.ResourceKnown:
            return

    def is_over(self, manager):
        return len(manager.client.list_resources(builders.an_admin(), 'host')) == 2


class Withdraw(Story):
    name = 'withdraw'
    hosts = 2

    def act(self, manager):
        for host in manager.client.list_resources(builders.an_admin(), 'host'):
            if host.name == 'compute-2':
                manager.client.delete_resource(builders.an_admin(), 'host', host.id)

    def is_over(self, manager):
        return len(manager.client.list_resources(builders.an_admin(), 'host')) == 1


STORIES = {story.name: story() for story in (Start, StartOfTwo, End, Delete, Grow, Shrink, Swap,
                                             HealAhead, Maintain, EndOfMaintenance,
                                             StartOfInstances, Stage, StageOfHosts,
                                             StartOfStaged, StartOfStagedHosts, DeleteOfStaged,
                                             DeleteOfStagedHosts, ChangeOfAffinity, EndOfInstances,
                                             ShrinkOfInstances, BootNow, Sleep, Wake, EndOfServer,
                                             MoveAtTheEnd, ServerGone, Retries, Wait,
                                             DeleteOfWaiting, Heal, HostClearing, EndOfClearing,
                                             DeleteOfClearing, Enrol, Withdraw,
                                             StartOfAddresses, GrowthOfAddresses,
                                             ShrinkOfAddresses, EndOfAddresses,
                                             DeleteOfAddresses, EndOfIdle, ShrinkOfIdle, Bill,
                                             CloseOfDays)}


def wait_for(manager, over):
    """Let a manager that has no threads of its own work until `over()`; the clock moves on."""
    for _ in range(200):
        manager.run()
        if over():
            return
        manager.clock.advance(datetime.timedelta(seconds=1))
    raise AssertionError('It never came to its end.')


def subscribe(manager):
    """Let somebody want to be told of all that happens to the leases of the stories.

    Mail cannot be sent here, so each notification stays in the database.
    """
    with manager.database.writer() as connection:
        subscriptions.add(connection, subscribed.Subscription(
            id=str(uuid.UUID(int=9)), project_id='demo', user_id='demo', scope=subscribed.PROJECT,
            transport=subscribed.MAIL, address='ann@example.org',
            events=notification_kinds.CHOSEN, before_end=(),
            created_at=builders.NOON), place=0)


def _told(manager):
    """Return what the subscriber is told, as (kind, event type), after all was copied."""
    fan_out.fan_out(manager.core, manager.core.clock())
    with manager.database.reader() as connection:
        return sorted((row.kind, row.content['event_type']) for row in connection.execute(
            sa.select(tables.DELIVERIES.c.kind, tables.DELIVERIES.c.content)))


def picture(manager):
    """Return the final state of the cloud and of the database, without random names.

    Trusts that no lease has are taken by the reaper first, as it does after a while. `drift` is
    what an audit finds then: nothing, whatever happened.
    """
    reaper = trusts.Reaper(manager.core)
    reaper.reap(manager.core.clock())
    reaper.reap(manager.core.clock() + _AGES)
    early.Reaper(manager.core).reap(manager.core.clock() + _AGES)
    with manager.database.reader() as connection:
        made = list(connection.execute(sa.select(tables.RESERVATIONS.c.id).order_by(
            tables.RESERVATIONS.c.lease_id, tables.RESERVATIONS.c.position)).scalars())
        names = {key: f'reservation {place}' for place, key in enumerate(made)}
        names |= dict.fromkeys(connection.execute(
            sa.select(tables.MAINTENANCE_WINDOWS.c.id)).scalars(), 'a window')
        found = {
            'leases': [_without_chance(row) for row in connection.execute(
                sa.select(tables.LEASES).order_by(tables.LEASES.c.id)).mappings()],
            'reservations': connection.execute(sa.select(
                tables.RESERVATIONS.c.position, tables.RESERVATIONS.c.state,
                tables.RESERVATIONS.c.resources_changed)
                .order_by(tables.RESERVATIONS.c.position)).all(),
            'events': sorted(tuple(row) for row in connection.execute(
                sa.select(tables.EVENTS.c.kind, tables.EVENTS.c.status))),
            'resources': [(row.name, row.reservable, names.get(row.held_by, row.held_by),
                           row.withdrawn_at is not None, row.health_state)
                          for row in connection.execute(
                              sa.select(tables.RESOURCES).order_by(tables.RESOURCES.c.id))],
            'properties': sorted(tuple(row) for row in connection.execute(
                sa.select(tables.PROPERTY_VALUES.c.resource_id,
                          tables.PROPERTY_VALUES.c.text))),
            'promises': sorted(
                (names.get(row.reservation_id, row.reservation_id), row.resource_id,
                 row.released_at is not None)
                for row in connection.execute(sa.select(tables.ALLOCATIONS))),
            'statements': [tuple(row)[:-1] for row in connection.execute(
                sa.select(tables.STATEMENT_LINES).order_by(
                    tables.STATEMENT_LINES.c.lease_id, tables.STATEMENT_LINES.c.number))],
            'months': [(row.month, row.closed_at is not None) for row in connection.execute(
                sa.select(tables.BILLING_MONTHS).order_by(tables.BILLING_MONTHS.c.month))],
            'usage': sorted(tuple(row)[1:] for row in connection.execute(
                sa.select(tables.USAGE_DAYS))),
            'hours': sorted((row.hour, row.pool, row.occupied) for row in connection.execute(
                sa.select(tables.POOL_HOURS))),
            # How often something was tried is a matter of time.
            'history': [what for what, _ in itertools.groupby(
                row.what for row in journal.history(connection, LEASE))],
        }
    found['told'] = _told(manager)
    billing_truths.statements_are_right(manager.database)
    found['drift'] = comparison.Auditor(manager.core).look()
    return {key: list(map(str, value)) for key, value in (found | _of_cloud(
        manager, names)).items()}


def _of_cloud(manager, names):
    services = manager.cloud.as_service()
    return {
        'aggregates': sorted(
            (names.get(each.name, each.name), str(each.zone)[:8], each.hosts,
             _named(sorted(each.metadata.items()), names))
            for each in services.nova.aggregates()),
        'room': [(key, sorted(_named(row, names) for row in rows))
                 for key, rows in sorted(manager.cloud.leftovers().items())],
        'servers': sorted((each.name, each.host) for each in manager.cloud.servers()),
        'trusts': [each.trustor_id for each in services.keystone.trusts()],
    }


def _named(value, names):
    """The text of a value, with reservations instead of their ids; ids of groups are left out."""
    text = str(value)
    for key, name in names.items():
        text = text.replace(key, name).replace(key.upper().replace('-', '_'), name)
    return _GROUP.sub('a group', text)


def _without_chance(row):
    kept = ('id', 'state', 'task', 'reason', 'degraded')
    return {name: row[name] for name in kept} | {
        name: row[name] is not None for name in ('trust_id', 'ended_at', 'deleted_at')}


def _create(manager, *counts, **options):
    _create_lease(manager, *map(builders.hosts, counts), **options)


def _create_lease(manager, *reservations, later=False, lease_id=LEASE, acquire=None):
    now = manager.core.clock()
    request = builders.a_lease(*reservations, start=now + builders.hours(8) if later else None,
                               end=now + builders.hours(9), acquire=acquire)
    try:
        manager.client.get_lease(builders.a_member(), lease_id)
    except errors.LeaseNotFound:
        manager.client.create_lease(builders.a_member(), lease_id, dataclasses.replace(request))


def _lease(manager, lease_id=LEASE):
    return manager.client.get_lease(builders.a_member(), lease_id)
