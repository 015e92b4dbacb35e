# SPDX-License-Identifier: Apache-2.0
"""The keys that sign webhooks may be encrypted."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0026'
down_revision = '0025'


def upgrade():
    op.add_column('subscriptions', sa.Column('sealed_secret', sa.Text().with_variant(
        mysql.TEXT(charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')))
