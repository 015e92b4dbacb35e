# SPDX-License-Identifier: Apache-2.0
"""The first tables.

A picture of climate/db/tables.py as it was then: a revision never changes.
"""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0001'
down_revision = None

_METADATA = sa.MetaData(naming_convention={
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_name)s',
    'pk': 'pk_%(table_name)s',
})


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    # Compared byte by byte on MariaDB too, so that names that differ in case differ.
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _long_text():
    return sa.Text().with_variant(
        mysql.TEXT(charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _stamps():
    return (sa.Column('created_at', _moment(), nullable=False),
            sa.Column('updated_at', _moment()))


_ID = sa.BigInteger().with_variant(sa.Integer, 'sqlite')
_MYSQL = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}

sa.Table(
    'leases', _METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('name', _text(80), nullable=False),
    sa.Column('project_id', _text(255), nullable=False),
    sa.Column('user_id', _text(255), nullable=False),
    sa.Column('trust_id', _text(36)),
    sa.Column('start', _moment(), nullable=False),
    sa.Column('end', _moment(), nullable=False),
    sa.Column('before_end', _moment()),
    sa.Column('state', _text(16), nullable=False),
    sa.Column('reason', sa.Text),
    sa.Column('task', _text(16)),
    sa.Column('task_until', _moment()),
    sa.Column('claim_owner', _text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('degraded', sa.Boolean, nullable=False, default=False),
    sa.Column('generation', sa.Integer, nullable=False, default=0),
    sa.Column('ended_at', _moment()),
    sa.Column('deleted_at', _moment()),
    *_stamps(),
    sa.Index(None, 'project_id', 'state', 'end'),
    sa.Index(None, 'created_at', 'id'),
    sa.Index(None, 'name'),
    sa.Index(None, 'trust_id'),
    sa.Index(None, 'deleted_at'),
    **_MYSQL)

sa.Table(
    'reservations', _METADATA,
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
    *_stamps(),
    sa.Index(None, 'lease_id', 'position'),
    **_MYSQL)

sa.Table(
    'events', _METADATA,
    sa.Column('id', _text(36), primary_key=True),
    sa.Column('lease_id', _text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('kind', _text(66), nullable=False),
    sa.Column('at', _moment(), nullable=False),
    sa.Column('due_at', _moment(), nullable=False),
    sa.Column('status', _text(13), nullable=False),
    sa.Column('claim_owner', _text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('claimed_until', _moment()),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    sa.Column('waits', sa.Integer, nullable=False, default=0),
    *_stamps(),
    sa.Index(None, 'status', 'due_at'),
    sa.Index(None, 'lease_id'),
    **_MYSQL)

sa.Table(
    'resources', _METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('pool', _text(32), nullable=False),
    sa.Column('name', _text(255), nullable=False),
    # The name again while enrolled, null once withdrawn: unique (pool, name) of those enrolled.
    sa.Column('enrolled_name', _text(255)),
    sa.Column('capacity', sa.JSON, nullable=False),
    sa.Column('reservable', sa.Boolean, nullable=False, default=True),
    sa.Column('generation', sa.Integer, nullable=False, default=0),
    sa.Column('held_by', _text(36)),
    sa.Column('withdrawn_at', _moment()),
    *_stamps(),
    sa.UniqueConstraint('pool', 'enrolled_name'),
    sa.Index(None, 'held_by'),
    sqlite_autoincrement=True,
    **_MYSQL)

sa.Table(
    'properties', _METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('pool', _text(32), nullable=False),
    sa.Column('name', _text(64), nullable=False),
    sa.Column('private', sa.Boolean, nullable=False, default=False),
    # A fact is what the cloud says of a resource; the others are what operators say.
    sa.Column('fact', sa.Boolean, nullable=False, default=False),
    *_stamps(),
    sa.UniqueConstraint('pool', 'name'),
    **_MYSQL)

sa.Table(
    'property_values', _METADATA,
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('property_id', _ID, sa.ForeignKey('properties.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('text', _long_text(), nullable=False),
    sa.Column('number', sa.Double),
    sa.Index(None, 'property_id', 'number'),
    **_MYSQL)

sa.Table(
    'allocations', _METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('reservation_id', _text(36),
              sa.ForeignKey('reservations.id', ondelete='CASCADE'), nullable=False),
    sa.Column('resource_id', _ID, sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('start', _moment(), nullable=False),
    sa.Column('end', _moment(), nullable=False),
    sa.Column('whole', sa.Boolean, nullable=False),
    sa.Column('amount', sa.JSON, nullable=False),
    sa.Column('copies', sa.Integer, nullable=False, default=1),
    sa.Column('released_at', _moment()),
    sa.Index(None, 'resource_id', 'end', 'start'),
    sa.Index(None, 'reservation_id'),
    sa.Index(None, 'end'),
    sqlite_autoincrement=True,
    **_MYSQL)

sa.Table(
    'idempotency_keys', _METADATA,
    sa.Column('project_id', _text(255), primary_key=True),
    sa.Column('key', _text(255), primary_key=True),
    sa.Column('request_hash', _text(64), nullable=False),
    sa.Column('lease_id', _text(36), nullable=False),
    sa.Column('expires_at', _moment(), nullable=False),
    sa.Index(None, 'expires_at'),
    **_MYSQL)

sa.Table(
    'history', _METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('lease_id', _text(36), nullable=False),
    sa.Column('at', _moment(), nullable=False),
    sa.Column('who', _text(255), nullable=False),
    sa.Column('what', _text(64), nullable=False),
    sa.Column('why', sa.Text),
    sa.Index(None, 'lease_id', 'id'),
    sqlite_autoincrement=True,
    **_MYSQL)

sa.Table(
    'outbox', _METADATA,
    sa.Column('id', _ID, primary_key=True, autoincrement=True),
    sa.Column('at', _moment(), nullable=False),
    sa.Column('event_type', _text(255), nullable=False),
    sa.Column('payload', sa.JSON, nullable=False),
    sa.Column('claim_owner', _text(255)),
    sa.Column('claimed_until', _moment()),
    sqlite_autoincrement=True,
    **_MYSQL)

sa.Table(
    'managers', _METADATA,
    sa.Column('id', _text(255), primary_key=True),
    sa.Column('host', _text(255), nullable=False),
    sa.Column('since', _moment(), nullable=False),
    sa.Column('last_seen', _moment(), nullable=False),
    sa.Column('running', sa.Integer, nullable=False, default=0),
    **_MYSQL)

sa.Table(
    'acquisitions', _METADATA,
    sa.Column('lease_id', _text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('kind', _text(16), nullable=False),
    sa.Column('request', sa.JSON, nullable=False),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    sa.Column('next_at', _moment()),
    sa.Column('not_after', _moment()),
    sa.Column('plan', sa.JSON),
    sa.Column('reason', sa.Text),
    *_stamps(),
    sa.Index(None, 'next_at'),
    **_MYSQL)

# A second guard on PostgreSQL beside the row locks: whole against whole, whole against part.
_EXCLUSIONS = (
    'ALTER TABLE allocations ADD CONSTRAINT whole_against_whole EXCLUDE USING gist '
    '(resource_id WITH =, tstzrange(start, "end") WITH &&) '
    'WHERE (whole AND released_at IS NULL)',
    'ALTER TABLE allocations ADD CONSTRAINT whole_against_part EXCLUDE USING gist '
    '(resource_id WITH =, tstzrange(start, "end") WITH &&, (whole::int) WITH <>) '
    'WHERE (released_at IS NULL)',
)


def upgrade():
    connection = op.get_bind()
    _METADATA.create_all(connection)
    if connection.dialect.name == 'postgresql':
        # Equality of numbers beside ranges in one GiST index needs this extension.
        op.execute('CREATE EXTENSION IF NOT EXISTS btree_gist')
        for statement in _EXCLUSIONS:
            op.execute(statement)
