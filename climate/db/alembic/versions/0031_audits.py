# SPDX-License-Identifier: Apache-2.0
"""The newest audit of the managers."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0031'
down_revision = '0030'


def upgrade():
    op.create_table(
        'audits',
        sa.Column('id', sa.BigInteger().with_variant(sa.Integer, 'sqlite'), nullable=False,
                  autoincrement=False),
        sa.Column('at', sa.DateTime(timezone=True)
                  .with_variant(sa.DateTime(), 'sqlite')
                  .with_variant(mysql.DATETIME(fsp=6), 'mysql'), nullable=False),
        sa.Column('manager_id', sa.String(255).with_variant(
            mysql.VARCHAR(255, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql'),
            nullable=False),
        sa.Column('finding_count', sa.Integer, nullable=False),
        sa.Column('findings', sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_audits'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
