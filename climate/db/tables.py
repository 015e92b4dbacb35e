# SPDX-License-Identifier: Apache-2.0
"""The tables and their indexes."""
import dataclasses
import datetime

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from climate.domain import records

METADATA = sa.MetaData(naming_convention={
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_name)s',
    'pk': 'pk_%(table_name)s',
})


class UtcDateTime(sa.types.TypeDecorator):
    """A moment, aware and in UTC in Python, with microseconds on every database.

    DATETIME(6) is used because plain DATETIME of MariaDB drops fractions.
    """

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect):
        if dialect.name == 'mysql':
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(sa.DateTime(timezone=dialect.name == 'postgresql'))

    def process_bind_param(self, value, dialect):
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError('Climate stores only aware moments: give it a time zone.')
        value = value.astimezone(datetime.UTC)
        return value if dialect.name == 'postgresql' else value.replace(tzinfo=None)

    def result_processor(self, dialect, coltype):
        # A page of a list has some thousand moments. SQLAlchemy's default would create two objects
        # for each and take ten times as long.
        return {'sqlite': _read_text, 'mysql': _read_plain}.get(dialect.name, _read_aware)


def _read_text(value):
    return None if value is None else datetime.datetime.fromisoformat(value + '+00:00')


def _read_plain(value):
    return None if value is None else value.replace(tzinfo=datetime.UTC)


def _read_aware(value):
    # PostgreSQL returns moments in the time zone of the connection.
    return None if value is None else value.astimezone(datetime.UTC)


class Names(sa.types.TypeDecorator):
    """Names in an order: a tuple in Python, a list in JSON; null where there are none."""

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return list(value) if value else None

    def process_result_value(self, value, dialect):
        return tuple(value or ())


class Hidden(sa.types.TypeDecorator):
    """Secrets, {name: value}: null where there are none. SQLAlchemy logs rows at DEBUG."""

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return dict(value) if value else None

    def process_result_value(self, value, dialect):
        return records.Secrets(value or {})


def _text(length):
    # MariaDB compares this collation byte by byte, so names that differ only in case are distinct.
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _long_text():
    return sa.Text().with_variant(
        mysql.TEXT(charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _stamps():
    return (sa.Column('created_at', UtcDateTime, nullable=False),
            sa.Column('updated_at', UtcDateTime))


def columns(table, record, *others):
    """Return the columns of a table for the fields of a record class, in the order of the fields.

    :param others: the last fields of the record, for which the table has no columns.
    """
    names = [field.name for field in dataclasses.fields(record)]
    return tuple(table.c[name] for name in names if name not in others)


_ID = sa.BigInteger().with_variant(sa.Integer, 'sqlite')
_MYSQL = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}

LEASES = sa.Table(
    'leases', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('name', _text(80), nullable=False),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('user_id', _text(255), nullable=False),
    sa.Column('trust_id', _text(36)),
    sa.Column('start', UtcDateTime, nullable=False),
    sa.Column('end', UtcDateTime, nullable=False),
    sa.Column('before_end', UtcDateTime),
    sa.Column('state', _text(16), nullable=False),
    sa.Column('reason', sa.Text),
    sa.Column('task', _text(16)),
    sa.Column('task_until', UtcDateTime),
    sa.Column('claim_owner', _text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('degraded', sa.Boolean, nullable=False, default=False),
    sa.Column('generation', sa.Integer, nullable=False, default=0),
    sa.Column('ended_at', UtcDateTime),
    sa.Column('deleted_at', UtcDateTime),
    sa.Column('acquire_type', _text(16), nullable=False, server_default='immediate'),
    # NULL beside a reason: an earlier release wrote it, for operators only.
    sa.Column('owner_reason', sa.Text),
    sa.Column('idle_exempt', sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column('idle_since', UtcDateTime),
    sa.Column('reclaim_at', UtcDateTime),
    # When its owner asked for the start and the resources that it had at its start; null: at its
    # creation.
    sa.Column('asked_at', UtcDateTime),
    # The bytes of its requests and events, as ``domain.request_sizes`` counts them.
    sa.Column('request_bytes', sa.BigInteger, nullable=False, server_default=sa.text('0')),
    *_stamps(),
    # Lists show leases that are not deleted by creation time: of a project, of a state, or all.
    # A search by name needs no order. SQLite has no statistics by default and uses the index of
    # which the query gives the most columns.
    sa.Index(None, 'project_id', 'deleted_at', 'created_at', 'id'),
    sa.Index(None, 'project_id', 'deleted_at', 'state', 'created_at', 'id'),
    sa.Index(None, 'deleted_at', 'created_at', 'id'),
    sa.Index(None, 'deleted_at', 'state', 'created_at', 'id'),
    sa.Index(None, 'name', 'project_id', 'deleted_at'),
    sa.Index(None, 'trust_id'),
    # Usage asks which leases were over after a moment, or are not over though their end has come.
    sa.Index(None, 'ended_at', 'end'),
    sa.Index(None, 'idle_since'),
    # Reminders look for leases that end in a short span.
    sa.Index(None, 'end'),
    # The bytes of a project are added up from the index alone.
    sa.Index(None, 'project_id', 'ended_at', 'request_bytes'),
    **_MYSQL)

RESERVATIONS = sa.Table(
    'reservations', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('lease_id', _text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('position', sa.Integer, nullable=False),
    sa.Column('resource_type', _text(66), nullable=False),
    sa.Column('request', sa.JSON, nullable=False),
    sa.Column('binding', sa.JSON, nullable=False),
    sa.Column('state', _text(13), nullable=False),
    sa.Column('missing_resources', sa.Boolean, nullable=False, default=False),
    sa.Column('resources_changed', sa.Boolean, nullable=False, default=False),
    # The id of the target that it leases; null once the reservation is over, so that no target is
    # leased twice at a time.
    sa.Column('leased_id', _text(64)),
    *_stamps(),
    # Its label in its lease, and the labels of the reservations that start before it.
    sa.Column('label', _text(64)),
    sa.Column('depends_on', Names),
    # When it was active for the first time; null: never, or it was taken back. It is billed if not.
    sa.Column('started_at', UtcDateTime),
    # The fields of the request that its plugin calls secret; null once it was started, or is over.
    sa.Column('secrets', Hidden),
    sa.Index(None, 'lease_id', 'position'),
    sa.Index('uq_reservations_leased_id', 'leased_id', unique=True),
    **_MYSQL)

EVENTS = sa.Table(
    'events', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('lease_id', _text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('kind', _text(66), nullable=False),
    sa.Column('at', UtcDateTime, nullable=False),
    sa.Column('due_at', UtcDateTime, nullable=False),
    sa.Column('status', _text(13), nullable=False),
    sa.Column('claim_owner', _text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('claimed_until', UtcDateTime),
    sa.Column('begun_at', UtcDateTime),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    sa.Column('waits', sa.Integer, nullable=False, default=0),
    *_stamps(),
    sa.Index(None, 'status', 'due_at'),
    sa.Index(None, 'lease_id'),
    **_MYSQL)

RESOURCES = sa.Table(
    'resources', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('pool', _text(32), nullable=False),
    sa.Column('name', _text(255), nullable=False),
    # The name while enrolled, null once withdrawn, so that (pool, name) is unique among enrolled.
    sa.Column('enrolled_name', _text(255)),
    sa.Column('capacity', sa.JSON, nullable=False),
    sa.Column('reservable', sa.Boolean, nullable=False, default=True),
    # When it was enrolled, or last became reservable again.
    sa.Column('available_since', UtcDateTime),
    sa.Column('generation', sa.Integer, nullable=False, default=0),
    sa.Column('held_by', _text(36)),
    sa.Column('withdrawn_at', UtcDateTime),
    # The only reservation that may use it; null: any reservation may.
    sa.Column('lent_to', _text(36)),
    *_stamps(),
    # The state that counts now, and why; resource_health has the details.
    sa.Column('health_state', _text(16), nullable=False, server_default='well'),
    sa.Column('health_reason', _long_text()),
    sa.UniqueConstraint('pool', 'enrolled_name'),
    sa.Index(None, 'pool', 'id'),
    sa.Index(None, 'held_by'),
    sa.Index(None, 'lent_to'),
    sa.Index(None, 'health_state'),
    sqlite_autoincrement=True,
    **_MYSQL)

# What is known of the health of a resource; a resource that was always well has no row.
RESOURCE_HEALTH = sa.Table(
    'resource_health', METADATA,
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True, autoincrement=False),
    sa.Column('state', _text(16), nullable=False),
    sa.Column('since', UtcDateTime),
    sa.Column('reason', _long_text()),
    sa.Column('source', _text(64)),
    sa.Column('changing_since', UtcDateTime),
    sa.Column('looked_at', UtcDateTime),
    sa.Column('out_of_order', _long_text()),
    sa.Column('out_of_order_since', UtcDateTime),
    sa.Column('quarantined_until', UtcDateTime),
    sa.Column('quarantined_since', UtcDateTime),
    sa.Column('quarantine_reason', _long_text()),
    **_MYSQL)

PROPERTIES = sa.Table(
    'properties', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('pool', _text(32), nullable=False),
    sa.Column('name', _text(64), nullable=False),
    sa.Column('private', sa.Boolean, nullable=False, default=False),
    # A fact comes from the cloud; other properties come from operators.
    sa.Column('fact', sa.Boolean, nullable=False, default=False),
    *_stamps(),
    sa.UniqueConstraint('pool', 'name'),
    **_MYSQL)

PROPERTY_VALUES = sa.Table(
    'property_values', METADATA,
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('property_id', _ID, sa.ForeignKey('properties.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('text', _long_text(), nullable=False),
    sa.Column('number', sa.Double),
    sa.Index(None, 'property_id', 'number'),
    **_MYSQL)

ALLOCATIONS = sa.Table(
    'allocations', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    # No foreign key: the reservation of an offer is written when the offer is taken.
    sa.Column('reservation_id', _text(36), nullable=False),
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('start', UtcDateTime, nullable=False),
    sa.Column('end', UtcDateTime, nullable=False),
    sa.Column('whole', sa.Boolean, nullable=False),
    sa.Column('amount', sa.JSON, nullable=False),
    sa.Column('copies', sa.Integer, nullable=False, default=1),
    sa.Column('released_at', UtcDateTime),
    # The key of the need that the allocation serves.
    sa.Column('need', _text(64), nullable=False, server_default=sa.text("''")),
    # Until when it was promised, if its owner ended it earlier.
    sa.Column('promised_until', UtcDateTime),
    sa.Index(None, 'resource_id', 'end', 'start'),
    sa.Index(None, 'reservation_id', 'resource_id'),
    sa.Index(None, 'end'),
    sqlite_autoincrement=True,
    **_MYSQL)

# Its allocations are those of the reservations that its request names.
OFFERS = sa.Table(
    'offers', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('user_id', _text(255), nullable=False),
    # Its number among the offers that the project may hold at once; null once it holds nothing.
    sa.Column('place', sa.Integer),
    sa.Column('start', UtcDateTime, nullable=False),
    sa.Column('end', UtcDateTime, nullable=False),
    sa.Column('request', sa.JSON, nullable=False),
    sa.Column('held_until', UtcDateTime, nullable=False),
    sa.Column('created_at', UtcDateTime, nullable=False),
    # {reservation id: the secret fields of its request}; null once it holds nothing.
    sa.Column('secrets', Hidden),
    sa.Column('request_bytes', sa.BigInteger, nullable=False, server_default=sa.text('0')),
    sa.UniqueConstraint('project_id', 'place'),
    sa.Index(None, 'held_until'),
    sa.Index(None, 'project_id', 'request_bytes'),
    **_MYSQL)

IDEMPOTENCY_KEYS = sa.Table(
    'idempotency_keys', METADATA,
    sa.Column('project_id', _text(255), primary_key=True),
    sa.Column('key', _text(255), primary_key=True),
    sa.Column('request_hash', _text(64), nullable=False),
    sa.Column('lease_id', _text(36), nullable=False),
    sa.Column('expires_at', UtcDateTime, nullable=False),
    sa.Index(None, 'expires_at'),
    **_MYSQL)

HISTORY = sa.Table(
    'history', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('lease_id', _text(36), nullable=False),
    sa.Column('at', UtcDateTime, nullable=False),
    sa.Column('who', _text(255), nullable=False),
    sa.Column('what', _text(64), nullable=False),
    sa.Column('why', sa.Text),
    sa.Column('owner_why', sa.Text),
    sa.Index(None, 'lease_id', 'id'),
    sqlite_autoincrement=True,
    **_MYSQL)

OUTBOX = sa.Table(
    'outbox', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('at', UtcDateTime, nullable=False),
    sa.Column('event_type', _text(255), nullable=False),
    sa.Column('payload', sa.JSON, nullable=False),
    sa.Column('claim_owner', _text(255)),
    sa.Column('claimed_until', UtcDateTime),
    # It was copied to the subscriptions that it concerns. Only then it is sent to the bus.
    sa.Column('fanned_out', sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index(None, 'fanned_out', 'id'),
    sqlite_autoincrement=True,
    **_MYSQL)

SUBSCRIPTIONS = sa.Table(
    'subscriptions', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('user_id', _text(255), nullable=False),
    # Its number among the subscriptions that the project may have at once.
    sa.Column('place', sa.Integer, nullable=False),
    sa.Column('name', _text(80)),
    sa.Column('scope', _text(16), nullable=False),
    sa.Column('transport', _text(32), nullable=False),
    sa.Column('address', _long_text()),
    sa.Column('events', Names),
    # The seconds are in the table "reminders" too, which is searched.
    sa.Column('before_end', Names),
    # The key that signs webhooks; for a calendar the SHA-256 of the secret in its address.
    sa.Column('secret', _text(128)),
    # The same key, encrypted; then `secret` is empty.
    sa.Column('sealed_secret', _long_text()),
    sa.Column('secret_hash', _text(64)),
    sa.Column('enabled', sa.Boolean, nullable=False, default=True),
    sa.Column('reason', _long_text()),
    sa.Column('failures', sa.Integer, nullable=False, default=0),
    *_stamps(),
    sa.UniqueConstraint('project_id', 'place'),
    sa.UniqueConstraint('secret_hash'),
    sa.Index(None, 'project_id', 'created_at', 'id'),
    sa.Index(None, 'created_at', 'id'),
    **_MYSQL)

# Of which limit a project was told when. While the row is there, it is not told again.
LIMIT_NOTICES = sa.Table(
    'limit_notices', METADATA,
    sa.Column('project_id', _text(255), primary_key=True),
    sa.Column('limit_name', _text(80), primary_key=True),
    sa.Column('told_at', UtcDateTime, nullable=False),
    sa.Index(None, 'told_at'),
    **_MYSQL)

# Projects that were told that they have nearly reached a limit. The row is there until they use
# clearly less.
NEAR_LIMITS = sa.Table(
    'near_limits', METADATA,
    sa.Column('project_id', _text(255), primary_key=True),
    sa.Column('limit_name', _text(80), primary_key=True),
    sa.Column('since', UtcDateTime, nullable=False),
    **_MYSQL)

# The times before the end of a lease at which subscriptions are told.
REMINDERS = sa.Table(
    'reminders', METADATA,
    sa.Column('subscription_id', _text(36),
              sa.ForeignKey('subscriptions.id', ondelete='CASCADE'), primary_key=True),
    sa.Column('seconds', sa.Integer, primary_key=True, autoincrement=False),
    sa.Index(None, 'seconds'),
    **_MYSQL)

# One row: up to which moment the reminders were looked for.
REMINDER_SCANS = sa.Table(
    'reminder_scans', METADATA,
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('scanned_until', UtcDateTime, nullable=False),
    **_MYSQL)

# Notifications for one subscription each: those that wait, and the log of those that are done.
DELIVERIES = sa.Table(
    'deliveries', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('subscription_id', _text(36),
              sa.ForeignKey('subscriptions.id', ondelete='CASCADE'), nullable=False),
    # What it is about, such as "outbox:7".
    sa.Column('source', _text(160), nullable=False),
    sa.Column('transport', _text(32), nullable=False),
    sa.Column('kind', _text(32), nullable=False),
    sa.Column('at', UtcDateTime, nullable=False),
    sa.Column('content', sa.JSON, nullable=False),
    sa.Column('state', _text(16), nullable=False),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    # When it is tried next; null once it is done.
    sa.Column('next_at', UtcDateTime),
    sa.Column('done_at', UtcDateTime),
    sa.Column('reason', _long_text()),
    sa.Column('claim_owner', _text(255)),
    sa.UniqueConstraint('subscription_id', 'source'),
    sa.Index(None, 'transport', 'next_at', 'id'),
    sa.Index(None, 'subscription_id', 'id'),
    sa.Index(None, 'subscription_id', 'next_at', 'id'),
    sa.Index(None, 'done_at'),
    sqlite_autoincrement=True,
    **_MYSQL)

# What is created in the cloud for requests that are being answered: written before it is created,
# and deleted in the transaction that writes the lease. What stays here is of a request that failed.
EARLY_CREATIONS = sa.Table(
    'early_creations', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    # No foreign key: the reservation is written later, if at all.
    sa.Column('reservation_id', _text(36), nullable=False),
    sa.Column('resource_type', _text(66), nullable=False),
    # Of the offer that is being taken: other requests may try to take it too.
    sa.Column('offer_id', _text(36)),
    # It is being deleted from the cloud, so that no lease may be written that relies on it.
    sa.Column('closing', sa.Boolean, nullable=False, default=False),
    sa.Column('created_at', UtcDateTime, nullable=False),
    sa.Index(None, 'created_at'),
    **_MYSQL)

# The trusts that were created for leases: written before the trust is created, and deleted when it
# is dropped. The id of the trust is stored in the transaction that writes the lease. Until then
# `expires_at`, which no other trust has, identifies it.
TRUSTS = sa.Table(
    'trusts', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    # No foreign key: the lease is written later, if at all.
    sa.Column('lease_id', _text(36), nullable=False),
    sa.Column('trust_id', _text(36)),
    # NULL: it never expires; it was created by a release before this table.
    sa.Column('expires_at', UtcDateTime),
    # It is being dropped, so that no lease may be written that relies on it.
    sa.Column('closing', sa.Boolean, nullable=False, default=False),
    sa.Column('created_at', UtcDateTime, nullable=False),
    sa.Index(None, 'created_at'),
    sa.Index(None, 'trust_id'),
    **_MYSQL)

MANAGERS = sa.Table(
    'managers', METADATA,
    sa.Column('id', _text(255), primary_key=True),
    sa.Column('host', _text(255), nullable=False),
    sa.Column('since', UtcDateTime, nullable=False),
    sa.Column('last_seen', UtcDateTime, nullable=False),
    sa.Column('running', sa.Integer, nullable=False, default=0),
    sa.Column('not_ready', sa.Text),
    **_MYSQL)

# The newest audit of the managers, in at most one row, and the first of its findings.
AUDITS = sa.Table(
    'audits', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=False),
    sa.Column('at', UtcDateTime, nullable=False),
    sa.Column('manager_id', _text(255), nullable=False),
    sa.Column('finding_count', sa.Integer, nullable=False),
    sa.Column('findings', sa.JSON, nullable=False),
    **_MYSQL)

# Each row confirms that the clock of the database was right at that moment.
CLOCK_CONFIRMATIONS = sa.Table(
    'clock_confirmations', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('at', UtcDateTime, nullable=False),
    sqlite_autoincrement=True,
    **_MYSQL)

# How much of running reservations was used, an hour at a time. No foreign key: what was used stays
# known for a while after the lease is gone.
USE_SAMPLES = sa.Table(
    'use_samples', METADATA,
    sa.Column('hour', UtcDateTime, primary_key=True),
    sa.Column('reservation_id', _text(36), primary_key=True),
    # 0: the reservation has no resource of a pool.
    sa.Column('resource_id', _ID, primary_key=True, autoincrement=False),
    sa.Column('seconds', sa.Integer, nullable=False),
    sa.Column('idle_seconds', sa.Integer, nullable=False),
    sa.Column('used_seconds', sa.Double, nullable=False),
    # The end of the last sample of the hour in which something ran; null: nothing ran, or an
    # earlier release wrote the row.
    sa.Column('used_until', UtcDateTime),
    sa.Index(None, 'reservation_id', 'hour'),
    **_MYSQL)

# The last slot of time for which a manager did some periodic work, so that no other does it again.
WORK_SLOTS = sa.Table(
    'work_slots', METADATA,
    sa.Column('work', _text(64), primary_key=True),
    sa.Column('slot', UtcDateTime, nullable=False),
    **_MYSQL)

# Resource-seconds of each day that is over (see ``work_slots``), by who had what.
USAGE_DAYS = sa.Table(
    'usage_days', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    # The first moment of the day, in UTC.
    sa.Column('day', UtcDateTime, nullable=False),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('user_id', _text(255), nullable=False),
    sa.Column('resource_type', _text(66), nullable=False),
    sa.Column('pool', _text(32), nullable=False),
    # No foreign key: the row outlives its resource. 0: a refusal has no resource.
    sa.Column('resource_id', _ID, nullable=False),
    # The units of one copy, as JSON text.
    sa.Column('amount', _long_text(), nullable=False),
    # Of a refusal; else ''.
    sa.Column('reason', _text(64), nullable=False),
    sa.Column('allocated', sa.BigInteger, nullable=False),
    sa.Column('occupied', sa.BigInteger, nullable=False),
    sa.Column('idle', sa.BigInteger, nullable=False),
    sa.Column('refused', sa.BigInteger, nullable=False),
    sa.Index(None, 'day'),
    sa.Index(None, 'project_id', 'day'),
    sqlite_autoincrement=True,
    **_MYSQL)

# Resource-seconds of each pool in the hours of the days that are over.
POOL_HOURS = sa.Table(
    'pool_hours', METADATA,
    sa.Column('hour', UtcDateTime, primary_key=True),
    sa.Column('pool', _text(32), primary_key=True),
    sa.Column('capacity', sa.BigInteger, nullable=False),
    sa.Column('allocated', sa.BigInteger, nullable=False),
    sa.Column('occupied', sa.BigInteger, nullable=False),
    sa.Column('out_of_order', sa.BigInteger, nullable=False),
    sa.Column('asleep', sa.BigInteger, nullable=False),
    # {class: {figure: unit-seconds}}
    sa.Column('units', sa.JSON, nullable=False),
    **_MYSQL)

# When a resource was enrolled and yet could not be leased, or slept.
RESOURCE_ABSENCES = sa.Table(
    'resource_absences', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('kind', _text(16), nullable=False),
    sa.Column('start', UtcDateTime, nullable=False),
    # Null: it goes on.
    sa.Column('end', UtcDateTime),
    sa.Index(None, 'resource_id', 'kind', 'end'),
    sa.Index(None, 'end'),
    sqlite_autoincrement=True,
    **_MYSQL)

ACQUISITIONS = sa.Table(
    'acquisitions', METADATA,
    sa.Column('lease_id', _text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('type', _text(16), nullable=False),
    # What the lease waits for; null if a release by others would not help it.
    sa.Column('waits_for', _text(8)),
    sa.Column('retries', sa.Integer),
    sa.Column('retry_pause_seconds', sa.Integer),
    sa.Column('timeout_seconds', sa.Integer),
    sa.Column('strategy', _text(64)),
    sa.Column('not_after', UtcDateTime),
    sa.Column('priority', sa.Integer, nullable=False, default=0),
    sa.Column('duration_seconds', sa.BigInteger),
    sa.Column('notify_at', sa.JSON, nullable=False),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    sa.Column('next_at', UtcDateTime),
    sa.Column('wakes', sa.Integer, nullable=False, default=0),
    sa.Column('heard', sa.Integer, nullable=False, default=0),
    sa.Column('plan', sa.JSON(none_as_null=True)),
    # What a lease in the wait queue needs at least; null if that is not known.
    sa.Column('least', sa.JSON(none_as_null=True)),
    *_stamps(),
    sa.Index(None, 'waits_for', 'priority', 'created_at'),
    **_MYSQL)

# Hosts, or other resources of one pool, that must be free in some windows of time.
MAINTENANCES = sa.Table(
    'maintenances', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('pool', _text(32), nullable=False),
    sa.Column('start', UtcDateTime, nullable=False),
    sa.Column('end', UtcDateTime, nullable=False),
    sa.Column('reason', _long_text(), nullable=False),
    # What happens to leases that run: left, swap or end.
    sa.Column('running', _text(8), nullable=False),
    sa.Column('notice_minutes', sa.Integer, nullable=False),
    # How the window recurs (RRULE of RFC 5545), and up to when windows were added; null: all were.
    sa.Column('rule', sa.Text),
    sa.Column('expanded_to', UtcDateTime),
    sa.Column('user_id', _text(255)),
    sa.Column('created_at', UtcDateTime, nullable=False),
    # It is being deleted: what is disabled in the cloud is enabled first.
    sa.Column('closing', sa.Boolean, nullable=False, default=False),
    sa.Column('over', sa.Boolean, nullable=False, default=False),
    sa.Index(None, 'over', 'start'),
    **_MYSQL)

MAINTENANCE_RESOURCES = sa.Table(
    'maintenance_resources', METADATA,
    sa.Column('maintenance_id', _text(36), sa.ForeignKey('maintenances.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Index(None, 'resource_id'),
    **_MYSQL)

# One time span of a maintenance. Its id stands for a reservation in the allocations.
MAINTENANCE_WINDOWS = sa.Table(
    'maintenance_windows', METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('maintenance_id', _text(36), sa.ForeignKey('maintenances.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('start', UtcDateTime, nullable=False),
    sa.Column('end', UtcDateTime, nullable=False),
    sa.Column('state', _text(16), nullable=False),
    sa.Column('claim_owner', _text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('claimed_until', UtcDateTime),
    # Two managers that expand a rule at once add each window once.
    sa.UniqueConstraint('maintenance_id', 'start'),
    sa.Index(None, 'state', 'start'),
    **_MYSQL)

# The wait queue: its one row is locked by each transaction that changes the queue.
WAIT_QUEUE = sa.Table(
    'wait_queue', METADATA,
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    **_MYSQL)

# The versions of the price book; none is ever changed.
PRICE_BOOKS = sa.Table(
    'price_books', METADATA,
    sa.Column('version', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('currency', _text(3), nullable=False),
    sa.Column('valid_from', UtcDateTime, nullable=False),
    sa.Column('document', sa.JSON, nullable=False),
    sa.Column('created_at', UtcDateTime, nullable=False),
    sa.Column('created_by', _text(255), nullable=False),
    sa.UniqueConstraint('valid_from'),
    **_MYSQL)

# The lines of statements, which are only added. No foreign key: they outlive their lease.
STATEMENT_LINES = sa.Table(
    'statement_lines', METADATA,
    sa.Column('lease_id', _text(36), primary_key=True),
    # Counted from 1 in each lease, so that two managers cannot write the same line.
    sa.Column('number', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('month', _text(7), nullable=False),
    sa.Column('for_month', _text(7), nullable=False),
    sa.Column('correction', sa.Boolean, nullable=False),
    sa.Column('kind', _text(32), nullable=False),
    sa.Column('price_book', sa.Integer, nullable=False),
    sa.Column('reservation_id', _text(36), nullable=False),
    sa.Column('resource_type', _text(66), nullable=False),
    sa.Column('pool', _text(32), nullable=False),
    # The number of the rate in its version of the price book.
    sa.Column('rate', sa.Integer, nullable=False),
    sa.Column('percent', _text(16), nullable=False),
    # Whole numbers that are longer than any integer of a database.
    sa.Column('microseconds', _text(64), nullable=False),
    sa.Column('atoms', _text(64), nullable=False),
    # The amount in the smallest unit of the currency.
    sa.Column('minor', sa.BigInteger, nullable=False),
    sa.Column('currency', _text(3), nullable=False),
    sa.Column('created_at', UtcDateTime, nullable=False),
    sa.Index(None, 'project_id', 'month', 'lease_id', 'number'),
    sa.Index(None, 'month', 'project_id'),
    **_MYSQL)

# How far each lease is billed. No foreign key: it outlives its lease, as its lines do.
BILLS = sa.Table(
    'bills', METADATA,
    sa.Column('lease_id', _text(36), primary_key=True),
    # What had ended by then is billed, if the lease is not changed after `generation`.
    sa.Column('billed_until', UtcDateTime, nullable=False),
    sa.Column('generation', sa.Integer, nullable=False),
    # The properties that determine rates, as they were when a version of the price book first
    # needed them to bill the lease: {id: {name: text}}; null: the resource did not have it.
    sa.Column('properties', sa.JSON, nullable=False),
    **_MYSQL)

# Leases that could not be billed the last time. No foreign key, as in `bills`.
FAILED_BILLS = sa.Table(
    'failed_bills', METADATA,
    sa.Column('lease_id', _text(36), primary_key=True),
    sa.Column('since', UtcDateTime, nullable=False),
    sa.Column('attempts', sa.Integer, nullable=False),
    # Until then the lease is left out.
    sa.Column('next_at', UtcDateTime, nullable=False),
    sa.Index(None, 'next_at'),
    **_MYSQL)

# The parts of running leases that their owners asked for later; see ``domain.short_notice``.
LATER_ASKS = sa.Table(
    'later_asks', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('lease_id', _text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('asked_at', UtcDateTime, nullable=False),
    sa.Column('since', UtcDateTime, nullable=False),
    # Null: all that the lease has from then on.
    sa.Column('reservation_id', _text(36)),
    sa.Column('resource_id', _ID),
    sa.Column('above', sa.Integer, nullable=False),
    sa.Index(None, 'lease_id'),
    sqlite_autoincrement=True,
    **_MYSQL)

# The months that have statements; a closed one gets no line any more.
BILLING_MONTHS = sa.Table(
    'billing_months', METADATA,
    sa.Column('month', _text(7), primary_key=True),
    sa.Column('closed_at', UtcDateTime),
    **_MYSQL)

# What was asked for and not given, for usage and forecasts; see ``domain.refusals.Refusal``.
REFUSALS = sa.Table(
    'refusals', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('at', UtcDateTime, nullable=False),
    sa.Column('last_at', UtcDateTime, nullable=False),
    sa.Column('times', sa.Integer, nullable=False, default=1),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('user_id', _text(255), nullable=False),
    # No foreign key: a lease that was refused was never written.
    sa.Column('lease_id', _text(36), nullable=False),
    sa.Column('resource_type', _text(66), nullable=False),
    sa.Column('pool', _text(32), nullable=False),
    sa.Column('start', UtcDateTime, nullable=False),
    sa.Column('end', UtcDateTime, nullable=False),
    sa.Column('copies', sa.Integer, nullable=False),
    # Of one copy, {class: units}; null for whole resources.
    sa.Column('amount', sa.JSON(none_as_null=True)),
    sa.Column('reason', _text(32), nullable=False),
    sa.Column('waited_seconds', sa.BigInteger, nullable=False, default=0),
    sa.Column('request_hash', _text(64), nullable=False),
    # Counts the rows of equal requests, so that two managers do not write the same row twice.
    sa.Column('episode', sa.Integer, nullable=False),
    # As in a request for resources; null for a row of a release that did not record them.
    sa.Column('criteria', sa.JSON(none_as_null=True)),
    sa.UniqueConstraint('request_hash', 'episode'),
    # Of a pool in a span, and of a project in a span.
    sa.Index(None, 'pool', 'end', 'start'),
    sa.Index(None, 'project_id', 'end', 'start'),
    sa.Index(None, 'last_at'),
    # Of all in a span.
    sa.Index(None, 'end', 'start'),
    sqlite_autoincrement=True,
    **_MYSQL)

# The power of resources that sleep or slept. One without a row has been awake ever since.
POWER_STATES = sa.Table(
    'power_states', METADATA,
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id'), primary_key=True,
              autoincrement=False),
    sa.Column('state', _text(16), nullable=False),
    sa.Column('since', UtcDateTime, nullable=False),
    sa.Index(None, 'state'),
    **_MYSQL)

# How often resources fell asleep, and how long they took to wake up.
POWER_CHANGES = sa.Table(
    'power_changes', METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('kind', _text(16), nullable=False),
    sa.Column('at', UtcDateTime, nullable=False),
    sa.Column('seconds', sa.Float),
    sa.Index(None, 'resource_id', 'at'),
    sa.Index(None, 'at'),
    sqlite_autoincrement=True,
    **_MYSQL)

# Reports of members that a resource, which seems to work, does not. They count until a moment.
SWAP_REPORTS = sa.Table(
    'swap_reports', METADATA,
    sa.Column('lease_id', _text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True, autoincrement=False),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('user_id', _text(255), nullable=False),
    sa.Column('until', UtcDateTime, nullable=False),
    sa.Index(None, 'resource_id', 'until'),
    sa.Index(None, 'project_id', 'until'),
    **_MYSQL)
