# SPDX-License-Identifier: Apache-2.0
"""Acquisitions in the database: how leases that wait for their resources stand in line."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import tables
from climate.domain import records

ACQUISITIONS = tables.ACQUISITIONS
EVENTS = tables.EVENTS
_COLUMNS = tuple(field.name for field in dataclasses.fields(records.Acquisition))

#: What one may wait for: a place in the line, or what a lease that failed to start needs.
LINE = 'line'
HEALING = 'healing'


def add(connection, acquisition, waits_for=None):
    """Write a new Acquisition."""
    values = {name: getattr(acquisition, name) for name in _COLUMNS}
    values['notify_at'] = [each.isoformat() for each in acquisition.notify_at]
    connection.execute(sa.insert(ACQUISITIONS).values(waits_for=waits_for, **values))


def of_leases(connection, lease_ids):
    """{lease id: its Acquisition}."""
    if not lease_ids:
        return {}
    rows = connection.execute(sa.select(*(ACQUISITIONS.c[name] for name in _COLUMNS))
                              .where(ACQUISITIONS.c.lease_id.in_(list(lease_ids))))
    return {row.lease_id: _record(row) for row in rows}


def lock(connection, lease_id):
    """The Acquisition of a lease, its row locked until the transaction ends."""
    row = connection.execute(
        sa.select(*(ACQUISITIONS.c[name] for name in _COLUMNS))
        .where(ACQUISITIONS.c.lease_id == lease_id).with_for_update()).one()
    return _record(row)


def change(connection, lease_id, now, **values):
    """Write `values` to an acquisition. The caller holds the lease: its claim guards this."""
    connection.execute(sa.update(ACQUISITIONS).where(ACQUISITIONS.c.lease_id == lease_id)
                       .values(updated_at=now, **values))


def _record(row):
    values = {**row._mapping}
    values['notify_at'] = tuple(map(datetime.datetime.fromisoformat, row.notify_at))
    return records.Acquisition(**values)
