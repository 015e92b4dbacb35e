# SPDX-License-Identifier: Apache-2.0
"""Limit books, the owners whose use is limited, and the reservations of offers."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0045'
down_revision = '0044'

_TABLES = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'limit_books',
        sa.Column('version', sa.Integer, nullable=False, autoincrement=False),
        sa.Column('valid_from', _moment(), nullable=False),
        sa.Column('document', sa.JSON, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('created_by', _text(255), nullable=False),
        sa.PrimaryKeyConstraint('version', name='pk_limit_books'),
        sa.UniqueConstraint('valid_from', name='uq_limit_books_valid_from'), **_TABLES)
    op.create_table(
        'limit_owners',
        sa.Column('kind', _text(16), nullable=False),
        sa.Column('id', _text(255), nullable=False),
        sa.Column('changes', sa.BigInteger, nullable=False, server_default='0'),
        sa.PrimaryKeyConstraint('kind', 'id', name='pk_limit_owners'), **_TABLES)
    op.create_table(
        'offer_reservations',
        sa.Column('reservation_id', _text(36), nullable=False),
        sa.Column('offer_id', _text(36), nullable=False),
        sa.Column('resource_type', _text(66), nullable=False),
        sa.PrimaryKeyConstraint('reservation_id', name='pk_offer_reservations'),
        sa.ForeignKeyConstraint(['offer_id'], ['offers.id'], ondelete='CASCADE',
                                name='fk_offer_reservations_offer_id'),
        sa.Index('ix_offer_reservations_offer_id', 'offer_id'), **_TABLES)
    op.create_index('ix_leases_user_id_ended_at', 'leases', ['user_id', 'ended_at'])
    op.create_index('ix_offers_user_id', 'offers', ['user_id'])
