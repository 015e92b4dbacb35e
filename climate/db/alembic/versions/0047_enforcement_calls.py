# SPDX-License-Identifier: Apache-2.0
"""The calls of the enforcement service."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0047'
down_revision = '0046'


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def upgrade():
    op.create_table(
        'enforcement_calls',
        sa.Column('id', sa.BigInteger().with_variant(sa.Integer, 'sqlite'), nullable=False,
                  autoincrement=True),
        sa.Column('call_id', _text(36), nullable=False),
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('kind', _text(16), nullable=False),
        sa.Column('state', _text(16), nullable=False),
        sa.Column('body', sa.JSON, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('due_at', _moment(), nullable=False),
        sa.Column('asked', sa.Boolean, nullable=False),
        sa.Column('generation', sa.Integer, nullable=False, server_default='0'),
        sa.Column('attempts', sa.Integer, nullable=False, server_default='0'),
        sa.PrimaryKeyConstraint('id', name='pk_enforcement_calls'),
        sa.UniqueConstraint('call_id', name='uq_enforcement_calls_call_id'),
        sa.Index('ix_enforcement_calls_lease_id', 'lease_id'),
        sa.Index('ix_enforcement_calls_state_due_at', 'state', 'due_at'),
        sqlite_autoincrement=True, mysql_engine='InnoDB', mysql_charset='utf8mb4')
