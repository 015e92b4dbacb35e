# SPDX-License-Identifier: Apache-2.0
"""The tables of resources, their allocations, properties, health and power."""
import sqlalchemy as sa

from climate.db.tables import base

RESOURCES = sa.Table(
    'resources', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('pool', base.text(32), nullable=False),
    sa.Column('name', base.text(255), nullable=False),
    # The name while the resource is enrolled; null once it is withdrawn. So the names of enrolled
    # resources are unique in their pool.
    sa.Column('enrolled_name', base.text(255)),
    sa.Column('capacity', sa.JSON, nullable=False),
    sa.Column('reservable', sa.Boolean, nullable=False, default=True),
    # When the resource was enrolled, or last became reservable again.
    sa.Column('available_since', base.UtcDateTime),
    sa.Column('generation', sa.Integer, nullable=False, default=0),
    sa.Column('held_by', base.text(36)),
    sa.Column('withdrawn_at', base.UtcDateTime),
    # The only reservation that may use the resource; null: any reservation may.
    sa.Column('lent_to', base.text(36)),
    *base.stamps(),
    # The present state of health, and its reason; resource_health has the details.
    sa.Column('health_state', base.text(16), nullable=False, server_default='well'),
    sa.Column('health_reason', base.long_text()),
    sa.UniqueConstraint('pool', 'enrolled_name'),
    sa.Index(None, 'pool', 'id'),
    sa.Index(None, 'held_by'),
    sa.Index(None, 'lent_to'),
    sa.Index(None, 'health_state'),
    sqlite_autoincrement=True,
    **base.MYSQL)

# The known health of a resource; a resource that was always well has no row.
RESOURCE_HEALTH = sa.Table(
    'resource_health', base.METADATA,
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True, autoincrement=False),
    sa.Column('state', base.text(16), nullable=False),
    sa.Column('since', base.UtcDateTime),
    sa.Column('reason', base.long_text()),
    sa.Column('source', base.text(64)),
    sa.Column('changing_since', base.UtcDateTime),
    sa.Column('looked_at', base.UtcDateTime),
    sa.Column('out_of_order', base.long_text()),
    sa.Column('out_of_order_since', base.UtcDateTime),
    sa.Column('quarantined_until', base.UtcDateTime),
    sa.Column('quarantined_since', base.UtcDateTime),
    sa.Column('quarantine_reason', base.long_text()),
    **base.MYSQL)

# The spans in which an enrolled resource could not be leased, or was asleep.
RESOURCE_ABSENCES = sa.Table(
    'resource_absences', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('kind', base.text(16), nullable=False),
    sa.Column('start', base.UtcDateTime, nullable=False),
    # Null: the absence has not ended.
    sa.Column('end', base.UtcDateTime),
    sa.Index(None, 'resource_id', 'kind', 'end'),
    sa.Index(None, 'end'),
    sqlite_autoincrement=True,
    **base.MYSQL)

PROPERTIES = sa.Table(
    'properties', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('pool', base.text(32), nullable=False),
    sa.Column('name', base.text(64), nullable=False),
    sa.Column('private', sa.Boolean, nullable=False, default=False),
    # A fact comes from the cloud; other properties come from operators.
    sa.Column('fact', sa.Boolean, nullable=False, default=False),
    *base.stamps(),
    sa.UniqueConstraint('pool', 'name'),
    **base.MYSQL)

PROPERTY_VALUES = sa.Table(
    'property_values', base.METADATA,
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('property_id', base.ID, sa.ForeignKey('properties.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('text', base.long_text(), nullable=False),
    sa.Column('number', sa.Double),
    sa.Index(None, 'property_id', 'number'),
    **base.MYSQL)

ALLOCATIONS = sa.Table(
    'allocations', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    # No foreign key: the reservation of an offer is written when the offer is taken.
    sa.Column('reservation_id', base.text(36), nullable=False),
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('start', base.UtcDateTime, nullable=False),
    sa.Column('end', base.UtcDateTime, nullable=False),
    sa.Column('whole', sa.Boolean, nullable=False),
    sa.Column('amount', sa.JSON, nullable=False),
    sa.Column('copies', sa.Integer, nullable=False, default=1),
    sa.Column('released_at', base.UtcDateTime),
    # The key of the need that the allocation serves.
    sa.Column('need', base.text(64), nullable=False, server_default=sa.text("''")),
    # The end that was guaranteed, if the owner ended the allocation earlier.
    sa.Column('promised_until', base.UtcDateTime),
    sa.Index(None, 'resource_id', 'end', 'start'),
    sa.Index(None, 'reservation_id', 'resource_id'),
    sa.Index(None, 'end'),
    sqlite_autoincrement=True,
    **base.MYSQL)

# Reports of project members that a resource does not work, although it seems to work.
SWAP_REPORTS = sa.Table(
    'swap_reports', base.METADATA,
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id', ondelete='CASCADE'),
              primary_key=True, autoincrement=False),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('user_id', base.text(255), nullable=False),
    sa.Column('until', base.UtcDateTime, nullable=False),
    sa.Index(None, 'resource_id', 'until'),
    sa.Index(None, 'project_id', 'until'),
    **base.MYSQL)

# The power states of resources. A resource without a row has always been awake.
POWER_STATES = sa.Table(
    'power_states', base.METADATA,
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id'), primary_key=True,
              autoincrement=False),
    sa.Column('state', base.text(16), nullable=False),
    sa.Column('since', base.UtcDateTime, nullable=False),
    sa.Index(None, 'state'),
    **base.MYSQL)

# The times at which resources fell asleep, and the durations of their wake-ups.
POWER_CHANGES = sa.Table(
    'power_changes', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('resource_id', base.ID, sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('kind', base.text(16), nullable=False),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sa.Column('seconds', sa.Float),
    sa.Index(None, 'resource_id', 'at'),
    sa.Index(None, 'at'),
    sqlite_autoincrement=True,
    **base.MYSQL)
