# SPDX-License-Identifier: Apache-2.0
"""The tables of notifications, subscriptions and deliveries."""
import sqlalchemy as sa

from climate.db.tables import base

OUTBOX = sa.Table(
    'outbox', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sa.Column('event_type', base.text(255), nullable=False),
    sa.Column('payload', sa.JSON, nullable=False),
    sa.Column('claim_owner', base.text(255)),
    sa.Column('claimed_until', base.UtcDateTime),
    # The notification was copied to its subscriptions. Only then is it sent to the bus.
    sa.Column('fanned_out', sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index(None, 'fanned_out', 'id'),
    sqlite_autoincrement=True,
    **base.MYSQL)

SUBSCRIPTIONS = sa.Table(
    'subscriptions', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('user_id', base.text(255), nullable=False),
    # The number of the subscription among those that the project may have at once.
    sa.Column('place', sa.Integer, nullable=False),
    sa.Column('name', base.text(80)),
    sa.Column('scope', base.text(16), nullable=False),
    sa.Column('transport', base.text(32), nullable=False),
    sa.Column('address', base.long_text()),
    sa.Column('events', base.NameList),
    # The table `reminders` has the same seconds, for searches.
    sa.Column('before_end', base.NameList),
    # The key that signs webhooks; for a calendar the SHA-256 of the secret in its address.
    sa.Column('secret', base.text(128)),
    # The same key, encrypted; then `secret` is empty.
    sa.Column('sealed_secret', base.long_text()),
    sa.Column('secret_hash', base.text(64)),
    sa.Column('enabled', sa.Boolean, nullable=False, default=True),
    sa.Column('reason', base.long_text()),
    sa.Column('failures', sa.Integer, nullable=False, default=0),
    *base.stamps(),
    sa.UniqueConstraint('project_id', 'place'),
    sa.UniqueConstraint('secret_hash'),
    sa.Index(None, 'project_id', 'created_at', 'id'),
    sa.Index(None, 'created_at', 'id'),
    **base.MYSQL)

# The times before the end of a lease at which subscriptions get a reminder.
REMINDERS = sa.Table(
    'reminders', base.METADATA,
    sa.Column('subscription_id', base.text(36),
              sa.ForeignKey('subscriptions.id', ondelete='CASCADE'), primary_key=True),
    sa.Column('seconds', sa.Integer, primary_key=True, autoincrement=False),
    sa.Index(None, 'seconds'),
    **base.MYSQL)

# One row: the moment up to which the reminders were scanned.
REMINDER_SCANS = sa.Table(
    'reminder_scans', base.METADATA,
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('scanned_until', base.UtcDateTime, nullable=False),
    **base.MYSQL)

# Deliveries of notifications to one subscription: the waiting ones, and the log of finished ones.
DELIVERIES = sa.Table(
    'deliveries', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('subscription_id', base.text(36),
              sa.ForeignKey('subscriptions.id', ondelete='CASCADE'), nullable=False),
    # The origin of the notification, such as "outbox:7".
    sa.Column('source', base.text(160), nullable=False),
    sa.Column('transport', base.text(32), nullable=False),
    sa.Column('kind', base.text(32), nullable=False),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sa.Column('content', sa.JSON, nullable=False),
    sa.Column('state', base.text(16), nullable=False),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    # The moment of the next attempt; null once the delivery is done.
    sa.Column('next_at', base.UtcDateTime),
    sa.Column('done_at', base.UtcDateTime),
    sa.Column('reason', base.long_text()),
    sa.Column('claim_owner', base.text(255)),
    sa.UniqueConstraint('subscription_id', 'source'),
    sa.Index(None, 'transport', 'next_at', 'id'),
    sa.Index(None, 'subscription_id', 'id'),
    sa.Index(None, 'subscription_id', 'next_at', 'id'),
    sa.Index(None, 'done_at'),
    sqlite_autoincrement=True,
    **base.MYSQL)

# The last notification of a project that it reached a limit. For some time after it, the project
# is not notified of the same limit again.
LIMIT_NOTICES = sa.Table(
    'limit_notices', base.METADATA,
    sa.Column('project_id', base.text(255), primary_key=True),
    sa.Column('limit_name', base.text(80), primary_key=True),
    sa.Column('told_at', base.UtcDateTime, nullable=False),
    sa.Index(None, 'told_at'),
    **base.MYSQL)

# Projects that were notified that they have nearly reached a limit. The row of a project exists
# until its use is clearly below the limit.
NEAR_LIMITS = sa.Table(
    'near_limits', base.METADATA,
    sa.Column('project_id', base.text(255), primary_key=True),
    sa.Column('limit_name', base.text(80), primary_key=True),
    sa.Column('since', base.UtcDateTime, nullable=False),
    **base.MYSQL)
