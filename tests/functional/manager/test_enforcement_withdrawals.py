# SPDX-License-Identifier: Apache-2.0
"""An enforcement service that charges when it is asked: questions whose lease is not written."""
import uuid

import pytest
from support import builders
from support import ledger_driver

from climate import errors
from climate.db import enforcement_calls
from climate.domain import enforcement
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.enforcement import calls
from climate.manager.leases import enforcement_reports


class World:
    """A manager, and a service that is a table in this process."""

    def __init__(self, conf, database, clock, charges_when_asked):
        self.driver = ledger_driver.LedgerDriver(conf, charges_when_asked)
        self.manager = builders.Manager(conf, database, clock, driver=self.driver)
        self.manager.enrol(2)
        self.calls = []
        self.lost = set()
        self.driver.reach = self._reach
        self._reports = enforcement_reports.EnforcementReports(self.manager.core)

    def _reach(self, name, when):
        if when == 'before':
            self.calls.append(name)
        elif name in self.lost:
            self.lost.remove(name)
            raise errors.EnforcementUnavailable(reason='its answer is lost.')

    def report(self):
        """Report everything that is due now."""
        for _ in range(3):
            self._reports.step(self.manager.clock())

    def stored(self, lease):
        with self.manager.database.reader() as connection:
            return [(each.kind, each.state)
                    for each in enforcement_calls.of_lease(connection, lease.id)]

    def charge(self, lease):
        return self.driver.charges.get(lease.id, (None, None, None))[:2]

    def waiting(self):
        """Return a lease that tries every ten minutes; hosts are free in half an hour."""
        self.manager.active(builders.hosts(2), end=builders.at(0.5))
        return self.manager.create(builders.a_lease(
            duration_seconds=3600, acquire=records.AcquireRequest(
                'retries', retries=9, retry_pause_seconds=600)))


@pytest.fixture
def world(conf, database, clock):
    return World(conf, database, clock, charges_when_asked=True)


def test_an_attempt_of_a_waiting_lease_whose_answer_is_lost_leaves_no_charge(world):
    lease = world.waiting()
    world.lost.add('ask')
    world.manager.run_until(builders.at(0.5))
    assert world.manager.lease(lease).state == lifecycle.ACQUIRING
    assert world.charge(lease) != (None, None)
    world.report()
    assert world.charge(lease) == (None, None)
    assert world.stored(lease) == []


def test_the_next_attempt_is_charged_once_even_if_the_first_is_reported_as_ended_later(world):
    lease = world.waiting()
    world.lost.add('ask')
    world.manager.run_until(builders.at(0.5))
    assert world.stored(lease) == [(enforcement.END, enforcement.DUE)]
    lease = world.manager.expect(lease, lifecycle.ACTIVE, builders.at(0.75))
    world.report()
    assert world.charge(lease) == (lease.start, lease.end)
    assert world.stored(lease) == [(enforcement.CREATE, enforcement.REPORTED)]
    assert world.calls[-2:] == ['end', 'commit']


def test_attempts_without_an_answer_leave_one_report_of_the_end(world):
    lease = world.waiting()
    world.driver.silent = True
    world.manager.run_until(builders.at(1))
    assert world.calls.count('ask') > 3
    assert world.stored(lease) == [(enforcement.END, enforcement.DUE)]


def test_a_question_that_is_withdrawn_twice_is_reported_as_ended(world):
    asking = []

    def reach(name, when):
        if (name, when) == ('ask', 'after'):
            with world.manager.database.reader() as connection:
                asking.extend(enforcement_calls.stale(connection, world.manager.clock(), 9))
            raise errors.EnforcementUnavailable(reason='its answer is lost.')
    world.driver.reach = reach
    with pytest.raises(errors.EnforcementUnavailable):
        world.manager.book()
    [call] = asking
    calls.withdraw(world.manager.core, call)
    with world.manager.database.reader() as connection:
        [end] = enforcement_calls.of_lease(connection, call.lease_id)
    assert (end.kind, end.state) == (enforcement.END, enforcement.DUE)


def test_a_lease_from_before_the_service_keeps_no_charge_of_a_change_that_was_not_made(
        world, conf):
    conf.set_override('exempt_projects', ['demo'], group='enforcement')
    lease = world.manager.active(end=builders.at(2))
    conf.set_override('exempt_projects', [], group='enforcement')
    world.lost.add('ask')
    with pytest.raises(errors.EnforcementUnavailable):
        world.manager.change(lease, end=builders.at(3))
    assert world.charge(lease) != (None, None)
    world.report()
    assert world.charge(lease) == (None, None)
    changed = world.manager.change(lease, end=builders.at(3))
    assert world.charge(lease)[1] == changed.end


def test_a_withdrawn_question_leaves_the_charge_to_a_concurrent_copy(world, conf):
    lease_id = str(uuid.uuid4())

    def create():
        world.manager.client.create_lease(builders.a_member(), lease_id, builders.a_lease(
            start=builders.at(2), end=builders.at(3)))

    def create_twice(name, when):
        world.driver.reach = world._reach
        create()
        raise errors.EnforcementUnavailable(reason='its answer is lost.')
    world.driver.reach = create_twice
    with pytest.raises(errors.ClimateError):
        create()
    world.report()
    lease = world.manager.client.get_lease(builders.a_member(), lease_id)
    assert world.charge(lease) == (lease.start, lease.end)
    assert world.stored(lease) == [(enforcement.CREATE, enforcement.REPORTED)]


def test_a_change_is_not_reported_before_the_creation_of_its_lease(conf, database, clock):
    world = World(conf, database, clock, charges_when_asked=False)
    world.lost.add('commit')
    lease = world.manager.book(start=builders.at(2), end=builders.at(3))
    world.calls.clear()
    lease = world.manager.change(lease, end=builders.at(4))
    assert world.calls == ['ask']
    assert world.stored(lease) == [(enforcement.CREATE, enforcement.DUE),
                                   (enforcement.UPDATE, enforcement.DUE)]
    clock.advance(builders.minutes(1))
    world.report()
    assert world.calls == ['ask', 'commit', 'commit']
    assert world.charge(lease) == (lease.start, lease.end)
    assert world.stored(lease) == [(enforcement.UPDATE, enforcement.REPORTED)]
