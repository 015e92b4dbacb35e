# SPDX-License-Identifier: Apache-2.0
"""The use of running reservations by the hour; which slots of periodic work are done."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0019'
down_revision = '0018'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'use_samples',
        sa.Column('hour', _moment(), nullable=False),
        sa.Column('reservation_id', _text(36), nullable=False),
        sa.Column('resource_id', sa.BigInteger().with_variant(sa.Integer, 'sqlite'),
                  autoincrement=False, nullable=False),
        sa.Column('seconds', sa.Integer, nullable=False),
        sa.Column('idle_seconds', sa.Integer, nullable=False),
        sa.Column('used_seconds', sa.Double, nullable=False),
        sa.PrimaryKeyConstraint('hour', 'reservation_id', 'resource_id', name='pk_use_samples'),
        sa.Index('ix_use_samples_reservation_id_hour', 'reservation_id', 'hour'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.create_table(
        'work_slots',
        sa.Column('work', _text(64), nullable=False),
        sa.Column('slot', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('work', name='pk_work_slots'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
