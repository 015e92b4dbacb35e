# SPDX-License-Identifier: Apache-2.0
"""The criteria of refused requests."""
from alembic import op
import sqlalchemy as sa

revision = '0027'
down_revision = '0026'


def upgrade():
    op.add_column('refusals', sa.Column('criteria', sa.JSON))
