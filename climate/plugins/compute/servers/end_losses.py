# SPDX-License-Identifier: Apache-2.0
"""The leased server, if the end of its reservation deletes or stops it."""
from climate import errors
from climate.domain import losses
from climate.plugins.compute.servers import nova_server

# {value of `on_end`: the fate of the server}. A moved server keeps running.
_FATES = {'delete': losses.DELETED, 'snapshot': losses.DELETED, 'suspend': losses.SUSPENDED,
          'shelve': losses.SHELVED}
# {fate: the statuses of a server that Climate then leaves as it is}.
_AT_REST = {losses.SUSPENDED: ('SHUTOFF', 'SUSPENDED', nova_server.OFFLOADED),
            losses.SHELVED: (nova_server.SHELVED, nova_server.OFFLOADED)}


def lost(cloud, lease, reservation):
    """Return the Loss of the server, if `end` would delete or stop it, in a list. Reads only."""
    fate = _FATES.get(reservation.request['on_end'])
    if fate is None or nova_server.id_of(reservation) is None:
        return []
    try:
        server = nova_server.NovaServer(cloud, lease, reservation, is_ending=True)
    except errors.TargetGone:
        return []
    if not server.was_handed_over or server.status in _AT_REST.get(fate, ()):
        return []
    return [losses.Loss('server', server.id, server.name, server.project_id, fate,
                        reservation.request['on_end'] == 'snapshot', server.host)]
