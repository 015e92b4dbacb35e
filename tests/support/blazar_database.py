# SPDX-License-Identifier: Apache-2.0
"""A database of Blazar as a file of SQLite, with the rows that a real Blazar 18 wrote."""
import contextlib
import json
import pathlib
import sqlite3

#: Tables and rows of a real Blazar 18.0.0, with leases in most states.
ROWS = pathlib.Path(__file__).with_name('blazar_18.json')
#: The options of Climate for the types and the names that Blazar has.
NAMES = """
[DEFAULT]
plugins = physical:host,virtual:instance,flavor:instance,virtual:floatingip
[nova]
aggregate_owner_key = blazar:owner
availability_zone_prefix = blazar_
[placement]
provider_prefix = blazar_
"""


class BlazarDatabase:
    """A database of Blazar in a file; `url` is for ``climate-db import-blazar``."""

    def __init__(self, folder):
        self.path = folder / 'blazar.sqlite'
        self.url = f'sqlite:///{self.path}'
        with self._connected() as connection:
            for name, table in json.loads(ROWS.read_text()).items():
                columns = ', '.join(f'"{column}"' for column in table['columns'])
                connection.execute(f'CREATE TABLE "{name}" ({columns})')
                marks = ', '.join('?' * len(table['columns']))
                connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', table['rows'])

    def execute(self, statement, *values):
        """Change the database; return the rows of a query."""
        with self._connected() as connection:
            return connection.execute(statement, values).fetchall()

    def rows(self, name):
        """Return the rows of a table as dicts, sorted by id."""
        with self._connected() as connection:
            connection.row_factory = sqlite3.Row
            return sorted(map(dict, connection.execute(f'SELECT * FROM "{name}"')),
                          key=lambda row: str(row.get('id')))

    def of_lease(self, lease_id):
        """Return {table: rows} of a lease, without the tables that have no row of it."""
        reserved = {row['id'] for row in self.rows('reservations') if row['lease_id'] == lease_id}
        found = {name: [row for row in self.rows(name) if row.get('reservation_id') in reserved
                        or lease_id in (row.get('lease_id'), row.get('id'))]
                 for name in self.tables}
        return {name: rows for name, rows in found.items() if rows}

    @property
    def tables(self):
        """The names of all tables, sorted."""
        return sorted(name for name, in self.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"))

    @contextlib.contextmanager
    def _connected(self):
        connection = sqlite3.connect(self.path)
        with contextlib.closing(connection), connection:
            yield connection
