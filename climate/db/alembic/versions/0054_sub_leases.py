# SPDX-License-Identifier: Apache-2.0
"""Sub-leases: leases that have a part of the hosts of another lease."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0054'
down_revision = '0053'


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.add_column('leases', sa.Column('parent_id', _text(36)))
    op.add_column('leases', sa.Column('sub_leased', sa.Boolean, nullable=False,
                                      server_default=sa.false()))
    op.create_index('ix_leases_parent_id', 'leases', ['parent_id'])
