# SPDX-License-Identifier: Apache-2.0
"""virtual:cluster, in two forms: a cluster of a template, or further nodes of a cluster."""
import dataclasses

from oslo_config import cfg

from climate.domain import extra_specs
from climate.plugins import base
from climate.plugins.cluster import added
from climate.plugins.cluster import audit
from climate.plugins.cluster import created
from climate.plugins.cluster import parsing
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_end
from climate.plugins.compute import host_pool
from climate.plugins.compute import node_capacity
from climate.plugins.compute import requirements

_CALLED = {parsing.MASTERS: 'master', parsing.WORKERS: 'worker'}


class ClusterPlugin(base.ResourcePlugin):
    """Leases capacity for the nodes of a cluster, and lets Magnum make them there."""

    resource_type = 'virtual:cluster'
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
                   help='Minutes that Climate waits for Magnum to create, change or delete a '
                        'cluster. A longer wait counts as a failure, which is tried again as '
                        'others are.'),
    )
    example = {'cluster_template_id': 'kubernetes', 'node_count': 2}

    @classmethod
    def asked(cls, request):
        return parsing.asked(request)

    def resolve(self, cloud, request, occasion):
        return parsing.resolve(cloud, request, occasion)

    def needs_owner(self, request):
        if parsing.is_new(request):
            return 'cluster_template_id', 'the cluster is created in your project, as you'
        return 'resource_id', 'the nodes are created in your project, as you'

    def schedules_in_start(self, reservation):
        return True

    def needs(self, request):
        counts = {parsing.MASTERS: request['master_count'], parsing.WORKERS: request['node_count']}
        return [self._need(request, key, counts[key]) for key in _keys(request)]

    @staticmethod
    def _need(request, key, count):
        flavor = request['flavors'][key]
        found = capacity.need({'amount': count}, requirements.units(flavor),
                              extra_specs.from_extra_specs(requirements.traits(flavor)),
                              f'{_CALLED[key]} of flavor {flavor["name"]}')
        return dataclasses.replace(found, key=key)

    def start(self, cloud, lease, reservation, resources):
        return {**_form(reservation).start(self.conf, cloud, lease, reservation, resources),
                'aggregate_id': cloud.as_service().nova.aggregate(reservation.id).id}

    def end(self, cloud, lease, reservation, resources):
        _form(reservation).end(self.conf, cloud, lease, reservation)
        capacity_end.end(self.conf, cloud, lease, reservation, {
            key: resources.get(key, ()) for key in _keys(reservation.request)})

    @classmethod
    def fields(cls, reservation):
        request = reservation.request
        own = {key: node_capacity.flavor_id(reservation.id, key) for key in _keys(request)}
        return {**parsing.asked(request), 'flavor_id': own[parsing.WORKERS],
                **({'master_flavor_id': own[parsing.MASTERS]} if parsing.is_new(request) else {}),
                'cluster_id': request['resource_id'], 'aggregate_id': None,
                **reservation.binding}

    def observe(self, cloud):
        return audit.observe(self.conf, cloud)

    def traces(self, observed):
        return audit.traces(self.conf, observed, self.resource_type)

    def lacks(self, observed, lease, reservation, resources):
        return audit.lacks(self.conf, observed, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        node_capacity.grant(self.conf, cloud, lease, reservation, resources,
                            reservation.request['flavors'])
        return dict(reservation.binding)

    def clear(self, cloud, made_for, resources):
        audit.clear(self.conf, cloud, made_for)


def _form(reservation):
    return created if parsing.is_new(reservation.request) else added


def _keys(request):
    return created.KEYS if parsing.is_new(request) else added.KEYS
