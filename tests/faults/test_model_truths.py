# SPDX-License-Identifier: Apache-2.0
"""What the model holds for true is false where something was done wrong."""
import builders
import model_cloud
import model_truths
import pytest
import sqlalchemy as sa

from climate.db import tables
from climate.domain import agenda

LATER = {'start': builders.NOON + builders.hours(2), 'end': builders.NOON + builders.hours(3)}


@pytest.fixture
def lease(manager):
    """A lease of a host that runs, beside one of another host to come; all is true of them."""
    manager.enrol(2)
    found = manager.create(builders.a_lease())
    manager.create(builders.a_lease(**LATER))
    manager.run()
    _look(manager)
    return manager.lease(found)


def _look(manager, cleaning=0, booted_for=None):
    accounts = model_truths.read(manager.database)
    model_truths.check(accounts, None, manager.clock(), builders.minutes(cleaning))
    model_cloud.check(manager.cloud, accounts, booted_for or {})


def _write(manager, statement):
    with manager.database.writer() as connection:
        connection.execute(statement)


def _refused(manager, words, **options):
    with pytest.raises(AssertionError, match=words):
        _look(manager, **options)


def test_a_host_given_twice_is_seen(manager, lease):
    start = tables.ALLOCATIONS.c.start
    _write(manager, sa.update(tables.ALLOCATIONS).values(
        resource_id=lease.reservations[0].resource_ids[0],
        start=sa.case((start > builders.NOON, lease.end - builders.minutes(1)), else_=start)))
    _refused(manager, 'given twice')


def test_a_host_that_is_not_cleaned_is_seen(manager, lease):
    _write(manager, sa.update(tables.ALLOCATIONS).values(
        resource_id=lease.reservations[0].resource_ids[0]))
    _look(manager, cleaning=60)
    _refused(manager, 'Not cleaned', cleaning=61)


@pytest.mark.parametrize(('kind', 'words'), [(agenda.END, 'will never end'),
                                             (agenda.START, 'will never start')])
def test_an_event_that_is_missing_is_seen(manager, lease, kind, words):
    _write(manager, sa.delete(tables.EVENTS).where(tables.EVENTS.c.kind == kind,
                                                   tables.EVENTS.c.status == 'UNDONE'))
    _refused(manager, words)


def test_a_host_that_nobody_holds_is_seen(manager, lease):
    _write(manager, sa.update(tables.RESOURCES).values(held_by=None))
    _refused(manager, 'and holds')


def test_what_no_lease_owns_is_seen(manager, lease):
    _write(manager, sa.update(tables.RESERVATIONS).where(
        tables.RESERVATIONS.c.lease_id == lease.id).values(state='deleted'))
    accounts = model_truths.read(manager.database)
    with pytest.raises(AssertionError, match='is over, and the cloud has something of it'):
        model_cloud.check(manager.cloud, accounts, {})


def test_a_stranger_on_a_leased_host_is_seen(manager, lease):
    server = manager.cloud.boot('demo', 'vm', {'reservation': lease.reservations[0].id})
    _look(manager, booted_for={server.id: lease.reservations[0].id})
    _refused(manager, 'is of nobody')


def test_a_host_outside_the_freepool_is_seen(manager, lease):
    nova = manager.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-2'])
    _refused(manager, 'not in the freepool')
