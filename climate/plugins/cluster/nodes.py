# SPDX-License-Identifier: Apache-2.0
"""The nodes of a reservation: one for each of its slots, on the host with that slot.

Each call reads the node group once, and raises StillBusy after it began a change. No progress is
stored, so a manager may be killed after any call.
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
from climate.plugins.compute import server_losses

LOG = log.getLogger(__name__)

TYPE = 'virtual:cluster'
NAME_PREFIX = 'reservation-'
_IN_PROGRESS = '_IN_PROGRESS'
_FAILED = '_FAILED'
_CALLED = {parsing.MASTERS: 'master', parsing.WORKERS: 'worker'}


class NodesPlugin(base.ResourcePlugin):
    """The base class of the forms of virtual:cluster: the capacity for the nodes.

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
        """Delete the servers that are nodes, and the objects of the capacity."""
        capacity_end.end(self.conf, cloud, lease, reservation, self._of_keys(resources))

    def lost_at_end(self, cloud, lease, reservation, resources):
        return server_losses.of_servers(capacity_end.servers(
            cloud.as_service(), reservation, self._of_keys(resources)))

    def lost_by_change(self, cloud, lease, reservation, resources):
        return server_losses.of_servers(capacity.Capacity(
            self.conf, cloud, lease, reservation, resources).surplus())

    def _of_keys(self, resources):
        """Return {need key: Resources} with every key of the needs."""
        return {key: resources.get(key, ()) for key in self.keys}

    def lacks(self, observed, lease, reservation, resources):
        cluster_id = reservation.binding.get('cluster_id')
        drifts = [] if cluster_id is None or cluster_id in observed.clusters else [audit.Drift(
            'incomplete', f'reservation {reservation.id}', f'its cluster {cluster_id} is gone')]
        return [*drifts, *capacity_audit.lacks(self.conf, observed.capacity, lease, reservation,
                                               resources)]

    def complete(self, cloud, lease, reservation, resources):
        self.grant(cloud, lease, reservation, resources)
        return dict(reservation.binding)

    def grant(self, cloud, lease, reservation, resources):
        """Grant the capacity; return (the Capacity, the aggregate before this call)."""
        own_capacity = capacity.Capacity(self.conf, cloud, lease, reservation, resources)
        aggregate = own_capacity.grant({
            key: requirements.sizes_and_specs(flavor)
            for key, flavor in reservation.request['flavors'].items()})
        own_capacity.allow(reservation.request['flavors'])
        return own_capacity, aggregate

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
    if cluster.status.endswith(_IN_PROGRESS):
        raise busy(conf, cloud, f'cluster {cluster.id} is {cluster.status}.')


def limit(conf):
    """Return how long Climate waits for Magnum, as a timedelta."""
    return datetime.timedelta(minutes=conf[TYPE].wait_minutes)


def busy(conf, cloud, reason):
    """Return the error for a change that Magnum has not finished yet.

    After wait_minutes, the error is a failure.
    """
    attempt = cloud.attempt
    if attempt is not None and attempt.exceeds(limit(conf).total_seconds()):
        return errors.CloudError.plain('Magnum', (
            f'{reason} That takes longer than {conf[TYPE].wait_minutes} minutes; the conductor '
            'of Magnum may be down.'))
    return errors.StillBusy.plain('Magnum', reason, has_own_limit=True, takes_minutes=True)


def failed(changed, what):
    """Return the error for a failed change of a Cluster or a NodeGroup.

    The owner may read the reason, because Magnum shows it to them, too.

    :param what: the cluster or the node group, in words.
    """
    return errors.CloudError.plain('Magnum', f'{what} is {changed.status}: {changed.reason}')


def fit(own_capacity, cluster, group):
    """Resize a node group to the slots of the reservation.

    :param own_capacity: the Capacity of the reservation.
    :param cluster: the Cluster as it is now.
    :param group: the NodeGroup of the reservation in the cluster.
    :raises StillBusy: Magnum is changing the cluster.
    :raises CloudError: the last change failed; this call began another one.
    """
    wait(own_capacity.conf, own_capacity.cloud, cluster)
    slots = len(own_capacity.reservation.allocated[parsing.WORKERS])
    kept, lost = own_capacity.excess(parsing.WORKERS)
    target, remove = slots, []
    if lost and group.node_count > len(kept):
        # First remove the nodes without a slot. The next call adds nodes in the free slots.
        target, remove = len(kept), [server.id for server in lost]
    is_failed = _FAILED in cluster.status or _FAILED in group.status
    if group.node_count == target and not (is_failed and len(kept) + len(lost) < slots):
        return
    own_capacity.cloud.as_user().clusters.resize(cluster.id, group.id, target, remove)
    LOG.info('Reservation %s: cluster %s gets %d workers instead of %d',
             own_capacity.reservation.id, cluster.id, target, group.node_count)
    if is_failed:
        raise failed(group if _FAILED in group.status else cluster, f'Cluster {cluster.id}')
    raise busy(own_capacity.conf, own_capacity.cloud, f'cluster {cluster.id} is being resized.')
