# SPDX-License-Identifier: Apache-2.0
"""The tables of price books, bills and statements."""
import sqlalchemy as sa

from climate.db.tables import base

# The versions of the price book. A version is never changed.
PRICE_BOOKS = sa.Table(
    'price_books', base.METADATA,
    sa.Column('version', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('currency', base.text(3), nullable=False),
    sa.Column('valid_from', base.UtcDateTime, nullable=False),
    sa.Column('document', sa.JSON, nullable=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Column('created_by', base.text(255), nullable=False),
    sa.UniqueConstraint('valid_from'),
    **base.MYSQL)

# The lines of statements. They are never changed or deleted. No foreign key: they outlive their
# lease.
STATEMENT_LINES = sa.Table(
    'statement_lines', base.METADATA,
    sa.Column('lease_id', base.text(36), primary_key=True),
    # Counted from 1 in each lease, so that two managers cannot write the same line.
    sa.Column('number', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('month', base.text(7), nullable=False),
    sa.Column('for_month', base.text(7), nullable=False),
    sa.Column('correction', sa.Boolean, nullable=False),
    sa.Column('kind', base.text(32), nullable=False),
    sa.Column('price_book', sa.Integer, nullable=False),
    sa.Column('reservation_id', base.text(36), nullable=False),
    sa.Column('resource_type', base.text(66), nullable=False),
    sa.Column('pool', base.text(32), nullable=False),
    # The number of the rate in its version of the price book.
    sa.Column('rate', sa.Integer, nullable=False),
    sa.Column('percent', base.text(16), nullable=False),
    # Whole numbers as text, because they may be too large for an integer column.
    sa.Column('microseconds', base.text(64), nullable=False),
    sa.Column('atoms', base.text(64), nullable=False),
    # The amount in the smallest unit of the currency.
    sa.Column('minor', sa.BigInteger, nullable=False),
    sa.Column('currency', base.text(3), nullable=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Index(None, 'project_id', 'month', 'lease_id', 'number'),
    sa.Index(None, 'month', 'project_id'),
    **base.MYSQL)

# What owners cancelled shortly before the start of their leases, with the charges; see
# ``domain.lease_pricing.LateCancel``.
LATE_CANCELS = sa.Table(
    'late_cancels', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('cancelled_at', base.UtcDateTime, nullable=False),
    # The version of the price book.
    sa.Column('book', sa.Integer, nullable=False),
    sa.Column('percent', base.text(16), nullable=False),
    # Whole numbers as text, as in the lines of statements.
    sa.Column('atoms', base.text(64), nullable=False),
    sa.Column('microseconds', base.text(64), nullable=False),
    sa.Index(None, 'lease_id'),
    sa.Index(None, 'cancelled_at'),
    sqlite_autoincrement=True,
    **base.MYSQL)

# The progress of the billing of each lease. No foreign key: it outlives its lease, as its lines do.
BILLS = sa.Table(
    'bills', base.METADATA,
    sa.Column('lease_id', base.text(36), primary_key=True),
    # Allocations that ended by this moment are billed, unless the lease has changed since
    # `generation`.
    sa.Column('billed_until', base.UtcDateTime, nullable=False),
    sa.Column('generation', sa.Integer, nullable=False),
    # The properties that determine rates: {resource id: {name: text}}. They are read when a version
    # of the price book first needs them to bill the lease. A text is null if the resource did not
    # have the property.
    sa.Column('properties', sa.JSON, nullable=False),
    **base.MYSQL)

# Leases that could not be billed the last time. No foreign key, as in `bills`.
FAILED_BILLS = sa.Table(
    'failed_bills', base.METADATA,
    sa.Column('lease_id', base.text(36), primary_key=True),
    sa.Column('since', base.UtcDateTime, nullable=False),
    sa.Column('attempts', sa.Integer, nullable=False),
    # The lease is not billed again before this moment.
    sa.Column('next_at', base.UtcDateTime, nullable=False),
    sa.Index(None, 'next_at'),
    **base.MYSQL)

# The months that have statements. No lines are added to a closed month.
BILLING_MONTHS = sa.Table(
    'billing_months', base.METADATA,
    sa.Column('month', base.text(7), primary_key=True),
    sa.Column('closed_at', base.UtcDateTime),
    **base.MYSQL)
