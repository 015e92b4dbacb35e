# SPDX-License-Identifier: Apache-2.0
"""The tables that each manager knows, so that no manager of an older release is overlooked."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0040'
down_revision = '0039'


def upgrade():
    op.add_column('managers', sa.Column('tables_revision', sa.String(32).with_variant(
        mysql.VARCHAR(32, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')))
