# SPDX-License-Identifier: Apache-2.0
"""The use cases of statements: list them, and show their lines."""
from climate.db import statement_lines
from climate.manager.billing import books


class Statements:
    """Reads statements; the API says whose."""

    def __init__(self, core):
        self._core = core

    def find(self, query):
        """Return the Statements that a StatementQuery selects, by month and project."""
        with self._core.database.reader() as connection:
            return statement_lines.find(connection, query)

    def lines(self, query):
        """Return the StatementLines that a StatementQuery selects, by month, lease and number."""
        with self._core.database.reader() as connection:
            versions = {each.version: each for each in books.read_all(connection)}
            return statement_lines.lines(connection, query, versions)
