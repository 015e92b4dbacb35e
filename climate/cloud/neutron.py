# SPDX-License-Identifier: Apache-2.0
"""Neutron: networks, addresses in use, quotas and floating IPs."""
import contextlib

from openstack import exceptions

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import neutron_networks
from climate.cloud import sdk

_IN_USE = ('IpAddressAlreadyAllocated', 'FloatingIPPortAlreadyAssociated')


class NeutronNetworks(sdk.SdkInterface, base.Networks):
    """The networks under one identity."""

    def network(self, network_id):
        try:
            network = self._proxy.get_network(network_id)
        except exceptions.NotFoundException as error:
            raise errors.ResourceNotFound(pool='network', resource=network_id) from error
        return models.Network(
            id=network.id, name=network.name or '', external=bool(network.is_router_external),
            subnets=tuple(neutron_networks.subnet_of(shown)
                          for shown in self._proxy.subnets(network_id=network.id)))

    def used_addresses(self, network_id):
        return {fixed['ip_address']: _user(port)
                for port in self._proxy.ports(network_id=network_id)
                for fixed in port.fixed_ips or ()}

    def quota(self, project_id, name):
        shown = self._proxy.get_quota(project_id, details=True)
        # The name of an attribute of the SDK, such as floating_ips, is not that of the quota.
        quota = shown.to_dict(original_names=True)[name]
        return models.Quota(limit=None if quota['limit'] < 0 else quota['limit'],
                            used=quota['used'] + quota.get('reserved', 0))


class NeutronFloatingIPs(sdk.SdkInterface, base.FloatingIPs):
    """The floating IPs under one identity."""

    def every(self):
        return [_floating_ip(shown) for shown in self._proxy.ips()]

    def of_project(self, project_id):
        return [_floating_ip(shown) for shown in self._proxy.ips(project_id=project_id)]

    def create(self, network_id, address, project_id, description=''):
        try:
            return _floating_ip(self._proxy.create_ip(
                floating_network_id=network_id, floating_ip_address=address,
                project_id=project_id, description=description))
        except exceptions.ConflictException as error:
            raise _refusal(address, error) from error

    def tag(self, floating_ip_id, tags):
        with contextlib.suppress(exceptions.NotFoundException):
            self._proxy.set_tags(self._proxy.get_ip(floating_ip_id), list(tags))

    def detach(self, floating_ip_id):
        try:
            return _floating_ip(self._proxy.update_ip(floating_ip_id, port_id=None))
        except exceptions.NotFoundException:
            return None

    def delete(self, floating_ip_id):
        self._proxy.delete_ip(floating_ip_id, ignore_missing=True)


def _refusal(address, error):
    """Return the error for a 409 of Neutron to a new floating IP."""
    if neutron_networks.type_of(error) in _IN_USE:
        return errors.ResourceInUse(pool='address', resource=address,
                                    reason='Neutron has given it to somebody already.')
    return neutron_networks.refusal('floatingip', error, 'floating IP')


def _user(port):
    return f'{port.device_owner or "port"} {port.device_id or port.id}'


def _floating_ip(shown):
    return models.FloatingIP(
        id=shown.id, network_id=shown.floating_network_id, address=shown.floating_ip_address,
        project_id=shown.project_id, port_id=shown.port_id, description=shown.description or '',
        tags=tuple(shown.tags or ()), status=shown.status or 'DOWN')


class RealNeutronAdapter(base.NeutronAdapter):
    """Neutron, by openstacksdk."""

    interfaces = {'networks': NeutronNetworks, 'floating_ips': NeutronFloatingIPs,
                  'segments': neutron_networks.NeutronSegments,
                  'network_parts': neutron_networks.NeutronParts}
    foreign = (exceptions.SDKException,)
