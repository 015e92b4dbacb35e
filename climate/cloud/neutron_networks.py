# SPDX-License-Identifier: Apache-2.0
"""Neutron: networks on segments, and what is on networks."""
import contextlib
import functools

from openstack import exceptions

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import network_models
from climate.cloud import neutron

_VLAN = 'vlan'
# No VLAN has this id, so Neutron refuses every network with it, after it has looked for the
# physical network.
_NO_VLAN = 4095
_UNKNOWN = 'unknown for'
_IN_USE = ('VlanIdInUse', 'TunnelIdInUse', 'FlatNetworkInUse')
_FULL = 'OverQuota'


class _OfNeutron:
    """A face that makes its calls by openstacksdk."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._link = link

    @functools.cached_property
    def _neutron(self):
        return neutron.connected(self._link)

    @contextlib.contextmanager
    def _or_busy(self):
        """Raise StillBusy if Neutron refuses because of the state of something; ignore a 404."""
        try:
            yield
        except exceptions.NotFoundException:
            return
        except exceptions.ConflictException as error:
            raise errors.StillBusy(service=self.service, reason=str(error)) from error


class Segments(_OfNeutron, base.Segments):
    """The networks with their segments, as Climate itself."""

    def knows(self, physical_network):
        # Neutron lists no physical networks, but says of a network that it refuses, why.
        try:
            made = self._create((physical_network, _VLAN, _NO_VLAN), name='climate-segment-check')
        except exceptions.BadRequestException as error:
            return _UNKNOWN not in str(error)
        self.delete(made.id)
        return True

    def shared_ranges(self):
        try:
            found = list(self._neutron.network_segment_ranges(shared=True))
        except exceptions.NotFoundException:
            return []
        return [((each.physical_network or '', each.network_type, each.minimum), each.maximum)
                for each in found]

    def every(self):
        return [_network(each) for each in self._neutron.networks()]

    def of_project(self, project_id):
        return [_network(each) for each in self._neutron.networks(project_id=project_id)]

    def create(self, segment, project_id, name, description):
        try:
            made = self._create(segment, project_id=project_id, name=name,
                                description=description)
        except exceptions.ConflictException as error:
            if neutron.type_of(error) in _IN_USE:
                raise errors.ResourceInUse(
                    pool='segment', resource=':'.join(map(str, segment)),
                    reason='another network in Neutron is on it.') from error
            raise _refused('network', error) from error
        return _network(made)

    def tag(self, network_id, tags):
        with contextlib.suppress(exceptions.NotFoundException):
            self._neutron.set_tags(self._neutron.get_network(network_id), list(tags))

    def delete(self, network_id):
        with self._or_busy():
            self._neutron.delete_network(network_id)

    def _create(self, segment, **more):
        physical_network, network_type, segmentation_id = segment
        return self._neutron.create_network(
            provider_physical_network=physical_network, provider_network_type=network_type,
            provider_segmentation_id=segmentation_id, **more)


class NetworkParts(_OfNeutron, base.NetworkParts):
    """The subnets, ports, routers and trunks under one identity."""

    def ports(self, network_id):
        return [_port(each) for each in self._neutron.ports(network_id=network_id)]

    def every_port(self):
        return [_port(each) for each in self._neutron.ports()]

    def ports_of(self, device_id):
        return [_port(each) for each in self._neutron.ports(device_id=device_id)]

    def delete_port(self, port_id):
        with self._or_busy():
            self._neutron.delete_port(port_id, ignore_missing=False)

    def trunks(self):
        try:
            return [network_models.Trunk(each.id, each.port_id, tuple(
                sub['port_id'] for sub in each.sub_ports or ()))
                for each in self._neutron.trunks()]
        except exceptions.NotFoundException:
            return []

    def delete_trunk(self, trunk_id):
        with self._or_busy():
            self._neutron.delete_trunk(trunk_id, ignore_missing=False)

    def remove_sub_ports(self, trunk_id, port_ids):
        with self._or_busy():
            self._neutron.delete_trunk_subports(
                trunk_id, [{'port_id': each} for each in port_ids])

    def create_subnet(self, network_id, cidr, name, description):
        with _or_refused('subnet'):
            made = self._neutron.create_subnet(
                network_id=network_id, cidr=cidr, ip_version=6 if ':' in cidr else 4, name=name,
                description=description)
        return models.Subnet(made.id, made.cidr, made.gateway_ip, tuple(
            (each['start'], each['end']) for each in made.allocation_pools or ()))

    def routers(self, project_id=None):
        filters = {} if project_id is None else {'project_id': project_id}
        return [_router(each) for each in self._neutron.routers(**filters)]

    def create_router(self, name, external_network_id, description):
        gateway = {} if external_network_id is None else {
            'external_gateway_info': {'network_id': external_network_id}}
        with _or_refused('router'):
            return _router(self._neutron.create_router(
                name=name, description=description, **gateway))

    def add_interface(self, router_id, subnet_id):
        with _or_refused('port'):
            self._neutron.add_interface_to_router(router_id, subnet_id)

    def remove_interface(self, router_id, port_id):
        with self._or_busy():
            self._neutron.remove_interface_from_router(router_id, None, port_id)

    def delete_router(self, router_id):
        with self._or_busy():
            self._neutron.delete_router(router_id, ignore_missing=False)


@contextlib.contextmanager
def _or_refused(quota):
    """Say it if this quota of the project is full."""
    try:
        yield
    except exceptions.ConflictException as error:
        raise _refused(quota, error) from error


def _refused(quota, error):
    if neutron.type_of(error) == _FULL:
        return errors.CloudError.plain('Neutron', (
            f'the quota "{quota}" of your project is full: delete a {quota}, or ask for a greater '
            'quota.'))
    return errors.CloudError(service='Neutron', reason=str(error))


def _network(found):
    segment = (found.provider_physical_network or '', found.provider_network_type,
               found.provider_segmentation_id)
    return network_models.SegmentNetwork(
        id=found.id, name=found.name or '', project_id=found.project_id,
        segment=segment if found.provider_network_type else None,
        description=found.description or '', tags=tuple(found.tags or ()),
        subnet_ids=tuple(found.subnet_ids or ()))


def _port(found):
    return network_models.Port(
        id=found.id, network_id=found.network_id, project_id=found.project_id,
        owner=found.device_owner or '', device_id=found.device_id or '')


def _router(found):
    gateway = found.external_gateway_info or {}
    return network_models.Router(
        id=found.id, name=found.name or '', project_id=found.project_id,
        external_network_id=gateway.get('network_id'), description=found.description or '')
