# SPDX-License-Identifier: Apache-2.0
"""The aggregates of the simulated cloud, with Nova's rules about zones and servers."""
import json

from climate import errors
from climate.cloud import models
from climate.cloud.simulated import hosts
from climate.cloud.simulated import server_rows


def every(connection):
    """Return all Aggregates, oldest first."""
    return _select(connection, 'SELECT * FROM aggregates ORDER BY id')


def find(connection, name):
    """Return the Aggregate of that name, or None."""
    return next(iter(_select(connection, 'SELECT * FROM aggregates WHERE name = ?', name)), None)


def make(connection, name, zone):
    """Create an Aggregate and return it, or the one that another process has just created."""
    connection.execute('INSERT OR IGNORE INTO aggregates (name, zone) VALUES (?, ?)',
                       (name, zone))
    return find(connection, name)


def set_zone(connection, aggregate_id, zone):
    """Set the zone of an aggregate.

    :raises StillBusy: a server on its hosts would change its zone.
    """
    _row(connection, aggregate_id)
    members = connection.execute('SELECT host FROM aggregate_hosts WHERE aggregate_id = ?',
                                 (aggregate_id,)).fetchall()
    if server_rows.on(connection, [row['host'] for row in members]):
        raise errors.StillBusy(service='Nova',
                               reason='One or more hosts contain instances in this zone.')
    connection.execute('UPDATE aggregates SET zone = ? WHERE id = ?', (zone, aggregate_id))


def set_metadata(connection, aggregate_id, metadata):
    """Set keys of the metadata; remove those whose value is None."""
    _row(connection, aggregate_id)
    for key, text in metadata.items():
        if text is None:
            connection.execute(
                'DELETE FROM aggregate_metadata WHERE aggregate_id = ? AND name = ?',
                (aggregate_id, key))
        else:
            connection.execute('INSERT OR REPLACE INTO aggregate_metadata VALUES (?, ?, ?)',
                               (aggregate_id, key, text))


def add_host(connection, aggregate_id, host):
    """Add a host to an aggregate. Do nothing if it is already in it."""
    new_zone = _row(connection, aggregate_id)['zone']
    if not hosts.is_known(connection, host):
        raise errors.ResourceNotFound(pool='host', resource=host)
    if _has(connection, aggregate_id, host):
        return
    if new_zone is not None:
        zone = hosts.zone_of(connection, host)
        if zone not in (hosts.DEFAULT_ZONE, new_zone):
            raise errors.ResourcesRefused(service='Nova', refused={host: (
                f'Cannot add host to aggregate {aggregate_id}. Reason: One or more hosts already '
                f'in availability zone(s) [\'{zone}\'].')})
        why = _why_no_new_zone(connection, host)
        if why:
            raise errors.ResourcesRefused(service='Nova', refused={host: why})
    connection.execute('INSERT INTO aggregate_hosts VALUES (?, ?)', (aggregate_id, host))


def remove_host(connection, aggregate_id, host):
    """Remove a host from an aggregate. Do nothing if it is not in it."""
    if not _has(connection, aggregate_id, host):
        return
    if _row(connection, aggregate_id)['zone'] is not None:
        why = _why_no_new_zone(connection, host)
        if why:
            raise errors.StillBusy(service='Nova', reason=why)
    connection.execute('DELETE FROM aggregate_hosts WHERE aggregate_id = ? AND host = ?',
                       (aggregate_id, host))


def delete(connection, aggregate_id):
    """Delete an aggregate without hosts. Do nothing if it does not exist."""
    row = connection.execute('SELECT 1 FROM aggregate_hosts WHERE aggregate_id = ?',
                             (aggregate_id,)).fetchone()
    if row is not None:
        raise errors.CloudError(service='Nova', reason=(
            f'Cannot remove host from aggregate {aggregate_id}. Reason: Host aggregate is not '
            f'empty.'))
    connection.execute('DELETE FROM aggregate_metadata WHERE aggregate_id = ?', (aggregate_id,))
    connection.execute('DELETE FROM aggregates WHERE id = ?', (aggregate_id,))


def _row(connection, aggregate_id):
    row = connection.execute('SELECT * FROM aggregates WHERE id = ?', (aggregate_id,)).fetchone()
    if row is None:
        raise errors.CloudError(service='Nova',
                                reason=f'Aggregate {aggregate_id} could not be found.')
    return row


def _has(connection, aggregate_id, host):
    return connection.execute(
        'SELECT 1 FROM aggregate_hosts WHERE aggregate_id = ? AND host = ?',
        (aggregate_id, host)).fetchone() is not None


def _select(connection, query, *values):
    """Return the Aggregates that the query finds, in its order."""
    rows = connection.execute(query, values).fetchall()
    ids = json.dumps([row['id'] for row in rows])
    members, metadata = {}, {}
    for row in connection.execute(
            'SELECT * FROM aggregate_hosts WHERE aggregate_id IN '
            '(SELECT value FROM json_each(?)) ORDER BY host', (ids,)):
        members.setdefault(row['aggregate_id'], []).append(row['host'])
    for row in connection.execute(
            'SELECT * FROM aggregate_metadata WHERE aggregate_id IN '
            '(SELECT value FROM json_each(?))', (ids,)):
        metadata.setdefault(row['aggregate_id'], {})[row['name']] = row['value']
    return [models.Aggregate(id=row['id'], name=row['name'], zone=row['zone'],
                             hosts=tuple(members.get(row['id'], ())),
                             metadata=metadata.get(row['id'], {}))
            for row in rows]


def _why_no_new_zone(connection, host):
    """Return why the zone of a host cannot change; None if it can."""
    count = len(server_rows.on(connection, [host]))
    return (f'The availability zone of the host would change, but the host already has {count} '
            'instance(s).') if count else None
