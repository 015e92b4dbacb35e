# SPDX-License-Identifier: Apache-2.0
"""The tables of limits."""
import sqlalchemy as sa

from climate.db.tables import base

# The versions of the limit book. A version is never changed.
LIMIT_BOOKS = sa.Table(
    'limit_books', base.METADATA,
    sa.Column('version', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('valid_from', base.UtcDateTime, nullable=False),
    sa.Column('document', sa.JSON, nullable=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Column('created_by', base.text(255), nullable=False),
    sa.UniqueConstraint('valid_from'),
    **base.MYSQL)

# One row for each project or user whose leases were ever limited. A transaction that checks limits
# locks and writes it, so that no two add to the same use at once.
LIMIT_OWNERS = sa.Table(
    'limit_owners', base.METADATA,
    # "project" or "user".
    sa.Column('kind', base.text(16), primary_key=True),
    sa.Column('id', base.text(255), primary_key=True),
    sa.Column('changes', sa.BigInteger, nullable=False, server_default='0'),
    **base.MYSQL)

# The reservations of offers, whose allocations count for limits.
OFFER_RESERVATIONS = sa.Table(
    'offer_reservations', base.METADATA,
    sa.Column('reservation_id', base.text(36), primary_key=True),
    sa.Column('offer_id', base.text(36), sa.ForeignKey('offers.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('resource_type', base.text(66), nullable=False),
    sa.Index(None, 'offer_id'),
    **base.MYSQL)
