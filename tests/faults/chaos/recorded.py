# SPDX-License-Identifier: Apache-2.0
"""The rows of the database at the end of a run, read at once."""
import dataclasses

import sqlalchemy as sa

from climate.db import engine
from climate.db import tables
from climate.domain import lifecycle


@dataclasses.dataclass(frozen=True)
class Recorded:
    """Rows of tables, as mappings."""

    leases: list
    events: list
    allocations: list
    capacities: dict
    managers: list
    acquisitions: list
    lent: list
    outbox: int
    deliveries: list
    statement_lines: int

    @property
    def unfinished(self):
        """Return the work that is still to be done, in words, at most a few of each kind."""
        return [
            *(f'lease {row["id"]} is {row["state"]}, task {row["task"]}' for row in self.leases
              if row['deleted_at'] is None and (row['task'] or row['state'] not in (
                  *lifecycle.OVER, lifecycle.ERROR)))][:5] + [
            *(f'{row["kind"]} of {row["lease_id"]} is {row["status"]}' for row in self.events
              if row['status'] in (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS))][:5] + (
            [f'{self.outbox} notifications are unsent'] if self.outbox else []) + [
            f'{row["kind"]} of delivery {row["id"]} waits: {row["reason"]}'
            for row in self.deliveries if row['next_at'] is not None][:5]


def read(url):
    """Return the Recorded of a database."""
    found = engine.Database(url)
    try:
        with found.reader() as connection:
            return Recorded(
                leases=_rows(connection, tables.LEASES), events=_rows(connection, tables.EVENTS),
                allocations=_rows(connection, tables.ALLOCATIONS),
                capacities={row['id']: row['capacity']
                            for row in _rows(connection, tables.RESOURCES)},
                managers=_rows(connection, tables.MANAGERS),
                acquisitions=_rows(connection, tables.ACQUISITIONS),
                lent=[row['name'] for row in _rows(connection, tables.RESOURCES)
                      if row['lent_to'] is not None and row['withdrawn_at'] is None],
                outbox=_count(connection, tables.OUTBOX),
                deliveries=_rows(connection, tables.DELIVERIES),
                statement_lines=_count(connection, tables.STATEMENT_LINES))
    finally:
        found.dispose()


def _count(connection, table):
    return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


def _rows(connection, table):
    return [row._mapping for row in connection.execute(sa.select(table))]
