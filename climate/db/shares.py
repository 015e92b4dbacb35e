# SPDX-License-Identifier: Apache-2.0
"""The shares of leases in the database."""
import collections

import sqlalchemy as sa

from climate.db import tables
from climate.domain import shares

SHARES = tables.SHARES
_COLUMNS = tables.columns(SHARES, shares.Share)


def of_leases(connection, lease_ids):
    """Return {lease id: its Shares, the oldest first}; leases without shares are left out."""
    if not lease_ids:
        return {}
    by_lease = collections.defaultdict(tuple)
    for row in connection.execute(
            sa.select(*_COLUMNS).where(SHARES.c.lease_id.in_(list(lease_ids)))
            .order_by(SHARES.c.created_at, SHARES.c.id)):
        by_lease[row.lease_id] += (shares.Share(**row._mapping),)
    return dict(by_lease)


def add(connection, share):
    """Insert a Share."""
    connection.execute(sa.insert(SHARES).values(
        {column.name: getattr(share, column.name) for column in _COLUMNS}))


def change(connection, share_id, **values):
    """Write new values of the columns of a share."""
    connection.execute(sa.update(SHARES).where(SHARES.c.id == share_id).values(**values))


def any_for(connection, receiver, now):
    """Return whether any lease is shared with a receiver, (project id, user id), at `now`."""
    return connection.execute(
        sa.select(SHARES.c.id).where(_open_for(receiver, now)).limit(1)).first() is not None


def leases_for(receiver, now):
    """Return the statement of the ids of the leases that are shared with a receiver at `now`."""
    return sa.select(SHARES.c.lease_id).where(_open_for(receiver, now))


def _open_for(receiver, now):
    project_id, user_id = receiver
    return sa.and_(SHARES.c.withdrawn_at.is_(None),
                   sa.or_(SHARES.c.until.is_(None), SHARES.c.until > now),
                   sa.or_(SHARES.c.project_id == project_id, SHARES.c.user_id == user_id))


#: The ids of the leases that are shared with the project `project` and the user `user` at `now`.
LEASES_OF = sa.select(SHARES.c.lease_id).where(_open_for(
    (sa.bindparam('project'), sa.bindparam('user')),
    sa.bindparam('now', type_=tables.UtcDateTime)))
