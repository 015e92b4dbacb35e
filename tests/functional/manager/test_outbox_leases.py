# SPDX-License-Identifier: Apache-2.0
"""A notification of a lease equals what a reader of the lease would see, without a read."""
import contextlib
import json

import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import cloud_points

from climate.db import engine
from climate.db import leases
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.manager.notifications import outbox
from climate.rpc import wire

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
_TOLD = (f'lease.event.{event_kinds.START}', f'lease.event.{event_kinds.END}')


class Proving(engine.Database):
    """A database that compares the news of starts and ends with what is to be read, at each commit.

    :ivar proved: how many it compared.
    """

    proved = 0

    @contextlib.contextmanager
    def writer(self):
        with super().writer() as connection:
            before = _newest(connection)
            yield connection
            rows = connection.execute(
                sa.select(tables.OUTBOX.c.payload)
                .where(tables.OUTBOX.c.id > before, tables.OUTBOX.c.event_type.in_(_TOLD)))
            for payload in rows.scalars().all():
                # JSON has lists for tuples.
                found = json.loads(json.dumps(wire.pack(
                    leases.get(connection, payload['lease_id']))))
                # An event of the same transaction has a notification of its own.
                found['events'] = [each for each in found['events']
                                   if each['kind'] != event_kinds.DROP_TRUST]
                assert {name: payload[name] for name in outbox.FIELDS} == {
                    name: found[name] for name in outbox.FIELDS}
                self.proved += 1


def _newest(connection):
    return connection.execute(sa.select(sa.func.max(tables.OUTBOX.c.id))).scalar() or 0


@pytest.fixture
def proving(conf, database, clock):
    proved = Proving(database.engine.url)
    manager = builders.Manager(conf, proved, clock)
    manager.enrol(4)
    yield manager
    proved.dispose()


@pytest.mark.parametrize('reservations', [
    [builders.hosts(1)], [builders.hosts(1, 2), builders.hosts(1)], [acts.dummy()],
    [builders.instances(3)]])
def test_notifications_of_start_and_end_match_the_lease(proving, reservations):
    lease = proving.book(*reservations, end=NOON + hours(3), notify_at=(NOON + hours(1),))
    proving.expect(lease, lifecycle.TERMINATED, NOON + hours(4))
    assert proving.database.proved == 2


def test_the_notification_of_a_retried_start_matches_the_lease(proving):
    lease = proving.book(end=NOON + hours(3))
    proving.cloud.fail('nova.add_host', 1, acts.NO)
    proving.expect(lease, lifecycle.ACTIVE, NOON + minutes(5))
    proving.cloud.fail('nova.remove_host', 1, acts.NO)
    proving.expect(lease, lifecycle.TERMINATED, NOON + hours(4))
    assert proving.database.proved == 2


def test_the_notification_of_a_start_on_a_substitute_matches_the_lease(proving):
    lease = proving.book(start=NOON + hours(1), end=NOON + hours(3))
    [host] = lease.reservations[0].resource_ids
    acts.disable(proving, proving.client.get_resource(builders.an_admin(), 'host', host))
    proving.run_until(NOON + hours(2))
    assert proving.lease(lease).reservations[0].resource_ids != (host,)
    assert proving.database.proved == 1


@pytest.mark.parametrize('deed', ['rename', 'delete'])
def test_the_notification_of_a_start_has_changes_made_meanwhile(proving, deed):
    lease = proving.book(end=NOON + hours(3))
    cloud_points.once_at(proving.cloud, 'nova.add_host', {
        'rename': lambda: proving.change(lease, name='another name'),
        'delete': lambda: proving.delete(lease)}[deed])
    proving.run()
    assert f'event.{event_kinds.START}' in ' '.join(acts.news(proving))
    assert proving.database.proved == 1


def test_the_notification_of_a_start_has_a_server_bound_meanwhile(proving):
    to_come = builders.a_server(flavor_id='2')
    lease = proving.book(to_come, to_come, end=NOON + hours(3))
    servers = [proving.cloud.boot('demo', 'vm', {
        'reservation': [each.id for each in lease.reservations]}, flavor='2', metadata={
            'climate:lease_id': lease.id}) for _ in range(2)]
    for reservation, server in zip(lease.reservations, servers, strict=True):
        proving.client.bind_reservation(builders.a_member(), reservation.id, server.id)
    generation = proving.lease(lease).generation
    assert generation > lease.generation
    proving.expect(lease, lifecycle.ACTIVE, NOON + minutes(5))
    proving.expect(lease, lifecycle.TERMINATED, NOON + hours(4))
    assert proving.database.proved == 2


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_the_trust_of_a_lease_is_dropped_with_its_end_where_a_worker_has_time(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.clock.advance(hours(1))
    assert manager.event_loop.tick(manager.clock()) == 1
    assert manager.event_loop.tick(manager.clock()) == 0
    assert manager.lease(lease).event(event_kinds.DROP_TRUST).status == lifecycle.EVENT_DONE
    assert not acts.trusts(manager)


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_the_trust_waits_for_a_worker_where_all_are_busy(manager):
    manager.core.conf.set_override('workers', 1, group='manager')
    manager.enrol(1)
    lease = manager.active()
    manager.clock.advance(hours(1))
    assert manager.event_loop.tick(manager.clock()) == 1
    assert manager.lease(lease).event(event_kinds.DROP_TRUST).status == lifecycle.EVENT_UNDONE
    manager.run()
    assert not acts.trusts(manager)


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_another_manager_drops_the_trust_where_the_first_died_before(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.clock.advance(hours(1))

    def die():
        raise SystemExit
    cloud_points.once_at(manager.cloud, 'keystone.delete_trust', die)
    with pytest.raises(SystemExit):
        manager.run()
    held = manager.lease(lease).event(event_kinds.DROP_TRUST)
    assert (held.status, held.claim_no) == (lifecycle.EVENT_IN_PROGRESS, 1)
    other = acts.Second(manager, owner='other')
    assert other.claim() == 0
    manager.clock.advance(minutes(1))
    assert other.claim() == 1
    other.finish()
    assert acts.is_clean(manager, 1)


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_late_outcome_of_a_dropped_trust_is_ignored(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.clock.advance(hours(1))
    slow, other = acts.Second(manager, owner='slow'), acts.Second(manager, owner='other')
    slow.claim()

    def overtake():
        manager.clock.advance(minutes(1))
        assert other.claim() == 1
    cloud_points.once_at(manager.cloud, 'keystone.delete_trust', overtake)
    slow.finish()
    assert manager.lease(lease).event(event_kinds.DROP_TRUST).claim_owner == 'other'
    other.finish()
    assert acts.is_clean(manager, 1)
