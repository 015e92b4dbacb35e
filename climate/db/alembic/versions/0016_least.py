# SPDX-License-Identifier: Apache-2.0
"""A lease in the wait queue has what it needs at least, so a try in vain is seen without a plan."""
from alembic import op
import sqlalchemy as sa

revision = '0016'
down_revision = '0015'


def upgrade():
    op.add_column('acquisitions', sa.Column('least', sa.JSON))
