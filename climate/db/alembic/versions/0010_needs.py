# SPDX-License-Identifier: Apache-2.0
"""An allocation names the need of the reservation that it serves."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0010'
down_revision = '0009'


def upgrade():
    op.add_column('allocations', sa.Column(
        'need', sa.String(64).with_variant(
            mysql.VARCHAR(64, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql'),
        nullable=False, server_default=sa.text("''")))
    # Until now each type had one need in each pool: those of hosts have the key "hosts", and others
    # the name of their pool.
    allocations = sa.table('allocations', sa.column('resource_id'), sa.column('need'))
    resources = sa.table('resources', sa.column('id'), sa.column('pool'))
    pool = (sa.select(sa.case((resources.c.pool == 'host', 'hosts'), else_=resources.c.pool))
            .where(resources.c.id == allocations.c.resource_id).scalar_subquery())
    op.execute(sa.update(allocations).values(need=pool))
