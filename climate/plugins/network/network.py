# SPDX-License-Identifier: Apache-2.0
"""virtual:network, a network on a segment that nobody else can get meanwhile."""
import dataclasses

from oslo_config import cfg

from climate.domain import audit
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base
from climate.plugins.network import marks
from climate.plugins.network import network_clearing
from climate.plugins.network import network_made
from climate.plugins.network import network_request
from climate.plugins.network import segment_pool
from climate.plugins.network import use

#: The key of the only need.
NEED = 'segment'


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is compared: all SegmentNetworks and all Routers."""

    networks: tuple
    routers: tuple


class NetworkPlugin(base.ResourcePlugin):
    """A network in the owner's project: made at the start, deleted at the end.

    The owner may change or delete it, and what is in it.
    """

    resource_type = network_clearing.GROUP
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
                   help='Tag of the networks of leases. Each has the tag "reservation:ID", too.'),
        cfg.StrOpt('on_end', default=network_request.DELETE, choices=list(network_request.ENDINGS),
                   help='What happens at the end of a lease if something still hangs on its '
                        'network, such as a port of a server, and the lease does not say it. '
                        'delete: it is removed. wait: the lease is held back until somebody has '
                        'removed it.'),
        cfg.IntOpt('end_minutes', default=60, min=0,
                   help='How long the end of a lease may wait until its network can be deleted, in '
                        'minutes. After that the lease is in error until somebody removes what '
                        'hangs on the network and deletes the lease. 0: for ever.'),
    )

    def resolve(self, cloud, request, occasion):
        return network_request.resolve(self.conf[self.resource_type], cloud, request, occasion)

    def needs(self, request):
        wanted = requirement.parse(request['resource_properties'])
        if request['required_segment'] is not None:
            wanted = requirement.conjunction(
                requirement.Leaf('==', 'name', request['required_segment']), wanted)
        demand = selection.Demand(amount=selection.WHOLE, at_least=1, at_most=1,
                                  spread=selection.Spread.APART)
        return [base.Need(NEED, segment_pool.SegmentPool.name, demand, wanted)]

    def needs_owner(self, request):
        if request['subnet'] is not None:
            return 'subnet', 'the subnet is made in your project as you'
        return None

    def start(self, cloud, lease, reservation, resources):
        return self._make(cloud, lease, reservation, resources, anew=False)

    def complete(self, cloud, lease, reservation, resources):
        return self._make(cloud, lease, reservation, resources, anew=True)

    def end(self, cloud, lease, reservation, resources):
        self._remove(cloud, lease, reservation,
                     network_made.networks_of(cloud, lease, reservation,
                                              resources.get(NEED, ())),
                     network_made.routers_of(cloud, lease, reservation))

    def use(self, cloud, parts):
        return use.of_networks(cloud, parts)

    def observe(self, cloud):
        services = cloud.as_service()
        return Observed(networks=tuple(services.segments.every()),
                        routers=tuple(services.network_parts.routers()))

    def traces(self, observed):
        # Not signed: the owner of any network or router may write these marks.
        on_segments = [each for each in observed.networks
                       if each.segment and each.segment[1] == segment_pool.VLAN]
        return [audit.Trace(made_for, kind, f'{each.name} ({each.id})')
                for kind, found in (('network', on_segments), ('router', observed.routers))
                for each in found for made_for in sorted(marks.of(each))]

    def lacks(self, observed, lease, reservation, resources):
        found, binding = [], reservation.binding
        for resource in resources.get(NEED, ()):
            segment = segment_pool.parse('name', resource.name)
            there = next((each for each in observed.networks if each.segment == segment), None)
            if there is None:
                found.append(_missing(reservation, f'the network on segment {resource.name} is'))
            elif there.project_id != lease.project_id:
                found.append(audit.Drift(
                    'incomplete', f'reservation {reservation.id}', f'network {there.id} on its '
                    f'segment {resource.name} is of project {there.project_id}'))
            elif there.id != binding.get('network_id', there.id):
                found.append(audit.Drift(
                    'incomplete', f'reservation {reservation.id}', f'the network on its segment '
                    f'{resource.name} was recreated as {there.id}', audit.COMPLETE,
                    reservation.id))
            elif binding.get('subnet_id') and binding['subnet_id'] not in there.subnet_ids:
                found.append(_missing(reservation, f'subnet {binding["subnet_id"]} is'))
        routers = {each.id for each in observed.routers}
        if binding.get('router_id') and binding['router_id'] not in routers:
            found.append(_missing(reservation, f'router {binding["router_id"]} is'))
        return found

    def clear(self, cloud, made_for, resources):
        services = cloud.as_service()
        free = {segment_pool.parse('name', each.name) for each in resources
                if each.pool == segment_pool.SegmentPool.name}
        networks = [each for each in services.segments.every()
                    if each.segment in free and made_for in marks.of(each)]
        routers = [each for each in services.network_parts.routers()
                   if made_for in marks.of(each)]
        for project_id in sorted({each.project_id for each in (*networks, *routers)}):
            work = network_clearing.Clearing(cloud, project_id, keeps=True)
            pending = work.advance([each for each in networks if each.project_id == project_id],
                                   [each for each in routers if each.project_id == project_id])
            if pending:
                raise network_clearing.not_yet(self.conf, cloud, pending)

    @classmethod
    def fields(cls, reservation):
        binding = reservation.binding
        segment = binding.get('segment')
        physical, kind, number = (None,) * 3 if segment is None else segment_pool.parse(
            'segment', segment)
        return {**reservation.request, 'segment': segment, 'physical_network': physical,
                'network_type': kind, 'segmentation_id': number,
                **{name: binding.get(name) for name in ('network_id', 'subnet_id', 'router_id')}}

    def _make(self, cloud, lease, reservation, resources, anew):
        [segment] = resources[NEED]
        wanted = segment_pool.parse('name', segment.name)
        found = network_made.networks_of(cloud, lease, reservation, [segment])
        # An earlier try was on another segment, which an administrator took.
        self._remove(cloud, lease, reservation,
                     [each for each in found if each.segment != wanted], [])
        there = next((each for each in found if each.segment == wanted), None)
        return network_made.Making(self.conf[self.resource_type].tag, cloud, lease, reservation,
                                   segment, there).make(anew)

    def _remove(self, cloud, lease, reservation, networks, routers):
        keeps = reservation.request['on_end'] == network_request.WAIT
        pending = network_clearing.Clearing(cloud, lease.project_id, keeps).advance(
            networks, routers)
        if pending:
            raise network_clearing.not_yet(self.conf, cloud, pending)


def _missing(reservation, what):
    return audit.Drift('incomplete', f'reservation {reservation.id}', f'{what} missing',
                       audit.COMPLETE, reservation.id)
