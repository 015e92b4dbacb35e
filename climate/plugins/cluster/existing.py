# SPDX-License-Identifier: Apache-2.0
"""Further nodes of an existing cluster, in a node group that belongs to the reservation."""
from climate import errors
from climate.domain import losses
from climate.plugins.cluster import nodes
from climate.plugins.cluster import parsing
from climate.plugins.cluster import quotas
from climate.plugins.compute import capacity

_DELETE = 'delete node group'


class FurtherNodes(nodes.NodesPlugin):
    """The form of virtual:cluster that leases further nodes of an existing cluster."""

    def needs_owner(self, request):
        return 'resource_id', 'the nodes are created in your project, with your rights'

    def start(self, cloud, lease, reservation, resources):
        """Create the node group, or resize it to the present slots; return the binding."""
        cluster_id = reservation.request['resource_id']
        clusters = cloud.as_user().clusters
        cluster = clusters.cluster(cluster_id)
        if cluster is None or cluster.status in ('DELETE_IN_PROGRESS', 'DELETE_COMPLETE'):
            raise errors.TargetGone(kind='cluster', target_id=cluster_id)
        nodes.wait(self.conf, cloud, cluster)
        own_capacity, aggregate = self.grant(cloud, lease, reservation, resources)
        group = _group(clusters, cluster_id, reservation.id)
        if group is None:
            if cluster.status.endswith('_FAILED'):
                # Magnum would accept a group for a failed cluster, but never create it.
                raise nodes.failed(cluster, f'Cluster {cluster_id}')
            quotas.refuse_at_start(cloud, lease, reservation)
            clusters.create_group(cluster_id, nodes.name_of(reservation.id),
                                  len(reservation.allocated[parsing.WORKERS]),
                                  capacity.flavor_id(reservation.id, parsing.WORKERS))
            raise nodes.busy(self.conf, cloud, 'the node group is being created.')
        if group.status in ('CREATE_FAILED', 'DELETE_FAILED'):
            clusters.delete_group(cluster_id, group.id)
            raise nodes.failed(group, f'Node group {group.id} of cluster {cluster_id}')
        if group.status.endswith('_IN_PROGRESS'):
            raise nodes.busy(self.conf, cloud, f'node group {group.id} is {group.status}.')
        nodes.fit(own_capacity, cluster, group)
        own_capacity.reclaim(aggregate)
        return {'cluster_id': cluster_id, 'node_group_id': group.id, 'aggregate_id': aggregate.id}

    def end(self, cloud, lease, reservation, resources):
        """Delete the node group and its nodes.

        If Climate cannot act for the owner, it deletes the nodes and warns that the group stays.
        """
        cluster_id = reservation.request['resource_id']
        clusters = cloud.as_owner_or_service().clusters
        group = _group(clusters, cluster_id, reservation.id)
        if group is not None and clusters.trust_id is None:
            # Magnum lets only members of the project delete a node group, and no administrator.
            cloud.warn(reservation, 'node group', (
                f'Climate cannot act for the owner any more, so that node group {group.id} of '
                f'cluster {cluster_id} stays, without nodes. Delete it.'))
        elif group is not None:
            if group.status != 'DELETE_IN_PROGRESS':
                cloud.announce(_DELETE, {group.id: f'{group.name} ({group.id})'})
                clusters.delete_group(cluster_id, group.id)
            if group.status == 'DELETE_FAILED':
                raise nodes.failed(group, f'Node group {group.id} of cluster {cluster_id}')
            raise nodes.busy(self.conf, cloud, f'node group {group.id} is being deleted.')
        super().end(cloud, lease, reservation, resources)

    def lost_at_end(self, cloud, lease, reservation, resources):
        group = _group(cloud.as_service().clusters, reservation.request['resource_id'],
                       reservation.id)
        groups = [] if group is None else [losses.Loss(
            'node group', group.id, group.name, lease.project_id)]
        return [*groups, *super().lost_at_end(cloud, lease, reservation, resources)]


def _group(clusters, cluster_id, reservation_id):
    """Return the NodeGroup of the reservation, or None."""
    name = nodes.name_of(reservation_id)
    return next((group for group in clusters.groups(cluster_id) if group.name == name), None)
