# SPDX-License-Identifier: Apache-2.0
"""Series in the database."""
import sqlalchemy as sa

from climate import errors
from climate.db import by_keys
from climate.db import pages
from climate.db import tables
from climate.domain import lifecycle
from climate.domain.series import series_records as domain

LEASES = tables.LEASES
SERIES = tables.SERIES
_OTHERS = 'user_name', 'project_name', 'occurrences', 'secrets'
_COLUMNS = tables.columns(SERIES, domain.Series, *_OTHERS)
_STORED = (*_COLUMNS, SERIES.c.secrets)
_SIZE = 512 + pages.length(SERIES.c.request, SERIES.c.rule, SERIES.c.resources)
_OPEN = (domain.MAKING, domain.ACTIVE)


def add(connection, series):
    """Insert a Series, without its occurrences."""
    connection.execute(sa.insert(SERIES).values(
        {column.name: getattr(series, column.name) for column in _STORED}))


def get(connection, series_id, locked=False):
    """Return a Series without its occurrences.

    :param locked: whether to lock its row until the transaction ends.
    :raises SeriesNotFound: there is none with that id.
    """
    statement = sa.select(*_STORED).where(SERIES.c.id == series_id)
    row = connection.execute(statement.with_for_update() if locked else statement).one_or_none()
    if row is None:
        raise errors.SeriesNotFound(series_id=series_id)
    return _with_secrets(row)


def with_ids(connection, series_ids):
    """Return {id: Series without its occurrences} of the series with some ids."""
    found = map(_with_secrets, connection.execute(
        sa.select(*_STORED).where(SERIES.c.id.in_(sorted(series_ids)))))
    return {series.id: series for series in found}


def remember_resources(connection, series_id, names):
    """Store the names of the resources that all leases of a series get, unless they are stored."""
    connection.execute(sa.update(SERIES).where(
        SERIES.c.id == series_id, SERIES.c.resources.is_(None)).values(resources=names))


def find(connection, query):
    """Return the Series that a SeriesQuery selects, the oldest first, without occurrences.

    The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

    :raises SeriesNotFound: no series has the id of the marker.
    """
    statement = sa.select(*_COLUMNS).where(SERIES.c.status.not_in(domain.HIDDEN)).order_by(
        SERIES.c.created_at, SERIES.c.id)
    if query.project_id is not None:
        statement = statement.where(SERIES.c.project_id == query.project_id)
    if query.status is not None:
        statement = statement.where(SERIES.c.status == query.status)
    if query.marker is not None:
        last = get(connection, query.marker)
        statement = statement.where(sa.or_(
            SERIES.c.created_at > last.created_at,
            sa.and_(SERIES.c.created_at == last.created_at, SERIES.c.id > last.id)))
    rows, end = pages.read(connection, statement.limit(query.limit), _SIZE, query.most_bytes)
    return [domain.Series(*row) for row in rows] + end


def lease_ids(connection, series_id):
    """Return the ids of the leases of a series that are not deleted, in order."""
    return list(connection.execute(sa.select(LEASES.c.id).where(
        LEASES.c.series_id == series_id, LEASES.c.deleted_at.is_(None))
        .order_by(LEASES.c.start, LEASES.c.id)).scalars())


def count_open(connection, project_id):
    """Return the number of series of a project that go on."""
    return connection.execute(sa.select(sa.func.count()).where(
        SERIES.c.project_id == project_id, SERIES.c.status.in_(_OPEN))).scalar()


def change(connection, series, now, **values):
    """Update a Series with new values of its columns.

    :raises LostRace: the series was changed since it was read.
    """
    done = connection.execute(
        sa.update(SERIES).where(SERIES.c.id == series.id,
                                SERIES.c.generation == series.generation,
                                SERIES.c.status == series.status)
        .values(generation=series.generation + 1, updated_at=now, **values))
    if done.rowcount != 1:
        raise errors.LostRace()


def touch(connection, series_id, now):
    """Record that a request still makes a series."""
    connection.execute(sa.update(SERIES).where(
        SERIES.c.id == series_id, SERIES.c.status == domain.MAKING).values(updated_at=now))


def delete(connection, series_id):
    """Delete a series with its occurrences; its leases stay."""
    connection.execute(sa.delete(SERIES).where(SERIES.c.id == series_id))


def to_extend(connection, now):
    """Return the active Series whose next occurrence has come into the horizon."""
    return _all(connection, SERIES.c.status == domain.ACTIVE, SERIES.c.extend_at <= now)


def abandoned(connection, before):
    """Return the Series whose request stopped before a moment, and was not finished."""
    return _all(connection, SERIES.c.status == domain.MAKING,
                sa.func.coalesce(SERIES.c.updated_at, SERIES.c.created_at) < before)


def over(connection, now):
    """Return the active Series whose last occurrence has ended."""
    occurrences = tables.SERIES_OCCURRENCES
    return _all(connection, SERIES.c.status == domain.ACTIVE, SERIES.c.extend_at.is_(None),
                ~sa.exists().where(occurrences.c.series_id == SERIES.c.id,
                                   occurrences.c.end > now,
                                   occurrences.c.status != domain.OFF))


def with_unused_trust(connection):
    """Return the Series that are over, and whose trust no lease and no other series needs."""
    other = SERIES.alias()
    return _all(
        connection, SERIES.c.status.not_in(_OPEN), SERIES.c.trust_id.is_not(None),
        ~sa.exists().where(other.c.trust_id == SERIES.c.trust_id, other.c.status.in_(_OPEN)),
        ~sa.exists().where(LEASES.c.trust_id == SERIES.c.trust_id,
                           LEASES.c.deleted_at.is_(None), LEASES.c.state.in_(lifecycle.OPEN)))


def forget_trust(connection, trust_id):
    """Record that the trust of a series was deleted."""
    connection.execute(sa.update(SERIES).where(SERIES.c.trust_id == trust_id)
                       .values(trust_id=None))


def have_trust(connection, trust_id):
    """Return whether a series has a trust, so that its leases must not delete it."""
    return connection.execute(sa.select(SERIES.c.id).where(
        SERIES.c.trust_id == trust_id).limit(1)).first() is not None


def purge(connection, before):
    """Delete the series that were over before a moment and have no leases."""
    ids = list(connection.execute(sa.select(SERIES.c.id).where(
        SERIES.c.status.not_in(_OPEN), SERIES.c.trust_id.is_(None), SERIES.c.updated_at < before,
        ~sa.exists().where(LEASES.c.series_id == SERIES.c.id))).scalars())
    for batch in by_keys.batches(ids, 500):
        connection.execute(sa.delete(SERIES).where(SERIES.c.id.in_(batch)))


def _with_secrets(row):
    *values, secrets = row
    return domain.Series(*values, secrets=secrets)


def _all(connection, *conditions):
    return [domain.Series(*row) for row in connection.execute(
        sa.select(*_COLUMNS).where(*conditions).order_by(SERIES.c.created_at, SERIES.c.id))]
