# SPDX-License-Identifier: Apache-2.0
"""Write a conversion of Blazar's database to the database of Climate.

An import can be repeated. It applies what Blazar has changed or deleted since the last import, and
completes an interrupted import. A lease on which Climate has begun to act stays as it is.
"""
import dataclasses
import uuid

import sqlalchemy as sa

from climate import errors
from climate.db import allocations
from climate.db import by_keys
from climate.db import journal
from climate.db import leases
from climate.db import managers
from climate.db import resource_properties
from climate.db import resources
from climate.db import tables
from climate.db import trusts
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import request_sizes
from climate.domain import texts

#: The entry of the history of an imported lease; its text ends with the lease's fingerprint.
IMPORTED = 'import'
_TEXT = 'Imported from Blazar, as '
_AT_ONCE = 200


@dataclasses.dataclass
class Counts:
    """The numbers of an import. `kept` counts leases on which Climate has begun to act."""

    resources: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    kept: int = 0

    def add(self, other):
        """Add the numbers of other Counts."""
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class StillRunning(errors.ConfigurationError):
    """A manager of Climate, or Blazar, still uses its database. The message names it."""


def refuse_running(database, now):
    """Refuse an import or an export while managers run, because they act on the leases.

    :raises StillRunning: a manager has been seen in the last minute.
    """
    with database.reader() as connection:
        running = [service.host for service in managers.every(connection)
                   if service.last_seen > now - managers.ALIVE]
    if running:
        raise StillRunning(f'climate-manager runs on {", ".join(sorted(running))}: stop it, wait a '
                           'minute, and run this command again.')


def write(database, converted, now, at_once=_AT_ONCE):
    """Write a ``imported_records.Conversion`` to the database of Climate; return the Counts.

    :param at_once: how many leases are written in one transaction.
    """
    counts = Counts()
    ids = {}
    for imported in converted.resources:
        with database.writer() as connection:
            key, is_new = _resource(connection, imported, now)
        ids[imported.pool, imported.source_id] = key
        counts.resources += is_new
    with database.reader() as connection:
        known = _fingerprints(connection)
    # Delete leases first, because other leases may get their resources.
    still_there = {imported.lease.id for imported in converted.leases}
    for batch in by_keys.batches(sorted(known.keys() - still_there), at_once):
        with database.writer() as connection:
            gone = sum(_forget(connection, lease_id) for lease_id in batch)
        counts.add(Counts(deleted=gone, kept=len(batch) - gone))
    changed = []
    for imported in converted.leases:
        if known.get(imported.lease.id) == imported.fingerprint:
            counts.unchanged += 1
        else:
            changed.append(imported)
    for batch in by_keys.batches(changed, at_once):
        with database.writer() as connection:
            written = _leases(connection, batch, known, ids, now)
        counts.add(written)
    return counts


def _leases(connection, batch, known, ids, now):
    """Write ImportedLeases, and replace those of an earlier import; return the Counts."""
    counts = Counts()
    kept = {imported.lease.id for imported in batch if imported.lease.id in known
            and not _forget(connection, imported.lease.id)}
    for imported in batch:
        is_known = imported.lease.id in known
        if imported.lease.id in kept:
            counts.kept += 1
            continue
        _lease(connection, imported, ids, now)
        counts.updated += is_known
        counts.added += not is_known
    return counts


def _advance_sequence(connection):
    """Make PostgreSQL give further resources ids above the imported ones."""
    if connection.dialect.name == 'postgresql':
        sequence = "pg_get_serial_sequence('resources', 'id')"
        connection.exec_driver_sql(
            f'SELECT setval({sequence}, GREATEST((SELECT MAX(id) FROM resources), '
            f'pg_sequence_last_value({sequence}::regclass)))')


def _fingerprints(connection):
    rows = connection.execute(
        sa.select(tables.HISTORY.c.lease_id, tables.HISTORY.c.why)
        .join(tables.LEASES, tables.LEASES.c.id == tables.HISTORY.c.lease_id)
        .where(tables.HISTORY.c.what == IMPORTED).order_by(tables.HISTORY.c.id))
    return {lease_id: (why or '').removeprefix(_TEXT).rstrip('.') for lease_id, why in rows}


def _resource(connection, imported, now):
    """Enrol a resource, or set the properties of an enrolled one; return (id, whether new)."""
    table = tables.RESOURCES
    key = connection.execute(sa.select(table.c.id).where(
        table.c.pool == imported.pool, table.c.enrolled_name == imported.name)).scalar()
    is_new = key is None
    if is_new:
        values = {} if imported.id is None or _is_taken(connection, imported.id) else {
            'id': imported.id}
        key = resources.add(connection, imported.pool, imported.name, imported.capacity, now,
                            reservable=imported.reservable, **values)
        if values:
            _advance_sequence(connection)
        resource_properties.set_values(connection, imported.pool, key, imported.facts, now,
                                       fact=True)
    resource_properties.set_values(connection, imported.pool, key, imported.properties, now)
    for name in imported.private:
        described = resource_properties.named(connection, imported.pool, name)
        resource_properties.set_private(connection, described.id, True, now)
    return key, is_new


def _is_taken(connection, key):
    return connection.execute(sa.select(tables.RESOURCES.c.id).where(
        tables.RESOURCES.c.id == key)).scalar() is not None


def _forget(connection, lease_id):
    """Delete an imported lease, unless Climate has acted on it; return whether it is gone."""
    lease = leases.lock(connection, lease_id)
    if lease.generation or lease.claim_no:
        return False
    ids = [reservation.id for reservation in lease.reservations]
    connection.execute(sa.update(tables.RESOURCES).where(
        tables.RESOURCES.c.held_by.in_(ids)).values(held_by=None))
    connection.execute(sa.delete(tables.ALLOCATIONS).where(
        tables.ALLOCATIONS.c.reservation_id.in_(ids)))
    connection.execute(sa.delete(tables.TRUSTS).where(tables.TRUSTS.c.lease_id == lease_id))
    connection.execute(sa.delete(tables.HISTORY).where(tables.HISTORY.c.lease_id == lease_id))
    connection.execute(sa.delete(tables.LEASES).where(tables.LEASES.c.id == lease_id))
    return True


def _lease(connection, imported, ids, now):
    lease = imported.lease
    lease = dataclasses.replace(lease, request_bytes=request_sizes.of_lease(lease))
    leases.add(connection, lease)
    added = [dataclasses.replace(allocation, resource_id=ids[allocation.resource_id])
             for allocation in imported.allocations]
    allocations.add(connection, added)
    active = {reservation.id for reservation in lease.reservations
              if reservation.state == lifecycle.RESERVATION_ACTIVE}
    for allocation in added:
        if allocation.whole and allocation.reservation_id in active:
            connection.execute(sa.update(tables.RESOURCES).where(
                tables.RESOURCES.c.id == allocation.resource_id).values(
                    held_by=allocation.reservation_id))
    if active:
        connection.execute(sa.update(tables.RESERVATIONS).where(
            tables.RESERVATIONS.c.id.in_(sorted(active))).values(started_at=lease.start))
    if lease.trust_id is not None and lease.state != lifecycle.TERMINATED:
        trusts.add(connection, records.RecordedTrust(
            str(uuid.uuid4()), lease.id, now, None, lease.trust_id))
    journal.note(connection, lease.id, now, 'climate', IMPORTED,
                 texts.same(f'{_TEXT}{imported.fingerprint}.'))
