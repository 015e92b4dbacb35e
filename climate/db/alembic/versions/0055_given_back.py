# SPDX-License-Identifier: Apache-2.0
"""Resources that their owners return for waiting leases."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0055'
down_revision = '0054'


def upgrade():
    op.create_table(
        'given_back',
        sa.Column('id', sa.String(36).with_variant(
            mysql.VARCHAR(36, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql'),
            nullable=False),
        sa.Column('until', sa.DateTime(timezone=True).with_variant(sa.DateTime(), 'sqlite')
                  .with_variant(mysql.DATETIME(fsp=6), 'mysql'), nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_given_back'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
