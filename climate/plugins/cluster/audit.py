# SPDX-License-Identifier: Apache-2.0
"""The audit of virtual:cluster: what reservations have in the cloud, and what they should."""
import dataclasses

from climate import errors
from climate.domain import audit
from climate.plugins.cluster import created
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import node_audit


@dataclasses.dataclass(frozen=True)
class Observed:
    """The observed state of the cloud.

    :ivar capacity: a ``capacity_audit.Observed``.
    :ivar clusters: {id: name}.
    """

    capacity: capacity_audit.Observed
    clusters: dict


def observe(conf, cloud):
    """Observe the cloud, as ``Audited.observe``."""
    return Observed(capacity_audit.observe(conf, cloud), cloud.as_service().clusters.names())


def traces(conf, observed, resource_type):
    """Return the Traces, as ``Audited.traces``."""
    return [*node_audit.traces(conf, observed.capacity, resource_type), *_clusters(observed)]


def lacks(conf, observed, lease, reservation, resources):
    """Return the Drifts of a reservation, as ``Audited.lacks``."""
    cluster_id = reservation.binding.get('cluster_id')
    gone = [] if cluster_id is None or cluster_id in observed.clusters else [audit.Drift(
        'incomplete', f'reservation {reservation.id}', f'its cluster {cluster_id} is gone')]
    return [*gone, *node_audit.lacks(conf, observed.capacity, lease, reservation, resources)]


def clear(conf, cloud, reservation_id):
    """Remove what an ended reservation left, unless its cluster or its servers still exist.

    :raises StillBusy: they do; nothing that they need was removed.
    """
    name = created.name_of(reservation_id)
    left = sorted(each for each, its_name in cloud.as_service().clusters.names().items()
                  if its_name == name)
    if left:
        # Whether somebody needs what runs there, only its owners know.
        raise errors.StillBusy.plain('Magnum', (
            f'an audit deletes no clusters, and these are there: {", ".join(left)}. Delete them.'))
    node_audit.clear(conf, cloud, reservation_id)


def _clusters(observed):
    for name in observed.clusters.values():
        reservation_id = name.removeprefix(created.NAME_PREFIX)
        if name != reservation_id and audit.is_id(reservation_id):
            yield audit.Trace(reservation_id, 'cluster', name)
