# SPDX-License-Identifier: Apache-2.0
"""The acquisition of leases; the table of acquisitions was never used before."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0003'
down_revision = '0002'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.add_column('leases', sa.Column('acquire_type', _text(16), nullable=False,
                                      server_default='immediate'))
    op.execute("UPDATE leases SET acquire_type = 'scheduled' WHERE start > created_at")
    op.drop_table('acquisitions')
    op.create_table(
        'acquisitions',
        sa.Column('lease_id', _text(36), sa.ForeignKey(
            'leases.id', name='fk_acquisitions_lease_id', ondelete='CASCADE'),
            nullable=False),
        sa.Column('type', _text(16), nullable=False),
        sa.Column('waits_for', _text(8)),
        sa.Column('retries', sa.Integer),
        sa.Column('retry_pause_seconds', sa.Integer),
        sa.Column('timeout_seconds', sa.Integer),
        sa.Column('strategy', _text(64)),
        sa.Column('not_after', _moment()),
        sa.Column('priority', sa.Integer, nullable=False),
        sa.Column('duration_seconds', sa.BigInteger),
        sa.Column('notify_at', sa.JSON, nullable=False),
        sa.Column('attempts', sa.Integer, nullable=False),
        sa.Column('next_at', _moment()),
        sa.Column('wakes', sa.Integer, nullable=False),
        sa.Column('heard', sa.Integer, nullable=False),
        sa.Column('plan', sa.JSON),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('updated_at', _moment()),
        sa.PrimaryKeyConstraint('lease_id', name='pk_acquisitions'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.create_index('ix_acquisitions_waits_for_priority_created_at', 'acquisitions',
                    ['waits_for', 'priority', 'created_at'])
