# SPDX-License-Identifier: Apache-2.0
"""The nodes of a reservation: one for each of its slots, on the host with that slot.

No state is stored: each call reads the node group once, begins at most one change and raises
StillBusy. So a manager can die after any call.
"""
import datetime

from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.domain import extra_specs
from climate.plugins import base
from climate.plugins.cluster import parsing
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import requirements

LOG = log.getLogger(__name__)

TYPE = 'virtual:cluster'
NAME_PREFIX = 'reservation-'
_RUNS = '_IN_PROGRESS'
_FAILED = '_FAILED'
_CALLED = {parsing.MASTERS: 'master', parsing.WORKERS: 'worker'}


class NodesPlugin(base.ResourcePlugin):
    """The base class of the forms of virtual:cluster: the capacity for their nodes.

    A subclass defines `keys`, the keys of its needs, and `start` and `end` of its nodes.
    """

    resource_type = TYPE
    keys = (parsing.WORKERS,)

    @classmethod
    def asked(cls, request):
        return parsing.asked(request)

    def schedules_in_start(self, reservation):
        return True

    def needs(self, request):
        counts = {parsing.MASTERS: request['master_count'], parsing.WORKERS: request['node_count']}
        return [capacity.need(
            {'amount': counts[key]}, requirements.units(request['flavors'][key]),
            extra_specs.from_extra_specs(requirements.traits(request['flavors'][key])),
            f'{_CALLED[key]} of flavor {request["flavors"][key]["name"]}', key)
            for key in self.keys]

    def end(self, cloud, lease, reservation, resources):
        """Delete the servers of the nodes, and the capacity."""
        capacity_end.end(self.conf, cloud, lease, reservation, {
            key: resources.get(key, ()) for key in self.keys})

    def lacks(self, observed, lease, reservation, resources):
        cluster_id = reservation.binding.get('cluster_id')
        gone = [] if cluster_id is None or cluster_id in observed.clusters else [audit.Drift(
            'incomplete', f'reservation {reservation.id}', f'its cluster {cluster_id} is gone')]
        return [*gone, *capacity_audit.lacks(self.conf, observed.capacity, lease, reservation,
                                             resources)]

    def complete(self, cloud, lease, reservation, resources):
        self.grant(cloud, lease, reservation, resources)
        return dict(reservation.binding)

    def grant(self, cloud, lease, reservation, resources):
        """Grant the capacity; return (the Capacity, the aggregate as it was before)."""
        own = capacity.Capacity(self.conf, cloud, lease, reservation, resources)
        aggregate = own.grant({key: requirements.sizes_and_specs(flavor)
                               for key, flavor in reservation.request['flavors'].items()})
        own.allow(reservation.request['flavors'])
        return own, aggregate

    @classmethod
    def fields(cls, reservation):
        request = reservation.request
        return {**parsing.asked(request),
                'flavor_id': capacity.flavor_id(reservation.id, parsing.WORKERS),
                'cluster_id': request['resource_id'], 'aggregate_id': None, **reservation.binding}


def name_of(reservation_id):
    """Return the name of the cluster, or of the node group, of a reservation."""
    return NAME_PREFIX + reservation_id


def wait(conf, cloud, cluster):
    """Raise StillBusy while Magnum changes a Cluster."""
    if cluster.status.endswith(_RUNS):
        raise busy(conf, cloud, f'cluster {cluster.id} is {cluster.status}.')


def limit(conf):
    """Return how long Climate waits for Magnum."""
    return datetime.timedelta(minutes=conf[TYPE].wait_minutes)


def busy(conf, cloud, reason):
    """Return the error for a change that Magnum has not finished yet.

    Clusters take longer than most objects of the cloud, so their limit is an option of the type.
    """
    attempt = cloud.attempt
    if attempt is not None and attempt.now - attempt.since >= limit(conf):
        return errors.CloudError.plain('Magnum', (
            f'{reason} That takes longer than {conf[TYPE].wait_minutes} minutes; its '
            'conductor may be down.'))
    return errors.StillBusy.plain('Magnum', reason, has_own_limit=True, takes_minutes=True)


def failed(thing, what):
    """Return the error for a change that failed.

    It has the reason, which Magnum shows to the owner of the cluster, too.

    :param thing: a Cluster or a NodeGroup.
    :param what: the thing, in words.
    """
    return errors.CloudError.plain('Magnum', f'{what} is {thing.status}: {thing.reason}')


def fit(own, cluster, group):
    """Resize a node group to the slots of the reservation.

    :param own: the Capacity of the reservation.
    :param cluster: the Cluster as it is now.
    :param group: the NodeGroup of the reservation in it.
    :raises StillBusy: Magnum still changes it.
    :raises CloudError: a change failed; it was begun again.
    """
    wait(own.conf, own.cloud, cluster)
    slots = len(own.reservation.allocated[parsing.WORKERS])
    kept, lost = own.excess(parsing.WORKERS)
    target, remove = slots, []
    if lost and group.node_count > len(kept):
        # First remove the nodes without a slot. The next call adds nodes on the free slots.
        target, remove = len(kept), [server.id for server in lost]
    is_failed = _FAILED in cluster.status or _FAILED in group.status
    if group.node_count == target and not (is_failed and len(kept) + len(lost) < slots):
        return
    own.cloud.as_user().clusters.resize(cluster.id, group.id, target, remove)
    LOG.info('Reservation %s: cluster %s gets %d workers instead of %d', own.reservation.id,
             cluster.id, target, group.node_count)
    if is_failed:
        raise failed(group if _FAILED in group.status else cluster, f'Cluster {cluster.id}')
    raise busy(own.conf, own.cloud, f'cluster {cluster.id} is being resized.')
