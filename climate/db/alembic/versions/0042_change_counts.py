# SPDX-License-Identifier: Apache-2.0
"""The counter of visible changes."""
from alembic import op
import sqlalchemy as sa

revision = '0042'
down_revision = '0041'
_SLOTS = 64


def upgrade():
    table = op.create_table(
        'change_counts',
        sa.Column('id', sa.Integer, nullable=False, autoincrement=False),
        sa.Column('changes', sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_change_counts'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.bulk_insert(table, [{'id': slot, 'changes': 0} for slot in range(_SLOTS)])
