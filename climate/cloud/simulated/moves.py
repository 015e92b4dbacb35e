# SPDX-License-Identifier: Apache-2.0
"""The migrations of servers in the simulated cloud, as Nova records them."""
from climate.cloud import models

RUNNING = 'running'
DONE = 'completed'
FAILED = 'error'


def begin(connection, server_id, kind, source, target):
    """Record a migration that begins."""
    connection.execute(
        'INSERT INTO moves (server_id, kind, status, source, target) VALUES (?, ?, ?, ?, ?)',
        (server_id, kind, RUNNING, source, target))


def end(connection, server_id, status):
    """Record how the latest migration of a server ended."""
    connection.execute(
        'UPDATE moves SET status = ? WHERE id = '
        '(SELECT max(id) FROM moves WHERE server_id = ?)', (status, server_id))


def last(connection, server_id):
    """Return the latest Move of a server, or None."""
    row = connection.execute('SELECT * FROM moves WHERE server_id = ? ORDER BY id DESC LIMIT 1',
                             (server_id,)).fetchone()
    return row and models.Move(id=row['id'], kind=row['kind'], status=row['status'],
                               source=row['source'], target=row['target'])
