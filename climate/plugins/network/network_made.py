# SPDX-License-Identifier: Apache-2.0
"""The network of a reservation, with its subnet and its router: found, and made where missing.

The description of each names the reservation from the call on that makes it, so that a crash
between two calls leaves nothing twice. Only the network itself is made by Climate as itself, since
users cannot choose a segment; subnet and router are made as the owner.
"""
from oslo_log import log

from climate import errors
from climate.plugins.network import marks
from climate.plugins.network import network_request
from climate.plugins.network import segment_pool

LOG = log.getLogger(__name__)

#: What the port of a router in a subnet has as its owner, with more at its end on some clouds.
INTERFACE = 'network:router_interface'


def networks_of(cloud, lease, reservation, resources):
    """Return the SegmentNetworks of the owner that were made for a reservation.

    What the binding names was made for it, whatever the owner wrote on it, and so is what somebody
    recreated on the segment that the binding names. A start that broke off left no binding; then
    the marks tell, on the physical networks that the reservation has. So the other networks of an
    owner who writes the marks on them stay.

    :param resources: the Resources of the reservation.
    """
    known = reservation.binding.get('network_id')
    here = {segment_pool.parse('name', each.name) for each in resources}
    made = {segment_pool.parse('name', each.name) for each in resources
            if each.name == reservation.binding.get('segment')}
    around = {physical for physical, _, _ in here} if known is None else set()
    return [each for each in cloud.as_service().segments.of_project(lease.project_id)
            if each.id == known or each.segment in made or (
                each.segment and reservation.id in marks.of(each) and (
                    each.segment in here or each.segment[0] in around))]


def routers_of(cloud, lease, reservation):
    """Return the Routers of the owner that were made for a reservation.

    The marks tell only if the router that the binding names is not there.
    """
    known = reservation.binding.get('router_id')
    routers = cloud.as_service().network_parts.routers(lease.project_id)
    found = [each for each in routers if each.id == known]
    return found or [each for each in routers if reservation.id in marks.of(each)]


class Making:
    """One try to bring the network of a reservation to its segment, with what was asked for.

    :param tag: a tag of the networks of all leases.
    :param segment: the Resource that was allocated.
    :param network: the SegmentNetwork of the reservation on that segment; None: not made yet.
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
        self._description = marks.description(reservation.id)

    def make(self, anew=False):
        """Make what is missing; return the binding.

        :param anew: also a subnet or a router that its owner has deleted since.
        :raises ResourcesRefused: another network is on the segment.
        :raises CloudError: a quota is full, or Neutron refuses something else.
        :raises TrustDead: a subnet or a router is missing, and Climate cannot act for the owner.
        """
        request, binding = self._reservation.request, self._reservation.binding
        complete = anew or not self._handed_over
        subnet = self._subnet() if self._network else None
        routers = routers_of(self._cloud, self._lease, self._reservation) if (
            request['router']) else []
        self._check_quotas(subnet, routers)
        if self._network is None:
            self._network = self._create_network()
        self._mark()
        found = {'segment': self._resource.name, 'network_id': self._network.id,
                 'subnet_id': binding.get('subnet_id'), 'router_id': binding.get('router_id')}
        if request['subnet'] is not None and complete:
            subnet = subnet or self._cloud.as_user().network_parts.create_subnet(
                self._network.id, request['subnet'], self._name, self._description)
            found['subnet_id'] = subnet.id
            if request['router']:
                found['router_id'] = self._connected(subnet, routers)
        return {**binding, **found}

    @property
    def _name(self):
        return (self._reservation.request['network_name'] or self._lease.name)[:255]

    def _subnet(self):
        """Return the Subnet that the request asks for; Neutron never makes one twice."""
        network = self._cloud.as_service().networks.network(self._network.id)
        known = self._reservation.binding.get('subnet_id')
        return next((each for each in network.subnets
                     if each.id == known or each.cidr == self._reservation.request['subnet']), None)

    def _check_quotas(self, subnet, routers):
        """Check again that the quotas of the project suffice for what is missing."""
        wanted = {} if self._handed_over else network_request.parts(self._reservation.request)
        for name, made in (('network', self._network), ('subnet', subnet), ('router', routers)):
            if made:
                wanted.pop(name, None)
        full = network_request.full_quota(self._cloud, self._lease.project_id, wanted)
        # A router that is connected has its port.
        if full is not None and not (routers and set(wanted) == {'port'}):
            raise errors.CloudError.plain('Neutron', full[1])

    def _create_network(self):
        segment = segment_pool.parse('name', self._resource.name)
        try:
            made = self._cloud.as_service().segments.create(
                segment, self._lease.project_id, self._name, self._description)
        except errors.ResourceInUse as error:
            raise errors.ResourcesRefused(service='Neutron', refused={
                self._resource.name: error.message}) from error
        LOG.info('Lease %s, reservation %s: network %s made on %s', self._lease.id,
                 self._reservation.id, made.id, self._resource.name)
        return made

    def _mark(self):
        """Tag the network, unless it was handed over: then its tags are the owner's."""
        tags = (self._tag, marks.tag(self._reservation.id))
        if not self._handed_over and not set(tags) <= set(self._network.tags):
            self._cloud.as_service().segments.tag(self._network.id, tags)

    def _connected(self, subnet, routers):
        """Make the router and connect it to the subnet, where that is missing; return its id."""
        parts = self._cloud.as_service().network_parts
        router = routers[0] if routers else self._cloud.as_user().network_parts.create_router(
            self._name, self._reservation.request['external_network'], self._description)
        if not any(each.device_id == router.id and each.owner.startswith(INTERFACE)
                   for each in parts.ports(self._network.id)):
            self._cloud.as_user().network_parts.add_interface(router.id, subnet.id)
        return router.id
