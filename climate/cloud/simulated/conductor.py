# SPDX-License-Identifier: Apache-2.0
"""The conductor of the simulated Magnum, which carries out the changes of clusters.

A new cluster whose row has the status QUEUED is not shown yet: Magnum's API has only sent a message
to the conductor.
"""
import json
import uuid

from climate.cloud import models
from climate.cloud.simulated import flavors
from climate.cloud.simulated import server_rows

TABLES = (
    """CREATE TABLE IF NOT EXISTS cluster_templates (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, project_id TEXT, public INTEGER NOT NULL,
        flavor_id TEXT, master_flavor_id TEXT)""",
    'INSERT OR IGNORE INTO cluster_templates VALUES '
    "('kubernetes', 'kubernetes', NULL, 1, '2', '3')",
    """CREATE TABLE IF NOT EXISTS clusters (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, project_id TEXT NOT NULL, status TEXT NOT NULL,
        reason TEXT NOT NULL, flavor_id TEXT NOT NULL, labels TEXT NOT NULL,
        api_address TEXT, due REAL)""",
    """CREATE TABLE IF NOT EXISTS node_groups (
        id TEXT PRIMARY KEY, cluster_id TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL,
        node_count INTEGER NOT NULL, flavor_id TEXT NOT NULL, is_default INTEGER NOT NULL,
        status TEXT NOT NULL, reason TEXT NOT NULL, remove TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS cluster_nodes (
        server_id TEXT PRIMARY KEY, group_id TEXT NOT NULL)""",
    'CREATE TABLE IF NOT EXISTS cluster_quotas (project_id TEXT PRIMARY KEY, most INTEGER)',
    """CREATE TABLE IF NOT EXISTS cluster_faults (
        change TEXT PRIMARY KEY, times INTEGER NOT NULL, reason TEXT NOT NULL)""",
)

QUEUED = 'QUEUED'


def find(connection, cluster_id, project_id):
    """Return the row of a cluster, or None; clusters of other projects are not found."""
    row = connection.execute('SELECT * FROM clusters WHERE id = ? AND status != ?',
                             (cluster_id, QUEUED)).fetchone()
    return row if row is not None and project_id in (None, row['project_id']) else None


def groups(connection, cluster_id):
    """Return the rows of the node groups of a cluster, oldest first."""
    return connection.execute('SELECT * FROM node_groups WHERE cluster_id = ? ORDER BY rowid',
                              (cluster_id,)).fetchall()


def create(connection, name, project_id, fields, due):
    """Begin to create a cluster; return its id."""
    cluster_id = str(uuid.uuid4())
    down = connection.execute('SELECT times FROM cluster_faults WHERE change = ?',
                              (QUEUED,)).fetchone()
    connection.execute('INSERT INTO clusters VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)', (
        cluster_id, name, project_id or 'service',
        'CREATE_IN_PROGRESS' if down is None else QUEUED, '', fields['flavor_id'],
        json.dumps(fields.get('labels') or {}), due if down is None else down['times']))
    add_group(connection, cluster_id, 'default-master', 'master', fields['master_count'],
              fields['master_flavor_id'])
    add_group(connection, cluster_id, 'default-worker', 'worker', fields['node_count'],
              fields['flavor_id'])
    return cluster_id


def add_group(connection, cluster_id, name, role, node_count, flavor_id, default=True):
    """Add a node group, whose nodes are created when the change of its cluster is due."""
    connection.execute('INSERT INTO node_groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', (
        str(uuid.uuid4()), cluster_id, name, role, node_count, flavor_id, default,
        'CREATE_IN_PROGRESS', '', '[]'))


def begin(connection, cluster_id, change, due):
    """Begin a change of a cluster: CREATE, UPDATE or DELETE."""
    connection.execute('UPDATE clusters SET status = ?, due = ? WHERE id = ?',
                       (f'{change}_IN_PROGRESS', due, cluster_id))


class Conductor:
    """Carries out the changes of clusters.

    :param lifecycle: the Lifecycle of the servers.
    """

    def __init__(self, lifecycle):
        self._lifecycle = lifecycle

    @property
    def now(self):
        """Return the present time, in seconds since the epoch."""
        return self._lifecycle.now

    @property
    def due(self):
        """Return when a change that begins now is due, in seconds since the epoch."""
        return self._lifecycle.due_in(self._lifecycle.options.cluster_seconds)

    def settle(self, connection):
        """Carry out the changes that are due."""
        connection.execute('DELETE FROM cluster_faults WHERE change = ? AND times <= ?',
                           (QUEUED, self.now))
        for row in connection.execute('SELECT * FROM clusters WHERE due <= ? ORDER BY due',
                                      (self.now,)).fetchall():
            if row['status'] == QUEUED:
                begin(connection, row['id'], 'CREATE', self.due)
                continue
            change = row['status'].partition('_')[0]
            connection.execute('UPDATE clusters SET due = NULL WHERE id = ?', (row['id'],))
            reason = _fault(connection, row, change) or (
                self._delete(connection, row) if change == 'DELETE' else
                self._fit_all(connection, row))
            connection.execute(
                'UPDATE clusters SET status = ?, reason = ?, api_address = coalesce(?, '
                'api_address) WHERE id = ?', (
                    f'{change}_{"FAILED" if reason else "COMPLETE"}', reason or '',
                    None if reason else 'https://10.0.0.2:6443', row['id']))

    def _delete(self, connection, row):
        for group in groups(connection, row['id']):
            self._drop(connection, group)
        connection.execute('DELETE FROM clusters WHERE id = ?', (row['id'],))

    def _drop(self, connection, group):
        for server in _nodes(connection, group):
            self._remove(connection, server)
        # Nodes that were deleted in Nova have no server, but still a row.
        connection.execute('DELETE FROM cluster_nodes WHERE group_id = ?', (group['id'],))
        connection.execute('DELETE FROM node_groups WHERE id = ?', (group['id'],))

    def _fit_all(self, connection, row):
        """Give each group its nodes; return why that failed, or None."""
        failed = None
        for group in groups(connection, row['id']):
            if group['status'] == 'DELETE_IN_PROGRESS':
                self._drop(connection, group)
                continue
            reason = self._fit(connection, row, group)
            done = 'CREATE' if group['status'].startswith('CREATE') else 'UPDATE'
            connection.execute(
                "UPDATE node_groups SET status = ?, reason = ?, remove = '[]' WHERE id = ?", (
                    f'{done}_{"FAILED" if reason else "COMPLETE"}', reason or '', group['id']))
            failed = failed or reason
        return failed

    def _fit(self, connection, row, group):
        nodes = _nodes(connection, group)
        named = json.loads(group['remove'])
        removable = [node for node in nodes if node in named] + [
            node for node in reversed(nodes) if node not in named]
        for server in removable[:max(0, len(nodes) - group['node_count'])]:
            self._remove(connection, server)
        flavor = flavors.usable(connection, group['flavor_id'], row['project_id'])
        for _ in range(group['node_count'] - len(nodes)):
            if flavor is None:
                return f'Flavor {group["flavor_id"]} could not be found.'
            server = self._lifecycle.boot_anywhere(connection, models.Server(
                id='', name=f'{row["name"]}-{group["name"]}', host=None,
                project_id=row['project_id'], status='BUILD', flavor=flavor))
            if server is None:
                return 'No valid host was found. There are not enough hosts available.'
            connection.execute('INSERT INTO cluster_nodes VALUES (?, ?)',
                               (server.id, group['id']))
        return None

    def _remove(self, connection, server_id):
        connection.execute('DELETE FROM cluster_nodes WHERE server_id = ?', (server_id,))
        self._lifecycle.delete(connection, server_id, None)


def _nodes(connection, group):
    """Return the ids of the existing servers of a group, oldest first."""
    ids = [row['server_id'] for row in connection.execute(
        'SELECT server_id FROM cluster_nodes WHERE group_id = ? ORDER BY rowid', (group['id'],))]
    rows = [server_rows.find(connection, server_id) for server_id in ids]
    return [row['id'] for row in rows if row is not None and row['task'] != 'deleting']


def _fault(connection, row, change):
    """Return why this change fails, if a test or a label lets it fail; None otherwise."""
    label = json.loads(row['labels']).get('fail')
    if label and change == 'CREATE':
        return label
    fault = connection.execute('SELECT * FROM cluster_faults WHERE change = ?',
                               (change,)).fetchone()
    if fault is None:
        return None
    connection.execute('UPDATE cluster_faults SET times = times - 1 WHERE change = ?', (change,))
    connection.execute('DELETE FROM cluster_faults WHERE times < 1')
    return fault['reason']
