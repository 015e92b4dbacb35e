# SPDX-License-Identifier: Apache-2.0
"""Objects that are created in the cloud for a request, before its lease is written."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0011'
down_revision = '0010'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'early_creations',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('reservation_id', _text(36), nullable=False),
        sa.Column('resource_type', _text(66), nullable=False),
        sa.Column('offer_id', _text(36)),
        sa.Column('closing', sa.Boolean, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_early_creations'),
        sa.Index('ix_early_creations_created_at', 'created_at'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
