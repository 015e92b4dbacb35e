# SPDX-License-Identifier: Apache-2.0
"""Managers that write to different nodes of one Galera cluster never allocate a host twice.

A lock on a row is known to its own node only. What the nodes compare at a commit are the rows that
were written. CLIMATE_GALERA_ROUNDS says how often each race is run: 100 times by make faults-long.
Without it the tests are skipped, because they need the cluster of `tools.databases up galera`.
CLIMATE_GALERA_SEED is the seed of the pauses before bookings (default: another each time).
"""
import collections
from concurrent import futures
import os
import random
import threading
import time

import model_records
import model_truths
import pytest
from support import builders

from climate import errors
from climate.cloud import simulated
from climate.db import engine
from climate.domain import interval
from climate.domain import records
from climate.manager.booking import booking
from climate.manager.leases import draft
from tools.databases import galera

_ROUNDS = int(os.environ.get('CLIMATE_GALERA_ROUNDS') or 0)
_SEED = int(os.environ.get('CLIMATE_GALERA_SEED') or 0) or random.randrange(1, 10 ** 9)
_CALLERS = 4
_ONE = builders.hours(1)
# How long the applier of a node is given to abort a transaction that holds a row it needs.
_APPLIED_SECONDS = 0.5
# How much later than a prolongation a booking begins, at most.
_LATER_SECONDS = 0.03

pytestmark = [pytest.mark.faults,
              pytest.mark.skipif(not _ROUNDS, reason='needs a cluster: CLIMATE_GALERA_ROUNDS')]


class Cluster:
    """Three managers on one cloud, each of which reads and writes on a node of its own.

    :ivar lost: {the node's number: how many of its transactions were refused}.
    """

    def __init__(self, conf, clock):
        self.lost = collections.Counter()
        self.databases = [_Counting(url, number, self.lost)
                          for number, url in enumerate(galera.urls())]
        builders.clean(self.databases[0])
        cloud = simulated.SimulatedCloud(conf, clock=lambda: clock().timestamp())
        self.managers = [builders.Manager(conf, database, clock, cloud)
                         for database in self.databases]
        self._threads = futures.ThreadPoolExecutor(len(self.managers) * _CALLERS)

    def race(self, *calls):
        """Make calls at one moment, each on a thread; returns their results, or their errors."""
        start = threading.Barrier(len(calls))

        def run(call):
            start.wait(timeout=60)
            try:
                return call()
            except errors.ClimateError as error:
                return error
        return list(self._threads.map(run, calls))

    def accounts(self):
        """The rows of all nodes, which must be the same, with no host allocated twice."""
        found = [model_records.read(database) for database in self.databases]
        for each in found:
            model_truths.nothing_is_given_twice(each)
            model_truths.every_allocation_is_to_somebody(each)
        assert found[0].leases == found[1].leases == found[2].leases
        assert found[0].resources == found[1].resources == found[2].resources
        return found[0]

    def clear(self):
        """Delete all leases, each by another node than the one before."""
        manager = self.managers[-1]
        self.managers.insert(0, self.managers.pop())
        for lease in manager.client.list_leases(builders.an_admin(), records.LeaseQuery()):
            manager.delete(lease)
        manager.run()

    def close(self):
        self._threads.shutdown()
        for database in self.databases:
            database.dispose()


class _Counting(engine.Database):
    """Counts the transactions that lost a race."""

    def __init__(self, url, number, lost):
        super().__init__(url, max_pool_size=8, max_overflow=8)
        self._number, self._lost = number, lost

    def writer(self, counted=True):
        return _Noted(super().writer(counted), self._number, self._lost)


class _Noted:
    def __init__(self, inner, number, lost):
        self._inner, self._number, self._lost = inner, number, lost

    def __enter__(self):
        return self._inner.__enter__()

    def __exit__(self, *error):
        try:
            return self._inner.__exit__(*error)
        except errors.LostRace:
            self._lost[self._number] += 1
            raise


@pytest.fixture
def without_foreign_keys(cluster):
    """The tables as they are, but an allocation does not refer to its resource.

    MariaDB 10.11 lets such a reference conflict with a change of the resource, so it would hide
    what Climate does not write itself.
    """
    change = 'ALTER TABLE allocations {}'
    with cluster.databases[0].writer() as connection:
        connection.exec_driver_sql(
            change.format('DROP FOREIGN KEY fk_allocations_resource_id'))
    yield
    with cluster.databases[0].writer() as connection:
        connection.exec_driver_sql(change.format(
            'ADD CONSTRAINT fk_allocations_resource_id '
            'FOREIGN KEY (resource_id) REFERENCES resources (id)'))


@pytest.fixture
def cluster(conf, clock):
    found = Cluster(conf, clock)
    yield found
    found.close()


def test_one_of_all_requests_for_the_last_host_on_three_nodes_gets_it(cluster, figures):
    cluster.managers[0].enrol(1)
    began = time.monotonic()
    for _ in range(_ROUNDS):
        answers = cluster.race(*[
            lambda manager=manager: manager.book()
            for manager in cluster.managers for _ in range(_CALLERS)])
        assert _kinds(answers) == {'Lease': 1, 'NotEnough': len(answers) - 1}
        assert len(_given(cluster.accounts())) == 1
        cluster.clear()
    figures(f'{_ROUNDS} races of {len(answers)} on {len(cluster.databases)} nodes, one winner '
            f'each; {sum(cluster.lost.values())} transactions were refused and repeated, in '
            f'{time.monotonic() - began:.0f} s')


def test_a_lease_that_is_prolonged_and_bookings_on_other_nodes_never_share_the_host(
        cluster, figures):
    cluster.managers[0].enrol(1)
    began, won, chance = time.monotonic(), collections.Counter(), random.Random(_SEED)
    later = builders.a_lease(start=builders.NOON + _ONE, end=builders.NOON + 2 * _ONE)
    for _ in range(_ROUNDS):
        here, there, elsewhere = cluster.managers
        lease = here.book()
        here.run()
        # A booking has fewer statements, and would nearly always be the first.
        pauses = [chance.uniform(0, _LATER_SECONDS) for _ in range(2)]
        answers = cluster.race(
            lambda at=here, of=lease.id: _prolong(at, of),
            lambda at=there, pause=pauses[0]: _create_later(at, later, pause),
            lambda at=elsewhere, pause=pauses[1]: _create_later(at, later, pause))
        assert _kinds(answers) == {'Lease': 1, 'NotEnough': 2}
        cluster.accounts()
        won['prolonged' if isinstance(answers[0], records.Lease) else 'booked'] += 1
        cluster.clear()
    figures(f'{_ROUNDS} races of a prolongation and two bookings, one winner each: {dict(won)}, '
            f'CLIMATE_GALERA_SEED={_SEED}; {sum(cluster.lost.values())} transactions were refused '
            f'and repeated, in {time.monotonic() - began:.0f} s')


def test_a_prolongation_that_is_committed_refuses_a_booking_that_was_proved_before(
        cluster, without_foreign_keys):
    here, there, _ = cluster.managers
    here.enrol(1)
    lease = here.book()
    here.run()
    span = interval.Interval(builders.NOON + _ONE, builders.NOON + 2 * _ONE)
    wishes = draft.Drafts(there.core).draft(
        builders.a_member(), 'booked', builders.a_lease(start=span.start, end=span.end),
        builders.NOON).wishes
    tries = []

    def write(connection, chosen):
        tries.append(chosen)
        _prolong(here, lease.id)
        # It is applied on this node too, where the host is locked by this transaction.
        time.sleep(_APPLIED_SECONDS)
        booking.Booking(there.core).replace(connection, chosen)
    with pytest.raises(errors.NotEnough):
        booking.Booking(there.core).book(wishes, span, builders.NOON, write)
    assert len(tries) == 1
    [given] = _given(cluster.accounts())
    assert given.end == span.end


def _prolong(manager, lease_id):
    return manager.client.update_lease(
        builders.a_member(), lease_id,
        records.LeaseChanges(end=builders.NOON + 2 * _ONE))


def _create_later(manager, request, seconds):
    time.sleep(seconds)
    return manager.create(request)


def _given(accounts):
    return [given for given in accounts.allocations if given.released_at is None]


def _kinds(answers):
    return collections.Counter(type(answer).__name__ for answer in answers)
