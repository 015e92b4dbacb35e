# SPDX-License-Identifier: Apache-2.0
"""Migrations of the database, and the purge of old leases."""
import pathlib

from alembic import command
from alembic import config
from alembic import script
from alembic import util
from alembic.runtime import migration
import sqlalchemy as sa

from climate import errors
from climate.db import bills
from climate.db import by_keys
from climate.db import enforcement_calls
from climate.db import engine
from climate.db import limit_notices
from climate.db import limit_owners
from climate.db import offers
from climate.db import owner_names
from climate.db import refusals
from climate.db import series
from climate.db import series_occurrences
from climate.db import tables
from climate.db import usage_days
from climate.db import use_samples

_SCRIPTS = pathlib.Path(__file__).parent / 'alembic'
# Managers of a release that needs this revision, or a newer one, can run beside this release.
_OLDEST_BESIDE = '0037'
# The `phase` of revisions after which managers of the earlier release must not run any more.
_CONTRACT = 'contract'
_AT_ONCE = 1000
_BATCH = 500


class NoSuchRevision(Exception):
    """This release has no such revision of the tables; the message names the newest revision."""


def upgrade(database, revision='head'):
    """Upgrade the tables to `revision`. Do nothing if they have this revision already.

    :raises NoSuchRevision: this release does not know `revision`.
    """
    with database.writer(counted=False) as connection:
        settings = _settings()
        settings.attributes['connection'] = connection
        try:
            command.upgrade(settings, revision)
        except util.CommandError as error:
            raise NoSuchRevision(f'{error}. The newest revision is {newest()}.') from error


def expand(database):
    """Upgrade the tables as far as managers of the earlier release can use them.

    :raises errors.ConfigurationError: the tables are of a release that cannot run beside this one.
    """
    current = version(database)
    earlier = _revisions_before(_OLDEST_BESIDE)
    if current in earlier:
        raise errors.ConfigurationError(
            f'The tables are at the revision {current}. Managers of their release cannot run '
            f'beside this one, which needs managers of the revision {_OLDEST_BESIDE} or newer: '
            'stop all managers, and run "climate-db upgrade" without --expand.')
    if current is None or current in _revisions_before(expanded()):
        upgrade(database, expanded())


def version(database):
    """Return the revision of the tables, or None if there are no tables."""
    with database.reader() as connection:
        return migration.MigrationContext.configure(connection).get_current_revision()


def is_complete(connection):
    """Return whether the tables have the newest revision of this release, or a later one."""
    current = migration.MigrationContext.configure(connection).get_current_revision()
    return current not in _revisions_before(newest())


def newest():
    """Return the newest revision of this release of Climate."""
    return _scripts().get_current_head()


def expanded():
    """Return the oldest revision of the tables that this release of Climate can use.

    The later revisions only complete what managers of the earlier release wrote, and remove what
    only they needed.
    """
    return next(each.revision for each in _scripts().walk_revisions()
                if getattr(each.module, 'phase', None) != _CONTRACT)


def _revisions_before(revision):
    return {each.revision for each in _scripts().iterate_revisions(revision, 'base')} - {revision}


def _scripts():
    return script.ScriptDirectory.from_config(_settings())


def check(conf):
    """Check that the database answers, and that its tables are not older than this release.

    Newer tables belong to the next release, which an upgrade installs one service at a time.

    :returns: whether the tables are only expanded, so that managers of the earlier release can run.
    :raises errors.ConfigurationError: the database does not answer, or the tables are older.
    """
    database = engine.connect(conf)
    try:
        current = version(database)
    except errors.DatabaseUnreachable as error:
        raise engine.unusable(error) from error
    finally:
        database.dispose()
    if current is None or current in _revisions_before(expanded()):
        state = (f'The tables are at the revision {current}' if current
                 else 'There are no tables yet')
        raise errors.ConfigurationError(
            f'{state}, and this release needs revision {expanded()}: run "climate-db upgrade".')
    return current in _revisions_before(newest())


def purge(database, before, reports_ends=False, counted_since=None):
    """Delete leases that ended or were deleted before `before`; return their number.

    Their reservations, events, allocations and history are deleted with them. Withdrawn resources
    without allocations, expired idempotency keys, expired offers, old samples of use and old
    refusals are deleted too, as are the names and rows of users and projects without leases. Leases
    that are not billed yet stay, as do rows that are needed to count the usage of open days. The
    lines of statements are never deleted. Series that are over go with the last of their leases.

    :param reports_ends: whether leases stay until their ends are reported to the enforcement
        service.
    :param counted_since: leases that were over later stay, because limits count them; None: limits
        count no leases that are over.
    """
    leases, allocations = tables.LEASES, tables.ALLOCATIONS
    reservations = tables.RESERVATIONS
    with database.reader() as connection:
        counted = min(before, usage_days.counted_until(connection) or before)
    kept = min(counted, counted_since or counted)
    over = sa.or_(leases.c.deleted_at < kept, leases.c.ended_at < kept)
    # A lease that is being ended or deleted may still have objects in the cloud.
    over = sa.and_(over, leases.c.task.is_(None))
    with database.writer() as connection:
        settled = bills.settled_until(connection)
        if settled is not None:
            over = sa.and_(over, ~bills.unsettled(settled))
        if reports_ends:
            over = sa.and_(over, ~enforcement_calls.KNOWS_LEASE)
        offers.delete(connection, offers.lock(
            connection, offers.expired(connection, before, before)))
        ids = list(connection.execute(sa.select(leases.c.id).where(over)).scalars())
        for batch in by_keys.batches(ids, _BATCH):
            connection.execute(sa.delete(tables.HISTORY).where(
                tables.HISTORY.c.lease_id.in_(batch)))
            # No foreign key with a cascade covers allocations.
            connection.execute(sa.delete(allocations).where(allocations.c.reservation_id.in_(
                sa.select(reservations.c.id).where(reservations.c.lease_id.in_(batch)))))
            enforcement_calls.purge(connection, batch)
            series_occurrences.purge(connection, batch)
            connection.execute(sa.delete(leases).where(leases.c.id.in_(batch)))
        connection.execute(sa.delete(tables.IDEMPOTENCY_KEYS).where(
            tables.IDEMPOTENCY_KEYS.c.expires_at < before))
        series.purge(connection, before)
        use_samples.delete(connection, counted)
        limit_notices.forget(connection, before)
    count = _AT_ONCE
    while count == _AT_ONCE:
        with database.writer() as connection:
            count = refusals.purge(connection, counted, _AT_ONCE)
    with database.writer() as connection:
        owner_names.purge(connection)
    with database.writer() as connection:
        limit_owners.purge(connection)
    _purge_resources(database, counted)
    return len(ids)


def _purge_resources(database, before):
    """Delete the resources without allocations that were withdrawn before a moment."""
    resources, allocations = tables.RESOURCES, tables.ALLOCATIONS
    # This is a transaction of its own, because resources must be locked before other rows.
    with database.writer() as connection:
        ids = list(connection.execute(
            sa.select(resources.c.id)
            .where(resources.c.withdrawn_at < before,
                   ~sa.exists().where(allocations.c.resource_id == resources.c.id))
            .order_by(resources.c.id).with_for_update()).scalars())
        for batch in by_keys.batches(ids, _BATCH):
            for column in _without_cascade(resources):
                if column.table is not allocations:
                    connection.execute(sa.delete(column.table).where(column.in_(batch)))
            connection.execute(sa.delete(resources).where(resources.c.id.in_(batch)))


def _without_cascade(parent):
    """Return the columns that refer to `parent` with a foreign key without ON DELETE CASCADE."""
    return [key.parent for table in tables.METADATA.sorted_tables for key in sorted(
        table.foreign_keys, key=lambda each: each.parent.name)
            if key.column.table is parent and key.ondelete != 'CASCADE']


def _settings():
    settings = config.Config()
    settings.set_main_option('script_location', str(_SCRIPTS))
    return settings
