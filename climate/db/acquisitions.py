# SPDX-License-Identifier: Apache-2.0
"""Acquisitions in the database: the search of a lease for its resources, and its wait for them."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import tables
from climate.domain import acquire
from climate.domain import lifecycle
from climate.domain import records

ACQUISITIONS = tables.ACQUISITIONS
_COLUMNS = tuple(ACQUISITIONS.c[field.name] for field in dataclasses.fields(records.Acquisition))

#: The reasons to wait: for a turn in the wait queue, or for another try of a failed start.
QUEUE = 'queue'
HEALING = 'healing'
#: The condition that a lease waits for its turn in the wait queue.
IS_QUEUED = ACQUISITIONS.c.waits_for == QUEUE


def add(connection, lease):
    """Write the Acquisition of a new lease, and queue the lease if it has to wait."""
    acquisition = lease.acquisition
    is_queued = lease.state == lifecycle.ACQUIRING and acquisition.type in acquire.QUEUED
    values = {column.name: getattr(acquisition, column.name) for column in _COLUMNS}
    values['notify_at'] = [moment.isoformat() for moment in acquisition.notify_at]
    connection.execute(sa.insert(ACQUISITIONS).values(
        waits_for=QUEUE if is_queued else None, **values))


def of_leases(connection, lease_ids):
    """Return {lease id: its Acquisition}; leases without one are left out."""
    if not lease_ids:
        return {}
    rows = connection.execute(sa.select(*_COLUMNS)
                              .where(ACQUISITIONS.c.lease_id.in_(list(lease_ids))))
    return {row.lease_id: _record(row) for row in rows}


def get(connection, lease_id):
    """Return the Acquisition of a lease. The lease must have one."""
    return of_leases(connection, [lease_id])[lease_id]


def change(connection, lease_id, now, **values):
    """Write `values` to an acquisition. The caller must hold the claim of the lease."""
    connection.execute(sa.update(ACQUISITIONS).where(ACQUISITIONS.c.lease_id == lease_id)
                       .values(updated_at=now, **values))


def heal(connection, lease, now):
    """Record that a lease whose start or change failed waits for another try.

    A lease that was booked at once has no row yet, so a row is inserted.
    """
    done = connection.execute(sa.update(ACQUISITIONS).where(ACQUISITIONS.c.lease_id == lease.id)
                              .values(waits_for=HEALING, updated_at=now))
    if not done.rowcount:
        connection.execute(sa.insert(ACQUISITIONS).values(
            lease_id=lease.id, type=lease.acquire_type, waits_for=HEALING, notify_at=[],
            created_at=now))


def leave(connection, lease_id, now):
    """Record that a lease does not wait any more."""
    change(connection, lease_id, now, waits_for=None)


def _record(row):
    values = {**row._mapping}
    values['notify_at'] = tuple(map(datetime.datetime.fromisoformat, row.notify_at))
    return records.Acquisition(**values)
