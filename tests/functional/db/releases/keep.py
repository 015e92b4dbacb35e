# SPDX-License-Identifier: Apache-2.0
"""Write down what a release has in its database and in its simulated cloud."""
import datetime
import json
import sqlite3

import sqlalchemy as sa


def database_as_json(database, tables):
    """The rows of some tables, one a line, without what is null."""
    parts = []
    with database.reader() as connection:
        for table in tables:
            rows = connection.execute(sa.select(table).order_by(*table.primary_key)).mappings()
            lines = [json.dumps({name: _as_json(value) for name, value in row.items()
                                 if value is not None}, ensure_ascii=False) for row in rows]
            if lines:
                parts.append(f'"{table.name}": [\n' + ',\n'.join(lines) + '\n]')
    return '{\n' + ',\n'.join(parts) + '\n}\n'


def cloud_as_sql(path):
    """The statements that make the state file of a simulated cloud."""
    with sqlite3.connect(path) as connection:
        version = connection.execute('PRAGMA user_version').fetchone()[0]
        return '\n'.join([*connection.iterdump(), f'PRAGMA user_version = {version};']) + '\n'


def _as_json(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace('+00:00', 'Z')
    return value
