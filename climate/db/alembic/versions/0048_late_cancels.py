# SPDX-License-Identifier: Apache-2.0
"""The charges for late cancellations."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0048'
down_revision = '0047'


def _moment():
    return (sa.DateTime(timezone=True).with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _id():
    return sa.BigInteger().with_variant(sa.Integer, 'sqlite')


def upgrade():
    op.create_table(
        'late_cancels',
        sa.Column('id', _id(), autoincrement=True, nullable=False),
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('cancelled_at', _moment(), nullable=False),
        sa.Column('book', sa.Integer, nullable=False),
        sa.Column('percent', _text(16), nullable=False),
        sa.Column('atoms', _text(64), nullable=False),
        sa.Column('microseconds', _text(64), nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_late_cancels'),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id'], ondelete='CASCADE',
                                name='fk_late_cancels_lease_id'),
        sa.Index('ix_late_cancels_lease_id', 'lease_id'),
        sa.Index('ix_late_cancels_cancelled_at', 'cancelled_at'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4', sqlite_autoincrement=True)
