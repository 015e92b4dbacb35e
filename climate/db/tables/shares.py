# SPDX-License-Identifier: Apache-2.0
"""The table of the shares of leases; see ``domain.shares.Share``."""
import sqlalchemy as sa

from climate.db.tables import base

SHARES = sa.Table(
    'shares', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    # Exactly one of the two is set.
    sa.Column('project_id', base.text(255)),
    sa.Column('user_id', base.text(255)),
    sa.Column('receiver_name', base.text(255)),
    sa.Column('role', base.text(16), nullable=False),
    sa.Column('until', base.UtcDateTime),
    sa.Column('on_withdrawal', base.text(16), nullable=False),
    sa.Column('notice_seconds', sa.Integer, nullable=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Column('created_by', base.text(255), nullable=False),
    sa.Column('withdrawn_at', base.UtcDateTime),
    sa.Column('cleared_at', base.UtcDateTime),
    sa.Index(None, 'lease_id', 'created_at'),
    sa.Index(None, 'project_id', 'withdrawn_at'),
    sa.Index(None, 'user_id', 'withdrawn_at'),
    **base.MYSQL)
