# SPDX-License-Identifier: Apache-2.0
"""Subscriptions, their deliveries and reminders; rows of the outbox say whether they are copied."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0024'
down_revision = '0023'

_ID = sa.BigInteger().with_variant(sa.Integer, 'sqlite')
_MYSQL = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _long_text():
    return sa.Text().with_variant(
        mysql.TEXT(charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _of_subscription(**options):
    return sa.Column('subscription_id', _text(36), nullable=False, **options)


def upgrade():
    # What waits for the bus now is about the time before there were subscriptions.
    op.add_column('outbox', sa.Column('fanned_out', sa.Boolean, nullable=False,
                                      server_default=sa.false()))
    op.create_index('ix_outbox_fanned_out_id', 'outbox', ['fanned_out', 'id'])
    op.create_index('ix_leases_end', 'leases', ['end'])
    op.create_table(
        'subscriptions',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('user_id', _text(255), nullable=False),
        sa.Column('place', sa.Integer, nullable=False),
        sa.Column('name', _text(80)),
        sa.Column('scope', _text(16), nullable=False),
        sa.Column('transport', _text(32), nullable=False),
        sa.Column('address', _long_text()),
        sa.Column('events', sa.JSON),
        sa.Column('before_end', sa.JSON),
        sa.Column('secret', _text(128)),
        sa.Column('secret_hash', _text(64)),
        sa.Column('enabled', sa.Boolean, nullable=False),
        sa.Column('reason', _long_text()),
        sa.Column('failures', sa.Integer, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('updated_at', _moment()),
        sa.PrimaryKeyConstraint('id', name='pk_subscriptions'),
        sa.UniqueConstraint('project_id', 'place', name='uq_subscriptions_project_id_place'),
        sa.UniqueConstraint('secret_hash', name='uq_subscriptions_secret_hash'),
        sa.Index('ix_subscriptions_project_id_created_at_id', 'project_id', 'created_at', 'id'),
        sa.Index('ix_subscriptions_created_at_id', 'created_at', 'id'),
        **_MYSQL)
    op.create_table(
        'reminders',
        _of_subscription(),
        sa.Column('seconds', sa.Integer, nullable=False, autoincrement=False),
        sa.PrimaryKeyConstraint('subscription_id', 'seconds', name='pk_reminders'),
        sa.ForeignKeyConstraint(['subscription_id'], ['subscriptions.id'], ondelete='CASCADE',
                                name='fk_reminders_subscription_id'),
        sa.Index('ix_reminders_seconds', 'seconds'),
        **_MYSQL)
    op.create_table(
        'reminder_scans',
        sa.Column('id', sa.Integer, nullable=False, autoincrement=False),
        sa.Column('scanned_until', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_reminder_scans'),
        **_MYSQL)
    op.create_table(
        'deliveries',
        sa.Column('id', _ID, autoincrement=True, nullable=False),
        _of_subscription(),
        sa.Column('source', _text(160), nullable=False),
        sa.Column('transport', _text(32), nullable=False),
        sa.Column('kind', _text(32), nullable=False),
        sa.Column('at', _moment(), nullable=False),
        sa.Column('content', sa.JSON, nullable=False),
        sa.Column('state', _text(16), nullable=False),
        sa.Column('attempts', sa.Integer, nullable=False),
        sa.Column('next_at', _moment()),
        sa.Column('done_at', _moment()),
        sa.Column('reason', _long_text()),
        sa.Column('claim_owner', _text(255)),
        sa.PrimaryKeyConstraint('id', name='pk_deliveries'),
        sa.UniqueConstraint('subscription_id', 'source',
                            name='uq_deliveries_subscription_id_source'),
        sa.ForeignKeyConstraint(['subscription_id'], ['subscriptions.id'], ondelete='CASCADE',
                                name='fk_deliveries_subscription_id'),
        sa.Index('ix_deliveries_transport_next_at_id', 'transport', 'next_at', 'id'),
        sa.Index('ix_deliveries_subscription_id_id', 'subscription_id', 'id'),
        sa.Index('ix_deliveries_subscription_id_next_at_id', 'subscription_id', 'next_at', 'id'),
        sa.Index('ix_deliveries_done_at', 'done_at'),
        sqlite_autoincrement=True, **_MYSQL)
