# SPDX-License-Identifier: Apache-2.0
"""Rename the line to wait queue."""
from alembic import op
import sqlalchemy as sa

revision = '0012'
down_revision = '0011'


def upgrade():
    op.rename_table('line', 'wait_queue')
    acquisitions = sa.table('acquisitions', sa.column('waits_for'))
    op.execute(sa.update(acquisitions).where(acquisitions.c.waits_for == 'line')
               .values(waits_for='queue'))
