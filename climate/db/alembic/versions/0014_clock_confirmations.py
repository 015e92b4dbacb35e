# SPDX-License-Identifier: Apache-2.0
"""An administrator can confirm that the clock of the database is right."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0014'
down_revision = '0013'


def upgrade():
    op.create_table(
        'clock_confirmations',
        sa.Column('id', sa.BigInteger().with_variant(sa.Integer, 'sqlite'), nullable=False,
                  autoincrement=True),
        sa.Column('at', sa.DateTime(timezone=True)
                  .with_variant(sa.DateTime(), 'sqlite')
                  .with_variant(mysql.DATETIME(fsp=6), 'mysql'), nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_clock_confirmations'),
        sqlite_autoincrement=True, mysql_engine='InnoDB', mysql_charset='utf8mb4')
