# SPDX-License-Identifier: Apache-2.0
"""A cluster of a template, which is made at the start of a lease and deleted at its end."""
from climate.plugins.cluster import nodes
from climate.plugins.cluster import parsing
from climate.plugins.cluster import quotas
from climate.plugins.compute import node_capacity

KEYS = (parsing.MASTERS, parsing.WORKERS)
NAME_PREFIX = 'reservation-'
DELETE = 'delete cluster'


def name_of(reservation_id):
    """Return the name of the cluster, or of the node group, of a reservation."""
    return NAME_PREFIX + reservation_id


def start(conf, cloud, lease, reservation, resources):
    """Make the cluster, or bring it to what the reservation has now; returns the binding."""
    node_capacity.grant(conf, cloud, lease, reservation, resources,
                        reservation.request['flavors'])
    cluster = _cluster(conf, cloud, lease, reservation)
    [group] = [each for each in cloud.as_user().clusters.groups(cluster.id)
               if each.is_default and each.role != 'master'] or [None]
    if group is None:
        raise nodes.busy(conf, cloud, f'cluster {cluster.id} has no workers yet.')
    nodes.fit(conf, cloud, reservation, resources, (cluster, group))
    node_capacity.take_back(conf, cloud, lease, reservation, resources)
    return {'cluster_id': cluster.id}


def end(conf, cloud, lease, reservation):
    """Delete the cluster, then all that is left of it.

    :raises StillBusy: it is being deleted; to be called again in a moment.
    """
    services = cloud.as_owner_or_service()
    found = services.clusters.named(name_of(reservation.id), lease.project_id)
    _delete(cloud, services.clusters, found)
    if found:
        raise nodes.busy(conf, cloud, f'{len(found)} clusters are being deleted.')
    node_capacity.end(cloud, lease, reservation, KEYS)


def _cluster(conf, cloud, lease, reservation):
    """Return the whole Cluster of the reservation; begin to create a missing one.

    :raises StillBusy: it is not ready yet.
    :raises CloudError: it failed, and is being deleted.
    """
    clusters = cloud.as_user().clusters
    found = clusters.named(name_of(reservation.id), lease.project_id)
    if not found:
        _create(cloud, lease, reservation)
        raise nodes.busy(conf, cloud, 'the cluster is being created.')
    first, *others = found
    if others:
        # Magnum did not show the first one for so long that another one was made.
        _delete(cloud, clusters, others)
    if first.status in ('CREATE_FAILED', 'DELETE_FAILED'):
        clusters.delete(first.id)
        raise nodes.failed(first, f'Cluster {first.id}')
    nodes.wait(conf, cloud, first)
    if others:
        raise nodes.busy(conf, cloud, f'{len(others)} doubled clusters are being deleted.')
    return first


def _create(cloud, lease, reservation):
    request, clusters = reservation.request, cloud.as_user().clusters
    quotas.refuse_at_start(cloud, lease, reservation)
    clusters.create(name_of(reservation.id), {
        'cluster_template_id': request['cluster_template_id'],
        'node_count': len(reservation.allocated[parsing.WORKERS]),
        'master_count': len(reservation.allocated[parsing.MASTERS]),
        'flavor_id': node_capacity.flavor_id(reservation.id, parsing.WORKERS),
        'master_flavor_id': node_capacity.flavor_id(reservation.id, parsing.MASTERS),
        'labels': request['labels'], 'keypair': request['keypair']})


def _delete(cloud, clusters, found):
    """Begin to delete these Clusters.

    :raises CloudError: Magnum failed to delete one; it was begun again.
    """
    begun = [each for each in found if not each.status.startswith('DELETE_')]
    cloud.announce(DELETE, {each.id: f'{each.name} ({each.id})' for each in begun})
    spoiled = [each for each in found if each.status == 'DELETE_FAILED']
    for each in (*begun, *spoiled):
        clusters.delete(each.id)
    for each in spoiled:
        raise nodes.failed(each, f'Cluster {each.id}')
