# SPDX-License-Identifier: Apache-2.0
"""Offers, whose allocations are in the same table as those of leases."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0009'
down_revision = '0008'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'offers',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('user_id', _text(255), nullable=False),
        sa.Column('place', sa.Integer),
        sa.Column('start', _moment(), nullable=False),
        sa.Column('end', _moment(), nullable=False),
        sa.Column('request', sa.JSON, nullable=False),
        sa.Column('held_until', _moment(), nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_offers'),
        sa.UniqueConstraint('project_id', 'place', name='uq_offers_project_id_place'),
        sa.Index('ix_offers_held_until', 'held_until'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    # The reservation of an offer is not written before the offer is taken. SQLite can only make the
    # table again for that; nothing refers to it, so nothing is lost.
    with op.batch_alter_table('allocations',
                              table_kwargs={'sqlite_autoincrement': True}) as allocations:
        allocations.drop_constraint('fk_allocations_reservation_id', type_='foreignkey')
