# SPDX-License-Identifier: Apache-2.0
"""The step of one bad item that each periodic task meets, and the truth: no other item notices.

The database refuses each write of one row. The tasks run until they change nothing any more. Then
the row is repaired, and the tasks run once more at the same moment. All that they change now must
be about that row, because every other item has had its turn.
"""
import contextlib
import json

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_members
import model_records
import sqlalchemy as sa

from climate import errors
from climate.db import tables
from climate.manager.booking import offer_expiry
from climate.manager.leases import early_creations
from climate.manager.leases import target_watch
from climate.manager.leases import trust_reaper
from climate.manager.pools import refresh

#: What SQLite says when a poisoned row is written.
POISON = 'poisoned by the model'
#: {name of a table: the column by which one of its rows is poisoned}.
POISONED = {
    'leases': 'id', 'bills': 'lease_id', 'offers': 'id', 'resources': 'id',
    'resource_health': 'resource_id', 'power_states': 'resource_id', 'maintenance_windows': 'id'}
# Tables of managers, not of items.
_OF_MANAGERS = {'managers', 'work_slots', 'wait_queue', 'audits', 'clock_confirmations',
                'change_counts'}
_ROUNDS = 6
_WINDOWS = 'maintenance_windows'


def dump(database):
    """Return {(table, key): {column: value}} of all rows."""
    found = {}
    with database.reader() as connection:
        for table in tables.METADATA.sorted_tables:
            if table.name not in _OF_MANAGERS:
                for row in connection.execute(sa.select(table)):
                    values = dict(row._mapping)
                    found[table.name, tuple(values[each.name] for each in table.primary_key)] = (
                        values)
    return found


@contextlib.contextmanager
def poisoned(database, table, key):
    """Make SQLite refuse each write of the rows of a table with that key, inside the block."""
    value = key if isinstance(key, int) else f"'{key}'"
    with database.engine.begin() as connection:
        for what in ('INSERT', 'UPDATE'):
            connection.exec_driver_sql(
                f'CREATE TRIGGER poison_{what} BEFORE {what} ON {table} WHEN '
                f"NEW.{POISONED[table]} = {value} BEGIN SELECT RAISE(ABORT, '{POISON}'); END")
    try:
        yield
    finally:
        with database.engine.begin() as connection:
            for what in ('INSERT', 'UPDATE'):
                connection.exec_driver_sql(f'DROP TRIGGER poison_{what}')


def changed(before, after):
    """Return the rows that are different or new, or gone, as [(table, row as a dict)]."""
    return [(key[0], after.get(key) or before[key]) for key in sorted(
        before.keys() | after.keys(), key=repr) if before.get(key) != after.get(key)]


def maintained_in(database, window_id):
    """Return the ids of the resources that a maintenance window is for."""
    resources, windows = tables.MAINTENANCE_RESOURCES, tables.MAINTENANCE_WINDOWS
    with database.reader() as connection:
        return set(connection.execute(sa.select(resources.c.resource_id).join(
            windows, windows.c.maintenance_id == resources.c.maintenance_id).where(
                windows.c.id == window_id)).scalars())


def related(recorded, table, key, maintained=()):
    """Return (ids of leases, ids of resources) that have to do with a poisoned row.

    :param maintained: ids of the resources of a poisoned maintenance window.
    """
    lease_ids, resource_ids = set(), set(maintained)
    if table in ('leases', 'bills'):
        lease_ids.add(key)
    elif table in ('resources', 'resource_health', 'power_states'):
        resource_ids.add(key)
    # All back ends are of one machine, which sleeps as a whole.
    backends = {each.id for each in recorded.resources.values() if each.pool == 'backend'}
    if resource_ids & backends:
        resource_ids |= backends
    for given in recorded.allocations:
        owner = recorded.reservations.get(given.reservation_id)
        if owner is not None and owner.lease_id in lease_ids:
            resource_ids.add(given.resource_id)
    for given in recorded.allocations:
        owner = recorded.reservations.get(given.reservation_id)
        if owner is not None and given.resource_id in resource_ids:
            lease_ids.add(owner.lease_id)
    return lease_ids, resource_ids


class Poison(model_members.Members):
    """The step of one bad item."""

    @stateful.precondition(lambda self: self.world.database.dialect == 'sqlite'
                           and not self.world.points.armed and not self.world.frozen)
    @base.rule(side=base.SIDE, table=st.sampled_from(sorted(POISONED)), which=base.WHICH)
    def a_periodic_task_meets_a_bad_item(self, side, table, which):
        keys = sorted({row[POISONED[table]] for (name, _), row in dump(
            self.world.database).items() if name == table})
        if table in ('bills', 'resource_health', 'power_states'):
            # A row that is still to come is bad, too.
            keys = sorted(self.recorded.leases if table == 'bills' else self.recorded.resources)
        if not keys:
            return
        key = self.pick(keys, which)
        self.tended = self.services_touched = True
        maintained = maintained_in(self.world.database, key) if table == _WINDOWS else ()
        with poisoned(self.world.database, table, key):
            settled = self._run_until_nothing_changes(side)
        self.complaints.found[:] = [each for each in self.complaints.found if POISON not in each]
        if settled is None:
            return
        self._run_tasks(side)
        self.tally['bad items met'] += 1
        nobody_else_waited_for_it(
            model_records.read(self.world.database), table, key,
            changed(settled, dump(self.world.database)), maintained)

    def _run_until_nothing_changes(self, side):
        """Return the rows then; None if they go on changing."""
        before = None
        for _ in range(_ROUNDS):
            self._run_tasks(side)
            after = dump(self.world.database)
            if after == before:
                return after
            before = after
        self.tally['tasks that went on changing rows'] += 1
        return None

    def _run_tasks(self, side):
        manager = self.world.managers[side]
        for task in (self._health, self._maintenance, self._energy, self._bill,
                     self._other_tasks):
            self._outer_loop(task, manager)

    def _other_tasks(self, manager):
        core, now = manager.core, self.now
        for task in (offer_expiry.expire,
                     lambda core, now: trust_reaper.TrustReaper(core).reap(now),
                     lambda core, now: early_creations.EarlyCreationReaper(core).reap(now),
                     lambda core, now: target_watch.TargetWatch(core).check_all(now),
                     lambda core, now: refresh.Refresher(core, 'model').flag_leases(now)):
            self._outer_loop(lambda manager, task=task: task(core, now), manager)

    @staticmethod
    def _outer_loop(task, manager):
        """Run a task as a manager does, which logs what it raises."""
        try:
            task(manager)
        except errors.ClimateError:
            pass
        except Exception as error:
            if POISON not in repr(error):
                raise


def nobody_else_waited_for_it(recorded, table, key, rows, maintained=()):
    """Check that rows which changed when a bad item was repaired are about that item.

    :param rows: pairs (table, row as a dict).
    :param maintained: as of `related`.
    """
    lease_ids, resource_ids = related(recorded, table, key, maintained)
    texts = {str(key), *lease_ids, *(each.id for each in recorded.reservations.values()
                                     if each.lease_id in lease_ids)}
    # What an offer holds is allocated to the reservations that it would become.
    texts |= {each['id'] for name, row in rows if (name, row.get('id')) == ('offers', key)
              for each in row['request']}
    for name, row in rows:
        own = row['id'] if name == 'resources' else row.get('resource_id')
        text = json.dumps(row, default=str)
        assert own in resource_ids or any(each in text for each in texts if len(each) > 9), (
            f'{table} {key} was bad, and so nobody looked after {name} {row}.')
