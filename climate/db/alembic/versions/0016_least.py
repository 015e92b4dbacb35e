# SPDX-License-Identifier: Apache-2.0
"""The least that a waiting lease needs, so that hopeless tries are found without a plan."""
from alembic import op
import sqlalchemy as sa

revision = '0016'
down_revision = '0015'


def upgrade():
    op.add_column('acquisitions', sa.Column('least', sa.JSON))
