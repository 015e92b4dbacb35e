# SPDX-License-Identifier: Apache-2.0
"""The tables of leases, reservations, events and their history."""
import sqlalchemy as sa

from climate.db.tables import base

LEASES = sa.Table(
    'leases', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('name', base.text(80), nullable=False),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('user_id', base.text(255), nullable=False),
    sa.Column('trust_id', base.text(36)),
    sa.Column('start', base.UtcDateTime, nullable=False),
    sa.Column('end', base.UtcDateTime, nullable=False),
    sa.Column('before_end', base.UtcDateTime),
    sa.Column('state', base.text(16), nullable=False),
    sa.Column('reason', sa.Text),
    sa.Column('task', base.text(16)),
    sa.Column('task_until', base.UtcDateTime),
    sa.Column('claim_owner', base.text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('degraded', sa.Boolean, nullable=False, default=False),
    sa.Column('generation', sa.Integer, nullable=False, default=0),
    sa.Column('ended_at', base.UtcDateTime),
    sa.Column('deleted_at', base.UtcDateTime),
    sa.Column('acquire_type', base.text(16), nullable=False, server_default='immediate'),
    # NULL although `reason` is set: an earlier release wrote the reason, for operators only.
    sa.Column('owner_reason', sa.Text),
    sa.Column('idle_exempt', sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column('idle_since', base.UtcDateTime),
    sa.Column('reclaim_at', base.UtcDateTime),
    # When the owner requested the start and the resources at the start; null: at the creation.
    sa.Column('asked_at', base.UtcDateTime),
    # The bytes of the requests and events of the lease, as ``domain.request_sizes`` counts them.
    sa.Column('request_bytes', sa.BigInteger, nullable=False, server_default=sa.text('0')),
    # How often the owner extended the lease while it ran.
    sa.Column('extended_count', sa.Integer, nullable=False, server_default=sa.text('0')),
    # The step by which the lease is extended while nobody else needs its resources; null: none.
    sa.Column('while_free_seconds', sa.Integer),
    # The end of the lease for which its project was notified that it can be extended; null: none.
    sa.Column('extension_open_for', base.UtcDateTime),
    # The series that the lease belongs to; null: none. The series may be purged.
    sa.Column('series_id', base.text(36)),
    # Whether the lease was ever shared, so that other leases need no query for their shares.
    sa.Column('shared', sa.Boolean, nullable=False, server_default=sa.false()),
    # The lease of whose hosts this lease has a part; null: it is no sub-lease.
    sa.Column('parent_id', base.text(36)),
    # Whether the lease ever had sub-leases, so that other leases need no query for them.
    sa.Column('sub_leased', sa.Boolean, nullable=False, server_default=sa.false()),
    *base.stamps(),
    # Lists of leases that are not deleted are sorted by creation time, name, start or end, and may
    # be limited to a project or a state. A search by name needs no order. SQLite has no statistics
    # by default, so it chooses the index with the most columns that the query compares.
    sa.Index(None, 'project_id', 'deleted_at', 'created_at', 'id'),
    sa.Index(None, 'project_id', 'deleted_at', 'state', 'created_at', 'id'),
    sa.Index(None, 'deleted_at', 'created_at', 'id'),
    sa.Index(None, 'deleted_at', 'state', 'created_at', 'id'),
    *(sa.Index(None, *columns, key, 'id') for key in ('name', 'start', 'end')
      for columns in (('project_id', 'deleted_at'), ('deleted_at',))),
    sa.Index(None, 'name', 'project_id', 'deleted_at'),
    sa.Index(None, 'trust_id'),
    sa.Index(None, 'series_id'),
    sa.Index(None, 'parent_id'),
    # Usage reads the leases that were over after a moment, and those that are late to end.
    sa.Index(None, 'ended_at', 'end'),
    sa.Index(None, 'idle_since'),
    # Reminders read the leases that end in a short span of time.
    sa.Index(None, 'end'),
    # The sum of the bytes of a project is read from this index alone.
    sa.Index(None, 'project_id', 'ended_at', 'request_bytes'),
    # Limits of a user add up the leases of the user in all projects.
    sa.Index(None, 'user_id', 'ended_at'),
    **base.MYSQL)

RESERVATIONS = sa.Table(
    'reservations', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('position', sa.Integer, nullable=False),
    sa.Column('resource_type', base.text(66), nullable=False),
    sa.Column('request', sa.JSON, nullable=False),
    sa.Column('binding', sa.JSON, nullable=False),
    sa.Column('state', base.text(13), nullable=False),
    sa.Column('missing_resources', sa.Boolean, nullable=False, default=False),
    sa.Column('resources_changed', sa.Boolean, nullable=False, default=False),
    # The id of the object in the cloud that is leased, such as a server; null once the reservation
    # is over. The unique index prevents that two reservations lease an object at the same time.
    sa.Column('leased_id', base.text(64)),
    *base.stamps(),
    # The label in the lease, and the labels of the reservations that start before this one.
    sa.Column('label', base.text(64)),
    sa.Column('depends_on', base.NameList),
    # When the reservation was active for the first time; null: never, or it was reclaimed.
    # Reservations with null are not billed.
    sa.Column('started_at', base.UtcDateTime),
    # The id that the reservation had before a transfer, under which its use was billed; null: `id`.
    sa.Column('billed_as', base.text(36)),
    # The secret fields of the request; null once the reservation was started or is over.
    sa.Column('secrets', base.Hidden),
    sa.Index(None, 'lease_id', 'position'),
    sa.Index('uq_reservations_leased_id', 'leased_id', unique=True),
    **base.MYSQL)

EVENTS = sa.Table(
    'events', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('kind', base.text(66), nullable=False),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sa.Column('due_at', base.UtcDateTime, nullable=False),
    sa.Column('status', base.text(13), nullable=False),
    sa.Column('claim_owner', base.text(255)),
    sa.Column('claim_no', sa.Integer, nullable=False, default=0),
    sa.Column('claimed_until', base.UtcDateTime),
    sa.Column('begun_at', base.UtcDateTime),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    sa.Column('waits', sa.Integer, nullable=False, default=0),
    *base.stamps(),
    sa.Index(None, 'status', 'due_at'),
    sa.Index(None, 'lease_id'),
    **base.MYSQL)

ACQUISITIONS = sa.Table(
    'acquisitions', base.METADATA,
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              primary_key=True),
    sa.Column('type', base.text(16), nullable=False),
    # If released resources wake the lease: why it waits, as in ``db.acquisitions``; else null.
    sa.Column('waits_for', base.text(8)),
    sa.Column('retries', sa.Integer),
    sa.Column('retry_pause_seconds', sa.Integer),
    sa.Column('timeout_seconds', sa.Integer),
    sa.Column('strategy', base.text(64)),
    sa.Column('not_after', base.UtcDateTime),
    sa.Column('priority', sa.Integer, nullable=False, default=0),
    sa.Column('duration_seconds', sa.BigInteger),
    sa.Column('notify_at', sa.JSON, nullable=False),
    sa.Column('attempts', sa.Integer, nullable=False, default=0),
    sa.Column('next_at', base.UtcDateTime),
    sa.Column('wakes', sa.Integer, nullable=False, default=0),
    sa.Column('heard', sa.Integer, nullable=False, default=0),
    sa.Column('plan', sa.JSON(none_as_null=True)),
    # The minimum need of a lease in the wait queue; null: unknown.
    sa.Column('least', sa.JSON(none_as_null=True)),
    # As in `project_shares`.
    sa.Column('share', sa.Integer, nullable=False, default=0, server_default=sa.text('0')),
    *base.stamps(),
    sa.Index(None, 'waits_for', 'priority', 'share', 'created_at'),
    **base.MYSQL)

# One row. Each transaction that changes the wait queue locks this row.
WAIT_QUEUE = sa.Table(
    'wait_queue', base.METADATA,
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    **base.MYSQL)

HISTORY = sa.Table(
    'history', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('lease_id', base.text(36), nullable=False),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sa.Column('who', base.text(255), nullable=False),
    sa.Column('what', base.text(64), nullable=False),
    sa.Column('why', sa.Text),
    sa.Column('owner_why', sa.Text),
    sa.Index(None, 'lease_id', 'id'),
    sqlite_autoincrement=True,
    **base.MYSQL)

IDEMPOTENCY_KEYS = sa.Table(
    'idempotency_keys', base.METADATA,
    sa.Column('project_id', base.text(255), primary_key=True),
    sa.Column('key', base.text(255), primary_key=True),
    sa.Column('request_hash', base.text(64), nullable=False),
    sa.Column('lease_id', base.text(36), nullable=False),
    sa.Column('expires_at', base.UtcDateTime, nullable=False),
    sa.Index(None, 'expires_at'),
    **base.MYSQL)

# The parts of leases that their owners requested later; see ``domain.short_notice.LaterRequest``.
LATER_ASKS = sa.Table(
    'later_asks', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('lease_id', base.text(36), sa.ForeignKey('leases.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('asked_at', base.UtcDateTime, nullable=False),
    sa.Column('since', base.UtcDateTime, nullable=False),
    # Null: the part is all resources of the lease from `since` on.
    sa.Column('reservation_id', base.text(36)),
    sa.Column('resource_id', base.ID),
    sa.Column('above', sa.Integer, nullable=False),
    # Climate extended the lease from `since` on, in steps that its owner chose before.
    sa.Column('in_steps', sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index(None, 'lease_id'),
    sqlite_autoincrement=True,
    **base.MYSQL)

# Resources that their owners return for waiting leases. The allocations of a row have its id in
# place of a reservation's, so that no other lease gets the resources before the waiting ones.
GIVEN_BACK = sa.Table(
    'given_back', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    # When the resources become free for all leases, at the latest.
    sa.Column('until', base.UtcDateTime, nullable=False),
    **base.MYSQL)

# The request of an offer has the ids of its future reservations. Its allocations name these ids.
OFFERS = sa.Table(
    'offers', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    sa.Column('project_id', base.text(255), nullable=False),
    sa.Column('user_id', base.text(255), nullable=False),
    # The number of the offer among those that the project may have at once; null once the offer
    # holds no resources.
    sa.Column('place', sa.Integer),
    sa.Column('start', base.UtcDateTime, nullable=False),
    sa.Column('end', base.UtcDateTime, nullable=False),
    sa.Column('request', sa.JSON, nullable=False),
    sa.Column('held_until', base.UtcDateTime, nullable=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    # {reservation id: the secret fields of its request}; null once the offer holds no resources.
    sa.Column('secrets', base.Hidden),
    sa.Column('request_bytes', sa.BigInteger, nullable=False, server_default=sa.text('0')),
    sa.UniqueConstraint('project_id', 'place'),
    sa.Index(None, 'held_until'),
    sa.Index(None, 'project_id', 'request_bytes'),
    sa.Index(None, 'user_id'),
    **base.MYSQL)

# Objects that are created in the cloud during a request, before its lease is written. A row is
# inserted before the objects are created, and deleted in the transaction that writes the lease.
# If the request fails, the row stays until the objects are deleted.
EARLY_CREATIONS = sa.Table(
    'early_creations', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    # No foreign key: the reservation is written later, if at all.
    sa.Column('reservation_id', base.text(36), nullable=False),
    sa.Column('resource_type', base.text(66), nullable=False),
    # The offer that the request takes. Other requests may try to take the same offer.
    sa.Column('offer_id', base.text(36)),
    # The objects are being deleted, so no lease may use them any more.
    sa.Column('closing', sa.Boolean, nullable=False, default=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Index(None, 'created_at'),
    **base.MYSQL)

# The Keystone trusts of leases. A row is inserted before the trust is created, and deleted when the
# trust is deleted. The id of the trust is stored in the transaction that writes the lease. Until
# then `expires_at` identifies the trust, because no two trusts expire at the same moment.
TRUSTS = sa.Table(
    'trusts', base.METADATA,
    sa.Column('id', base.text(36), primary_key=True),
    # No foreign key: the lease is written later, if at all.
    sa.Column('lease_id', base.text(36), nullable=False),
    sa.Column('trust_id', base.text(36)),
    # NULL: the trust never expires.
    sa.Column('expires_at', base.UtcDateTime),
    # The trust is being deleted, so no lease may use it any more.
    sa.Column('closing', sa.Boolean, nullable=False, default=False),
    sa.Column('created_at', base.UtcDateTime, nullable=False),
    sa.Index(None, 'created_at'),
    sa.Index(None, 'trust_id'),
    **base.MYSQL)
