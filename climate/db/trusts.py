# SPDX-License-Identifier: Apache-2.0
"""The records of the trusts that were created for leases of this database."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import records

TRUSTS = tables.TRUSTS
LEASES = tables.LEASES
SERIES = tables.SERIES
_COLUMNS = tables.columns(TRUSTS, records.RecordedTrust)
_ADD = sa.insert(TRUSTS)


def add(connection, record):
    """Insert a RecordedTrust."""
    add_all(connection, [record])


def add_all(connection, recorded):
    """Insert RecordedTrusts."""
    rows = [{column.name: getattr(record, column.name) for column in _COLUMNS}
            for record in recorded]
    if rows:
        connection.execute(_ADD, rows)


def settle(connection, record_id, trust_id):
    """Store the id of the trust that a lease uses now; return False if the record is closing."""
    return connection.execute(sa.update(TRUSTS).where(
        TRUSTS.c.id == record_id, TRUSTS.c.closing.is_(False)).values(
            trust_id=trust_id)).rowcount == 1


def close(connection, record):
    """Mark an unused record as closing, so that no lease may use its trust.

    :returns: False if the record is gone, or a lease got the trust meanwhile.
    """
    return connection.execute(sa.update(TRUSTS).where(
        TRUSTS.c.id == record.id, TRUSTS.c.trust_id.is_not_distinct_from(record.trust_id)
        ).values(closing=True)).rowcount == 1


def forget(connection, record_id):
    """Delete the record of a trust that does not exist in Keystone."""
    connection.execute(sa.delete(TRUSTS).where(TRUSTS.c.id == record_id))


def forget_dropped(connection, trust_id):
    """Delete the record of a deleted trust, by the id of the trust."""
    connection.execute(sa.delete(TRUSTS).where(TRUSTS.c.trust_id == trust_id))


def of(connection, trust_id):
    """Return the RecordedTrust of a trust, or None."""
    row = connection.execute(sa.select(*_COLUMNS).where(TRUSTS.c.trust_id == trust_id)).first()
    return None if row is None else records.RecordedTrust(*row)


def known(connection, trust_ids):
    """Return those of these ids of trusts that leases, series or records have, as a set."""
    ids = sorted(trust_ids)
    return {trust_id for column in (TRUSTS.c.trust_id, LEASES.c.trust_id, SERIES.c.trust_id)
            for trust_id in connection.execute(
                sa.select(column).where(column.in_(ids))).scalars()} if ids else set()


def unused(connection, moment):
    """Return the RecordedTrusts from before a moment whose trust is unused, oldest first.

    A trust is used if a lease or a series has it.
    """
    rows = connection.execute(
        sa.select(*_COLUMNS).where(
            TRUSTS.c.created_at <= moment,
            ~sa.exists().where(LEASES.c.trust_id == TRUSTS.c.trust_id),
            ~sa.exists().where(SERIES.c.trust_id == TRUSTS.c.trust_id))
        .order_by(TRUSTS.c.created_at, TRUSTS.c.id))
    return [records.RecordedTrust(*row) for row in rows]
