# SPDX-License-Identifier: Apache-2.0
"""Neutron: networks, addresses in use, quotas and floating IPs."""
import functools

from openstack import exceptions

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import sdk

_TAKEN = ('IpAddressAlreadyAllocated', 'FloatingIPPortAlreadyAssociated')
_FULL = 'OverQuota'


def connected(link):
    """Return openstacksdk's proxy of Neutron, which makes all calls with the session of `link`.

    This asks Neutron for its versions, so it is a part of the first call.
    """
    return sdk.connected(link, 'network').network


class Networks(base.Networks):
    """The networks under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._link = link

    @functools.cached_property
    def _neutron(self):
        return connected(self._link)

    def network(self, network_id):
        try:
            found = self._neutron.get_network(network_id)
        except exceptions.NotFoundException as error:
            raise errors.ResourceNotFound(pool='network', resource=network_id) from error
        return models.Network(
            id=found.id, name=found.name or '', external=bool(found.is_router_external),
            subnets=tuple(_subnet(each) for each in self._neutron.subnets(network_id=found.id)))

    def used_addresses(self, network_id):
        return {fixed['ip_address']: _user(port)
                for port in self._neutron.ports(network_id=network_id)
                for fixed in port.fixed_ips or ()}

    def quota(self, project_id, name):
        found = self._neutron.get_quota(project_id, details=True)
        # The name of an attribute of the SDK, such as floating_ips, is not that of the quota.
        said = found.to_dict(original_names=True)[name]
        return models.Quota(limit=None if said['limit'] < 0 else said['limit'],
                            used=said['used'] + said.get('reserved', 0))


class FloatingIPs(base.FloatingIPs):
    """The floating IPs under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._link = link

    @functools.cached_property
    def _neutron(self):
        return connected(self._link)

    def every(self):
        return [_floating_ip(each) for each in self._neutron.ips()]

    def of_project(self, project_id):
        return [_floating_ip(each) for each in self._neutron.ips(project_id=project_id)]

    def create(self, network_id, address, project_id, description=''):
        try:
            made = self._neutron.create_ip(
                floating_network_id=network_id, floating_ip_address=address,
                project_id=project_id, description=description)
        except exceptions.ConflictException as error:
            raise _refused(address, error) from error
        return _floating_ip(made)

    def tag(self, floating_ip_id, tags):
        try:
            self._neutron.set_tags(self._neutron.get_ip(floating_ip_id), list(tags))
        except exceptions.NotFoundException:
            return

    def detach(self, floating_ip_id):
        try:
            return _floating_ip(self._neutron.update_ip(floating_ip_id, port_id=None))
        except exceptions.NotFoundException:
            return None

    def delete(self, floating_ip_id):
        self._neutron.delete_ip(floating_ip_id, ignore_missing=True)


def _refused(address, error):
    """Return the error for a 409 of Neutron to a new floating IP."""
    kind = type_of(error)
    if kind == _FULL:
        return errors.CloudError.plain('Neutron', (
            'the quota "floatingip" of your project is full: delete a floating IP, or ask for a '
            'greater quota.'))
    if kind in _TAKEN:
        return errors.ResourceInUse(pool='address', resource=address,
                                    reason='Neutron has given it to somebody already.')
    return errors.CloudError(service='Neutron', reason=str(error))


def type_of(error):
    """Return the type in the body of an error of Neutron, such as OverQuota; None without one."""
    try:
        return error.response.json()['NeutronError']['type']
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def _subnet(found):
    return models.Subnet(id=found.id, cidr=found.cidr, gateway=found.gateway_ip,
                         pools=tuple((each['start'], each['end'])
                                     for each in found.allocation_pools or ()))


def _user(port):
    return f'{port.device_owner or "port"} {port.device_id or port.id}'


def _floating_ip(found):
    return models.FloatingIP(
        id=found.id, network_id=found.floating_network_id, address=found.floating_ip_address,
        project_id=found.project_id, port_id=found.port_id, description=found.description or '',
        tags=tuple(found.tags or ()), status=found.status or 'DOWN')
