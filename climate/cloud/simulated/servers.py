# SPDX-License-Identifier: Apache-2.0
"""The servers of the simulated cloud."""
import json
import uuid

from climate import errors
from climate.cloud import models


def every(connection):
    """All Servers, oldest first."""
    return [_record(row) for row in
            connection.execute('SELECT * FROM servers ORDER BY rowid')]


def on(connection, service_hosts):
    """The Servers on these hosts."""
    return [_record(row) for row in connection.execute(
        'SELECT * FROM servers WHERE host IN (SELECT value FROM json_each(?)) ORDER BY rowid',
        (json.dumps(list(service_hosts)),))]


def of_flavor(connection, flavor_id):
    """The Servers with that flavor, oldest first."""
    return [_record(row) for row in connection.execute(
        'SELECT * FROM servers WHERE flavor_id = ? ORDER BY rowid', (flavor_id,))]


def find(connection, server_id, project_id=None):
    """The Server, or None; one of another project is not found."""
    row = connection.execute('SELECT * FROM servers WHERE id = ?', (server_id,)).fetchone()
    if row is None or project_id not in (None, row['project_id']):
        return None
    return _record(row)


def boot(connection, project_id, name, host, flavor_id=None):
    """A new Server on that host."""
    server = models.Server(id=str(uuid.uuid4()), name=name, host=host, project_id=project_id,
                           status='ACTIVE')
    connection.execute(
        'INSERT INTO servers (id, name, host, project_id, status, flavor_id) '
        'VALUES (?, ?, ?, ?, ?, ?)',
        (server.id, server.name, server.host, server.project_id, server.status, flavor_id))
    return server


def delete(connection, server_id, gone_at):
    """Begin to delete a server; it is on its host until the moment `gone_at`."""
    connection.execute(
        'UPDATE servers SET gone_at = min(coalesce(gone_at, ?), ?) WHERE id = ?',
        (gone_at, gone_at, server_id))


def forget(connection, now):
    """Remove the servers whose deletion has come to its end."""
    connection.execute('DELETE FROM servers WHERE gone_at <= ?', (now,))


def snapshot(connection, server_id, name, project_id):
    """Make an image of a server; returns the id.

    :param project_id: of the user who asks; None for an administrator, whose own it becomes.
    """
    if find(connection, server_id, project_id) is None:
        raise errors.CloudError(service='Nova',
                                reason=f'Instance {server_id} could not be found.')
    image_id = str(uuid.uuid4())
    connection.execute('INSERT INTO images VALUES (?, ?, ?, ?)',
                       (image_id, name, server_id, project_id or 'service'))
    return image_id


def _record(row):
    return models.Server(id=row['id'], name=row['name'], host=row['host'],
                         project_id=row['project_id'], status=row['status'])
