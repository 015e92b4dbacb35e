# SPDX-License-Identifier: Apache-2.0
"""The workers of a reservation: as many as it has slots, each on a host where it has one.

A state machine without stored state: each call looks at the group once, begins at most one change
and raises StillBusy. So it does not matter after which call a manager died.
"""
import datetime

from oslo_log import log

from climate import errors
from climate.plugins.cluster import parsing
from climate.plugins.compute import node_capacity

LOG = log.getLogger(__name__)

_RUNS = '_IN_PROGRESS'
_FAILED = '_FAILED'


def wait(conf, cloud, cluster):
    """Raise StillBusy while Magnum changes a Cluster."""
    if cluster.status.endswith(_RUNS):
        raise busy(conf, cloud, f'cluster {cluster.id} is {cluster.status}.')


def limit(conf):
    """Return how long Climate waits for Magnum."""
    return datetime.timedelta(minutes=conf['virtual:cluster'].wait_minutes)


def busy(conf, cloud, reason):
    """Return the error for something that Magnum has not done yet.

    A cluster takes longer than most things of the cloud, so its limit is an option of the type.
    """
    attempt = cloud.attempt
    if attempt is not None and attempt.now - attempt.since >= limit(conf):
        return errors.CloudError.plain('Magnum', (
            f'{reason} That takes longer than {conf["virtual:cluster"].wait_minutes} minutes; its '
            'conductor may be down.'))
    return errors.StillBusy.plain('Magnum', reason, has_own_limit=True, takes_minutes=True)


def failed(thing, what):
    """Return the error for a change that failed.

    Its owner reads the reason: Magnum shows it to the owner of the cluster, too.

    :param thing: a Cluster or a NodeGroup.
    :param what: the thing, in words.
    """
    return errors.CloudError.plain('Magnum', f'{what} is {thing.status}: {thing.reason}')


def fit(conf, cloud, reservation, resources, found):
    """Bring a group of workers to the slots of the reservation.

    :param found: (the Cluster as it is now, the NodeGroup of the reservation in it).
    :raises StillBusy: Magnum still changes it.
    :raises CloudError: a change failed; it was begun again.
    """
    cluster, group = found
    wait(conf, cloud, cluster)
    wanted = len(reservation.allocated[parsing.WORKERS])
    kept, lost = node_capacity.excess(cloud, reservation, resources, parsing.WORKERS)
    target, remove = wanted, []
    if lost and group.node_count > len(kept):
        # First those go that have no slot any more. Then come new ones, where slots are free.
        target, remove = len(kept), [each.id for each in lost]
    is_failed = _FAILED in cluster.status or _FAILED in group.status
    if group.node_count == target and not (is_failed and len(kept) + len(lost) < wanted):
        return
    cloud.as_user().clusters.resize(cluster.id, group.id, target, remove)
    LOG.info('Reservation %s: cluster %s gets %d workers instead of %d', reservation.id,
             cluster.id, target, group.node_count)
    if is_failed:
        raise failed(group if _FAILED in group.status else cluster, f'Cluster {cluster.id}')
    raise busy(conf, cloud, f'cluster {cluster.id} is being resized.')
