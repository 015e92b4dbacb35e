# SPDX-License-Identifier: Apache-2.0
"""A database's clock that jumps starts and ends nothing until it is believed."""
import collections
import dataclasses
import logging
import threading

import daemons
import prometheus_client
import pytest
import sqlalchemy as sa
from support import builders
from support import waiting

from climate.cmd import db as climate_db
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import notifications
from climate.domain import records
from climate.domain import subscriptions
from climate.manager import endpoint
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.events import clock_watch
from climate.rpc import client

NOON, hours, seconds = builders.NOON, builders.hours, builders.seconds


class Watched:
    """A manager whose event loop runs only while its clock is not doubted.

    :ivar clock: the database's; `machine` is that of its machine, `own` the monotonic one.
    """

    def __init__(self, manager):
        self.manager, self.clock = manager, manager.clock
        self.machine = builders.Clock()
        self.own = 0
        self.start()

    def start(self):
        """Begin again, as a manager that was just started."""
        core = dataclasses.replace(self.manager.core, monotonic=lambda: self.own)
        self.watch = clock_watch.ClockWatch(core, 'this manager', self.machine)

    def goes_on(self, span):
        """All clocks go on by so much."""
        self.clock.advance(seconds(span))
        self.machine.advance(seconds(span))
        self.own += span

    def tick(self):
        """One tick; returns whether events were carried out."""
        if not self.watch.check(self.clock()):
            return False
        self.manager.run()
        return True


@pytest.fixture
def watched(manager):
    manager.enrol(2)
    return Watched(manager)


@pytest.fixture
def lease(watched):
    """A lease of an hour that runs."""
    made = watched.manager.book()
    assert watched.tick()
    return made


def _state(watched, lease):
    return watched.manager.lease(lease).state


def test_a_jump_ends_no_lease_and_starts_none(watched, lease):
    later = watched.manager.book(start=NOON + hours(2), end=NOON + hours(9))
    watched.clock.advance(hours(3))
    for _ in range(100):
        watched.goes_on(5)
        assert not watched.tick()
    assert (_state(watched, lease), _state(watched, later)) == (
        lifecycle.ACTIVE, lifecycle.PENDING)


def test_a_clock_that_comes_back_goes_on_as_if_nothing_had_been(watched, lease):
    watched.clock.advance(hours(3))
    assert not watched.tick()
    watched.clock.advance(-hours(3))
    watched.goes_on(5)
    assert watched.tick()
    assert _state(watched, lease) == lifecycle.ACTIVE
    watched.goes_on(3600)
    assert watched.tick()
    assert _state(watched, lease) == lifecycle.TERMINATED


def test_a_manager_that_was_suspended_looks_twice_and_goes_on(watched, lease):
    watched.clock.advance(hours(3))
    watched.machine.advance(hours(3))
    assert not watched.tick()
    watched.goes_on(59)
    assert not watched.tick()
    assert _state(watched, lease) == lifecycle.ACTIVE
    watched.goes_on(1)
    assert watched.tick()
    assert _state(watched, lease) == lifecycle.TERMINATED


def test_a_manager_that_starts_while_the_clock_is_wrong_ends_nothing(watched, lease):
    watched.clock.advance(hours(3))
    watched.start()
    assert not watched.watch.may_act
    assert not watched.tick()
    assert _state(watched, lease) == lifecycle.ACTIVE


def test_a_manager_that_starts_after_an_outage_goes_on_at_once(watched, lease):
    watched.clock.advance(hours(3))
    watched.machine.advance(hours(3))
    watched.own = 7
    watched.start()
    assert watched.tick()
    assert _state(watched, lease) == lifecycle.TERMINATED


def test_a_clock_that_goes_back_is_told_and_stops_nothing(watched, lease, caplog):
    watched.clock.advance(-hours(1))
    with caplog.at_level(logging.WARNING):
        assert watched.tick()
    assert '3600 seconds earlier than expected' in caplog.text
    made = watched.manager.book(end=NOON)
    assert watched.tick()
    assert _state(watched, made) == lifecycle.ACTIVE


def test_zero_believes_every_time(watched, lease, conf):
    conf.set_override('clock_jump_seconds', 0, group='manager')
    watched.start()
    watched.clock.advance(hours(3))
    assert watched.tick()
    assert _state(watched, lease) == lifecycle.TERMINATED


def test_somebody_is_told_once_of_the_doubt_and_once_of_its_end(watched, lease, caplog):
    with caplog.at_level(logging.INFO):
        watched.clock.advance(hours(3))
        for _ in range(9):
            watched.goes_on(5)
            watched.tick()
        assert _gauge(watched) == 3 * 3600
        watched.clock.advance(-hours(3))
        watched.tick()
    assert _gauge(watched) == 0
    [doubted, believed] = [each.getMessage() for each in caplog.records
                           if 'clock of the database' in each.getMessage()]
    assert '10800 seconds later than expected' in doubted
    assert 'climate-db confirm-clock' in doubted
    assert 'is believed again' in believed
    with watched.manager.database.reader() as connection:
        told = connection.execute(
            sa.select(tables.OUTBOX.c.event_type, tables.OUTBOX.c.payload)
            .where(tables.OUTBOX.c.event_type.like('clock.%'))
            .order_by(tables.OUTBOX.c.id)).all()
    assert [event_type for event_type, _ in told] == ['clock.doubted', 'clock.believed']
    assert told[0].payload == {
        'manager': 'this manager', 'ahead_seconds': 3 * 3600,
        'database_time': (NOON + hours(3) + seconds(5)).isoformat()}


def _gauge(watched):
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(
        watched.manager.core, watched.manager.event_loop,
        schedule.AuditSchedule(watched.manager.core, 'this manager'), watched.watch))
    return registry.get_sample_value('climate_clock_ahead_seconds')


def test_an_earlier_confirmation_does_not_count_for_a_later_jump(watched, lease, conf, capsys):
    watched.clock.advance(seconds(600))
    assert not watched.tick()
    _confirm(conf, watched.manager.database)
    assert watched.tick()
    watched.clock.advance(hours(3))
    watched.goes_on(5)
    assert not watched.tick()
    assert _state(watched, lease) == lifecycle.ACTIVE
    _confirm(conf, watched.manager.database)
    assert watched.tick()
    assert _state(watched, lease) == lifecycle.TERMINATED
    assert capsys.readouterr().out.count('Confirmed: the clock of the database says') == 2


def _confirm(conf, database):
    climate_db._confirm_clock(conf, database)


# The outbox, the fan-out, webhooks, mails and the offers.
_EACH_SECOND = 5


class PushedClock:
    """A clock of the database that can jump."""

    def __init__(self, database):
        self._database, self._ahead = database, seconds(0)
        self._reads = collections.Counter()

    def __call__(self):
        if threading.current_thread().name == '_repeat':
            self._reads[threading.get_ident()] += 1
        return self._database.now() + self._ahead

    def push(self, span):
        self._ahead = span

    def wait_for_each_task(self):
        """Wait until each task that runs each second has run once more."""
        before = self._reads.copy()
        # The second reading of a task proves that its first run is over.
        waiting.until(lambda: sum(reads >= 2 for reads in (
            self._reads - before).values()) >= _EACH_SECOND)


@pytest.fixture
def pushed(database):
    return PushedClock(database)


@pytest.fixture
def running(conf, database, pushed):
    """A manager that works by itself."""
    with daemons.running(conf, database, clock=pushed) as found:
        yield found


@pytest.mark.proof
def test_no_thread_of_a_manager_takes_anything_by_a_clock_that_jumped(
        running, pushed, conf, database):
    conf.set_override('give_up_hours', 2, group='notifications')
    calls = client.ManagerClient(endpoint.InProcess(running.endpoint))
    calls.create_resource(builders.an_admin(), 'host', 'compute-1', {})
    calls.create_resource(builders.an_admin(), 'host', 'compute-2', {})
    told = calls.create_subscription(builders.a_member(), subscriptions.SubscriptionRequest(
        scope='own', transport='webhook', address='https://hooks.invalid/', events=('start',),
        before_end=(), secret='the-key'))
    [lease, offer] = _made(running, calls)
    waiting.until(lambda: calls.get_lease(builders.a_member(), lease.id).state == lifecycle.ACTIVE)
    waiting.until(lambda: [each.attempts for each in calls.subscription_log(
        builders.a_member(), told.id)] == [1])
    pushed.push(hours(3))
    waiting.until(lambda: not running.clock_watch.may_act)
    pushed.wait_for_each_task()
    assert calls.get_lease(builders.a_member(), lease.id).state == lifecycle.ACTIVE
    with database.reader() as connection:
        assert connection.execute(sa.select(tables.OFFERS.c.id, tables.OFFERS.c.place)).all() == [
            (offer.id, 0)]
    [entry] = calls.subscription_log(builders.a_member(), told.id)
    assert entry.state == notifications.WAITING
    _confirm(conf, running.core.database)
    waiting.until(lambda: calls.get_lease(
        builders.a_member(), lease.id).state == lifecycle.TERMINATED)


def _made(running, calls):
    """A lease of an hour, and an offer, by the present time."""
    helper = builders.Manager(running.core.conf, running.core.database, running.core.clock,
                              running.core.cloud)
    now = running.core.clock()
    lease = calls.create_lease(builders.a_member(), 'the-lease', records.LeaseRequest(
        name='a lease', start=None, end=None, duration_seconds=3600,
        reservations=(builders.hosts(1),)))
    offer = helper.hold(builders.a_lease(start=now + hours(5), end=now + hours(6)), most=1)
    return lease, offer
