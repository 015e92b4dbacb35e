# SPDX-License-Identifier: Apache-2.0
"""Refusals in the database: resources that were requested and refused."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import refusals
from climate.domain import usage_figures

REFUSALS = tables.REFUSALS
_COLUMNS = tables.columns(REFUSALS, refusals.Refusal)
_NAMES = tuple(column.name for column in _COLUMNS if column.name != 'id')
_LONGEST = usage_figures.LONGEST_LATE_REFUSAL
_START, _END = (sa.bindparam(name, type_=tables.UtcDateTime) for name in ('start', 'end'))
_ROWS = sa.select(REFUSALS).order_by(REFUSALS.c.id)
# Two statements, because each needs an index of its own.
_ASKED = _ROWS.where(REFUSALS.c.end > _START, REFUSALS.c.start < _END)
_LATE = _ROWS.where(REFUSALS.c.last_at > sa.bindparam('earliest', type_=tables.UtcDateTime),
                    REFUSALS.c.end <= _START, REFUSALS.c.end <= REFUSALS.c.at)


def repeat(connection, hashes, now):
    """Count one more refusal of a request that was refused a short while ago.

    :param hashes: the request hashes of all Refusals of the request.
    :returns: whether the request was refused a short while ago. If not, nothing was written.
    """
    return connection.execute(
        sa.update(REFUSALS).where(REFUSALS.c.request_hash.in_(list(hashes)),
                                  REFUSALS.c.last_at > now - refusals.SAME_WITHIN)
        .values(times=REFUSALS.c.times + 1, last_at=now)).rowcount > 0


def add(connection, added, once=False):
    """Insert the Refusals of one request.

    :param once: write nothing if the request was refused before.
    :raises Duplicate: another transaction adds the same request at the same moment.
    """
    last = connection.execute(
        sa.select(sa.func.max(REFUSALS.c.episode))
        .where(REFUSALS.c.request_hash.in_([refusal.request_hash for refusal in added]))).scalar()
    if once and last is not None:
        return
    connection.execute(sa.insert(REFUSALS).inline(), [
        {**{name: getattr(refusal, name) for name in _NAMES},
         'amount': None if refusal.amount is None else dict(refusal.amount),
         'criteria': None if refusal.criteria is None else list(refusal.criteria),
         'episode': 0 if last is None else last + 1}
        for refusal in added])


def of_pool(connection, pool, span):
    """Return the Refusals that asked for resources of a pool during `span`, by their start."""
    return _find(connection, span, REFUSALS.c.pool == pool)


def of_project(connection, project_id, span):
    """Return the Refusals of a project that asked for resources during `span`, by their start."""
    return _find(connection, span, REFUSALS.c.project_id == project_id)


def counted_between(connection, start, end, project_id=None):
    """Return the refusals that usage counts between two moments, as RefusedUsage.

    A repeated request counts once.

    :param project_id: only refusals of this project; None: of all projects.
    """
    conditions = [] if project_id is None else [REFUSALS.c.project_id == project_id]
    values = {'start': start, 'end': end}
    by_request = {}
    for statement, more in ((_ASKED, {}), (_LATE, {'earliest': start - _LONGEST})):
        for row in connection.execute(statement.where(*conditions), {**values, **more}):
            by_request.setdefault(row.request_hash, usage_figures.RefusedUsage(
                row.project_id, row.user_id, row.resource_type, row.pool,
                usage_figures.as_text(row.amount or {}), row.copies,
                usage_figures.refused(row.start, row.end, row.at), row.reason))
    return list(by_request.values())


def purge(connection, before, most):
    """Delete refusals whose last repetition is before a moment.

    :param most: the maximum number of deleted refusals.
    :returns: the number of deleted refusals.
    """
    ids = connection.execute(sa.select(REFUSALS.c.id).where(
        REFUSALS.c.last_at < before).limit(most)).scalars().all()
    connection.execute(sa.delete(REFUSALS).where(REFUSALS.c.id.in_(ids)))
    return len(ids)


def keep_newest(connection, project_id, most):
    """Delete the oldest refusals of a project, so that at most `most` are left."""
    last = connection.execute(
        sa.select(REFUSALS.c.id).where(REFUSALS.c.project_id == project_id)
        .order_by(REFUSALS.c.id.desc()).offset(most).limit(1)).scalar()
    if last is not None:
        connection.execute(sa.delete(REFUSALS).where(
            REFUSALS.c.project_id == project_id, REFUSALS.c.id <= last))


def _find(connection, span, condition):
    rows = connection.execute(
        sa.select(*_COLUMNS)
        .where(condition, REFUSALS.c.end > span.start, REFUSALS.c.start < span.end)
        .order_by(REFUSALS.c.start, REFUSALS.c.id))
    return [refusals.Refusal(*row) for row in rows]
