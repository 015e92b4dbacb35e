# SPDX-License-Identifier: Apache-2.0
"""The quotas of projects in the simulated Nova."""
from climate.cloud import models
from climate.cloud.simulated import servers


def of(connection, project_id):
    """Return {name: Quota} of a project; there is no limit unless one was set."""
    most = {row['name']: row['most'] for row in connection.execute(
        'SELECT * FROM quotas WHERE project_id = ?', (project_id,))}
    theirs = [servers.flavor(row) for row in connection.execute(
        'SELECT * FROM servers WHERE project_id = ?', (project_id,))]
    used = {'instances': len(theirs), 'cores': sum(each.vcpus for each in theirs if each),
            'ram': sum(each.ram for each in theirs if each)}
    return {name: models.Quota(most.get(name), count) for name, count in used.items()}


def limit(connection, project_id, name, most):
    """Set a quota of a project."""
    connection.execute('INSERT OR REPLACE INTO quotas VALUES (?, ?, ?)',
                       (project_id, name, most))
