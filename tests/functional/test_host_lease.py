# SPDX-License-Identifier: Apache-2.0
"""A host lease from its creation to its end, on the simulated cloud."""
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import lifecycle


def test_a_lease_starts_on_time_and_gives_everything_back_at_its_end(manager):
    manager.enrol(4)
    lease = manager.book(builders.hosts(2), start=builders.at(1), end=builders.at(3))
    assert lease.state == lifecycle.PENDING

    lease = manager.expect(lease, lifecycle.ACTIVE, builders.at(1))
    [reservation] = lease.reservations
    nova = manager.cloud.as_service().nova
    aggregate = nova.aggregate(reservation.id)
    assert len(aggregate.hosts) == 2
    assert aggregate.zone == f'climate_{reservation.id}'
    assert aggregate.metadata['climate:owner'] == 'demo'
    assert not set(aggregate.hosts) & set(nova.aggregate('freepool').hosts)
    server = manager.cloud.boot('demo', 'one', {'reservation': reservation.id})
    assert server.host in aggregate.hosts
    with pytest.raises(errors.Conflict):
        manager.cloud.boot('other', 'two', {'reservation': reservation.id})

    manager.run_until(builders.at(3) + builders.minutes(1))
    lease = manager.lease(lease)
    assert lease.state == lifecycle.TERMINATED
    assert [each.state for each in lease.reservations] == ['deleted']
    assert nova.aggregate(reservation.id) is None
    assert len(nova.aggregate('freepool').hosts) == 4
    assert manager.cloud.servers() == []
    assert manager.cloud.as_service().keystone.trusts() == []


def test_two_leases_cannot_share_a_host(manager):
    manager.enrol(1)
    manager.book(end=builders.at(4))
    with pytest.raises(errors.NotEnough) as refused:
        manager.book(start=builders.at(3), end=builders.at(5))
    assert refused.value.details['nearest'] == '2030-05-01T16:00:00+00:00'
    assert 'It fits from 2030-05-01 16:00 UTC.' in refused.value.message


def test_leases_may_touch(manager):
    manager.enrol(1)
    noon, hours = builders.NOON, builders.hours
    first = manager.book(end=noon + hours(2))
    second = manager.book(start=noon + hours(2), end=noon + hours(3))
    manager.expect(first, lifecycle.TERMINATED, noon + hours(2) + builders.minutes(1))
    assert manager.lease(second).state == lifecycle.ACTIVE


def test_a_running_lease_that_ends_now_frees_its_hosts_at_once(manager):
    manager.enrol(1)
    lease = manager.book(end=builders.at(9))
    manager.run()
    manager.clock.advance(builders.minutes(30))
    manager.change(lease, end_now=True)
    manager.expect(lease, lifecycle.TERMINATED)
    manager.book(end=builders.at(2))


def test_a_running_lease_grows_and_shrinks(manager):
    manager.enrol(4)
    lease = manager.book(builders.hosts(2), end=builders.at(9))
    manager.run()
    [reservation] = lease.reservations
    nova = manager.cloud.as_service().nova
    for least, most in ((3, 4), (1, 1)):
        manager.change_reservation(lease, min=least, max=most)
        manager.run()
        assert len(nova.aggregate(reservation.id).hosts) == most
        assert len(nova.aggregate('freepool').hosts) == 4 - most
    assert manager.lease(lease).state == lifecycle.ACTIVE
    manager.book(builders.hosts(3))


def test_a_pending_lease_that_is_deleted_leaves_nothing(manager):
    manager.enrol(1)
    lease = manager.book(start=builders.at(1), end=builders.at(2))
    assert manager.delete(lease)
    manager.run()
    assert manager.lease(lease).deleted_at is not None
    assert manager.cloud.as_service().keystone.trusts() == []
    manager.book(start=builders.at(1), end=builders.at(2))


def test_an_active_lease_that_is_deleted_is_torn_down_first(manager):
    manager.enrol(1)
    lease = manager.book()
    manager.run()
    assert not manager.delete(lease)
    manager.run()
    assert manager.lease(lease).deleted_at is not None
    assert len(manager.cloud.as_service().nova.aggregate('freepool').hosts) == 1


def test_a_start_whose_host_is_still_held_gets_a_substitute(manager):
    first, second = manager.enrol(2)
    lease = manager.book(end=builders.at(1))
    manager.run()
    following = manager.book(
        builders.hosts(1, criteria=f'["=", "$hypervisor_hostname", "{first.name}"]'),
        start=builders.at(1), end=builders.at(2))
    manager.cloud.fail('nova.aggregates', 3, errors.CloudError(service='Nova', reason='no'))
    manager.expect(following, lifecycle.PENDING, builders.at(1))
    manager.run_until(builders.at(1) + builders.minutes(2))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert manager.lease(following).state == lifecycle.ACTIVE
    assert second.id not in manager.lease(following).reservations[0].resource_ids


def test_a_failed_start_is_an_error_that_says_why_and_still_ends_cleanly(manager):
    manager.enrol(1)
    lease = manager.book()
    manager.cloud.fail('nova.add_host', 9, errors.CloudError(service='Nova', reason='no'))
    lease = manager.expect(lease, lifecycle.ERROR, builders.NOON + builders.minutes(5))
    assert 'Nova: no' in lease.reason
    manager.cloud.fail('nova.add_host', 0, None)
    manager.run_until(builders.at(1) + builders.minutes(1))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert len(manager.cloud.as_service().nova.aggregate('freepool').hosts) == 1


def test_a_lease_whose_whole_time_passed_never_touches_the_cloud(manager):
    manager.enrol(1)
    lease = manager.book()
    manager.clock.advance(builders.hours(5))
    lease = manager.expect(lease, lifecycle.TERMINATED)
    assert lease.reason == 'It could not be started before its end.'
    assert manager.cloud.as_service().keystone.trusts() == []


def test_a_start_that_waits_for_a_host_goes_on_as_soon_as_that_is_released(manager):
    """The start goes on at once, not only at its next try."""
    manager.enrol(1)
    manager.core.conf.set_override('busy_seconds', 500, group='manager')
    noon, hours = builders.NOON, builders.hours
    first = manager.book(end=noon + hours(2))
    second = manager.book(start=noon + hours(2), end=noon + hours(3))
    manager.run()
    manager.cloud.boot('demo', 'one', {'reservation': manager.lease(first).reservations[0].id})
    manager.run_until(noon + hours(2))
    waiting = manager.lease(second).event('start_lease')
    assert waiting.waits == 1
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.EVENTS).where(tables.EVENTS.c.id == waiting.id).values(
            due_at=noon + hours(2.5)))
    # The end looks again after a while, and finds the server gone.
    manager.expect(first, lifecycle.TERMINATED, manager.lease(first).event('end_lease').due_at)
    assert manager.lease(second).state == lifecycle.ACTIVE
