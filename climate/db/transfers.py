# SPDX-License-Identifier: Apache-2.0
"""The transfers of leases in the database."""
import sqlalchemy as sa

from climate import errors
from climate.db import tables
from climate.domain import transfers

TRANSFERS = tables.TRANSFERS
_COLUMNS = tables.columns(TRANSFERS, transfers.Transfer)
# The maximum number of decided transfers that are kept of a lease, and of offers that are listed.
_MOST_KEPT = 100
_MOST_LISTED = 1_000
_SELECT = sa.select(*_COLUMNS).order_by(TRANSFERS.c.created_at, TRANSFERS.c.id)


def add(connection, transfer):
    """Insert a Transfer; forget the oldest decided ones of a lease that has too many."""
    decided = connection.execute(
        sa.select(TRANSFERS.c.id).where(TRANSFERS.c.lease_id == transfer.lease_id,
                                        TRANSFERS.c.status != transfers.OFFERED)
        .order_by(TRANSFERS.c.created_at.desc(), TRANSFERS.c.id).offset(_MOST_KEPT)).scalars()
    ids = list(decided)
    if ids:
        connection.execute(sa.delete(TRANSFERS).where(TRANSFERS.c.id.in_(ids)))
    connection.execute(sa.insert(TRANSFERS).values(
        {column.name: getattr(transfer, column.name) for column in _COLUMNS}))


def get(connection, transfer_id):
    """Return a Transfer.

    :raises TransferNotFound: no transfer has this id.
    """
    row = connection.execute(_SELECT.where(TRANSFERS.c.id == transfer_id)).one_or_none()
    if row is None:
        raise errors.TransferNotFound(transfer_id=transfer_id)
    return transfers.Transfer(**row._mapping)


def of_lease(connection, lease_id):
    """Return the Transfers of a lease, the oldest first."""
    return _records(connection.execute(_SELECT.where(TRANSFERS.c.lease_id == lease_id)))


def offered_to(connection, project_id, now):
    """Return the open Transfers to a project, the oldest first."""
    return _records(connection.execute(_SELECT.where(
        TRANSFERS.c.project_id == project_id, TRANSFERS.c.status == transfers.OFFERED,
        TRANSFERS.c.expires_at > now).limit(_MOST_LISTED)))


def decide(connection, transfer, status, now, who, **values):
    """Write the decision about a Transfer, unless another request has decided.

    :param values: new values of other columns.
    :returns: whether it was written.
    """
    return connection.execute(
        sa.update(TRANSFERS).where(TRANSFERS.c.id == transfer.id,
                                   TRANSFERS.c.status == transfers.OFFERED)
        .values(status=status, decided_at=now, decided_by=who, **values)).rowcount == 1


def _records(rows):
    return [transfers.Transfer(**row._mapping) for row in rows]
