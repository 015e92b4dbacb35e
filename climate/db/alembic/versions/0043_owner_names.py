# SPDX-License-Identifier: Apache-2.0
"""The names of the users and projects that own leases."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0043'
down_revision = '0042'


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'owner_names',
        sa.Column('kind', _text(16), nullable=False),
        sa.Column('id', _text(255), nullable=False),
        sa.Column('name', _text(255), nullable=False),
        sa.PrimaryKeyConstraint('kind', 'id', name='pk_owner_names'),
        sa.Index('ix_owner_names_name_kind', 'name', 'kind'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
