# SPDX-License-Identifier: Apache-2.0
"""A reservation has a label in its lease, and depends on others of it, which start before it."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0013'
down_revision = '0012'


def upgrade():
    op.add_column('reservations', sa.Column(
        'label', sa.String(64).with_variant(
            mysql.VARCHAR(64, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')))
    op.add_column('reservations', sa.Column('depends_on', sa.JSON))
