# SPDX-License-Identifier: Apache-2.0
"""Acquisitions in the database: how a lease searches for its resources, and what it waits for."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import tables
from climate.domain import acquire
from climate.domain import lifecycle
from climate.domain import records

ACQUISITIONS = tables.ACQUISITIONS
_COLUMNS = tuple(ACQUISITIONS.c[field.name] for field in dataclasses.fields(records.Acquisition))

#: What a lease may wait for: its turn in the wait queue, or the start that it was promised.
QUEUE = 'queue'
HEALING = 'healing'


def add(connection, lease):
    """Write the Acquisition of a new lease, and queue the lease if it has to wait."""
    acquisition = lease.acquisition
    stands = lease.state == lifecycle.ACQUIRING and acquisition.type in acquire.QUEUED
    values = {column.name: getattr(acquisition, column.name) for column in _COLUMNS}
    values['notify_at'] = [each.isoformat() for each in acquisition.notify_at]
    connection.execute(sa.insert(ACQUISITIONS).values(
        waits_for=QUEUE if stands else None, **values))


def of_leases(connection, lease_ids):
    """{lease id: its Acquisition}."""
    if not lease_ids:
        return {}
    rows = connection.execute(sa.select(*_COLUMNS)
                              .where(ACQUISITIONS.c.lease_id.in_(list(lease_ids))))
    return {row.lease_id: _record(row) for row in rows}


def get(connection, lease_id):
    """The Acquisition of a lease that has one."""
    return of_leases(connection, [lease_id])[lease_id]


def change(connection, lease_id, now, **values):
    """Write `values` to an acquisition. The caller holds the lease: its claim guards this."""
    connection.execute(sa.update(ACQUISITIONS).where(ACQUISITIONS.c.lease_id == lease_id)
                       .values(updated_at=now, **values))


def heal(connection, lease, now):
    """Let a lease wait for the start that it was promised."""
    if lease.acquisition is None:
        connection.execute(sa.insert(ACQUISITIONS).values(
            lease_id=lease.id, type=lease.acquire_type, waits_for=HEALING, notify_at=[],
            created_at=now))
    else:
        change(connection, lease.id, now, waits_for=HEALING)


def leave(connection, lease_id, now):
    """A lease waits for nothing any more."""
    change(connection, lease_id, now, waits_for=None)


def _record(row):
    values = {**row._mapping}
    values['notify_at'] = tuple(map(datetime.datetime.fromisoformat, row.notify_at))
    return records.Acquisition(**values)
