# SPDX-License-Identifier: Apache-2.0
"""The reason why a manager is not ready."""
from alembic import op
import sqlalchemy as sa

revision = '0038'
down_revision = '0037'


def upgrade():
    op.add_column('managers', sa.Column('not_ready', sa.Text()))
