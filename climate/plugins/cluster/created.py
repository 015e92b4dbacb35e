# SPDX-License-Identifier: Apache-2.0
"""A cluster of a template, which is made at the start of a lease and deleted at its end."""
import datetime

from climate.domain import texts
from climate.plugins.cluster import nodes
from climate.plugins.cluster import parsing
from climate.plugins.cluster import quotas
from climate.plugins.compute import node_capacity

KEYS = (parsing.MASTERS, parsing.WORKERS)
NAME_PREFIX = 'reservation-'
DELETE = 'delete cluster'
# The key of a warning, with the moment at which the cluster was asked for.
_ASKED = 'asked for at '
# For so long an end waits for a cluster that was asked for and is not shown. Later an audit finds
# it.
_QUEUED_AT_END = datetime.timedelta(minutes=5)


def name_of(reservation_id):
    """Return the name of the cluster, or of the node group, of a reservation."""
    return NAME_PREFIX + reservation_id


def start(conf, cloud, lease, reservation, resources):
    """Make the cluster, or bring it to what the reservation has now; returns the binding."""
    clusters = cloud.as_user().clusters
    # First what is there: while Magnum changes it, nothing else can be done.
    cluster = _cluster(conf, cloud, clusters, lease, reservation)
    node_capacity.grant(conf, cloud, lease, reservation, resources,
                        reservation.request['flavors'])
    if cluster is None:
        _create(cloud, clusters, lease, reservation)
        raise nodes.busy(conf, cloud, 'the cluster is being created.')
    [group] = [each for each in clusters.groups(cluster.id)
               if each.is_default and each.role != 'master'] or [None]
    if group is None:
        raise nodes.busy(conf, cloud, f'cluster {cluster.id} has no workers yet.')
    nodes.fit(conf, cloud, reservation, resources, (cluster, group))
    node_capacity.take_back(conf, cloud, lease, reservation, resources)
    return {'cluster_id': cluster.id}


def end(conf, cloud, lease, reservation):
    """Delete the cluster.

    :raises StillBusy: it is being deleted; to be called again in a moment.
    """
    services = cloud.as_owner_or_service()
    found = services.clusters.named(name_of(reservation.id), lease.project_id)
    _delete(cloud, services.clusters, found)
    if found:
        raise nodes.busy(conf, cloud, texts.counted(
            len(found), 'cluster is being deleted.', 'clusters are being deleted.'))
    awaited = _queued(cloud, reservation, _QUEUED_AT_END)
    if awaited is not None:
        raise nodes.busy(conf, cloud, awaited)


def _cluster(conf, cloud, clusters, lease, reservation):
    """Return the whole Cluster of the reservation; None if it is to be created.

    :raises StillBusy: it is not ready yet.
    :raises CloudError: it failed, and is being deleted.
    """
    found = clusters.named(name_of(reservation.id), lease.project_id)
    if not found:
        awaited = _queued(cloud, reservation, nodes.limit(conf))
        if awaited is not None:
            raise nodes.busy(conf, cloud, awaited)
        return None
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


def _create(cloud, clusters, lease, reservation):
    request = reservation.request
    quotas.refuse_at_start(cloud, lease, reservation)
    cluster_id = clusters.create(name_of(reservation.id), {
        'cluster_template_id': request['cluster_template_id'],
        'node_count': len(reservation.allocated[parsing.WORKERS]),
        'master_count': len(reservation.allocated[parsing.MASTERS]),
        'flavor_id': node_capacity.flavor_id(reservation.id, parsing.WORKERS),
        'master_flavor_id': node_capacity.flavor_id(reservation.id, parsing.MASTERS),
        'labels': request['labels'], 'keypair': request['keypair']})
    if clusters.cluster(cluster_id) is None:
        # Written down, so that neither this manager nor the next one creates another one.
        cloud.warn(reservation, _ASKED + cloud.attempt.now.isoformat(), (
            f'Magnum accepted the creation of cluster {cluster_id} and did not show it at once, '
            'as when its conductor is down. Climate waits for it, and creates no other.'))


def _queued(cloud, reservation, limit):
    """Return in words that Magnum does not show yet what it accepted, or None.

    :param limit: after so long it may have lost the request.
    """
    for key, text in reservation.binding.get('warnings', {}).items():
        asked = key.removeprefix(_ASKED)
        if asked != key and (
                cloud.attempt.now - datetime.datetime.fromisoformat(asked) < limit):
            return text
    return None


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
