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
from climate.db import wakeups
from climate.domain import notification_kinds
from climate.domain import notifications

DELIVERIES = tables.DELIVERIES
SUBSCRIPTIONS = tables.SUBSCRIPTIONS
_COLUMNS = tables.columns(DELIVERIES, notifications.Delivery)
_ADD = sa.insert(DELIVERIES).inline()
_BATCH = 500
#: The number of waiting deliveries of one receiver among which those that may be sent are chosen.
WINDOW = 16
_KEY_OF_SUBSCRIPTION = 'fk_deliveries_subscription_id'


def _due_receivers():
    """Return the subquery of the subscriptions of a transport that have a due delivery.

    `last_id` is the id of the last delivery of the window; null if fewer deliveries wait.
    """
    due_since = (sa.select(sa.func.min(DELIVERIES.c.next_at))
                 .where(DELIVERIES.c.subscription_id == SUBSCRIPTIONS.c.id,
                        DELIVERIES.c.next_at <= sa.bindparam('now')).scalar_subquery())
    oldest = DELIVERIES.alias()
    has_failed = sa.or_(SUBSCRIPTIONS.c.failures > 0, oldest.c.attempts > 0)
    receivers = (
        sa.select(SUBSCRIPTIONS.c.id, SUBSCRIPTIONS.c.project_id, due_since.label('due_since'),
                  has_failed.label('has_failed'))
        .select_from(SUBSCRIPTIONS).join(oldest, oldest.c.id == _waiting_id(SUBSCRIPTIONS.c.id, 1))
        .where(SUBSCRIPTIONS.c.transport == sa.bindparam('transport'),
               sa.or_(sa.not_(has_failed), oldest.c.next_at <= sa.bindparam('now')))).subquery()
    turn = sa.func.row_number().over(
        partition_by=receivers.c.project_id,
        order_by=(receivers.c.due_since, receivers.c.id)).label('turn')
    return (sa.select(*receivers.c, turn, _waiting_id(receivers.c.id, WINDOW).label('last_id'))
            .where(receivers.c.due_since.is_not(None))
            .order_by(turn, receivers.c.due_since, receivers.c.id)
            .limit(sa.bindparam('limit', type_=sa.Integer)).subquery())


def _waiting_id(subscription_id, number):
    """Return the subquery of the id of a waiting delivery of a subscription, by its number."""
    # The sum prevents that PostgreSQL looks for the id in the logs of all subscriptions, in the
    # order of the primary key.
    return (sa.select(DELIVERIES.c.id)
            .where(DELIVERIES.c.subscription_id == subscription_id,
                   DELIVERIES.c.next_at.is_not(None))
            .order_by(DELIVERIES.c.id + 0).offset(number - 1).limit(1).scalar_subquery())


def _due():
    """Return the statement of `due`, which is built once, because it takes milliseconds."""
    receivers, waiting = _due_receivers(), DELIVERIES.alias()
    return (
        sa.select(waiting.c.id, waiting.c.subscription_id, receivers.c.project_id,
                  waiting.c.content[('lease', 'id')].as_string().label('lease_id'),
                  waiting.c.next_at, receivers.c.has_failed)
        .select_from(waiting).join(receivers, waiting.c.subscription_id == receivers.c.id)
        .where(waiting.c.next_at.is_not(None),
               sa.or_(receivers.c.last_id.is_(None), waiting.c.id <= receivers.c.last_id))
        .order_by(receivers.c.turn, receivers.c.due_since, receivers.c.id, waiting.c.id))


_DUE = _due()


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
            wakeups.after_commit(connection, wakeups.DELIVERIES)
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


def due(connection, transport, now, limit):
    """Return the first `WINDOW` waiting deliveries of each receiver that has a due one.

    They are ``notifications.Waiting``, in the order of their ids for each receiver. A receiver that
    failed is left out until its oldest delivery is due. The first receiver of each project comes
    first, then the second one of each, in the order in which their deliveries became due.

    :param limit: the maximum number of receivers.
    """
    rows = connection.execute(_DUE, {'transport': transport, 'now': now, 'limit': limit})
    return [notifications.Waiting(*row[:-1], has_failed=bool(row.has_failed)) for row in rows]


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


def delivered(connection, claimed, owner, now):
    """Record accepted deliveries, with one statement; return the number of those still claimed.

    :param claimed: the Deliveries that `claim` returned to `owner`.
    """
    return connection.execute(
        sa.update(DELIVERIES)
        .where(DELIVERIES.c.id.in_([delivery.id for delivery in claimed]),
               sa.tuple_(DELIVERIES.c.id, DELIVERIES.c.next_at).in_(
                   [(delivery.id, delivery.next_at) for delivery in claimed]),
               DELIVERIES.c.claim_owner == owner)
        .values(state=notifications.DELIVERED, next_at=None, done_at=now, claim_owner=None,
                attempts=DELIVERIES.c.attempts + 1, reason=None)).rowcount


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
    wakeups.after_commit(connection, wakeups.DELIVERIES)


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
