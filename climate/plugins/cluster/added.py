# SPDX-License-Identifier: Apache-2.0
"""Further nodes of an existing cluster, in a node group that belongs to the reservation."""
from climate import errors
from climate.plugins.cluster import created
from climate.plugins.cluster import nodes
from climate.plugins.cluster import parsing
from climate.plugins.cluster import quotas
from climate.plugins.compute import node_capacity

KEYS = (parsing.WORKERS,)
DELETE = 'delete node group'


def start(conf, cloud, lease, reservation, resources):
    """Add the node group, or bring it to what the reservation has now; returns the binding.

    :raises TargetGone: the cluster was deleted.
    """
    cluster_id = reservation.request['resource_id']
    clusters = cloud.as_user().clusters
    cluster = clusters.cluster(cluster_id)
    if cluster is None or cluster.status in ('DELETE_IN_PROGRESS', 'DELETE_COMPLETE'):
        raise errors.TargetGone(kind='cluster', target_id=cluster_id)
    nodes.wait(conf, cloud, cluster)
    node_capacity.grant(conf, cloud, lease, reservation, resources,
                        reservation.request['flavors'])
    group = _group(clusters, cluster_id, reservation.id)
    if group is None:
        if cluster.status.endswith('_FAILED'):
            # Magnum would accept the group and never make it.
            raise nodes.failed(cluster, f'Cluster {cluster_id}')
        quotas.refuse_at_start(cloud, lease, reservation)
        clusters.create_group(cluster_id, created.name_of(reservation.id),
                              len(reservation.allocated[parsing.WORKERS]),
                              node_capacity.flavor_id(reservation.id, parsing.WORKERS))
        raise nodes.busy(conf, cloud, 'the node group is being created.')
    if group.status in ('CREATE_FAILED', 'DELETE_FAILED'):
        clusters.delete_group(cluster_id, group.id)
        raise nodes.failed(group, f'Node group {group.id} of cluster {cluster_id}')
    if group.status.endswith('_IN_PROGRESS'):
        raise nodes.busy(conf, cloud, f'node group {group.id} is {group.status}.')
    nodes.fit(conf, cloud, reservation, resources, (cluster, group))
    node_capacity.take_back(conf, cloud, lease, reservation, resources)
    return {'cluster_id': cluster_id, 'node_group_id': group.id}


def end(conf, cloud, lease, reservation):
    """Delete the node group, unless the owner is gone; ``capacity_end`` deletes its nodes then.

    :raises StillBusy: it is being deleted; to be called again in a moment.
    """
    cluster_id = reservation.request['resource_id']
    clusters = cloud.as_owner_or_service().clusters
    group = _group(clusters, cluster_id, reservation.id)
    if group is not None and clusters.trust_id is None:
        # Magnum lets nobody outside the project delete a node group, not even an administrator.
        cloud.warn(reservation, 'node group', (
            f'Climate cannot act for the owner any more, so that node group {group.id} of cluster '
            f'{cluster_id} stays, without nodes. Delete it.'))
    elif group is not None:
        if group.status != 'DELETE_IN_PROGRESS':
            cloud.announce(DELETE, {group.id: f'{group.name} ({group.id})'})
            clusters.delete_group(cluster_id, group.id)
        if group.status == 'DELETE_FAILED':
            raise nodes.failed(group, f'Node group {group.id} of cluster {cluster_id}')
        raise nodes.busy(conf, cloud, f'node group {group.id} is being deleted.')


def _group(clusters, cluster_id, reservation_id):
    """Return the NodeGroup of the reservation, or None."""
    name = created.name_of(reservation_id)
    return next((each for each in clusters.groups(cluster_id) if each.name == name), None)
