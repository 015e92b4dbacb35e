# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:cluster, in two forms: a new cluster, or further nodes of an existing one."""
import dataclasses

from oslo_config import cfg

from climate import errors
from climate.domain import audit
from climate.plugins import forms
from climate.plugins.cluster import existing
from climate.plugins.cluster import new
from climate.plugins.cluster import nodes
from climate.plugins.cluster import parsing
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import host_pool


@dataclasses.dataclass(frozen=True)
class ObservedClusters:
    """The observed state of the cloud.

    :ivar capacity: an ObservedCapacity.
    :ivar clusters: {id: name}.
    """

    capacity: capacity_audit.ObservedCapacity
    clusters: dict


class ClusterPlugin(forms.SeveralForms):
    """Leases capacity of hosts on which Magnum creates the nodes of a cluster."""

    resource_type = nodes.TYPE
    form_classes = (new.NewCluster, existing.FurtherNodes)
    pools = (host_pool.HostPool,)
    services = ('nova', 'placement', 'magnum')
    ends_servers = True
    schema = {
        'type': 'object',
        'description': 'A new cluster (cluster_template_id), or further nodes of an existing one '
                       '(resource_id).',
        'properties': parsing.PROPERTIES,
        'required': ['node_count'],
        'additionalProperties': False,
    }
    options = (
        cfg.IntOpt('wait_minutes', default=60, min=1,
                   help='How long Climate waits for Magnum to create, change or delete a cluster, '
                        'in minutes. A longer wait counts as a failure, and Climate tries again '
                        'as after other failures.'),
    )
    example = {'cluster_template_id': 'kubernetes', 'node_count': 2}

    @classmethod
    def form(cls, request):
        return new.NewCluster if parsing.is_new(request) else existing.FurtherNodes

    def resolve(self, cloud, request, occasion):
        return parsing.resolve(cloud, request, occasion)

    def observe(self, cloud):
        return ObservedClusters(capacity_audit.observe(self.conf, cloud),
                                cloud.as_service().clusters.names())

    def traces(self, observed):
        clusters = []
        for name in observed.clusters.values():
            reservation_id = name.removeprefix(nodes.NAME_PREFIX)
            if name != reservation_id and audit.is_id(reservation_id):
                clusters.append(audit.Trace(reservation_id, 'cluster', name))
        return [*capacity_audit.traces(self.conf, observed.capacity, self.resource_type),
                *clusters]

    def clear(self, cloud, made_for, resources):
        name = nodes.name_of(made_for)
        clusters = sorted(cluster_id for cluster_id, cluster_name
                          in cloud.as_service().clusters.names().items() if cluster_name == name)
        if clusters:
            # Only the owners know whether somebody needs the cluster.
            raise errors.StillBusy.plain('Magnum', (
                f'an audit deletes no clusters, and these clusters exist: {", ".join(clusters)}. '
                'Delete them.'))
        capacity_end.clear(self.conf, cloud, made_for)
