# SPDX-License-Identifier: Apache-2.0
"""The tables of series and of their occurrences."""
import sqlalchemy as sa

from climate.db.tables import base

SERIES = sa.Table(
    'series', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('user_id', base.text(255), nullable=False),
    sa.Column('name', base.text(80), nullable=False),
    sa.Column('request', sa.JSON, nullable=False),
    # {position of the reservation: the secret fields of its request}; null once the series is over.
    sa.Column('secrets', base.Hidden),
    # The local time of the first start, without a zone.
    sa.Column('start', base.text(26), nullable=False),
    sa.Column('seconds', sa.BigInteger, nullable=False),
    sa.Column('rule', base.text(500), nullable=False),
    sa.Column('time_zone', base.text(64), nullable=False),
    sa.Column('mode', base.text(16), nullable=False),
    sa.Column('same_resources', sa.Boolean, nullable=False),
    # {position of the reservation: names of resources}, if all leases get the same resources.
    sa.Column('resources', sa.JSON(none_as_null=True)),
    sa.Column('hidden_criteria', sa.Boolean, nullable=False),
    sa.Column('status', base.text(16), nullable=False),
    # Occurrences that start before this moment have rows.
    sa.Column('booked_until', base.UtcDateTime),
    # When the next occurrence comes into the horizon; null: all have rows.
    sa.Column('extend_at', base.UtcDateTime),
    sa.Column('trust_id', base.text(36)),
    sa.Column('generation', sa.Integer, nullable=False),
    *base.stamps(),
    sa.Index(None, 'project_id', 'created_at', 'id'),
    sa.Index(None, 'created_at', 'id'),
    sa.Index(None, 'status', 'extend_at'),
    sa.Index(None, 'trust_id'),
    **base.MYSQL)

SERIES_OCCURRENCES = sa.Table(
    'series_occurrences', base.METADATA,
    sa.Column('series_id', base.text(36), sa.ForeignKey('series.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('number', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('start', base.UtcDateTime, nullable=False),
    sa.Column('end', base.UtcDateTime, nullable=False),
    sa.Column('status', base.text(16), nullable=False),
    # No foreign key: the lease is written later, if at all.
    sa.Column('lease_id', base.text(36)),
    # A user changed the lease alone.
    sa.Column('changed', sa.Boolean, nullable=False),
    # When a manager books the occurrence, changes its lease or deletes its lease; null: never.
    sa.Column('due_at', base.UtcDateTime),
    sa.Column('problem', sa.Text),
    sa.Column('owner_problem', sa.Text),
    sa.Index(None, 'due_at'),
    sa.Index(None, 'status', 'due_at'),
    sa.Index(None, 'lease_id'),
    **base.MYSQL)
