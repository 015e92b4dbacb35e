# SPDX-License-Identifier: Apache-2.0
"""The moves of servers of the simulated cloud, as Nova keeps them."""
from climate.cloud import models

RUNNING = 'running'
DONE = 'completed'
FAILED = 'error'


def begin(connection, server_id, kind, source, target):
    """Write down a move that begins."""
    connection.execute(
        'INSERT INTO moves (server_id, kind, status, source, target) VALUES (?, ?, ?, ?, ?)',
        (server_id, kind, RUNNING, source, target))


def end(connection, server_id, status):
    """Write down how the last move of a server went."""
    connection.execute(
        'UPDATE moves SET status = ? WHERE id = '
        '(SELECT max(id) FROM moves WHERE server_id = ?)', (status, server_id))


def last(connection, server_id):
    """The Move of a server that was begun last, or None."""
    row = connection.execute('SELECT * FROM moves WHERE server_id = ? ORDER BY id DESC LIMIT 1',
                             (server_id,)).fetchone()
    return row and models.Move(id=row['id'], kind=row['kind'], status=row['status'],
                               source=row['source'], target=row['target'])
