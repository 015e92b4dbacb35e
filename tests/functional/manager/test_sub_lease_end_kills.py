# SPDX-License-Identifier: Apache-2.0
"""Managers that die, and random steps: a sub-lease never outlives or exceeds its parent.

Each host is allocated to one reservation at a time, and no server is lost that should stay.
"""
import itertools
import random
import types
import uuid

import acts
import pytest
from support import builders
from support import crashing
from support import thinning

from climate import errors
from climate.db import leases
from climate.db import sub_leases as stored
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import sub_leases

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
STUDENT = builders.a_member('sue', 'students')
OWNER = builders.a_member()
OVER = lifecycle.OVER


def successor(manager):
    """A manager that takes over after the claims of its predecessor have expired."""
    manager.clock.advance(minutes(10))
    return builders.Manager(manager.core.conf, manager.database, manager.clock, manager.cloud)


def stored_lease(manager, lease):
    with manager.database.reader() as connection:
        return leases.get(connection, lease.id)


def lend(manager, parent, new_id=None, **fields):
    return manager.client.create_sub_lease(
        OWNER, parent.id, new_id or str(uuid.uuid4()), sub_leases.SubLeaseRequest(
            **{'project': 'students', 'name': 'lab', 'count': 1, **fields}))


def boot(manager, lease, project, name):
    return manager.cloud.boot(project, name, {'reservation': lease.reservations[0].id})


def names(manager):
    return sorted(server.name for server in manager.cloud.servers())


def rows(manager, lease):
    with manager.database.reader() as connection:
        return stored.own_rows(connection, [each.id for each in lease.reservations])


def assert_sound(manager, parent, known):
    """Check that the leases share the hosts without overlaps, and end in the right order."""
    current = stored_lease(manager, parent)
    begun = []
    for lease in (stored_lease(manager, each) for each in known):
        if lease.state not in OVER:
            assert current.state not in OVER, 'The sub-lease outlives its parent.'
            assert lease.end <= current.end or current.end <= manager.clock()
        begun += [row for row in rows(manager, lease) if row.start < row.end]
    begun += [row for row in rows(manager, current) if row.start < row.end]
    by_host = sorted(begun, key=lambda row: (row.resource_id, row.start))
    for before, after in itertools.pairwise(by_host):
        assert before.resource_id != after.resource_id or before.end <= after.start
    if current.end > manager.clock() and not due_events.deletion_ordered(current):
        # Nothing of the time of the parent is lost.
        spans = {}
        for row in (row for row in by_host if row.end > manager.clock()):
            spans.setdefault(row.resource_id, []).append((row.start, row.end))
        for each in spans.values():
            assert all(before[1] == after[0] for before, after in itertools.pairwise(each))
            assert each[-1][1] == current.end


@pytest.mark.proof
def test_the_life_of_a_sub_lease_survives_the_death_of_a_manager_at_any_call(manager):
    manager.enrol(2)
    for number in itertools.count(1):
        parent = manager.active(builders.hosts(2), end=manager.clock() + hours(9))
        boot(manager, parent, 'demo', 'own')
        new_id = str(uuid.uuid4())

        def live(manager=manager, parent=parent, new_id=new_id):
            lease = lend(manager, parent, new_id, end=manager.clock() + hours(2))
            manager.run()
            boot(manager, lease, 'students', 'theirs')
            manager.run_until(manager.clock() + hours(3))
        died = crashing.dies_at(manager.cloud, number, live)
        manager = successor(manager)
        manager.run_until(manager.clock() + hours(3))
        try:
            lease = stored_lease(manager, types.SimpleNamespace(id=new_id))
        except errors.LeaseNotFound:
            assert died
        else:
            assert_sound(manager, parent, [lease])
            assert lease.state in OVER
        assert names(manager) == ['own']
        assert not manager.delete(parent)
        manager.run_until(manager.clock() + minutes(10))
        assert acts.is_clean(manager, 2)
        if not died:
            break
    assert number > 8


@pytest.mark.proof
def test_the_end_of_a_parent_survives_the_death_of_a_manager_at_any_call(manager):
    manager.enrol(2)
    for number in itertools.count(1):
        parent = manager.active(builders.hosts(2), end=manager.clock() + hours(9))
        lease = lend(manager, parent)
        later = lend(manager, parent, start=manager.clock() + hours(5))
        manager.run()
        boot(manager, parent, 'demo', 'own')
        boot(manager, lease, 'students', 'theirs')

        def end(manager=manager, parent=parent):
            manager.change(parent, end_now=True)
            manager.run_until(manager.clock() + minutes(5))
        manager.clock.advance(hours(1))
        died = crashing.dies_at(manager.cloud, number, end)
        manager = successor(manager)
        if stored_lease(manager, parent).end > manager.clock():
            manager.change(parent, end_now=True)
        manager.run_until(manager.clock() + minutes(10))
        assert_sound(manager, parent, [lease, later])
        assert {stored_lease(manager, each).state for each in (parent, lease, later)} == {
            lifecycle.TERMINATED}
        assert acts.is_clean(manager, 2)
        if not died:
            break
    assert number > 8


KINDS = ('lend', 'lend later', 'shorten', 'extend', 'end', 'delete', 'wait', 'shorten parent',
         'extend parent')
LAST = ('end parent', 'delete parent', 'wait')


def take(manager, parent, known, step):
    """Take one step; requests that are refused change nothing."""
    kind, number, span = step
    now = manager.clock()
    lease = stored_lease(manager, known[number % len(known)]) if known else None
    if kind == 'wait':
        manager.run_until(now + minutes(20 * span))
    elif kind.startswith('lend'):
        start = now + minutes(30 * number) if kind == 'lend later' else None
        known.append(lend(manager, parent, count=1 + number % 2, start=start,
                          end=(start or now) + minutes(30 * span)))
    elif kind.endswith('parent'):
        current = stored_lease(manager, parent)
        if kind == 'delete parent':
            manager.delete(parent)
        elif kind == 'end parent':
            manager.change(parent, end_now=True)
        else:
            change = minutes(30 * span) * (1 if kind.startswith('extend') else -1)
            manager.change(parent, end=current.end + change)
    elif lease is not None and kind == 'delete':
        manager.client.delete_lease(STUDENT, lease.id)
    elif lease is not None and kind == 'end':
        manager.change(lease, STUDENT, end_now=True)
    elif lease is not None:
        manager.change(lease, STUDENT, end=lease.end + minutes(20 * span) * (
            1 if kind == 'extend' else -1))


@pytest.mark.parametrize('seed', thinning.few(range(60), 3))
def test_no_order_of_requests_takes_more_than_the_parent_has(manager, seed):
    rng = random.Random(seed)
    manager.enrol(3)
    parent = manager.active(builders.hosts(3), end=NOON + hours(5))
    known = []
    for kind in (*rng.choices(KINDS, k=12), rng.choice(LAST)):
        try:
            take(manager, parent, known, (kind, rng.randrange(4), rng.randrange(1, 5)))
        except errors.ClimateError as error:
            assert error.status < 500, error.message
        if rng.random() < 0.5:
            manager.run()
        assert_sound(manager, parent, known)
    manager.run_until(NOON + hours(12))
    assert_sound(manager, parent, known)
    assert all(stored_lease(manager, each).state in OVER for each in (parent, *known))
    assert acts.is_clean(manager, 3)
