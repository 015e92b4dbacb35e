# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:network: a network on a segment reserved for the lease."""
import dataclasses

from oslo_config import cfg

from climate.domain import audit
from climate.domain import requirement
from climate.domain import selection
from climate.domain import use_sampling
from climate.plugins import audited
from climate.plugins import base
from climate.plugins.network import network_creation
from climate.plugins.network import network_removal
from climate.plugins.network import network_request
from climate.plugins.network import reservation_marks
from climate.plugins.network import segment_pool

#: The key of the only need.
NEED = 'segment'
# The prefix of the owner of ports that Neutron creates itself, for example for DHCP and routers.
_OF_NEUTRON = 'network:'


@dataclasses.dataclass(frozen=True)
class ObservedNetworks:
    """The observed state of Neutron: all SegmentNetworks and all Routers."""

    networks: tuple
    routers: tuple


class NetworkPlugin(base.ResourcePlugin):
    """Creates a network in the owner's project at the start, and deletes it at the end.

    The owner may change or delete the network and everything in it.
    """

    resource_type = network_removal.GROUP
    pools = (segment_pool.SegmentPool,)
    services = ('neutron', 'nova')
    measures_use = True
    schema = {
        'type': 'object',
        'properties': network_request.PROPERTIES,
        'additionalProperties': False,
    }
    example = {'subnet': '10.42.0.0/24', 'router': True,
               'external_network': '3f5b3a62-6d2e-4d8a-9d0c-6a8e0a1c7b11', 'on_end': 'delete'}
    options = (
        cfg.StrOpt('tag', default='climate',
                   help='Tag of the networks of leases, in addition to the tag "reservation:ID".'),
        cfg.StrOpt('on_end', default=network_request.DELETE, choices=list(network_request.ENDINGS),
                   help='Default of "on_end": what happens at the end of a lease to resources that '
                        'are still attached to its network, such as a port of a server. '
                        'delete: they are removed. wait: the lease does not end until somebody '
                        'has removed them.'),
        cfg.IntOpt('end_minutes', default=60, min=0,
                   help='How long the end of a lease may wait until its network can be deleted, in '
                        'minutes. After that the lease is in error until somebody removes the '
                        'attached resources and deletes the lease. 0: no limit.'),
    )

    def resolve(self, cloud, request, occasion):
        return network_request.resolve(self.conf[self.resource_type], cloud, request, occasion)

    def needs(self, request):
        criteria = requirement.parse(request['resource_properties'])
        if request['required_segment'] is not None:
            criteria = requirement.conjunction(
                requirement.Leaf('==', 'name', request['required_segment']), criteria)
        demand = selection.Demand(amount=selection.WHOLE, at_least=1, at_most=1,
                                  spread=selection.Spread.APART)
        return [base.Need(NEED, segment_pool.SegmentPool.name, demand, criteria)]

    def needs_owner(self, request):
        if request['subnet'] is not None:
            return 'subnet', 'Climate creates the subnet in your project, with your rights'
        return None

    def start(self, cloud, lease, reservation, resources):
        return self._create(cloud, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        return self._create(cloud, lease, reservation, resources, recreates=True)

    def end(self, cloud, lease, reservation, resources):
        self._remove(cloud, lease, reservation,
                     network_creation.networks_of(cloud, lease, reservation,
                                                  resources.get(NEED, ())),
                     network_creation.routers_of(cloud, lease, reservation))

    def lost_at_end(self, cloud, lease, reservation, resources):
        return self._removal(cloud, lease, reservation).lost(
            network_creation.networks_of(cloud, lease, reservation, resources.get(NEED, ())),
            network_creation.routers_of(cloud, lease, reservation))

    def lost_by_change(self, cloud, lease, reservation, resources):
        return self._removal(cloud, lease, reservation).lost(
            _elsewhere(network_creation.networks_of(cloud, lease, reservation, resources[NEED]),
                       segment_pool.parse('name', resources[NEED][0].name)), [])

    def use(self, cloud, parts):
        in_use = {port.network_id for port in cloud.as_service().network_parts.every_port()
                  if port.device_id and not port.owner.startswith(_OF_NEUTRON)}
        return {part.key: use_sampling.of_share(
            int(part.reservation.binding['network_id'] in in_use), 1)
                for part in parts if part.reservation.binding.get('network_id')}

    def observe(self, cloud):
        services = cloud.as_service()
        return ObservedNetworks(networks=tuple(services.segments.every()),
                                routers=tuple(services.network_parts.routers()))

    def traces(self, observed):
        # Not signed, because users can write these marks on their own networks and routers.
        on_segments = [each for each in observed.networks
                       if each.segment and each.segment[1] == segment_pool.VLAN]
        return [audit.Trace(made_for, kind, f'{each.name} ({each.id})')
                for kind, things in (('network', on_segments), ('router', observed.routers))
                for each in things for made_for in sorted(reservation_marks.of(each))]

    def lacks(self, observed, lease, reservation, resources):
        drifts, binding = [], reservation.binding
        for resource in resources.get(NEED, ()):
            segment = segment_pool.parse('name', resource.name)
            network = next((each for each in observed.networks if each.segment == segment), None)
            if network is None:
                drifts.append(audited.incomplete(
                    reservation, f'the network on segment {resource.name} is missing'))
            elif network.project_id != lease.project_id:
                drifts.append(audit.Drift('incomplete', f'reservation {reservation.id}', (
                    f'network {network.id} on its segment {resource.name} is of project '
                    f'{network.project_id}')))
            elif network.id != binding.get('network_id', network.id):
                drifts.append(audited.incomplete(reservation, (
                    f'the network on its segment {resource.name} was recreated as '
                    f'{network.id}')))
            elif binding.get('subnet_id') and binding['subnet_id'] not in network.subnet_ids:
                drifts.append(audited.incomplete(
                    reservation, f'subnet {binding["subnet_id"]} is missing'))
        routers = {router.id for router in observed.routers}
        if binding.get('router_id') and binding['router_id'] not in routers:
            drifts.append(audited.incomplete(
                reservation, f'router {binding["router_id"]} is missing'))
        return drifts

    def clear(self, cloud, made_for, resources):
        services = cloud.as_service()
        free = {segment_pool.parse('name', each.name) for each in resources
                if each.pool == segment_pool.SegmentPool.name}
        networks = [each for each in services.segments.every()
                    if each.segment in free and made_for in reservation_marks.of(each)]
        routers = [each for each in services.network_parts.routers()
                   if made_for in reservation_marks.of(each)]
        for project_id in sorted({each.project_id for each in (*networks, *routers)}):
            removal = network_removal.NetworkRemoval(cloud, project_id, keeps_attached=True)
            pending = removal.advance(
                [each for each in networks if each.project_id == project_id],
                [each for each in routers if each.project_id == project_id])
            if pending:
                raise network_removal.not_yet(self.conf, cloud, pending)

    @classmethod
    def fields(cls, reservation):
        binding = reservation.binding
        segment = binding.get('segment')
        physical, kind, number = (None,) * 3 if segment is None else segment_pool.parse(
            'segment', segment)
        return {**reservation.request, 'segment': segment, 'physical_network': physical,
                'network_type': kind, 'segmentation_id': number,
                **{name: binding.get(name) for name in ('network_id', 'subnet_id', 'router_id')}}

    def _create(self, cloud, lease, reservation, resources, recreates=False):
        [resource] = resources[NEED]
        segment = segment_pool.parse('name', resource.name)
        networks = network_creation.networks_of(cloud, lease, reservation, [resource])
        # An earlier attempt may have used a segment on which somebody else has a network now.
        self._remove(cloud, lease, reservation,
                     _elsewhere(networks, segment), [])
        network = next((each for each in networks if each.segment == segment), None)
        return network_creation.NetworkCreation(
            self.conf[self.resource_type].tag, cloud, lease, reservation, resource,
            network).create(recreates)

    def _remove(self, cloud, lease, reservation, networks, routers):
        pending = self._removal(cloud, lease, reservation).advance(networks, routers)
        if pending:
            raise network_removal.not_yet(self.conf, cloud, pending)

    @staticmethod
    def _removal(cloud, lease, reservation):
        keeps_attached = reservation.request['on_end'] == network_request.WAIT
        return network_removal.NetworkRemoval(cloud, lease.project_id, keeps_attached)


def _elsewhere(networks, segment):
    """Return the SegmentNetworks that are not on a segment."""
    return [network for network in networks if network.segment != segment]
