# SPDX-License-Identifier: Apache-2.0
"""Leases that could not be billed, and projects that have nearly reached a limit."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0030'
down_revision = '0029'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'failed_bills',
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('since', _moment(), nullable=False),
        sa.Column('attempts', sa.Integer, nullable=False),
        sa.Column('next_at', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('lease_id', name='pk_failed_bills'),
        sa.Index('ix_failed_bills_next_at', 'next_at'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.create_table(
        'near_limits',
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('limit_name', _text(80), nullable=False),
        sa.Column('since', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('project_id', 'limit_name', name='pk_near_limits'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
