# SPDX-License-Identifier: Apache-2.0
"""The rows of the database as the invariants of the model read them."""
import collections
import dataclasses

import sqlalchemy as sa

from climate.db import tables
from climate.domain import acquire
from climate.domain import event_kinds
from climate.domain import lifecycle

#: The statuses of events that are not over.
OPEN = (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)
_COLUMNS = {
    'leases': (tables.LEASES, 'id state task start end generation trust_id deleted_at '
                              'ended_at reason degraded owner_reason'),
    'reservations': (tables.RESERVATIONS, 'id lease_id state leased_id resource_type request '
                                          'missing_resources'),
    'events': (tables.EVENTS, 'id lease_id kind status at due_at claim_owner attempts claim_no'),
    'allocations': (tables.ALLOCATIONS, 'reservation_id resource_id start end whole amount '
                                        'copies released_at'),
    'resources': (tables.RESOURCES, 'id pool name capacity reservable held_by lent_to '
                                    'withdrawn_at health_state'),
    'acquisitions': (tables.ACQUISITIONS, 'lease_id type waits_for not_after retries attempts '
                                          'duration_seconds'),
    'offers': (tables.OFFERS, 'id project_id place held_until request'),
    'windows': (tables.MAINTENANCE_WINDOWS, 'id state'),
    'early_creations': (tables.EARLY_CREATIONS, 'id reservation_id'),
}


@dataclasses.dataclass(frozen=True)
class Recorded:
    """The rows as they are."""

    leases: dict
    reservations: dict
    events: dict
    allocations: list
    resources: dict
    acquisitions: dict
    offers: dict
    windows: dict
    early_creations: list

    def hosts(self):
        return [each for each in self.resources.values() if each.pool == 'host']

    def never_acquired(self, lease):
        """Return whether a lease has never got its resources."""
        return lease.id in self.acquisitions and not any(
            event.kind == event_kinds.START for event in self.events.get(lease.id, ()))

    def open_events(self, lease_id):
        return [event for event in self.events.get(lease_id, ()) if event.status in OPEN]


def _in_order(table):
    """Return the columns by which the rows of a table have the same order on every database."""
    return [column for column in table.c if column.name == 'created_at'] + list(table.primary_key)


def read(database):
    """Return the Recorded: rows by their id, events by the id of their lease; oldest first.

    Without an order PostgreSQL returns rows as they lie on its pages, where a vacuum moves them.
    Steps choose by place, so the same steps would go on in another way.
    """
    found = {}
    with database.reader() as connection:
        for name, (table, columns) in _COLUMNS.items():
            found[name] = connection.execute(
                sa.select(*(table.c[each] for each in columns.split()))
                .order_by(*_in_order(table))).all()
    for name in ('leases', 'reservations', 'resources', 'offers', 'windows'):
        found[name] = {row.id: row for row in found[name]}
    found['acquisitions'] = {row.lease_id: row for row in found['acquisitions']
                             if row.type in acquire.LASTING}
    by_lease = collections.defaultdict(list)
    for event in found['events']:
        by_lease[event.lease_id].append(event)
    return Recorded(**{**found, 'events': by_lease})
