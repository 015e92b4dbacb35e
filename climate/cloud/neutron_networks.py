# SPDX-License-Identifier: Apache-2.0
"""Neutron: networks on segments, and subnets, ports, routers and trunks."""
import contextlib

from openstack import exceptions

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import network_models
from climate.cloud import sdk

_VLAN = 'vlan'
# No VLAN has this id, so Neutron refuses every network with it, after it has looked for the
# physical network.
_NO_VLAN = 4095
_UNKNOWN = 'unknown for'
_IN_USE = ('VlanIdInUse', 'TunnelIdInUse', 'FlatNetworkInUse')
_FULL = 'OverQuota'


class NeutronSegments(sdk.SdkInterface, base.Segments):
    """The networks with their segments, as Climate itself."""

    def knows(self, physical_network):
        # Neutron lists no physical networks, but its refusal of a network names the reason.
        try:
            network = self._create((physical_network, _VLAN, _NO_VLAN),
                                   name='climate-segment-check')
        except exceptions.BadRequestException as error:
            return _UNKNOWN not in str(error)
        self.delete(network.id)
        return True

    def shared_ranges(self):
        with contextlib.suppress(exceptions.NotFoundException):
            return [((shown.physical_network or '', shown.network_type, shown.minimum),
                     shown.maximum)
                    for shown in self._proxy.network_segment_ranges(shared=True)]
        return []

    def every(self):
        return [_network(shown) for shown in self._proxy.networks()]

    def of_project(self, project_id):
        return [_network(shown) for shown in self._proxy.networks(project_id=project_id)]

    def create(self, segment, project_id, name, description):
        try:
            return _network(self._create(segment, project_id=project_id, name=name,
                                         description=description))
        except exceptions.ConflictException as error:
            if type_of(error) in _IN_USE:
                raise errors.ResourceInUse(
                    pool='segment', resource=':'.join(map(str, segment)),
                    reason='another network in Neutron is on it.') from error
            raise refusal('network', error) from error

    def tag(self, network_id, tags):
        with contextlib.suppress(exceptions.NotFoundException):
            self._proxy.set_tags(self._proxy.get_network(network_id), list(tags))

    def delete(self, network_id):
        with self._or_busy():
            self._proxy.delete_network(network_id)

    def _create(self, segment, **fields):
        physical_network, network_type, segmentation_id = segment
        return self._proxy.create_network(
            provider_physical_network=physical_network, provider_network_type=network_type,
            provider_segmentation_id=segmentation_id, **fields)


class NeutronParts(sdk.SdkInterface, base.NetworkParts):
    """The subnets, ports, routers and trunks under one identity."""

    def ports(self, network_id):
        return [_port(shown) for shown in self._proxy.ports(network_id=network_id)]

    def every_port(self):
        return [_port(shown) for shown in self._proxy.ports()]

    def ports_of(self, device_id):
        return [_port(shown) for shown in self._proxy.ports(device_id=device_id)]

    def delete_port(self, port_id):
        with self._or_busy():
            self._proxy.delete_port(port_id)

    def trunks(self):
        with contextlib.suppress(exceptions.NotFoundException):
            return [network_models.Trunk(shown.id, shown.port_id, tuple(
                sub_port['port_id'] for sub_port in shown.sub_ports or ()))
                for shown in self._proxy.trunks()]
        return []

    def delete_trunk(self, trunk_id):
        with self._or_busy():
            self._proxy.delete_trunk(trunk_id)

    def remove_sub_ports(self, trunk_id, port_ids):
        with self._or_busy(), contextlib.suppress(exceptions.NotFoundException):
            self._proxy.delete_trunk_subports(
                trunk_id, [{'port_id': port_id} for port_id in port_ids])

    def create_subnet(self, network_id, cidr, name, description):
        with _or_refused('subnet'):
            return subnet_of(self._proxy.create_subnet(
                network_id=network_id, cidr=cidr, ip_version=6 if ':' in cidr else 4, name=name,
                description=description))

    def routers(self, project_id=None):
        filters = {} if project_id is None else {'project_id': project_id}
        return [_router(shown) for shown in self._proxy.routers(**filters)]

    def create_router(self, name, external_network_id, description):
        gateway = {} if external_network_id is None else {
            'external_gateway_info': {'network_id': external_network_id}}
        with _or_refused('router'):
            return _router(self._proxy.create_router(
                name=name, description=description, **gateway))

    def add_interface(self, router_id, subnet_id):
        with _or_refused('port'):
            self._proxy.add_interface_to_router(router_id, subnet_id)

    def remove_interface(self, router_id, port_id):
        with self._or_busy(), contextlib.suppress(exceptions.NotFoundException):
            self._proxy.remove_interface_from_router(router_id, None, port_id)

    def delete_router(self, router_id):
        with self._or_busy():
            self._proxy.delete_router(router_id)


@contextlib.contextmanager
def _or_refused(quota):
    """Name the quota in the error if Neutron refuses because it is full."""
    try:
        yield
    except exceptions.ConflictException as error:
        raise refusal(quota, error) from error


def refusal(quota, error, noun=None):
    """Return the error for a 409 of Neutron to a new object.

    :param quota: the name of the quota that limits these objects.
    :param noun: the name of an object of the quota, if it is another one.
    """
    if type_of(error) == _FULL:
        return errors.CloudError.plain('Neutron', (
            f'the quota "{quota}" of your project is full: delete a {noun or quota}, or ask for a '
            'greater quota.'))
    return errors.CloudError(service='Neutron', reason=str(error))


def type_of(error):
    """Return the type in the body of an error of Neutron, such as OverQuota; None without one."""
    try:
        return error.response.json()['NeutronError']['type']
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def subnet_of(shown):
    """Return a subnet of openstacksdk as a Subnet."""
    return models.Subnet(id=shown.id, cidr=shown.cidr, gateway=shown.gateway_ip, pools=tuple(
        (pool['start'], pool['end']) for pool in shown.allocation_pools or ()))


def _network(shown):
    segment = (shown.provider_physical_network or '', shown.provider_network_type,
               shown.provider_segmentation_id)
    return network_models.SegmentNetwork(
        id=shown.id, name=shown.name or '', project_id=shown.project_id,
        segment=segment if shown.provider_network_type else None,
        description=shown.description or '', tags=tuple(shown.tags or ()),
        subnet_ids=tuple(shown.subnet_ids or ()))


def _port(shown):
    return network_models.Port(
        id=shown.id, network_id=shown.network_id, project_id=shown.project_id,
        owner=shown.device_owner or '', device_id=shown.device_id or '')


def _router(shown):
    gateway = shown.external_gateway_info or {}
    return network_models.Router(
        id=shown.id, name=shown.name or '', project_id=shown.project_id,
        external_network_id=gateway.get('network_id'), description=shown.description or '')
