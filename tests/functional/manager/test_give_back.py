# SPDX-License-Identifier: Apache-2.0
"""Leases and hosts that are returned: waiting leases get them before any other lease."""
import uuid

import acts
import pytest
import sqlalchemy as sa
from support import billing_cases
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain.series import series_records
from climate.manager.queue import given_back
from climate.manager.series import horizon

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
OTHER = builders.a_member('eve', 'other')


def give_back(manager, lease, hosts=None, **more):
    return manager.client.give_back_lease(builders.a_member(), lease.id, hosts, **more)


def book(manager, count, caller=OTHER):
    """Book hosts in the time of the future lease; return the Lease, or None if they are taken."""
    try:
        return manager.create(builders.a_lease(
            builders.hosts(count), start=NOON + hours(1), end=NOON + hours(2)), caller)
    except errors.NotEnough:
        return None


@pytest.fixture
def future(manager):
    """A lease of both hosts, from an hour ahead on."""
    manager.enrol(2)
    return manager.create(builders.a_lease(
        builders.hosts(2), start=NOON + hours(1), end=NOON + hours(3)))


def waiting(manager, count, caller=OTHER, kind='wait', **fields):
    """A lease that needs hosts for two hours from now on; the future lease has them then."""
    manager.clock.advance(builders.seconds(1))
    lease = acts.sought(manager, kind, builders.hosts(count), caller=caller, hours=2, **fields)
    manager.run()
    assert manager.lease(lease).state == lifecycle.ACQUIRING
    return lease


def kept(manager):
    """The number of resources that are kept for waiting leases."""
    with manager.database.reader() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(tables.ALLOCATIONS).where(
            tables.ALLOCATIONS.c.reservation_id.in_(sa.select(tables.GIVEN_BACK.c.id)))).scalar()


def test_a_waiting_lease_gets_what_was_given_back_before_a_competing_request(manager, future):
    waits = waiting(manager, 2)
    given = give_back(manager, future)
    assert given.deleted_at is not None
    assert book(manager, 1) is None
    manager.run()
    assert manager.lease(waits).state == lifecycle.ACTIVE
    assert kept(manager) == 0


def test_hosts_that_are_given_back_go_to_the_first_waiting_lease_that_fits(manager, future):
    large, small = waiting(manager, 2), waiting(manager, 1)
    left = give_back(manager, future, 1)
    assert [each.request['max'] for each in left.reservations] == [1]
    assert book(manager, 1) is None
    manager.run()
    assert [manager.lease(each).state for each in (large, small)] == [
        lifecycle.ACQUIRING, lifecycle.ACTIVE]
    assert len(manager.lease(future).reservations[0].resource_ids) == 1


def test_the_order_of_the_queue_decides(manager, future):
    first, second = waiting(manager, 2), waiting(manager, 2)
    give_back(manager, future)
    manager.run()
    assert [manager.lease(each).state for each in (first, second)] == [
        lifecycle.ACTIVE, lifecycle.ACQUIRING]


def test_a_lease_that_retries_gets_what_was_given_back(manager, future):
    retries = waiting(manager, 2, kind='retries', retries=9)
    give_back(manager, future)
    assert book(manager, 1) is None
    manager.run()
    assert manager.lease(retries).state == lifecycle.ACTIVE


def test_resources_that_nobody_waits_for_are_free_for_all_at_once(manager, future):
    give_back(manager, future, 1)
    assert kept(manager) == 0
    assert book(manager, 1) is not None


def test_resources_that_no_waiting_lease_can_use_are_free_when_all_were_tried(manager, future):
    waiting(manager, 2)
    give_back(manager, future, 1)
    assert book(manager, 1) is None
    manager.run()
    assert given_back.expire(manager.core, manager.clock()) == 1
    assert book(manager, 1) is not None


def test_returned_resources_become_free_even_if_no_waiting_lease_is_tried(manager, future):
    waiting(manager, 2)
    give_back(manager, future, 1)
    assert given_back.expire(manager.core, manager.clock()) == 0
    manager.clock.advance(minutes(2))
    assert given_back.expire(manager.core, manager.clock()) == 1
    assert given_back.expire(manager.core, manager.clock()) == 0
    assert book(manager, 1) is not None


def test_a_late_give_back_costs_what_a_late_cancellation_costs(manager):
    manager.enrol(2)
    billing_cases.book(manager, late_cancel={'hours': '24', 'percent': '50'})
    lease = manager.create(builders.a_lease(builders.hosts(2), start=NOON + hours(1),
                                            end=NOON + hours(3)))
    for count in (1, None):
        before = acts.everything(manager)
        planned = give_back(manager, lease, count, dry_run=True)
        assert planned.late_cancel is not None
        assert acts.everything(manager) == before
        give_back(manager, lease, count)
    billing_cases.bill(manager)
    # Half of four hours of a host at 0.60 with the surcharge for short notice, and of the fee.
    assert [(line.line.kind, line.line.amount) for line in billing_cases.lines(manager)] == [
        ('late_cancel', '2.20')]
    assert acts.history(manager, lease).count('return') == 2


@pytest.mark.parametrize('hosts', [None, 1])
def test_a_running_or_a_waiting_lease_is_not_given_back(manager, future, hosts):
    waits = waiting(manager, 2, builders.a_member())
    with pytest.raises(errors.GiveBackRefused):
        give_back(manager, waits, hosts)
    manager.run_until(NOON + hours(1))
    with pytest.raises(errors.GiveBackRefused):
        give_back(manager, future, hosts)


def test_all_hosts_are_given_back_as_a_lease(manager, future):
    with pytest.raises(errors.BadField, match='choose at most 1'):
        give_back(manager, future, 2)
    with pytest.raises(errors.StalePrecondition):
        give_back(manager, future, generation=99)


def test_an_occurrence_that_is_tried_again_gets_what_was_given_back(manager, future):
    series = manager.client.create_series(OTHER, str(uuid.uuid4()), series_records.SeriesRequest(
        name='lab', reservations=(builders.hosts(2),), start=f'{NOON:%Y-%m-%d}T14:00:00',
        seconds=1800, repeat='every day for 2 times', time_zone='UTC'))
    assert [each.status for each in series.occurrences] == ['failed', 'booked']
    give_back(manager, future)
    assert book(manager, 1) is None
    horizon.Horizon(manager.core).step(manager.clock())
    found = manager.client.get_series(OTHER, series.id)
    assert [each.status for each in found.occurrences] == ['booked', 'booked']
    # The occurrence is later, so its hosts are free before it.
    assert book(manager, 1) is not None
    assert kept(manager) == 0
