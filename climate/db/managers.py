# SPDX-License-Identifier: Apache-2.0
"""State that managers share in the database: heartbeats, slots of work, audits, the clock."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import tables
from climate.domain import audit
from climate.domain import heartbeat

AUDITS = tables.AUDITS
CONFIRMATIONS = tables.CLOCK_CONFIRMATIONS
MANAGERS = tables.MANAGERS
WORK_SLOTS = tables.WORK_SLOTS
# The id of the one row of audits.
_ONLY = 1
# A manager that was not seen for this time is not the eldest any more.
ALIVE = datetime.timedelta(seconds=60)


def seen(connection, manager_id, host, since, now, running, not_ready=None, tables_revision=None):
    """Record the heartbeat of a manager, with the number of events it is carrying out.

    :param not_ready: why the manager is not ready; None: it is ready.
    :param tables_revision: the revision of the tables that its release needs.
    """
    values = {'host': host, 'since': since, 'last_seen': now, 'running': running,
              'not_ready': not_ready, 'tables_revision': tables_revision}
    done = connection.execute(sa.update(MANAGERS).where(MANAGERS.c.id == manager_id)
                              .values(**values))
    if done.rowcount == 0:
        connection.execute(sa.insert(MANAGERS).values(id=manager_id, **values))


def gone(connection, manager_id):
    """Delete a manager that has stopped."""
    connection.execute(sa.delete(MANAGERS).where(MANAGERS.c.id == manager_id))


def forget(connection, before):
    """Delete the managers that were last seen before that moment."""
    connection.execute(sa.delete(MANAGERS).where(MANAGERS.c.last_seen < before))


def is_eldest(connection, manager_id, now):
    """Return whether this manager has run longest of the managers that are alive.

    A manager is alive if it was seen in the last minute. If no manager was, each manager is the
    eldest. So the work of the eldest must be harmless if two managers do it.
    """
    eldest = connection.execute(
        sa.select(MANAGERS.c.id).where(MANAGERS.c.last_seen >= now - ALIVE)
        .order_by(MANAGERS.c.since, MANAGERS.c.id).limit(1)).scalar_one_or_none()
    return eldest in (None, manager_id)


def every(connection):
    """Return the Services of all managers, alive or not, by id."""
    return _services(connection, MANAGERS.c)


def in_older_tables(connection):
    """Return the Services of all managers, as `every`, also from tables of an earlier revision."""
    inspected = sa.inspect(connection)
    if not inspected.has_table(MANAGERS.name):
        return []
    present = {column['name'] for column in inspected.get_columns(MANAGERS.name)}
    return _services(connection, [column for column in MANAGERS.c if column.name in present])


def _services(connection, columns):
    rows = connection.execute(sa.select(*columns).order_by(MANAGERS.c.id))
    return [heartbeat.Service(**row._mapping) for row in rows]


def last_slot(connection, work):
    """Return the beginning of the last claimed slot of periodic work; None: there is none."""
    return connection.execute(
        sa.select(WORK_SLOTS.c.slot).where(WORK_SLOTS.c.work == work)).scalar_one_or_none()


def take_slot(connection, work, slot):
    """Claim a slot of periodic work.

    The caller writes the results in the same transaction. Until it ends, no other manager can claim
    a slot of this work. So the results of a slot are written at most once.

    :param work: the name of the work.
    :param slot: the beginning of the slot.
    :returns: False if this slot, or a later one, was claimed before.
    :raises Duplicate: another manager claimed the first slot of this work at the same time.
    """
    is_work = WORK_SLOTS.c.work == work
    done = connection.execute(sa.update(WORK_SLOTS).where(is_work, WORK_SLOTS.c.slot < slot)
                              .values(slot=slot))
    if done.rowcount:
        return True
    if connection.execute(sa.select(WORK_SLOTS.c.work).where(is_work)).first() is not None:
        return False
    connection.execute(sa.insert(WORK_SLOTS).values(work=work, slot=slot))
    return True


def write_audit(connection, result):
    """Replace the stored ``audit.Result``."""
    values = {'at': result.at, 'manager_id': result.manager_id,
              'finding_count': result.finding_count,
              'findings': [dataclasses.asdict(finding) for finding in result.findings]}
    done = connection.execute(sa.update(AUDITS).where(AUDITS.c.id == _ONLY).values(**values))
    if done.rowcount == 0:
        connection.execute(sa.insert(AUDITS).values(id=_ONLY, **values))


def newest_audit(connection):
    """Return the ``audit.Result`` of the newest audit, or None."""
    row = connection.execute(sa.select(
        AUDITS.c.at, AUDITS.c.manager_id, AUDITS.c.finding_count, AUDITS.c.findings)).one_or_none()
    return None if row is None else audit.Result(
        row.at, row.manager_id, row.finding_count,
        tuple(audit.AuditFinding(**each) for each in row.findings))


def confirm_clock(connection, now):
    """Confirm that `now`, by the clock of the database, is right."""
    connection.execute(sa.insert(CONFIRMATIONS).values(at=now))


def last_clock_confirmation(connection):
    """Return the number of the last confirmation; 0 if there is none."""
    return connection.execute(sa.select(sa.func.max(CONFIRMATIONS.c.id))).scalar() or 0
