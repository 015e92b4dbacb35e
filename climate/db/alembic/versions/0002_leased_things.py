# SPDX-License-Identifier: Apache-2.0
"""Reservations of one thing in the cloud, such as a server."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0002'
down_revision = '0001'


def upgrade():
    op.add_column('reservations', sa.Column('leased_id', sa.String(64).with_variant(
        mysql.VARCHAR(64, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')))
    op.create_index('uq_reservations_leased_id', 'reservations', ['leased_id'], unique=True)
