# SPDX-License-Identifier: Apache-2.0
"""The notices to projects about their limits."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0025'
down_revision = '0024'


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'limit_notices',
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('limit_name', _text(80), nullable=False),
        sa.Column('told_at', sa.DateTime(timezone=True)
                  .with_variant(sa.DateTime(), 'sqlite')
                  .with_variant(mysql.DATETIME(fsp=6), 'mysql'), nullable=False),
        sa.PrimaryKeyConstraint('project_id', 'limit_name', name='pk_limit_notices'),
        sa.Index('ix_limit_notices_told_at', 'told_at'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
