# SPDX-License-Identifier: Apache-2.0
"""A transaction that relies on a resource writes its row, so that every node of Galera sees it.

A lock is known to the node that has it; what the nodes compare at a commit are written rows.
"""
import pytest
import sqlalchemy as sa
from support import builders
from support import thinning

from climate.db import tables

NOON, hours = builders.NOON, builders.hours


def _create(manager, lease):
    manager.book(builders.hosts(2), start=NOON + hours(6), end=NOON + hours(7))


def _prolong(manager, lease):
    manager.change(lease, end=NOON + hours(3))


def _start_earlier(manager, lease):
    manager.change(lease, start=NOON)


def _more_hosts(manager, lease):
    manager.change_reservation(lease, min=3, max=3)


def _other_criteria(manager, lease):
    manager.change_reservation(lease, resource_properties='[">=", "$vcpus", "1"]')


def _pending(manager, request):
    return manager.book(request, start=NOON + hours(1), end=NOON + hours(2))


def _running(manager, request):
    lease = manager.book(request, end=NOON + hours(2))
    manager.run()
    return lease


@pytest.mark.parametrize(('made', 'deed'), thinning.few([
    (_pending, _create), (_pending, _prolong), (_pending, _start_earlier), (_pending, _more_hosts),
    (_running, _create), (_running, _prolong), (_running, _more_hosts), (_running, _other_criteria),
], 4))
def test_each_host_that_is_proved_is_written(manager, made, deed):
    manager.enrol(4)
    lease = made(manager, builders.hosts(2))
    before = _generations(manager)
    deed(manager, lease)
    after = _generations(manager)
    proved = {resource_id for resource_id, lease_id in _allocated(manager)
              if (lease_id == lease.id) != (deed is _create)}
    assert len(proved) >= 2
    assert all(after[key] > before[key] for key in proved)


def test_a_host_that_runs_instances_is_written_when_they_are_prolonged(manager):
    [host] = manager.enrol(1)
    lease = _running(manager, builders.instances(2))
    before = _generations(manager)
    _prolong(manager, lease)
    assert _generations(manager)[host.id] > before[host.id]


def test_an_offer_and_the_lease_made_of_it_write_the_host(manager):
    [host] = manager.enrol(1)
    before = _generations(manager)
    offer = manager.hold(builders.a_lease())
    held = _generations(manager)
    manager.take(offer)
    assert before[host.id] < held[host.id] < _generations(manager)[host.id]


def _allocated(manager):
    """Pairs (resource id, lease id) of what is allocated."""
    given, owners = tables.ALLOCATIONS.c, tables.RESERVATIONS.c
    with manager.database.reader() as connection:
        return [tuple(row) for row in connection.execute(
            sa.select(given.resource_id, owners.lease_id)
            .where(given.reservation_id == owners.id, given.released_at.is_(None)))]


def _generations(manager):
    with manager.database.reader() as connection:
        return dict(connection.execute(
            sa.select(tables.RESOURCES.c.id, tables.RESOURCES.c.generation)).all())
