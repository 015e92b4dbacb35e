# SPDX-License-Identifier: Apache-2.0
"""Random requests of a member exceed no limit at any moment."""
import contextlib
import os
import random

import pytest
from support import builders
from support import limit_truths

from climate import errors
from climate.domain import records
from climate.manager.limits import books

GPU = '["==", "$gpu", "A100"]'
# `make proofs` draws the seed of the hashes, and repeats it with SEED.
DRAWN = int(os.environ.get('PYTHONHASHSEED') or 0)
_STEPS, _QUICK_STEPS = 40, 20


def random_limits(draw):
    """Some limits of a limit book, at least one."""
    limits = [
        {'measure': 'open_leases', 'most': draw.randint(1, 5)},
        {'measure': 'waiting_leases', 'most': draw.randint(0, 2)},
        {'measure': 'held_offers', 'most': draw.randint(0, 2)},
        {'measure': 'resources', 'most': draw.randint(1, 5)},
        {'measure': 'resources', 'most': draw.randint(0, 2), 'criteria': GPU},
        {'measure': 'pool_share', 'most': draw.randint(20, 80), 'pool': 'host'},
        {'measure': 'resource_hours', 'most': draw.randint(2, 30),
         'window': f'{draw.randint(1, 30)}h'},
        {'measure': 'resource_hours', 'most': draw.randint(20, 300), 'unit': 'vcpus',
         'window': f'{draw.randint(1, 10)}h'},
        {'measure': 'resource_hours', 'most': draw.randint(10, 60), 'period': 'month'},
        {'measure': 'pause', 'least': f'{draw.randint(1, 3)}h'},
    ]
    return [{'name': f'rule {number}', **limit} for number, limit in enumerate(
        draw.sample(limits, draw.randint(1, 4)))]


class Member:
    """A member who makes random requests.

    :ivar accepted: the number of requests that were accepted.
    :ivar shortens: whether the last request made a lease shorter.
    """

    def __init__(self, manager, draw):
        self._manager, self._draw = manager, draw
        self.accepted = self.refused = 0
        self.shortens = False
        self._offers = []

    def step(self):
        """Make one random request; errors of Climate are expected."""
        self.shortens = False
        act = self._draw.choice([
            self._create, self._create, self._many_small, self._wait, self._retry, self._hold,
            self._take, self._extend, self._move, self._resize, self._end, self._delete,
            self._dry_run, self._let_time_pass])
        try:
            act()
            self.accepted += 1
        except errors.LimitExceeded:
            self.refused += 1
        except errors.ClimateError:
            pass

    def _request(self, **more):
        start = self._draw.choice([None, None, self._manager.clock() + builders.hours(
            self._draw.randint(1, 20))])
        begin = start or self._manager.clock()
        return builders.a_lease(
            builders.hosts(self._draw.choice([1, 1, 2, 3])), start=start,
            end=begin + builders.minutes(self._draw.choice([30, 60, 120, 300, 600])), **more)

    def _create(self):
        self._manager.create(self._request())

    def _dry_run(self):
        self._manager.create(self._request(dry_run=True))

    def _many_small(self):
        for _ in range(5):
            with contextlib.suppress(errors.NotEnough):
                self._manager.create(builders.a_lease(
                    end=self._manager.clock() + builders.minutes(10)))

    def _wait(self):
        self._acquire('wait')

    def _retry(self):
        self._acquire('retries')

    def _acquire(self, kind):
        self._manager.create(builders.a_lease(
            builders.hosts(self._draw.randint(1, 3)), end=None,
            duration_seconds=self._draw.choice([1800, 7200]), acquire=records.AcquireRequest(kind)))

    def _hold(self):
        self._offers.append(self._manager.hold(self._request(), seconds=600))

    def _take(self):
        if self._offers:
            self._manager.take(self._offers.pop())

    def _lease(self):
        leases = self._manager.client.list_leases(
            builders.a_member(), records.LeaseQuery(project_id='demo'))
        leases = sorted(getattr(leases, 'items', leases), key=lambda lease: lease.id)
        if not leases:
            raise errors.LeaseNotFound(lease_id='')
        return self._draw.choice(leases)

    def _extend(self):
        lease, minutes = self._lease(), self._draw.choice([-60, 30, 60, 300])
        self.shortens = minutes < 0
        self._manager.change(lease, end=lease.end + builders.minutes(minutes))

    def _move(self):
        lease = self._lease()
        by = builders.minutes(self._draw.choice([-120, -30, 30, 90]))
        self._manager.change(lease, start=lease.start + by, end=lease.end + by)

    def _resize(self):
        count = self._draw.randint(1, 4)
        self._manager.change_reservation(self._lease(), min=count, max=count)

    def _end(self):
        self.shortens = True
        self._manager.change(self._lease(), end_now=True)

    def _delete(self):
        self.shortens = True
        self._manager.delete(self._lease())

    def _let_time_pass(self):
        self._manager.run_until(self._manager.clock() + builders.minutes(
            self._draw.choice([1, 20, 60, 180])))
        self._manager.expire()


def obeys(manager, seed, steps=_STEPS):
    """Make random requests, and check all limits after each; return the Member."""
    draw = random.Random(seed)
    manager.enrol(3, gpu='none')
    for resource in manager.client.list_resources(builders.an_admin(), 'host')[:1]:
        manager.client.update_resource(builders.an_admin(), 'host', resource.id, {'gpu': 'A100'})
    limits = random_limits(draw)
    books.LimitBooks(manager.core).create(builders.an_admin(), None, {'limits': limits})
    member, chains = Member(manager, draw), 0
    for number in range(steps):
        member.step()
        facts = manager.database, limits, 'demo', manager.clock()
        if member.shortens:
            chains = max(chains, limit_truths.chains(*facts))
        found = limit_truths.excesses(*facts, chains)
        assert not found, (seed, number, found)
        chains = limit_truths.chains(*facts)
    return member


def test_random_requests_of_a_member_never_exceed_a_limit(manager):
    member = obeys(manager, 1, steps=_QUICK_STEPS)
    assert member.accepted > 5 and member.refused


@pytest.mark.proof
@pytest.mark.parametrize('seed', range(2, 8))
def test_more_random_requests_of_a_member_never_exceed_a_limit(manager, seed):
    obeys(manager, seed)


@pytest.mark.proof
@pytest.mark.parametrize('number', range(60))
def test_many_random_requests_of_a_member_never_exceed_a_limit(manager, number):
    obeys(manager, DRAWN * 1000 + number)
