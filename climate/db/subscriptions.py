# SPDX-License-Identifier: Apache-2.0
"""Subscriptions in the database."""
import sqlalchemy as sa

from climate import errors
from climate.db import by_keys
from climate.db import pages
from climate.db import tables
from climate.domain import subscriptions as domain

SUBSCRIPTIONS = tables.SUBSCRIPTIONS
REMINDERS = tables.REMINDERS
_COLUMNS = tables.columns(SUBSCRIPTIONS, domain.Subscription)
_SECRET = SUBSCRIPTIONS.c.secret, SUBSCRIPTIONS.c.sealed_secret
_ANY = sa.select(SUBSCRIPTIONS.c.id).where(
    SUBSCRIPTIONS.c.transport.in_(domain.SENT)).limit(1)
_SIZE = 256 + pages.length(SUBSCRIPTIONS.c.address, SUBSCRIPTIONS.c.reason,
                           SUBSCRIPTIONS.c.events, SUBSCRIPTIONS.c.before_end)
# The number of projects whose subscriptions one statement reads.
_BATCH = 500


def add(connection, subscription, place, **secrets):
    """Insert a subscription.

    :param place: the number of the subscription among those of its project.
    :param secrets: the columns of its secret.
    :raises Duplicate: a subscription of the project has this place.
    """
    values = {column.name: getattr(subscription, column.name) for column in _COLUMNS}
    connection.execute(sa.insert(SUBSCRIPTIONS).values(
        place=place, **secrets, **values))
    _add_reminders(connection, subscription.id, subscription.before_end)


def get(connection, subscription_id, locked=False):
    """Return a Subscription.

    :param locked: whether to lock its row until the transaction ends.
    :raises SubscriptionNotFound: there is none with that id.
    """
    statement = sa.select(*_COLUMNS).where(SUBSCRIPTIONS.c.id == subscription_id)
    row = connection.execute(statement.with_for_update() if locked else statement).one_or_none()
    if row is None:
        raise errors.SubscriptionNotFound(subscription_id=subscription_id)
    return _record(row)


def lock(connection, subscription_id):
    """Lock a subscription until the transaction ends; return it, or None if it was deleted."""
    row = connection.execute(sa.select(*_COLUMNS).where(
        SUBSCRIPTIONS.c.id == subscription_id).with_for_update()).one_or_none()
    return None if row is None else _record(row)


def find(connection, query):
    """Return the Subscriptions that a Query selects, the oldest first.

    The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.
    """
    statement = sa.select(*_COLUMNS).order_by(SUBSCRIPTIONS.c.created_at, SUBSCRIPTIONS.c.id)
    if query.project_id is not None:
        statement = statement.where(SUBSCRIPTIONS.c.project_id == query.project_id)
    if query.user_id is not None:
        statement = statement.where(sa.or_(SUBSCRIPTIONS.c.scope == domain.PROJECT,
                                           SUBSCRIPTIONS.c.user_id == query.user_id))
    if query.marker is not None:
        last = connection.execute(sa.select(SUBSCRIPTIONS.c.created_at).where(
            SUBSCRIPTIONS.c.id == query.marker)).scalar()
        if last is None:
            raise errors.SubscriptionNotFound(subscription_id=query.marker[:80])
        statement = statement.where(sa.or_(
            SUBSCRIPTIONS.c.created_at > last,
            sa.and_(SUBSCRIPTIONS.c.created_at == last, SUBSCRIPTIONS.c.id > query.marker)))
    rows, end = pages.read(connection, statement.limit(query.limit), _SIZE, query.most_bytes)
    return [_record(row) for row in rows] + end


def places(connection, project_id):
    """Return the set of places that the subscriptions of a project have."""
    return set(connection.execute(sa.select(SUBSCRIPTIONS.c.place).where(
        SUBSCRIPTIONS.c.project_id == project_id)).scalars())


def count_of_user(connection, project_id, user_id):
    """Return the number of subscriptions of a user in a project."""
    return connection.execute(
        sa.select(sa.func.count()).where(SUBSCRIPTIONS.c.project_id == project_id,
                                         SUBSCRIPTIONS.c.user_id == user_id)).scalar()


def by_project(connection):
    """Return {project id: number of its subscriptions}."""
    return dict(connection.execute(
        sa.select(SUBSCRIPTIONS.c.project_id, sa.func.count())
        .group_by(SUBSCRIPTIONS.c.project_id)).all())


def any_sent(connection):
    """Return whether there is a subscription to which notifications are sent."""
    return connection.execute(_ANY).scalar() is not None


def of_projects(connection, project_ids):
    """Return {project id: [Subscription]} of the enabled ones to which notifications are sent."""
    by_id = {}
    for batch in by_keys.batches(sorted(project_ids), _BATCH):
        rows = connection.execute(
            sa.select(*_COLUMNS)
            .where(SUBSCRIPTIONS.c.project_id.in_(batch),
                   SUBSCRIPTIONS.c.enabled, SUBSCRIPTIONS.c.transport.in_(domain.SENT))
            .order_by(SUBSCRIPTIONS.c.created_at, SUBSCRIPTIONS.c.id))
        for row in rows:
            by_id.setdefault(row.project_id, []).append(_record(row))
    return by_id


def of_calendar(connection, secret_hash):
    """Return the enabled Subscription of a calendar by the SHA-256 of its secret.

    :raises CalendarNotFound: no calendar has that secret.
    """
    row = connection.execute(sa.select(*_COLUMNS).where(
        SUBSCRIPTIONS.c.secret_hash == secret_hash, SUBSCRIPTIONS.c.enabled)).one_or_none()
    if row is None:
        raise errors.CalendarNotFound()
    return _record(row)


def with_secrets(connection, ids):
    """Return {id: (Subscription, (its key in the clear or None, encrypted or None))}."""
    rows = connection.execute(sa.select(*_COLUMNS, *_SECRET).where(
        SUBSCRIPTIONS.c.id.in_(list(ids))))
    return {row.id: (_record(row), (row.secret, row.sealed_secret)) for row in rows}


def ids_with_secrets(connection):
    """Return the ids of the subscriptions that have a key, in order."""
    return list(connection.execute(
        sa.select(SUBSCRIPTIONS.c.id).where(sa.or_(*(column.is_not(None) for column in _SECRET)))
        .order_by(SUBSCRIPTIONS.c.id)).scalars())


def lock_secret(connection, subscription_id):
    """Lock a subscription; return its key as `with_secrets` does, or None if it was deleted."""
    row = connection.execute(sa.select(*_SECRET).where(
        SUBSCRIPTIONS.c.id == subscription_id).with_for_update()).one_or_none()
    return None if row is None else tuple(row)


def store_secret(connection, subscription_id, **columns):
    """Store the key of a subscription in another form, such as encrypted."""
    connection.execute(sa.update(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.id == subscription_id)
                       .values(**columns))


def change(connection, subscription_id, now, **values):
    """Change columns of a subscription; with ``before_end``, replace its reminders too."""
    connection.execute(sa.update(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.id == subscription_id)
                       .values(updated_at=now, **values))
    if 'before_end' in values:
        connection.execute(sa.delete(REMINDERS).where(
            REMINDERS.c.subscription_id == subscription_id))
        _add_reminders(connection, subscription_id, values['before_end'])


def succeeded(connection, ids):
    """Reset the count of failures of subscriptions."""
    connection.execute(sa.update(SUBSCRIPTIONS).where(
        SUBSCRIPTIONS.c.id.in_(list(ids)), SUBSCRIPTIONS.c.failures > 0).values(failures=0))


def delete(connection, subscription_id):
    """Delete a subscription with its log; return whether it existed."""
    return connection.execute(sa.delete(SUBSCRIPTIONS).where(
        SUBSCRIPTIONS.c.id == subscription_id)).rowcount > 0


def counts(connection):
    """Return {(transport, enabled): number of subscriptions}."""
    rows = connection.execute(
        sa.select(SUBSCRIPTIONS.c.transport, SUBSCRIPTIONS.c.enabled, sa.func.count())
        .group_by(SUBSCRIPTIONS.c.transport, SUBSCRIPTIONS.c.enabled))
    return {(transport, bool(enabled)): count for transport, enabled, count in rows}


def _add_reminders(connection, subscription_id, before_end):
    if before_end:
        connection.execute(sa.insert(REMINDERS), [
            {'subscription_id': subscription_id, 'seconds': seconds} for seconds in before_end])


def _record(row):
    return domain.Subscription(**{column.name: row._mapping[column.name] for column in _COLUMNS})
