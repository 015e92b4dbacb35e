# SPDX-License-Identifier: Apache-2.0
"""Magnum of the simulated cloud: its calls. ``conductor`` carries out the changes."""
import json
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import conductor
from climate.cloud.simulated import interface

_QUOTA = 20
_UNCHANGEABLE = ('CREATE_FAILED', 'CREATE_IN_PROGRESS', 'DELETE_IN_PROGRESS', 'DELETE_FAILED')


class SimulatedClusters(interface.SimulatedInterface, base.Clusters):
    """Magnum under one identity.

    The additional methods are for demonstrations and tests.
    """

    def __init__(self, connection):
        super().__init__(connection)
        self._conductor = conductor.Conductor(connection.lifecycle)

    def template(self, template_id, project_id):
        def work(connection):
            rows = connection.execute(
                'SELECT * FROM cluster_templates WHERE ? IN (id, name) AND (public OR '
                'project_id = ?) ORDER BY id != ?', (template_id, project_id, template_id)
            ).fetchall()
            if not rows:
                return None
            if len(rows) > 1 and rows[0]['id'] != template_id:
                raise errors.BadField(field='cluster_template_id', reason=(
                    f'several cluster templates are called "{template_id}": give the id of '
                    'one.'))
            return models.ClusterTemplate(**{name: rows[0][name] for name in (
                'id', 'name', 'flavor_id', 'master_flavor_id')})
        return self._admin_call('template', work)

    def cluster(self, cluster_id):
        def work(connection, project_id):
            row = conductor.find(connection, cluster_id, project_id)
            return None if row is None else _cluster(row)
        return self._call('cluster', work)

    def named(self, name, project_id):
        return self._call('clusters', lambda connection, caller: [
            _cluster(row) for row in connection.execute(
                'SELECT * FROM clusters WHERE name = ? AND project_id = ? AND status != ? '
                'ORDER BY rowid', (name, project_id, conductor.QUEUED))
            if caller in (None, row['project_id'])])

    def names(self):
        return self._call('clusters', lambda connection, project_id: {
            row['id']: row['name'] for row in connection.execute(
                'SELECT * FROM clusters WHERE status != ? ORDER BY rowid',
                (conductor.QUEUED,))
            if project_id in (None, row['project_id'])})

    def create(self, name, fields):
        def work(connection, project_id):
            used, most = _quota(connection, project_id)
            if used >= most:
                raise _refused(f'You have reached the maximum clusters per project, {most}.')
            return conductor.create(connection, name, project_id, fields, self._conductor.due)
        return self._call('create_cluster', work)

    def resize(self, cluster_id, group_id, node_count, remove=()):
        def work(connection, project_id):
            # An administrator does not find the cluster of another project here.
            row = None if project_id is None else conductor.find(
                connection, cluster_id, project_id)
            if row is None:
                raise _refused(f'Cluster {cluster_id} could not be found.')
            if row['status'] in _UNCHANGEABLE:
                return  # Accepted; only the log of the conductor shows the refusal.
            connection.execute(
                'UPDATE node_groups SET node_count = ?, remove = ? WHERE id = ?',
                (node_count, json.dumps(list(remove)), group_id))
            conductor.begin(connection, cluster_id, 'UPDATE', self._conductor.due)
        self._call('resize_cluster', work)

    def delete(self, cluster_id):
        def work(connection, project_id):
            if conductor.find(connection, cluster_id, project_id) is not None:
                conductor.begin(connection, cluster_id, 'DELETE', self._conductor.due)
        self._call('delete_cluster', work)

    def groups(self, cluster_id):
        def work(connection, project_id):
            if conductor.find(connection, cluster_id, project_id) is None:
                return []
            return [_group(row) for row in conductor.groups(connection, cluster_id)]
        return self._call('node_groups', work)

    def create_group(self, cluster_id, name, node_count, flavor_id):
        def work(connection, project_id):
            row = conductor.find(connection, cluster_id, project_id)
            if row is None:
                raise _refused(f'Cluster {cluster_id} could not be found.')
            if not row['api_address']:
                raise errors.StillBusy(service='Magnum', reason=(
                    'Cluster API address is not available yet.'))
            if name in {group['name'] for group in conductor.groups(connection, cluster_id)}:
                return
            if row['status'] in _UNCHANGEABLE:
                return
            conductor.add_group(connection, cluster_id, name, 'worker', node_count, flavor_id,
                                default=False)
            conductor.begin(connection, cluster_id, 'UPDATE', self._conductor.due)
        self._call('create_node_group', work)

    def delete_group(self, cluster_id, group_id):
        def work(connection, project_id):
            # An administrator does not find the cluster of another project here, either.
            if project_id is None or (
                    conductor.find(connection, cluster_id, project_id) is None):
                return
            for row in conductor.groups(connection, cluster_id):
                if row['id'] == group_id:
                    if row['is_default']:
                        raise _refused('Deleting a default nodegroup is not supported.')
                    connection.execute("UPDATE node_groups SET status = 'DELETE_IN_PROGRESS' "
                                       'WHERE id = ?', (group_id,))
                    conductor.begin(connection, cluster_id, 'UPDATE', self._conductor.due)
        self._call('delete_node_group', work)

    def quota(self, project_id):
        return self._admin_call('quota', lambda connection: _quota(connection, project_id))

    def add_template(self, name, project_id=None, flavor_id='2', master_flavor_id='2'):
        """Add a template, public if no project is given; return its id."""
        def work(connection, _project_id):
            template_id = str(uuid.uuid4())
            connection.execute('INSERT INTO cluster_templates VALUES (?, ?, ?, ?, ?, ?)', (
                template_id, name, project_id, project_id is None, flavor_id, master_flavor_id))
            return template_id
        return self._call('create_template', work)

    def set_quota(self, project_id, most):
        """Set how many clusters a project may have."""
        self._call('set_quota', lambda connection, _: connection.execute(
            'INSERT OR REPLACE INTO cluster_quotas VALUES (?, ?)', (project_id, most)))

    def spoil(self, change, times, reason='it was spoiled'):
        """Make the next `times` changes of clusters fail after Magnum accepted them.

        :param change: CREATE, UPDATE or DELETE.
        """
        self._call('spoil', lambda connection, _: connection.execute(
            'INSERT OR REPLACE INTO cluster_faults VALUES (?, ?, ?)', (change, times, reason)))

    def queue(self, seconds):
        """Stop the conductor for some seconds: new clusters are shown only after that."""
        self._call('queue', lambda connection, _: connection.execute(
            'INSERT OR REPLACE INTO cluster_faults VALUES (?, ?, ?)',
            (conductor.QUEUED, self._conductor.now + seconds, '')))

    def _settle(self, connection):
        self._conductor.settle(connection)


def _quota(connection, project_id):
    used = connection.execute('SELECT count(*) FROM clusters WHERE project_id = ?',
                              (project_id,)).fetchone()[0]
    row = connection.execute('SELECT most FROM cluster_quotas WHERE project_id = ?',
                             (project_id,)).fetchone()
    return used, _QUOTA if row is None else row['most']


def _refused(reason):
    return errors.CloudError(service='Magnum', reason=reason)


def _cluster(row):
    return models.Cluster(**{name: row[name] for name in (
        'id', 'name', 'project_id', 'status', 'reason', 'flavor_id')})


def _group(row):
    return models.NodeGroup(**{name: row[name] for name in (
        'id', 'name', 'status', 'reason', 'role', 'node_count')},
        is_default=bool(row['is_default']))


class SimulatedMagnumAdapter(base.MagnumAdapter):
    """Magnum of the simulated cloud."""

    interfaces = {'clusters': SimulatedClusters}
    tables = conductor.TABLES
