# SPDX-License-Identifier: Apache-2.0
"""The servers of other projects that use a lease by a share, when the share is withdrawn."""
from climate import errors
from climate.domain import texts
from climate.plugins.compute import server_history

_STOP = 'stop server'
_RUNS = 'ACTIVE'


def of_project(servers, project_id):
    """Return the Servers of a project."""
    return [server for server in servers if server.project_id == project_id]


def clear(cloud, lease, reservation, servers, deletes):
    """Delete or stop the Servers of a former guest; the history of the lease announces it first.

    A server that does not run is not stopped.

    :raises StillBusy: some servers are not deleted or stopped yet.
    """
    left = servers if deletes else [server for server in servers if server.status == _RUNS]
    if not left:
        return
    cloud.announce(server_history.DELETE if deletes else _STOP, server_history.servers(
        [server for server in left if server.task is None], lease.project_id))
    services = cloud.as_service()
    for server in left:
        if deletes:
            services.nova.delete_server(server.id)
        elif server.task is None:
            services.servers.stop(server.id)
    raise errors.StillBusy(service='Nova', has_own_limit=True, reason=texts.counted(
        len(left), f'server of a former guest of reservation {reservation.id} is being removed.',
        f'servers of a former guest of reservation {reservation.id} are being removed.'))
