# SPDX-License-Identifier: Apache-2.0
"""Locks are taken in one order, described in :mod:`climate.db`, so that no deadlock occurs.

CLIMATE_RACE_ROUNDS says how often managers race for the wait queue; a few times by default.
"""
import contextlib
import os

import acts
import clearings
import pytest
import sqlalchemy as sa
from support import builders
from support import simultaneous

from climate import errors
from climate.db import migrate
from climate.db import resources
from climate.domain import audit
from climate.domain import lifecycle
from climate.manager.audit import comparison as auditor
from climate.manager.audit import repairs

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
# A transaction that has locked the queue may lock the last two the other way round.
_ORDER = ('resources', 'offers', 'leases', 'wait_queue', 'events', 'acquisitions')
_ROUNDS = int(os.environ.get('CLIMATE_RACE_ROUNDS') or 3)


@pytest.fixture
def locked(database):
    """The kinds of rows that each transaction locks, in the order in which it first does."""
    found, current = [], []

    def note(_connection, statement, *_arguments):
        if isinstance(statement, sa.Update | sa.Delete):
            names = [statement.table.name]
        elif isinstance(statement, sa.Select) and statement._for_update_arg is not None:
            names = [each.name for each in statement.get_final_froms()]
        else:
            return
        current.extend(name for name in names if name in _ORDER and name not in current)

    def end(_connection):
        found.append(tuple(current))
        current.clear()
    listeners = (('before_execute', note), ('commit', end), ('rollback', end))
    for name, listener in listeners:
        sa.event.listen(database.engine, name, listener)
    yield found
    for name, listener in listeners:
        sa.event.remove(database.engine, name, listener)


def in_order(found):
    """True where none of the transactions locks anything that should have been locked before."""
    wrong = {kinds for kinds in found if list(kinds) != sorted(kinds, key=_ORDER.index)
             and kinds[-3:] != ('wait_queue', 'acquisitions', 'events')}
    assert not wrong, wrong
    return True


@pytest.mark.proof
def test_waiting_leases_are_served_in_the_order_of_locks(manager, locked):
    manager.enrol(4)
    full = [manager.active(end=NOON + hours(9)) for _ in range(4)]
    for kind, count, fields in (('wait', 4, {'not_after': NOON + minutes(30)}), ('wait', 1, {}),
                                ('retries', 2, {'retries': 1}), ('wait', 1, {}),
                                ('retries', 1, {'retries': 50})):
        manager.clock.advance(builders.seconds(1))
        last = acts.sought(manager, kind, builders.hosts(count), **fields)
    manager.run()
    manager.clock.advance(minutes(1))
    acts.end(manager, full[0])
    urgent = acts.sought(manager, 'wait', builders.hosts(2), caller=builders.an_admin(),
                         priority=1)
    acts.end(manager, full[1])
    manager.delete(urgent)
    manager.delete(last)
    manager.run_until(NOON + hours(1))
    assert ('leases', 'wait_queue', 'events', 'acquisitions') in locked
    assert ('resources', 'leases', 'wait_queue', 'events', 'acquisitions') in locked
    assert in_order(locked)


@pytest.mark.proof
def test_leases_are_healed_in_the_order_of_locks(manager, locked):
    first, second, third = manager.enrol(3)
    broken = [manager.book(start=NOON + hours(1), end=NOON + hours(9)) for _ in range(2)]
    later = manager.book(
        builders.hosts(1, criteria=acts.named(third)), start=NOON + hours(20),
        end=NOON + hours(21))
    for host in (first, second):
        acts.disable(manager, host)
    manager.run_until(NOON + hours(2))
    manager.change(later, start=NOON + hours(22), end=NOON + hours(23))
    manager.delete(broken[0])
    acts.enable(manager, first)
    manager.run()
    assert manager.lease(broken[1]).state == lifecycle.ACTIVE
    manager.run_until(NOON + hours(9))
    assert in_order(locked)


def test_hosts_are_cleared_in_the_order_of_locks(conf, manager, locked):
    cloud = clearings.lent_cloud(conf, manager)
    lease = clearings.acquired(manager, manager.create(clearings.a_request()))
    manager.run_until(lease.end + clearings.seconds(5))
    assert not clearings.disabled(cloud)
    assert ('resources', 'leases', 'acquisitions') in locked
    assert in_order(locked)


@pytest.mark.proof
def test_offers_are_held_and_taken_and_go_in_the_order_of_locks(
        conf, database, locked, clock):
    conf.set_override('wait_look_seconds', 600, group='acquire')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(3)
    taken, given_back, _ = (manager.hold(builders.a_lease(end=NOON + hours(9)))
                            for _ in range(3))
    acts.sought(manager, 'wait', builders.hosts(3), not_after=NOON + hours(9))
    manager.run()
    manager.take(taken)
    manager.client.delete_offer(builders.a_member(), given_back.id)
    manager.clock.advance(minutes(2))
    manager.expire()
    manager.run_until(NOON + hours(10))
    migrate.purge(database, NOON + hours(11))
    assert ('resources', 'offers') in locked
    assert ('offers', 'wait_queue', 'events', 'acquisitions') in locked
    assert in_order(locked)


@contextlib.contextmanager
def deadlocks(database):
    """The deadlocks that the database breaks meanwhile, as a list that grows."""
    found = []

    def note(context):
        if 'deadlock' in str(context.original_exception).lower():
            found.append(f'{context.original_exception}: {context.statement}')
    sa.event.listen(database.engine, 'handle_error', note)
    yield found
    sa.event.remove(database.engine, 'handle_error', note)


def crowded_line(manager, others, spare):
    """Several managers serve the queue while others are leaving it, and hosts come and go."""
    running = [manager.book(end=manager.clock() + hours(9)) for _ in range(6)]
    manager.run()
    acts.disable(manager, spare)
    line = [acts.sought(manager, *wanted) for wanted in (
        ('wait', builders.hosts(5)), ('wait', builders.hosts(2)),
        ('retries', builders.hosts(3))) * 4]
    manager.clock.advance(minutes(1))
    for lease in running[:3]:
        manager.change(lease, end_now=True)
    simultaneous.at_once(
        *(other.run for other in others),
        lambda: [manager.delete(lease) for lease in line[::3]],
        lambda: [manager.change(lease, end_now=True) for lease in running[3:]],
        lambda: [change(manager, spare) for change in (
            acts.enable, acts.disable, acts.enable)])
    manager.run_until(manager.clock() + minutes(1))
    for lease in line + running:
        with contextlib.suppress(errors.LeaseNotFound):
            manager.delete(lease)
    manager.run_until(manager.clock() + minutes(5))


def test_managers_that_serve_the_line_at_once_never_wait_in_a_circle(manager, database):
    if database.dialect == 'sqlite':
        pytest.skip('SQLite has one writer.')
    [spare, *_] = manager.enrol(6)
    others = [builders.Manager(manager.core.conf, database, manager.clock, manager.cloud)
              for _ in range(4)]
    with deadlocks(database) as found:
        for _ in range(_ROUNDS):
            crowded_line(manager, others, spare)
            assert acts.is_clean(manager, 6)
    assert found == []


def _enrol(manager, host, lease):
    other = sorted(manager.cloud.host_names())[2]
    return manager.client.create_resource(builders.an_admin(), 'host', other, {}).name == other


def _say(manager, host, lease):
    said = manager.client.update_resource(builders.an_admin(), 'host', host.id, {'rack': '7'})
    return said.properties == {'rack': '7'}


def _shorten(manager, host, lease):
    return manager.change(lease, end=NOON + hours(2)).end == NOON + hours(2)


def _release(manager, host, lease):
    [drift] = [each for each in auditor.Auditor(manager.core).compare()
               if each.repair == audit.RELEASE]
    return list(repairs.Repairs(manager.core).make([drift]).values()) == [None]


@pytest.mark.parametrize('deed', [_enrol, _say, _shorten, _release])
def test_a_transaction_that_the_database_broke_is_repeated_without_a_message(
        manager, conf, database, deed):
    host, held = manager.enrol(2)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(3))
    with database.writer() as connection:
        resources.hold(connection, [held.id], 'nobody')
    breaking = acts.Breaking(database.engine.url.render_as_string(hide_password=False))
    other = builders.Manager(conf, breaking, manager.clock, manager.cloud)
    assert deed(other, host, lease)
    assert breaking.breaks == 0
    breaking.dispose()
