# SPDX-License-Identifier: Apache-2.0
"""A database of Blazar as a file of SQLite, with the rows that a real Blazar 18 wrote."""
import contextlib
import json
import pathlib
import sqlite3

#: Tables and rows of a real Blazar 18.0.0, with leases in most states.
ROWS = pathlib.Path(__file__).with_name('blazar_18.json')


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

    @contextlib.contextmanager
    def _connected(self):
        connection = sqlite3.connect(self.path)
        with contextlib.closing(connection), connection:
            yield connection
