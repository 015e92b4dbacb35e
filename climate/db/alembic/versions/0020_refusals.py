# SPDX-License-Identifier: Apache-2.0
"""Refusals: what was asked for and not given."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0020'
down_revision = '0019'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'refusals',
        sa.Column('id', sa.BigInteger().with_variant(sa.Integer, 'sqlite'), nullable=False,
                  autoincrement=True),
        sa.Column('at', _moment(), nullable=False),
        sa.Column('last_at', _moment(), nullable=False),
        sa.Column('times', sa.Integer, nullable=False),
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('user_id', _text(255), nullable=False),
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('resource_type', _text(66), nullable=False),
        sa.Column('pool', _text(32), nullable=False),
        sa.Column('start', _moment(), nullable=False),
        sa.Column('end', _moment(), nullable=False),
        sa.Column('copies', sa.Integer, nullable=False),
        sa.Column('amount', sa.JSON),
        sa.Column('reason', _text(32), nullable=False),
        sa.Column('waited_seconds', sa.BigInteger, nullable=False),
        sa.Column('request_hash', _text(64), nullable=False),
        sa.Column('episode', sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_refusals'),
        sa.UniqueConstraint('request_hash', 'episode', name='uq_refusals_request_hash_episode'),
        sa.Index('ix_refusals_pool_end_start', 'pool', 'end', 'start'),
        sa.Index('ix_refusals_project_id_end_start', 'project_id', 'end', 'start'),
        sa.Index('ix_refusals_last_at', 'last_at'),
        sqlite_autoincrement=True, mysql_engine='InnoDB', mysql_charset='utf8mb4')
