# SPDX-License-Identifier: Apache-2.0
"""The row that a transaction locks before it changes the wait queue, then called line."""
from alembic import op
import sqlalchemy as sa

revision = '0006'
down_revision = '0005'


def upgrade():
    line = op.create_table(
        'line',
        sa.Column('id', sa.Integer, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_line'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.bulk_insert(line, [{'id': 1}])
