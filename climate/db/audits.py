# SPDX-License-Identifier: Apache-2.0
"""The newest audit in the database: when a manager made it, and what it found."""
import dataclasses

import sqlalchemy as sa

from climate.db import tables
from climate.domain import audit

AUDITS = tables.AUDITS
_ONLY = 1


def write(connection, result):
    """Write an ``audit.Result`` in place of the one before."""
    values = {'at': result.at, 'manager_id': result.manager_id,
              'finding_count': result.finding_count,
              'findings': [dataclasses.asdict(each) for each in result.findings]}
    done = connection.execute(sa.update(AUDITS).where(AUDITS.c.id == _ONLY).values(**values))
    if done.rowcount == 0:
        connection.execute(sa.insert(AUDITS).values(id=_ONLY, **values))


def newest(connection):
    """Return the ``audit.Result`` of the newest audit, or None."""
    row = connection.execute(sa.select(
        AUDITS.c.at, AUDITS.c.manager_id, AUDITS.c.finding_count, AUDITS.c.findings)).one_or_none()
    return None if row is None else audit.Result(
        row.at, row.manager_id, row.finding_count,
        tuple(audit.Finding(**each) for each in row.findings))
