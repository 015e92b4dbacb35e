# SPDX-License-Identifier: Apache-2.0
"""What was asked for and not given, as usage counts it."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import usage_figures

REFUSALS = tables.REFUSALS
_LONGEST = usage_figures.LONGEST_LATE_REFUSAL
_START, _END = (sa.bindparam(name, type_=tables.UtcDateTime) for name in ('start', 'end'))
_ROWS = sa.select(REFUSALS).order_by(REFUSALS.c.id)
# Two statements, because each needs an index of its own.
_ASKED = _ROWS.where(REFUSALS.c.end > _START, REFUSALS.c.start < _END)
_LATE = _ROWS.where(REFUSALS.c.last_at > sa.bindparam('earliest', type_=tables.UtcDateTime),
                    REFUSALS.c.end <= _START, REFUSALS.c.end <= REFUSALS.c.at)


def between(connection, start, end, project_id=None):
    """Return the Refusals of usage that count between two moments.

    A request that was repeated counts once, however often it was refused.

    :param project_id: only those of this project; None: of all.
    """
    mine = [] if project_id is None else [REFUSALS.c.project_id == project_id]
    asked = {'start': start, 'end': end}
    found = {}
    for statement, more in ((_ASKED, {}), (_LATE, {'earliest': start - _LONGEST})):
        for row in connection.execute(statement.where(*mine), {**asked, **more}):
            found.setdefault(row.request_hash, usage_figures.Refusal(
                row.project_id, row.user_id, row.resource_type, row.pool,
                usage_figures.as_text(row.amount or {}), row.copies,
                usage_figures.refused(row.start, row.end, row.at), row.reason))
    return list(found.values())
