# SPDX-License-Identifier: Apache-2.0
"""Deliveries of notifications to single subscriptions, and their log, in the database."""
import itertools

from oslo_db import exception
import sqlalchemy as sa

from climate import errors
from climate.db import by_keys
from climate.db import engine
from climate.db import pages
from climate.db import tables
from climate.domain import notification_kinds
from climate.domain import notifications

DELIVERIES = tables.DELIVERIES
SUBSCRIPTIONS = tables.SUBSCRIPTIONS
_COLUMNS = tables.columns(DELIVERIES, notifications.Delivery)
_ADD = sa.insert(DELIVERIES).inline()
_BATCH = 500
_KEY_OF_SUBSCRIPTION = 'fk_deliveries_subscription_id'


def add(connection, entries):
    """Insert deliveries that wait to be sent.

    :param entries: tuples (Subscription, source, kind, at, content, now); any iterable.
    :raises LostRace: a subscription was deleted meanwhile; the transaction must be rolled back.
    """
    rows = ({'subscription_id': subscription.id, 'source': source,
             'transport': subscription.transport,
             'kind': kind, 'at': at, 'content': content, 'state': notifications.WAITING,
             'attempts': 0, 'next_at': now}
            for subscription, source, kind, at, content, now in entries)
    # There may be thousands of rows, so they are not all held in memory.
    try:
        while batch := list(itertools.islice(rows, _BATCH)):
            connection.execute(_ADD, batch)
    except (exception.DBReferenceError, sa.exc.IntegrityError) as error:
        if _KEY_OF_SUBSCRIPTION in str(error) or 'FOREIGN KEY' in str(error):
            raise errors.LostRace() from error
        raise


def sources(connection, wanted):
    """Return the pairs (subscription id, source) in `wanted` that have a delivery already."""
    ids = {subscription_id for subscription_id, _ in wanted}
    names = sorted({source for _, source in wanted})
    return {tuple(row) for batch in by_keys.batches(names, _BATCH)
            for row in connection.execute(
                sa.select(DELIVERIES.c.subscription_id, DELIVERIES.c.source)
                .where(DELIVERIES.c.source.in_(batch), DELIVERIES.c.subscription_id.in_(ids)))
            } & set(wanted)


def any_due(connection, transport, now):
    """Return whether a delivery of a transport is due."""
    return connection.execute(
        sa.select(DELIVERIES.c.id).where(DELIVERIES.c.transport == transport,
                                         DELIVERIES.c.next_at <= now).limit(1)
    ).scalar() is not None


def due(connection, transport, now, limit, in_flight):
    """Return pairs (id, ahead) of at most `limit` deliveries that are due, in a fair order.

    Only the oldest delivery of each subscription is returned, because a receiver gets its
    notifications one after the other, and a slow receiver must not occupy several workers. `ahead`
    is the number of deliveries of the same project that are in flight or precede the delivery. The
    pairs are sorted by `ahead`, and then by the time since which the delivery has been due.

    :param in_flight: {project id: number of its deliveries that are being sent}.
    """
    oldest = (
        sa.select(sa.func.min(DELIVERIES.c.id))
        .where(DELIVERIES.c.subscription_id == SUBSCRIPTIONS.c.id,
               DELIVERIES.c.next_at.is_not(None)).scalar_subquery())
    project = SUBSCRIPTIONS.c.project_id
    before = sa.func.row_number().over(
        partition_by=project, order_by=(DELIVERIES.c.next_at, DELIVERIES.c.id)) - 1
    sent = sa.case(dict(in_flight), value=project, else_=0) if in_flight else sa.literal(0)
    candidates = (
        sa.select(DELIVERIES.c.id, DELIVERIES.c.next_at, (before + sent).label('ahead'))
        .join(SUBSCRIPTIONS, SUBSCRIPTIONS.c.id == DELIVERIES.c.subscription_id)
        .where(DELIVERIES.c.next_at <= now, DELIVERIES.c.id.in_(
            sa.select(oldest).where(SUBSCRIPTIONS.c.transport == transport)))).subquery()
    return [(row.id, int(row.ahead)) for row in connection.execute(
        sa.select(candidates.c.id, candidates.c.ahead)
        .order_by(candidates.c.ahead, candidates.c.next_at, candidates.c.id).limit(limit))]


def claim(connection, ids, owner, now, until):
    """Claim the deliveries with these ids that are still due; return them.

    Their ``next_at`` is set to `until`, at which the claim expires.
    """
    ids = list(connection.execute(
        sa.select(DELIVERIES.c.id)
        .where(DELIVERIES.c.id.in_(ids), DELIVERIES.c.next_at <= now).order_by(DELIVERIES.c.id)
        .with_for_update(skip_locked=engine.skips_locked(connection))).scalars())
    if not ids:
        return []
    connection.execute(
        sa.update(DELIVERIES)
        .where(DELIVERIES.c.id.in_(ids), DELIVERIES.c.next_at <= now)
        .values(claim_owner=owner, next_at=until))
    rows = connection.execute(
        sa.select(*_COLUMNS).where(DELIVERIES.c.id.in_(ids), DELIVERIES.c.claim_owner == owner,
                                   DELIVERIES.c.next_at == until)
        .order_by(DELIVERIES.c.id))
    return [notifications.Delivery(**row._mapping) for row in rows]


def is_claimed(connection, delivery, owner):
    """Return whether `owner` still has its claim on a delivery; lock the delivery if so."""
    return connection.execute(
        sa.select(DELIVERIES.c.id)
        .where(DELIVERIES.c.id == delivery.id, DELIVERIES.c.claim_owner == owner,
               DELIVERIES.c.next_at == delivery.next_at).with_for_update()).scalar() is not None


def change(connection, delivery_id, **values):
    """Change columns of a delivery and end its claim."""
    connection.execute(sa.update(DELIVERIES).where(DELIVERIES.c.id == delivery_id)
                       .values(claim_owner=None, **values))


def hasten(connection, subscription_id, now):
    """Make all unclaimed deliveries of a subscription due now."""
    connection.execute(
        sa.update(DELIVERIES)
        .where(DELIVERIES.c.subscription_id == subscription_id, DELIVERIES.c.next_at > now,
               DELIVERIES.c.claim_owner.is_(None)).values(next_at=now))


def last_of_kind(connection, subscription_id, kind):
    """Return the moment of the last delivery of a kind for a subscription, or None."""
    return connection.execute(
        sa.select(sa.func.max(DELIVERIES.c.at))
        .where(DELIVERIES.c.subscription_id == subscription_id, DELIVERIES.c.kind == kind)
    ).scalar()


def give_up_all(connection, subscription_id, now, reason):
    """Give up all waiting deliveries of a subscription."""
    connection.execute(
        sa.update(DELIVERIES)
        .where(DELIVERIES.c.subscription_id == subscription_id, DELIVERIES.c.next_at.is_not(None))
        .values(state=notifications.GIVEN_UP, done_at=now, next_at=None, claim_owner=None,
                reason=reason))


def give_up_reminders(connection, lease_ids, now):
    """Give up the waiting reminders of leases that are over."""
    waiting = connection.execute(sa.select(DELIVERIES.c.id, DELIVERIES.c.source).where(
        DELIVERIES.c.kind == notification_kinds.BEFORE_END, DELIVERIES.c.next_at.is_not(None)))
    ids = [row.id for row in waiting if row.source.split(':')[1] in lease_ids]
    for batch in by_keys.batches(ids, _BATCH):
        connection.execute(
            sa.update(DELIVERIES)
            .where(DELIVERIES.c.id.in_(batch))
            .values(state=notifications.GIVEN_UP, done_at=now, next_at=None, claim_owner=None,
                    reason='The lease has ended.'))


def log(connection, subscription_id, marker=None, limit=None, most_bytes=None):
    """Return the Deliveries of a subscription, the newest first.

    The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

    :param marker: only deliveries older than the one with this id.
    """
    statement = sa.select(*_COLUMNS).where(DELIVERIES.c.subscription_id == subscription_id)
    if marker is not None:
        statement = statement.where(DELIVERIES.c.id < marker)
    rows, end = pages.read(
        connection, statement.order_by(DELIVERIES.c.id.desc()).limit(limit),
        256 + pages.length(DELIVERIES.c.content, DELIVERIES.c.reason), most_bytes)
    return [notifications.Delivery(**row._mapping) for row in rows] + end


def forget(connection, before, limit):
    """Delete at most `limit` deliveries that were done before a moment; return their number."""
    ids = list(connection.execute(
        sa.select(DELIVERIES.c.id).where(DELIVERIES.c.done_at < before)
        .order_by(DELIVERIES.c.done_at).limit(limit)).scalars())
    if ids:
        connection.execute(sa.delete(DELIVERIES).where(DELIVERIES.c.id.in_(ids)))
    return len(ids)


def waiting(connection):
    """Return {transport: (number of waiting deliveries, moment of the oldest)}."""
    rows = connection.execute(
        sa.select(DELIVERIES.c.transport, sa.func.count(), sa.func.min(DELIVERIES.c.at))
        .where(DELIVERIES.c.next_at.is_not(None)).group_by(DELIVERIES.c.transport))
    return {transport: (count, oldest) for transport, count, oldest in rows}


def any_done(connection, before):
    """Return whether the log has deliveries that were done before a moment."""
    return connection.execute(
        sa.select(DELIVERIES.c.id).where(DELIVERIES.c.done_at < before).limit(1)
    ).scalar() is not None
