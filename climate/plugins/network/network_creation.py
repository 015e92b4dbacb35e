# SPDX-License-Identifier: Apache-2.0
"""The network of a reservation, with its subnet and its router: how to find and to create them.

The call that creates an object also sets its description, which names the reservation. So nothing
is created twice if an attempt is interrupted. Climate creates the network as itself, because users
cannot choose a segment, and it creates the subnet and the router as the owner.
"""
from oslo_log import log

from climate import errors
from climate.plugins.network import network_request
from climate.plugins.network import reservation_marks
from climate.plugins.network import segment_pool

LOG = log.getLogger(__name__)

#: The prefix of the owner of a port that is the interface of a router.
INTERFACE = 'network:router_interface'


def networks_of(cloud, lease, reservation, resources):
    """Return the SegmentNetworks of the owner that belong to a reservation.

    These are the bound network, a network that somebody recreated on the bound segment, and
    networks with the marks of the reservation on its segments. After an interrupted start there is
    no binding; then the marks count on all segments of its physical networks.

    :param resources: the Resources of the reservation.
    """
    bound_id = reservation.binding.get('network_id')
    segments = {segment_pool.parse('name', each.name) for each in resources}
    bound_segments = {segment_pool.parse('name', each.name) for each in resources
                      if each.name == reservation.binding.get('segment')}
    physical_networks = {segment[0] for segment in segments} if bound_id is None else set()
    return [network for network in cloud.as_service().segments.of_project(lease.project_id)
            if network.id == bound_id or network.segment in bound_segments or (
                network.segment and reservation.id in reservation_marks.of(network) and (
                    network.segment in segments or network.segment[0] in physical_networks))]


def routers_of(cloud, lease, reservation):
    """Return the Routers of the owner that belong to a reservation.

    Routers with the marks of the reservation count only if the bound router does not exist.
    """
    bound_id = reservation.binding.get('router_id')
    routers = cloud.as_service().network_parts.routers(lease.project_id)
    return [router for router in routers if router.id == bound_id] or [
        router for router in routers if reservation.id in reservation_marks.of(router)]


class NetworkCreation:
    """One attempt to create the network of a reservation, with the requested subnet and router.

    :param tag: the tag of the networks of all leases.
    :param segment: the allocated Resource.
    :param network: the SegmentNetwork of the reservation on that segment, or None.
    """

    def __init__(self, tag, cloud, lease, reservation, segment, network):
        self._tag = tag
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation
        self._resource = segment
        self._network = network
        self._handed_over = (network is not None
                             and reservation.binding.get('network_id') == network.id)
        self._description = reservation_marks.description(reservation.id)

    def create(self, recreates=False):
        """Create the missing objects; return the binding.

        :param recreates: True to recreate a subnet or a router that the owner has deleted.
        :raises ResourcesRefused: another network is on the segment.
        :raises CloudError: a quota is used up, or Neutron refuses an object.
        :raises TrustDead: a subnet or a router is missing, and Climate cannot act for the owner.
        """
        request, binding = self._reservation.request, self._reservation.binding
        complete = recreates or not self._handed_over
        subnet = self._subnet() if self._network else None
        routers = routers_of(self._cloud, self._lease, self._reservation) if (
            request['router']) else []
        self._check_quotas(subnet, routers)
        if self._network is None:
            self._network = self._create_network()
        self._mark()
        ids = {'segment': self._resource.name, 'network_id': self._network.id,
               'subnet_id': binding.get('subnet_id'), 'router_id': binding.get('router_id')}
        if request['subnet'] is not None and complete:
            subnet = subnet or self._cloud.as_user().network_parts.create_subnet(
                self._network.id, request['subnet'], self._name, self._description)
            ids['subnet_id'] = subnet.id
            if request['router']:
                ids['router_id'] = self._connected(subnet, routers)
        return {**binding, **ids}

    @property
    def _name(self):
        return (self._reservation.request['network_name'] or self._lease.name)[:255]

    def _subnet(self):
        """Return the requested Subnet if it exists, else None."""
        network = self._cloud.as_service().networks.network(self._network.id)
        bound_id = self._reservation.binding.get('subnet_id')
        cidr = self._reservation.request['subnet']
        return next((each for each in network.subnets
                     if each.id == bound_id or each.cidr == cidr), None)

    def _check_quotas(self, subnet, routers):
        """Check again that the quotas of the project suffice for the missing objects."""
        wanted = {} if self._handed_over else network_request.parts(self._reservation.request)
        for name, existing in (('network', self._network), ('subnet', subnet),
                               ('router', routers)):
            if existing:
                wanted.pop(name, None)
        full = network_request.full_quota(self._cloud, self._lease.project_id, wanted)
        # A connected router has its port already.
        if full is not None and not (routers and set(wanted) == {'port'}):
            raise errors.CloudError.plain('Neutron', full[1])

    def _create_network(self):
        segment = segment_pool.parse('name', self._resource.name)
        try:
            network = self._cloud.as_service().segments.create(
                segment, self._lease.project_id, self._name, self._description)
        except errors.ResourceInUse as error:
            raise errors.ResourcesRefused(service='Neutron', refused={
                self._resource.name: error.message}) from error
        LOG.info('Lease %s, reservation %s: network %s created on %s', self._lease.id,
                 self._reservation.id, network.id, self._resource.name)
        return network

    def _mark(self):
        """Tag the network, unless it was handed over and its owner may have changed the tags."""
        tags = (self._tag, reservation_marks.tag(self._reservation.id))
        if not self._handed_over and not set(tags) <= set(self._network.tags):
            self._cloud.as_service().segments.tag(self._network.id, tags)

    def _connected(self, subnet, routers):
        """Create and connect the router if necessary; return its id."""
        parts = self._cloud.as_service().network_parts
        router = routers[0] if routers else self._cloud.as_user().network_parts.create_router(
            self._name, self._reservation.request['external_network'], self._description)
        if not any(each.device_id == router.id and each.owner.startswith(INTERFACE)
                   for each in parts.ports(self._network.id)):
            self._cloud.as_user().network_parts.add_interface(router.id, subnet.id)
        return router.id
