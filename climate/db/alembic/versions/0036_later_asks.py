# SPDX-License-Identifier: Apache-2.0
"""The parts of running leases that their owners asked for later, for the short-notice surcharge."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0036'
down_revision = '0035'


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
        'later_asks',
        sa.Column('id', _id(), autoincrement=True, nullable=False),
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('asked_at', _moment(), nullable=False),
        sa.Column('since', _moment(), nullable=False),
        sa.Column('reservation_id', _text(36)),
        sa.Column('resource_id', _id()),
        sa.Column('above', sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_later_asks'),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id'], ondelete='CASCADE',
                                name='fk_later_asks_lease_id'),
        sa.Index('ix_later_asks_lease_id', 'lease_id'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4', sqlite_autoincrement=True)
