# SPDX-License-Identifier: Apache-2.0
"""The criteria of refused requests."""
from alembic import op
import sqlalchemy as sa

revision = '0025'
down_revision = '0024'


def upgrade():
    op.add_column('refusals', sa.Column('criteria', sa.JSON))
