# SPDX-License-Identifier: Apache-2.0
"""Migrations of the database, and the purge of old leases."""
import pathlib

from alembic import command
from alembic import config
from alembic import script
from alembic.runtime import migration
import sqlalchemy as sa

from climate.db import offers
from climate.db import refusals
from climate.db import tables
from climate.db import usage_days
from climate.db import use_samples

_SCRIPTS = pathlib.Path(__file__).parent / 'alembic'


def upgrade(database, revision='head'):
    """Upgrade the tables to `revision`. Do nothing if they have it already."""
    with database.writer() as connection:
        settings = _settings()
        settings.attributes['connection'] = connection
        command.upgrade(settings, revision)


def version(database):
    """Return the revision of the tables, or None if there are no tables."""
    with database.reader() as connection:
        return migration.MigrationContext.configure(connection).get_current_revision()


def newest():
    """Return the revision that this release of Climate needs."""
    return script.ScriptDirectory.from_config(_settings()).get_current_head()


def purge(database, before):
    """Delete leases that ended or were deleted before `before`; return how many.

    Their reservations, events, allocations and history are deleted with them. Withdrawn resources
    without allocations, expired idempotency keys, expired offers, old samples of use and old
    refusals are deleted too. What the usage of days that are not closed is counted from stays.
    """
    leases, resources, allocations = tables.LEASES, tables.RESOURCES, tables.ALLOCATIONS
    theirs = tables.RESERVATIONS
    with database.reader() as connection:
        counted = min(before, usage_days.counted_until(connection) or before)
    over = sa.or_(leases.c.deleted_at < counted, leases.c.ended_at < counted)
    # A lease that is being ended or deleted still has something in the cloud.
    over = sa.and_(over, leases.c.task.is_(None))
    with database.writer() as connection:
        offers.delete(connection, offers.lock(
            connection, offers.expired(connection, before, before)))
        ids = list(connection.execute(sa.select(leases.c.id).where(over)).scalars())
        for some in _batches(ids, 500):
            connection.execute(sa.delete(tables.HISTORY).where(
                tables.HISTORY.c.lease_id.in_(some)))
            # No foreign key with a cascade covers allocations.
            connection.execute(sa.delete(allocations).where(allocations.c.reservation_id.in_(
                sa.select(theirs.c.id).where(theirs.c.lease_id.in_(some)))))
            connection.execute(sa.delete(leases).where(leases.c.id.in_(some)))
        connection.execute(sa.delete(tables.IDEMPOTENCY_KEYS).where(
            tables.IDEMPOTENCY_KEYS.c.expires_at < before))
        use_samples.delete(connection, counted)
        refusals.purge(connection, counted)
    # A transaction of its own, because resources must be locked before anything else.
    with database.writer() as connection:
        connection.execute(sa.delete(resources).where(
            resources.c.withdrawn_at < counted,
            ~sa.exists().where(allocations.c.resource_id == resources.c.id)))
    return len(ids)


def _settings():
    settings = config.Config()
    settings.set_main_option('script_location', str(_SCRIPTS))
    return settings


def _batches(items, size):
    return (items[first:first + size] for first in range(0, len(items), size))
