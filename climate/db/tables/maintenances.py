# SPDX-License-Identifier: Apache-2.0
"""The tables of maintenances."""
import sqlalchemy as sa

from climate.db.tables import base

# Maintenances of resources of one pool, such as hosts, which must be free in windows of time.
MAINTENANCES = sa.Table(
    'maintenances', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('pool', base.text(32), nullable=False),
    sa.Column('start', base.UtcDateTime, nullable=False),
    sa.Column('end', base.UtcDateTime, nullable=False),
    sa.Column('reason', base.long_text(), nullable=False),
    # The action for running leases: left, swap or end.
    sa.Column('running', base.text(8), nullable=False),
    sa.Column('notice_minutes', sa.Integer, nullable=False),
    # The recurrence of the window, an RRULE of RFC 5545.
    sa.Column('rule', sa.Text),
    # Windows were added up to this moment; null: all windows were added.
    sa.Column('expanded_to', base.UtcDateTime),
    sa.Column('user_id', base.text(255)),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    # The maintenance is being deleted. First its disabled resources are enabled in the cloud.
    sa.Column('closing', sa.Boolean, nullable=False, default=False),
    sa.Column('over', sa.Boolean, nullable=False, default=False),
    sa.Index(None, 'over', 'start'),
    **base.MYSQL)

MAINTENANCE_RESOURCES = sa.Table(
    'maintenance_resources', base.METADATA,
    sa.Column('maintenance_id', base.text(36), sa.ForeignKey('maintenances.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Index(None, 'resource_id'),
    **base.MYSQL)

# One time span of a maintenance. Allocations have its id in place of a reservation's.
MAINTENANCE_WINDOWS = sa.Table(
    'maintenance_windows', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('maintenance_id', base.text(36), sa.ForeignKey('maintenances.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('start', base.UtcDateTime, nullable=False),
    sa.Column('end', base.UtcDateTime, nullable=False),
    sa.Column('state', base.text(16), nullable=False),
    sa.Column('claim_owner', base.text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('claimed_until', base.UtcDateTime),
    # Two managers that expand a rule at once add each window once.
    sa.UniqueConstraint('maintenance_id', 'start'),
    sa.Index(None, 'state', 'start'),
    **base.MYSQL)
