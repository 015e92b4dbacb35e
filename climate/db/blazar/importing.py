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
_START = sa.update(tables.RESERVATIONS).where(tables.RESERVATIONS.c.id == sa.bindparam('key'))
_HOLD = sa.update(tables.RESOURCES).where(tables.RESOURCES.c.id == sa.bindparam('key'))


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

    :param at_once: how many resources or leases are written in one transaction.
    """
    counts = Counts()
    ids = {}
    for batch in by_keys.batches(converted.resources, at_once):
        with database.writer() as connection:
            written = [_resource(connection, imported, now) for imported in batch]
        for imported, (key, is_new) in zip(batch, written, strict=True):
            ids[imported.pool, imported.source_id] = key
            counts.resources += is_new
    with database.reader() as connection:
        known = _fingerprints(connection)
    # Delete leases first, because other leases may get their resources.
    still_there = {imported.lease.id for imported in converted.leases}
    for batch in by_keys.batches(sorted(known.keys() - still_there), at_once):
        with database.writer() as connection:
            gone = len(_forget(connection, batch))
        counts.add(Counts(deleted=gone, kept=len(batch) - gone))
    changed, added = [], []
    for imported in converted.leases:
        if imported.lease.id not in known:
            added.append(imported)
        elif known[imported.lease.id] == imported.fingerprint:
            counts.unchanged += 1
        else:
            changed.append(imported)
    if changed:
        # In one transaction, because changed leases may have exchanged their resources.
        with database.writer() as connection:
            updated = _replace(connection, changed, ids, now, at_once)
        counts.add(Counts(updated=updated, kept=len(changed) - updated))
    for batch in by_keys.batches(added, at_once):
        with database.writer() as connection:
            _add(connection, batch, ids, now)
        counts.add(Counts(added=len(batch)))
    return counts


def _replace(connection, changed, ids, now, at_once):
    """Replace ImportedLeases of an earlier import; return how many were replaced."""
    gone = set()
    for batch in by_keys.batches([imported.lease.id for imported in changed], at_once):
        gone |= _forget(connection, batch)
    replaced = [imported for imported in changed if imported.lease.id in gone]
    for batch in by_keys.batches(replaced, at_once):
        _add(connection, batch, ids, now)
    return len(replaced)


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
    if imported.properties:
        resource_properties.set_values(connection, imported.pool, key, imported.properties, now)
    for name in imported.private:
        described = resource_properties.named(connection, imported.pool, name)
        resource_properties.set_private(connection, described.id, True, now)
    return key, is_new


def _is_taken(connection, key):
    return connection.execute(sa.select(tables.RESOURCES.c.id).where(
        tables.RESOURCES.c.id == key)).scalar() is not None


def _forget(connection, lease_ids):
    """Delete imported leases, except those on which Climate has acted.

    :returns: the ids of the deleted leases, a set.
    """
    if not lease_ids:
        return set()
    leases_table, reservations_table = tables.LEASES, tables.RESERVATIONS
    gone = list(connection.execute(
        sa.select(leases_table.c.id)
        .where(leases_table.c.id.in_(lease_ids), leases_table.c.generation == 0,
               leases_table.c.claim_no == 0)
        .order_by(leases_table.c.id).with_for_update()).scalars())
    reserved = list(connection.execute(
        sa.select(reservations_table.c.id)
        .where(reservations_table.c.lease_id.in_(gone))).scalars())
    connection.execute(sa.update(tables.RESOURCES).where(
        tables.RESOURCES.c.held_by.in_(reserved)).values(held_by=None))
    connection.execute(sa.delete(tables.ALLOCATIONS).where(
        tables.ALLOCATIONS.c.reservation_id.in_(reserved)))
    for table in (tables.TRUSTS, tables.HISTORY):
        connection.execute(sa.delete(table).where(table.c.lease_id.in_(gone)))
    connection.execute(sa.delete(leases_table).where(leases_table.c.id.in_(gone)))
    return set(gone)


def _add(connection, batch, ids, now):
    """Insert ImportedLeases with as few statements as possible."""
    imported_leases = [imported.lease for imported in batch]
    leases.add_all(connection, [
        dataclasses.replace(lease, request_bytes=request_sizes.of_lease(lease))
        for lease in imported_leases])
    allocated = [dataclasses.replace(allocation, resource_id=ids[allocation.resource_id])
                 for imported in batch for allocation in imported.allocations]
    allocations.add(connection, allocated)
    _occupy(connection, imported_leases, allocated)
    trusts.add_all(connection, [
        records.RecordedTrust(str(uuid.uuid4()), lease.id, now, None, lease.trust_id)
        for lease in imported_leases
        if lease.trust_id is not None and lease.state != lifecycle.TERMINATED])
    journal.note_by_lease(connection, now, 'climate', IMPORTED, {
        imported.lease.id: texts.same(f'{_TEXT}{imported.fingerprint}.') for imported in batch})


def _occupy(connection, imported_leases, allocated):
    """Record that active reservations have started and have their whole resources in the cloud."""
    started = {reservation.id: lease.start for lease in imported_leases
               for reservation in lease.reservations
               if reservation.state == lifecycle.RESERVATION_ACTIVE}
    if started:
        connection.execute(_START, [{'key': key, 'started_at': started_at}
                                    for key, started_at in started.items()])
    held = [{'key': allocation.resource_id, 'held_by': allocation.reservation_id}
            for allocation in allocated
            if allocation.whole and allocation.reservation_id in started]
    if held:
        connection.execute(_HOLD, held)
