# SPDX-License-Identifier: Apache-2.0
"""Reservations of one thing in the cloud, such as a server; when an event was first tried."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0002'
down_revision = '0001'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def upgrade():
    op.add_column('events', sa.Column('begun_at', _moment()))
    op.add_column('reservations', sa.Column('leased_id', sa.String(64).with_variant(
        mysql.VARCHAR(64, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')))
    op.create_index('uq_reservations_leased_id', 'reservations', ['leased_id'], unique=True)
