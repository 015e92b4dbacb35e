# SPDX-License-Identifier: Apache-2.0
"""The table of calls of the enforcement service."""
import sqlalchemy as sa

from climate.db.tables import base

# The calls that are being made or due, and the last report of each lease that the service knows.
ENFORCEMENT_CALLS = sa.Table(
    'enforcement_calls', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('call_id', base.text(36), nullable=False, unique=True),
    # No foreign key: the end of a lease is reported even if its rows were purged.
    sa.Column('lease_id', base.text(36), nullable=False),
    sa.Column('kind', base.text(16), nullable=False),
    sa.Column('state', base.text(16), nullable=False),
    sa.Column('body', sa.JSON, nullable=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Column('due_at', base.UtcDateTime, nullable=False),
    sa.Column('asked', sa.Boolean, nullable=False, default=True),
    sa.Column('generation', sa.Integer, nullable=False, server_default='0'),
    sa.Column('attempts', sa.Integer, nullable=False, server_default='0'),
    sa.Index(None, 'lease_id'),
    sa.Index(None, 'state', 'due_at'),
    sqlite_autoincrement=True,
    **base.MYSQL)
