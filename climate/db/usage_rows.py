# SPDX-License-Identifier: Apache-2.0
"""The rows of allocations, leases and resources from which usage is counted."""
import collections
import datetime
import functools
import json

import sqlalchemy as sa

from climate.db import absences
from climate.db import allocations
from climate.db import by_keys
from climate.db import tables
from climate.db import use_samples
from climate.domain import event_kinds
from climate.domain import usage_figures
from climate.domain import utilisation

ALLOCATIONS = tables.ALLOCATIONS
HISTORY = tables.HISTORY
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES

_HOUR = datetime.timedelta(hours=1)
# The maximum number of keys in a statement.
_AT_ONCE = 2_000
_STARTED = (event_kinds.START, 'healed')
_DELETION = 'delete'

_AMOUNT = sa.case((ALLOCATIONS.c.whole.is_(True), sa.cast(RESOURCES.c.capacity, sa.Text)),
                  else_=sa.cast(ALLOCATIONS.c.amount, sa.Text)).label('units')
_ROWS = (
    sa.select(ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start,
              ALLOCATIONS.c.end, ALLOCATIONS.c.released_at, ALLOCATIONS.c.copies, _AMOUNT,
              RESOURCES.c.pool)
    .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id))
_BETWEEN = _ROWS.where(allocations.TOUCHES)
# Leases that may have had objects in the cloud after their allocations ended: leases that were over
# late, leases that are not over after their end, and leases that are being deleted. Their ids are
# read first, and their rows by keys, because for a join a database may read all past leases.
_OPEN = LEASES.c.ended_at.is_(None)
_START = sa.bindparam('start', type_=tables.UtcDateTime)
_LATE_CONDITIONS = (
    (LEASES.c.ended_at > _START, sa.or_(LEASES.c.end <= _START, LEASES.c.deleted_at.is_not(None))),
    (_OPEN, LEASES.c.end <= _START),
    (_OPEN, LEASES.c.end > _START, LEASES.c.task == 'delete'))
_OF_PROJECT = LEASES.c.project_id == sa.bindparam('project')
_LATE_LEASES = sa.union_all(*(sa.select(LEASES.c.id).where(*where) for where in _LATE_CONDITIONS))
_LATE_LEASES_OF_PROJECT = sa.union_all(*(
    sa.select(LEASES.c.id).where(_OF_PROJECT, *where) for where in _LATE_CONDITIONS))
# All leases of a project that may have allocations between two moments. Each part has an index that
# leaves out past leases. The last one must not use an index of projects, as SQLite otherwise would.
_BEGUN = LEASES.c.start < sa.bindparam('end', type_=tables.UtcDateTime)
_LEASES_OF_PROJECT = sa.union(*(sa.select(LEASES.c.id).where(_BEGUN, *where) for where in (
    (_OF_PROJECT, _OPEN), (_OF_PROJECT, LEASES.c.ended_at > _START),
    (sa.func.coalesce(LEASES.c.project_id, '') == sa.bindparam('project'),
     LEASES.c.end > _START))))
_RESERVATIONS_OF = by_keys.ByKeys(sa.select(RESERVATIONS.c.id), RESERVATIONS.c.lease_id)
_BETWEEN_OF = by_keys.ByKeys(_BETWEEN, ALLOCATIONS.c.reservation_id)
_LATE = by_keys.ByKeys(
    _ROWS.where(ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.end <= _START),
    ALLOCATIONS.c.reservation_id)
_RESERVATIONS = by_keys.ByKeys(
    sa.select(RESERVATIONS.c.id, RESERVATIONS.c.lease_id, RESERVATIONS.c.resource_type),
    RESERVATIONS.c.id)
_LEASES = by_keys.ByKeys(
    sa.select(LEASES.c.id, LEASES.c.project_id, LEASES.c.user_id, LEASES.c.end, LEASES.c.ended_at),
    LEASES.c.id)
_COURSES = by_keys.ByKeys(
    sa.select(HISTORY.c.lease_id, HISTORY.c.what, HISTORY.c.at)
    .where(HISTORY.c.what.in_((*_STARTED, _DELETION))).order_by(HISTORY.c.id), HISTORY.c.lease_id)


def shares(connection, start, end, now, pool=None, project_id=None):
    """Return the UsageShares of the allocations that are allocated or occupied between two moments.

    Allocations of offers are left out, because no lease has them yet.

    :param now: the present moment, up to which occupied and idle are counted.
    :param pool: only allocations of this pool; None: of all.
    :param project_id: only allocations of this project; None: of all.
    """
    rows = [row for row in _rows(connection, start, end, project_id) if pool in (None, row.pool)]
    reservations = _by_id(connection, _RESERVATIONS, {row.reservation_id for row in rows})
    leases = _by_id(connection, _LEASES, {row.lease_id for row in reservations.values()})
    # Reservations of offers are not written yet.
    owners = {key: (row, leases[row.lease_id]) for key, row in reservations.items()
              if row.lease_id in leases}
    rows = [row for row in rows if row.reservation_id in owners]
    courses = _courses(connection, leases)
    occupied = [usage_figures.occupied(
        row.start, row.end, row.released_at is not None,
        courses[owners[row.reservation_id][1].id], now) for row in rows]
    idle = _idle(connection, {row.reservation_id for row, span in zip(rows, occupied, strict=True)
                              if span}, start, min(end, now))
    return [_share(row, *owners[row.reservation_id], span,
                   idle.get((row.reservation_id, row.resource_id), ()))
            for row, span in zip(rows, occupied, strict=True)]


def enrolments(connection, start, end, pool=None):
    """Return the Enrolments of all resources that were enrolled between two moments."""
    conditions = [RESOURCES.c.created_at < end,
                  sa.or_(RESOURCES.c.withdrawn_at.is_(None), RESOURCES.c.withdrawn_at > start)]
    if pool is not None:
        conditions.append(RESOURCES.c.pool == pool)
    rows = connection.execute(
        sa.select(RESOURCES.c.id, RESOURCES.c.pool, RESOURCES.c.created_at,
                  RESOURCES.c.withdrawn_at, sa.cast(RESOURCES.c.capacity, sa.Text).label('units'))
        .where(*conditions).order_by(RESOURCES.c.id)).all()
    absent = absences.touching(connection, start, end)
    return [utilisation.Enrolment(
        row.id, row.pool, _canonical(row.units), _span(row.created_at, row.withdrawn_at or end),
        tuple((kind, _span(begin, until or end)) for kind, begin, until in absent.get(row.id, ())))
        for row in rows]


def first_moment(connection):
    """Return the first moment with something to count; None: there is nothing."""
    moments = [connection.execute(sa.select(sa.func.min(column))).scalar_one()
               for column in (ALLOCATIONS.c.start, RESOURCES.c.created_at)]
    return min((moment for moment in moments if moment is not None), default=None)


def _rows(connection, start, end, project_id):
    """Return the rows of allocations that were allocated or occupied between two moments."""
    span = {'start': start, 'end': end}
    if project_id is None:
        rows = connection.execute(_BETWEEN, span).all()
        late = connection.execute(_LATE_LEASES, {'start': start}).scalars().all()
    else:
        named = {**span, 'project': project_id}
        rows = _of_leases(connection, _BETWEEN_OF, connection.execute(
            _LEASES_OF_PROJECT, named).scalars().all(), span)
        late = connection.execute(_LATE_LEASES_OF_PROJECT, {
            'start': start, 'project': project_id}).scalars().all()
    return rows + _of_leases(connection, _LATE, late, {'start': start})


def _of_leases(connection, statement, lease_ids, values):
    """Return the rows of allocations of leases that a ByKeys of reservations selects."""
    ids = [key for batch in by_keys.batches(lease_ids, _AT_ONCE)
           for key in _RESERVATIONS_OF.execute(connection, batch).scalars()]
    return [row for batch in by_keys.batches(ids, _AT_ONCE)
            for row in statement.execute(connection, batch, values)]


def _by_id(connection, statement, keys):
    """Return {id: row} of the rows with these ids.

    Each table is read without a join, because for a join a database may read a whole table.
    """
    return {row.id: row for batch in by_keys.batches(sorted(keys), _AT_ONCE)
            for row in statement.execute(connection, batch)}


def _share(row, reservation, lease, occupied, idle):
    return usage_figures.UsageShare(
        reservation_id=reservation.id, project_id=lease.project_id, user_id=lease.user_id,
        resource_type=reservation.resource_type, pool=row.pool, resource_id=row.resource_id,
        amount=_canonical(row.units), copies=row.copies, allocated=_span(row.start, row.end),
        occupied=occupied, idle=tuple(idle))


def _courses(connection, leases):
    """Return {lease id: Course}.

    :param leases: {lease id: row with the end and ended_at of the lease}.
    """
    started, deletion = {}, {}
    for batch in by_keys.batches(sorted(leases), _AT_ONCE):
        for lease_id, what, at in _COURSES.execute(connection, batch):
            if what == _DELETION:
                deletion[lease_id] = at
            elif at < leases[lease_id].end:
                # A start after the end of the lease does not count.
                started.setdefault(lease_id, at)
    return {key: usage_figures.Course(
        end=row.end, started=started.get(key), deletion=deletion.get(key),
        over=row.ended_at) for key, row in leases.items()}


def _idle(connection, reservation_ids, start, end):
    """Return {(reservation id, resource id): [(hour, idle seconds)]} between two moments."""
    by_owner = collections.defaultdict(list)
    first = start.replace(minute=0, second=0, microsecond=0)
    for batch in by_keys.batches(sorted(reservation_ids), _AT_ONCE):
        for reservation_id, resource_id, hour, sample in use_samples.by_hour(
                connection, batch, first, max(end, first)):
            if sample.idle_seconds:
                by_owner[reservation_id, resource_id].append(
                    (usage_figures.second(hour), sample.idle_seconds))
    return by_owner


@functools.lru_cache(maxsize=4096)
def _canonical(text):
    return usage_figures.as_text(json.loads(text))


def _span(start, end):
    return usage_figures.second(start), usage_figures.second(end)
