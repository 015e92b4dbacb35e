# SPDX-License-Identifier: Apache-2.0
"""The tables of usage, refusals and measured use."""
import sqlalchemy as sa

from climate.db.tables import base

# The measured use of running reservations in each hour. No foreign key: the rows are kept for some
# time after the lease is deleted.
USE_SAMPLES = sa.Table(
    'use_samples', base.METADATA,
    sa.Column('hour', base.UtcDateTime, primary_key=True),
    sa.Column('reservation_id', base.text(36), primary_key=True),
    # 0: the reservation has no resource of a pool.
    sa.Column('resource_id', base.ID, primary_key=True, autoincrement=False),
    sa.Column('seconds', sa.Integer, nullable=False),
    sa.Column('idle_seconds', sa.Integer, nullable=False),
    sa.Column('used_seconds', sa.Double, nullable=False),
    # The end of the last sample with use in the hour; null: no sample had use, or an earlier
    # release wrote the row.
    sa.Column('used_until', base.UtcDateTime),
    sa.Index(None, 'reservation_id', 'hour'),
    **base.MYSQL)

# Resource-seconds of each day that is over (see ``work_slots``), by project, user and resource.
USAGE_DAYS = sa.Table(
    'usage_days', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    # The first moment of the day, in UTC.
    sa.Column('day', base.UtcDateTime, nullable=False),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('user_id', base.text(255), nullable=False),
    sa.Column('resource_type', base.text(66), nullable=False),
    sa.Column('pool', base.text(32), nullable=False),
    # No foreign key: the row outlives its resource. 0: a refusal has no resource.
    sa.Column('resource_id', base.ID, nullable=False),
    # The units of one copy, as JSON text.
    sa.Column('amount', base.long_text(), nullable=False),
    # The reason of a refusal; '' in other rows.
    sa.Column('reason', base.text(64), nullable=False),
    sa.Column('allocated', sa.BigInteger, nullable=False),
    sa.Column('occupied', sa.BigInteger, nullable=False),
    sa.Column('idle', sa.BigInteger, nullable=False),
    sa.Column('refused', sa.BigInteger, nullable=False),
    sa.Index(None, 'day'),
    sa.Index(None, 'project_id', 'day'),
    sqlite_autoincrement=True,
    **base.MYSQL)

# The shares of projects in the decayed use of all projects; see ``domain.fair_shares``. A project
# without a row has the share 0. The lock of the wait queue covers the table.
PROJECT_SHARES = sa.Table(
    'project_shares', base.METADATA,
    sa.Column('project_id', base.text(255), primary_key=True),
    sa.Column('share', sa.Integer, nullable=False),
    **base.MYSQL)

# Resource-seconds of each pool in the hours of the days that are over.
POOL_HOURS = sa.Table(
    'pool_hours', base.METADATA,
    sa.Column('hour', base.UtcDateTime, primary_key=True),
    sa.Column('pool', base.text(32), primary_key=True),
    sa.Column('capacity', sa.BigInteger, nullable=False),
    sa.Column('allocated', sa.BigInteger, nullable=False),
    sa.Column('occupied', sa.BigInteger, nullable=False),
    sa.Column('out_of_order', sa.BigInteger, nullable=False),
    sa.Column('asleep', sa.BigInteger, nullable=False),
    # {class: {figure: unit-seconds}}
    sa.Column('units', sa.JSON, nullable=False),
    **base.MYSQL)

# Requests that were refused, for usage and forecasts; see ``domain.refusals.Refusal``.
REFUSALS = sa.Table(
    'refusals', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sa.Column('last_at', base.UtcDateTime, nullable=False),
    sa.Column('times', sa.Integer, nullable=False, default=1),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('user_id', base.text(255), nullable=False),
    # No foreign key: a lease that was refused was never written.
    sa.Column('lease_id', base.text(36), nullable=False),
    sa.Column('resource_type', base.text(66), nullable=False),
    sa.Column('pool', base.text(32), nullable=False),
    sa.Column('start', base.UtcDateTime, nullable=False),
    sa.Column('end', base.UtcDateTime, nullable=False),
    sa.Column('copies', sa.Integer, nullable=False),
    # The amount of one copy, {class: units}; null for whole resources.
    sa.Column('amount', sa.JSON(none_as_null=True)),
    sa.Column('reason', base.text(32), nullable=False),
    sa.Column('waited_seconds', sa.BigInteger, nullable=False, default=0),
    sa.Column('request_hash', base.text(64), nullable=False),
    # Counts the rows of equal requests, so that two managers do not write the same row twice.
    sa.Column('episode', sa.Integer, nullable=False),
    # The criteria as in a request for resources; null: an earlier release wrote the row.
    sa.Column('criteria', sa.JSON(none_as_null=True)),
    sa.UniqueConstraint('request_hash', 'episode'),
    # For the refusals of a pool, or of a project, in a span of time.
    sa.Index(None, 'pool', 'end', 'start'),
    sa.Index(None, 'project_id', 'end', 'start'),
    sa.Index(None, 'last_at'),
    # For all refusals in a span of time.
    sa.Index(None, 'end', 'start'),
    sqlite_autoincrement=True,
    **base.MYSQL)
