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
