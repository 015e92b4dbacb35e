# SPDX-License-Identifier: Apache-2.0
"""Resources that are enrolled for one reservation alone."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0004'
down_revision = '0003'


def upgrade():
    op.add_column('resources', sa.Column('lent_to', sa.String(36).with_variant(
        mysql.VARCHAR(36, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')))
    op.create_index('ix_resources_lent_to', 'resources', ['lent_to'])
