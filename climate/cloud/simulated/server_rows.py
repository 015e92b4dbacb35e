# SPDX-License-Identifier: Apache-2.0
"""The rows of the servers of the simulated cloud, and of their migrations."""
import dataclasses
import json
import uuid

from climate.cloud import models

# The hypervisor of a server is the one on which it was booted, if that is still on its host.
# Otherwise it is any hypervisor of the host.
_SELECT = (
    'SELECT servers.*, coalesce('
    '(SELECT name FROM hosts WHERE service_host = servers.host AND name = servers.node), '
    '(SELECT min(name) FROM hosts WHERE service_host = servers.host)) AS hypervisor FROM servers')

#: The hint of a server that names the availability zone that its user requested.
ZONE = 'availability_zone'
RUNNING, DONE, FAILED = 'running', 'completed', 'error'


def every(connection):
    """Return all Servers, oldest first."""
    return [record(row) for row in
            connection.execute(f'{_SELECT} ORDER BY rowid')]


def listed(connection):
    """Return all Servers with their flavors, as Nova lists them, oldest first."""
    return [record(row, shown_flavor(row)) for row in
            connection.execute(f'{_SELECT} ORDER BY rowid')]


def on(connection, service_hosts):
    """Return the Servers on these hosts."""
    return [record(row, shown_flavor(row)) for row in connection.execute(
        f'{_SELECT} WHERE host IN (SELECT value FROM json_each(?)) ORDER BY rowid',
        (json.dumps(list(service_hosts)),))]


def of_flavor(connection, flavor_id):
    """Return the Servers with that flavor, oldest first."""
    return [record(row) for row in connection.execute(
        f'{_SELECT} WHERE flavor_id = ? ORDER BY rowid', (flavor_id,))]


def marked(connection, project_id, key, text):
    """Return the Servers of a project with this metadata item, oldest first."""
    return [server for server in every(connection)
            if server.project_id == project_id and server.metadata.get(key) == text]


def find(connection, server_id, project_id=None):
    """Return the row of a server, or None; servers of other projects are not found."""
    row = connection.execute(f'{_SELECT} WHERE id = ?', (server_id,)).fetchone()
    return row if row is not None and project_id in (None, row['project_id']) else None


def make(connection, server, hints):
    """Store a Server with its flavor and these hints under a new id; return the id."""
    server_id = str(uuid.uuid4())
    flavor = server.flavor
    connection.execute(
        'INSERT INTO servers (id, name, host, project_id, status, flavor_id, flavor, hints, '
        'metadata, node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce('
        '?, (SELECT min(name) FROM hosts WHERE service_host = ?)))',
        (server_id, server.name, server.host, server.project_id, server.status,
         None if flavor is None else flavor.id,
         None if flavor is None else json.dumps(dataclasses.asdict(flavor)),
         json.dumps(hints), json.dumps(server.metadata), server.hypervisor, server.host))
    return server_id


def resize(connection, server_id, flavor, host):
    """Set the Flavor and the service host of a server."""
    put(connection, server_id, host=host, flavor_id=flavor.id,
        flavor=json.dumps(dataclasses.asdict(flavor)))


def put(connection, server_id, **columns):
    """Write these columns of a server."""
    names = ', '.join(f'{name} = ?' for name in columns)
    connection.execute(f'UPDATE servers SET {names} WHERE id = ?',
                       (*columns.values(), server_id))


def is_marked(row, metadata):
    """Return whether `mark` would not change the metadata."""
    known = json.loads(row['metadata'])
    return all(known.get(key) == text for key, text in metadata.items())


def mark(connection, row, metadata):
    """Set keys of a server's metadata; remove those whose value is None."""
    changed = {**json.loads(row['metadata']), **metadata}
    put(connection, row['id'], metadata=json.dumps(
        {key: text for key, text in changed.items() if text is not None}))


def flavor(row):
    """Return the Flavor with which a server was booted or resized, or None if unknown."""
    return None if row['flavor'] is None else models.Flavor(**json.loads(row['flavor']))


def shown_flavor(row):
    """Return the Flavor of a server as Nova shows it, without its id."""
    own = flavor(row)
    return None if own is None else dataclasses.replace(own, id='')


def record(row, flavor=None):
    """Return a row as a Server with that Flavor."""
    hints = json.loads(row['hints'])
    return models.Server(id=row['id'], name=row['name'], host=row['host'],
                         project_id=row['project_id'], status=row['status'], task=row['task'],
                         metadata=json.loads(row['metadata']), flavor=flavor,
                         locked=bool(row['locked']), hypervisor=row['hypervisor'],
                         hints=_shown_hints(hints), zone=hints.get(ZONE))


def _shown_hints(hints):
    """Return scheduler hints as Nova shows them: {name: (texts)}."""
    return {name: tuple(map(str, value)) if isinstance(value, (list, tuple)) else (str(value),)
            for name, value in hints.items() if name != ZONE}


def unbind(connection, server_id):
    """Unpin a server from its availability zone."""
    connection.execute("UPDATE servers SET hints = json_remove(hints, '$.' || ?) WHERE id = ?",
                       (ZONE, server_id))


def begin_migration(connection, server_id, kind, source, target):
    """Record a migration that begins."""
    connection.execute(
        'INSERT INTO moves (server_id, kind, status, source, target) VALUES (?, ?, ?, ?, ?)',
        (server_id, kind, RUNNING, source, target))


def end_migration(connection, server_id, status):
    """Record how the latest migration of a server ended: DONE or FAILED."""
    connection.execute(
        'UPDATE moves SET status = ? WHERE id = '
        '(SELECT max(id) FROM moves WHERE server_id = ?)', (status, server_id))


def last_migration(connection, server_id):
    """Return the latest ServerMigration of a server, or None."""
    row = connection.execute('SELECT * FROM moves WHERE server_id = ? ORDER BY id DESC LIMIT 1',
                             (server_id,)).fetchone()
    return row and models.ServerMigration(
        id=row['id'], kind=row['kind'], status=row['status'], source=row['source'],
        target=row['target'])
