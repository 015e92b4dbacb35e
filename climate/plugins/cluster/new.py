# SPDX-License-Identifier: Apache-2.0
"""A new cluster, which is created at the start of a lease and deleted at its end."""
import datetime

from climate.domain import losses
from climate.domain import texts
from climate.plugins.cluster import nodes
from climate.plugins.cluster import parsing
from climate.plugins.cluster import quotas
from climate.plugins.compute import capacity

_DELETE = 'delete cluster'
# The prefix of the key of a warning; the time at which Magnum accepted the creation follows.
_ACCEPTED = 'asked for at '
# How long an end waits for a cluster that Magnum accepted and does not show yet. If the cluster
# appears later, an audit reports it.
_QUEUED_AT_END = datetime.timedelta(minutes=5)


class NewCluster(nodes.NodesPlugin):
    """The form of virtual:cluster that leases a new cluster."""

    keys = (parsing.MASTERS, parsing.WORKERS)

    def needs_owner(self, request):
        return 'cluster_template_id', 'the cluster is created in your project, with your rights'

    def start(self, cloud, lease, reservation, resources):
        """Create the cluster, or resize it to the present slots; return the binding."""
        clusters = cloud.as_user().clusters
        # Do this first, because it raises StillBusy while Magnum changes the cluster.
        cluster = self._cluster(cloud, clusters, lease, reservation)
        own_capacity, aggregate = self.grant(cloud, lease, reservation, resources)
        if cluster is None:
            _create(cloud, clusters, lease, reservation)
            raise nodes.busy(self.conf, cloud, 'the cluster is being created.')
        group = next((group for group in clusters.groups(cluster.id)
                      if group.is_default and group.role != 'master'), None)
        if group is None:
            raise nodes.busy(self.conf, cloud, f'cluster {cluster.id} has no workers yet.')
        nodes.fit(own_capacity, cluster, group)
        own_capacity.reclaim(aggregate)
        return {'cluster_id': cluster.id, 'aggregate_id': aggregate.id}

    def end(self, cloud, lease, reservation, resources):
        """Delete the cluster and its nodes."""
        services = cloud.as_owner_or_service()
        clusters = services.clusters.named(nodes.name_of(reservation.id), lease.project_id)
        _delete(cloud, services.clusters, clusters)
        if clusters:
            raise nodes.busy(self.conf, cloud, texts.counted(
                len(clusters), 'cluster is being deleted.', 'clusters are being deleted.'))
        queued = _queued(cloud, reservation, _QUEUED_AT_END)
        if queued is not None:
            raise nodes.busy(self.conf, cloud, queued)
        super().end(cloud, lease, reservation, resources)

    def lost_at_end(self, cloud, lease, reservation, resources):
        clusters = cloud.as_service().clusters.named(
            nodes.name_of(reservation.id), lease.project_id)
        return [*(losses.Loss('cluster', each.id, each.name, each.project_id)
                  for each in clusters),
                *super().lost_at_end(cloud, lease, reservation, resources)]

    @classmethod
    def fields(cls, reservation):
        return {**super().fields(reservation),
                'master_flavor_id': capacity.flavor_id(reservation.id, parsing.MASTERS)}

    def _cluster(self, cloud, clusters, lease, reservation):
        """Return the Cluster of the reservation; None if it must be created.

        :raises StillBusy: the cluster is not ready yet.
        :raises CloudError: the creation failed, and the cluster is being deleted.
        """
        own_clusters = clusters.named(nodes.name_of(reservation.id), lease.project_id)
        if not own_clusters:
            queued = _queued(cloud, reservation, nodes.limit(self.conf))
            if queued is not None:
                raise nodes.busy(self.conf, cloud, queued)
            return None
        first, *others = own_clusters
        if others:
            # Magnum showed the first cluster too late, and another one was created.
            _delete(cloud, clusters, others)
        if first.status in ('CREATE_FAILED', 'DELETE_FAILED'):
            clusters.delete(first.id)
            raise nodes.failed(first, f'Cluster {first.id}')
        nodes.wait(self.conf, cloud, first)
        if others:
            raise nodes.busy(self.conf, cloud, f'{len(others)} duplicates are being deleted.')
        return first


def _create(cloud, clusters, lease, reservation):
    request = reservation.request
    quotas.refuse_at_start(cloud, lease, reservation)
    cluster_id = clusters.create(nodes.name_of(reservation.id), {
        'cluster_template_id': request['cluster_template_id'],
        'node_count': len(reservation.allocated[parsing.WORKERS]),
        'master_count': len(reservation.allocated[parsing.MASTERS]),
        'flavor_id': capacity.flavor_id(reservation.id, parsing.WORKERS),
        'master_flavor_id': capacity.flavor_id(reservation.id, parsing.MASTERS),
        'labels': request['labels'], 'keypair': request['keypair']})
    if clusters.cluster(cluster_id) is None:
        # The stored warning keeps all managers from creating another cluster.
        cloud.warn(reservation, _ACCEPTED + cloud.attempt.now.isoformat(), (
            f'Magnum accepted the creation of cluster {cluster_id}, but does not show the cluster '
            'yet; its conductor may be down. Climate waits, and creates no other cluster.'))


def _queued(cloud, reservation, limit):
    """Return the warning that Magnum accepted a cluster and does not show it yet, or None.

    :param limit: the duration after which Magnum may have lost the request.
    """
    for key, text in reservation.binding.get('warnings', {}).items():
        accepted_at = key.removeprefix(_ACCEPTED)
        if accepted_at != key and (
                cloud.attempt.now - datetime.datetime.fromisoformat(accepted_at) < limit):
            return text
    return None


def _delete(cloud, clusters, own_clusters):
    """Begin to delete these Clusters.

    :raises CloudError: Magnum failed to delete one of them; this call began its deletion again.
    """
    begun = [cluster for cluster in own_clusters if not cluster.status.startswith('DELETE_')]
    cloud.announce(_DELETE, {cluster.id: f'{cluster.name} ({cluster.id})' for cluster in begun})
    failed = [cluster for cluster in own_clusters if cluster.status == 'DELETE_FAILED']
    for cluster in (*begun, *failed):
        clusters.delete(cluster.id)
    for cluster in failed:
        raise nodes.failed(cluster, f'Cluster {cluster.id}')
