# SPDX-License-Identifier: Apache-2.0
"""Since when a lease is idle, when it is reclaimed, and exemptions from that."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0022'
down_revision = '0021'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def upgrade():
    op.add_column('leases', sa.Column('idle_exempt', sa.Boolean, nullable=False,
                                      server_default=sa.false()))
    op.add_column('leases', sa.Column('idle_since', _moment()))
    op.add_column('leases', sa.Column('reclaim_at', _moment()))
    op.create_index('ix_leases_idle_since', 'leases', ['idle_since'])
