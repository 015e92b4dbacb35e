# SPDX-License-Identifier: Apache-2.0
"""The table of the transfers of leases; see ``domain.transfers.Transfer``."""
import sqlalchemy as sa

from climate.db.tables import base

TRANSFERS = sa.Table(
    'transfers', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('from_project', base.text(255), nullable=False),
    sa.Column('project_id', base.text(255)),
    sa.Column('receiver_name', base.text(255)),
    sa.Column('key_hash', base.text(64)),
    # Null: the whole lease.
    sa.Column('hosts', sa.Integer),
    sa.Column('on_withdrawal', base.text(16), nullable=False),
    sa.Column('notice_seconds', sa.Integer, nullable=False),
    sa.Column('status', base.text(16), nullable=False),
    sa.Column('expires_at', base.UtcDateTime, nullable=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Column('created_by', base.text(255), nullable=False),
    sa.Column('decided_at', base.UtcDateTime),
    sa.Column('decided_by', base.text(255)),
    sa.Column('new_lease_id', base.text(36)),
    sa.Index(None, 'lease_id', 'created_at'),
    sa.Index(None, 'project_id', 'status'),
    **base.MYSQL)
