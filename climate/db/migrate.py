# SPDX-License-Identifier: Apache-2.0
"""Migrations of the database, and the purge of what is long over."""
import pathlib

from alembic import command
from alembic import config
from alembic import script
from alembic.runtime import migration
import sqlalchemy as sa

from climate.db import offers
from climate.db import tables

_SCRIPTS = pathlib.Path(__file__).parent / 'alembic'


def upgrade(database, revision='head'):
    """Bring the tables up to `revision`. Harmless when they are there already."""
    with database.writer() as connection:
        settings = _settings()
        settings.attributes['connection'] = connection
        command.upgrade(settings, revision)


def version(database):
    """The revision of the tables, None where there are none."""
    with database.reader() as connection:
        return migration.MigrationContext.configure(connection).get_current_revision()


def newest():
    """The revision that this release of Climate works with."""
    return script.ScriptDirectory.from_config(_settings()).get_current_head()


def purge(database, before):
    """Remove leases that ended or were deleted before `before`; returns how many.

    With them go their reservations, events, allocations and history. Withdrawn resources that
    nothing refers to any more go too, keys that nobody may use again, and offers that nobody took.
    """
    leases, resources, allocations = tables.LEASES, tables.RESOURCES, tables.ALLOCATIONS
    theirs = tables.RESERVATIONS
    over = sa.or_(leases.c.deleted_at < before, leases.c.ended_at < before)
    # A lease that is being ended or deleted still has something in the cloud.
    over = sa.and_(over, leases.c.task.is_(None))
    with database.writer() as connection:
        offers.delete(connection, offers.lock(
            connection, offers.over(connection, before, before)))
        ids = list(connection.execute(sa.select(leases.c.id).where(over)).scalars())
        for some in _batches(ids, 500):
            connection.execute(sa.delete(tables.HISTORY).where(
                tables.HISTORY.c.lease_id.in_(some)))
            # The one thing of theirs that no foreign key takes along.
            connection.execute(sa.delete(allocations).where(allocations.c.reservation_id.in_(
                sa.select(theirs.c.id).where(theirs.c.lease_id.in_(some)))))
            connection.execute(sa.delete(leases).where(leases.c.id.in_(some)))
        connection.execute(sa.delete(tables.IDEMPOTENCY_KEYS).where(
            tables.IDEMPOTENCY_KEYS.c.expires_at < before))
    # By itself, since whoever locks resources locks nothing before them.
    with database.writer() as connection:
        connection.execute(sa.delete(resources).where(
            resources.c.withdrawn_at < before,
            ~sa.exists().where(allocations.c.resource_id == resources.c.id)))
    return len(ids)


def _settings():
    settings = config.Config()
    settings.set_main_option('script_location', str(_SCRIPTS))
    return settings


def _batches(items, size):
    return (items[first:first + size] for first in range(0, len(items), size))
