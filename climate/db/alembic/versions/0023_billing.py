# SPDX-License-Identifier: Apache-2.0
"""Price books and statements; reservations say when they started, allocations their agreed end."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0023'
down_revision = '0022'

_TABLES = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.add_column('reservations', sa.Column('started_at', _moment()))
    op.add_column('allocations', sa.Column('promised_until', _moment()))
    # What runs now is billed from the first price book on.
    op.execute("UPDATE reservations SET started_at = created_at WHERE state = 'active'")
    op.create_table(
        'price_books',
        sa.Column('version', sa.Integer, nullable=False, autoincrement=False),
        sa.Column('currency', _text(3), nullable=False),
        sa.Column('valid_from', _moment(), nullable=False),
        sa.Column('document', sa.JSON, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('created_by', _text(255), nullable=False),
        sa.PrimaryKeyConstraint('version', name='pk_price_books'),
        sa.UniqueConstraint('valid_from', name='uq_price_books_valid_from'), **_TABLES)
    op.create_table(
        'statement_lines',
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('number', sa.Integer, nullable=False, autoincrement=False),
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('month', _text(7), nullable=False),
        sa.Column('for_month', _text(7), nullable=False),
        sa.Column('correction', sa.Boolean, nullable=False),
        sa.Column('kind', _text(32), nullable=False),
        sa.Column('price_book', sa.Integer, nullable=False),
        sa.Column('reservation_id', _text(36), nullable=False),
        sa.Column('resource_type', _text(66), nullable=False),
        sa.Column('pool', _text(32), nullable=False),
        sa.Column('rate', sa.Integer, nullable=False),
        sa.Column('percent', _text(16), nullable=False),
        sa.Column('microseconds', _text(64), nullable=False),
        sa.Column('atoms', _text(64), nullable=False),
        sa.Column('minor', sa.BigInteger, nullable=False),
        sa.Column('currency', _text(3), nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('lease_id', 'number', name='pk_statement_lines'),
        sa.Index('ix_statement_lines_project_id_month_lease_id_number', 'project_id', 'month',
                 'lease_id', 'number'),
        sa.Index('ix_statement_lines_month_project_id', 'month', 'project_id'), **_TABLES)
    op.create_table(
        'bills',
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('billed_until', _moment(), nullable=False),
        sa.Column('generation', sa.Integer, nullable=False),
        sa.Column('properties', sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint('lease_id', name='pk_bills'), **_TABLES)
    op.create_table(
        'billing_months',
        sa.Column('month', _text(7), nullable=False),
        sa.Column('closed_at', _moment()),
        sa.PrimaryKeyConstraint('month', name='pk_billing_months'), **_TABLES)
