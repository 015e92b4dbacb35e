# SPDX-License-Identifier: Apache-2.0
"""The removal of a network with the attached resources, in the order that Neutron requires.

Climate detaches floating IPs, removes trunks, ports of servers, other ports and router interfaces,
and then deletes the network. Each call does all that is possible at that moment. Climate acts as
itself, so the owner and the trust need not exist.
"""
from oslo_log import log

from climate import errors
from climate.domain import losses
from climate.plugins.network import network_creation

LOG = log.getLogger(__name__)

GROUP = 'virtual:network'
_DETACH = 'detach server from network'
_HELD_BACK = 'end held back by network'
_INTERFACES = (network_creation.INTERFACE, 'network:ha_router_replicated_interface')
# A message names at most this number of obstacles.
_MOST_NAMED = 5
# After this time a port is deleted even if Nova has not detached it. Nova never detaches a port
# whose compute service is down, or on which only a user wrote the id of a server.
_NOVA_TIMEOUT_SECONDS = 300


class NetworkRemoval:
    """One attempt to remove a network and its router.

    :param project_id: the owner's project.
    :param keeps_attached: True if the network stays as long as others have resources in it.
    """

    def __init__(self, cloud, project_id, keeps_attached):
        self._cloud = cloud
        self._neutron = cloud.as_service()
        self._parts = self._neutron.network_parts
        self._project_id = project_id
        self._keeps_attached = keeps_attached

    def advance(self, networks, routers):
        """Begin the next changes to remove SegmentNetworks and Routers.

        :returns: the obstacles to the removal, as parts of a sentence; empty if all are removed.
        """
        router_ids = {each.id for each in routers}
        inside = {network.id: self._parts.ports(network.id) for network in networks}
        across = [port for router_id in sorted(router_ids)
                  for port in self._parts.ports_of(router_id)
                  if port.network_id not in inside and is_interface(port)]
        ports = [port for network_ports in inside.values() for port in network_ports]
        if self._keeps_attached:
            # The interface of the lease's own router is no reason to keep the network.
            own_interfaces = {port.id for port in ports if port.device_id in router_ids}
            kept = [port for port in (*ports, *across)
                    if port.id not in own_interfaces and not goes_with_network(port)]
            self._announce(_HELD_BACK, kept)
            if kept:
                return [self._description(port) for port in kept]
        self._announce(_DETACH, [port for port in ports if is_of_server(port)])
        pending = [why for port in self._in_order(ports, across) if (why := self._remove(port))]
        for router in routers:
            pending += self._deleted(self._parts.delete_router, f'router {router.id}', router.id)
        for network in networks:
            pending += self._deleted(self._neutron.segments.delete, f'network {network.id}',
                                     network.id)
        return pending

    def lost(self, networks, routers):
        """Return the Losses if SegmentNetworks and Routers are removed. Reads only.

        A removal that waits for others leaves their ports alone.
        """
        listed = [losses.Loss(kind, each.id, each.name, each.project_id)
                  for kind, found in (('network', networks), ('router', routers))
                  for each in found]
        if self._keeps_attached:
            return listed
        ports = [port for network in networks for port in self._parts.ports(network.id)]
        port_ids = {port.id for port in ports}
        trunks = [trunk for trunk in self._parts.trunks()
                  if trunk.port_id in port_ids] if port_ids else []
        owners = {port.id: port.project_id for port in ports}
        return [*listed,
                *(losses.Loss('port', port.id, '', port.project_id) for port in ports
                  if not (is_interface(port) or goes_with_network(port))),
                *(losses.Loss('trunk', trunk.id, '', owners[trunk.port_id])
                  for trunk in trunks)]

    def _in_order(self, ports, across):
        """Detach the ports from floating IPs and trunks; return them in the order of removal."""
        port_ids = {port.id for port in ports}
        if port_ids:
            for floating_ip in self._neutron.floating_ips.every():
                if floating_ip.port_id in port_ids:
                    self._neutron.floating_ips.detach(floating_ip.id)
            self._leave_trunks(port_ids)
        return (*(port for port in ports if not is_interface(port)),
                *(port for port in ports if is_interface(port)), *across)

    def _leave_trunks(self, port_ids):
        """Delete trunks whose parent is one of the ports; remove the ports from other trunks."""
        for trunk in self._parts.trunks():
            sub_ports = sorted(port_ids.intersection(trunk.sub_port_ids))
            try:
                if trunk.port_id in port_ids:
                    self._parts.delete_trunk(trunk.id)
                elif sub_ports:
                    self._parts.remove_sub_ports(trunk.id, sub_ports)
            except errors.StillBusy as error:
                # Its ports cannot be removed either, and `advance` reports them.
                LOG.info('Trunk %s is not changed yet: %s', trunk.id, error.message)

    def _remove(self, port):
        """Begin to remove a Port; return why it is not removed yet, or None."""
        try:
            if is_interface(port):
                self._parts.remove_interface(port.device_id, port.id)
            elif goes_with_network(port):
                return None
            elif (is_of_server(port) and not _is_late(self._cloud, _NOVA_TIMEOUT_SECONDS)
                  and self._neutron.attachments.detach_port(port.device_id, port.id)):
                return f'{self._description(port)} is being detached'
            else:
                self._parts.delete_port(port.id)
        except errors.StillBusy as error:
            LOG.info('Port %s is not removed yet: %s', port.id, error.message)
            return f'{self._description(port)} cannot be removed yet'
        return None

    def _deleted(self, delete, what, thing_id):
        try:
            delete(thing_id)
        except errors.StillBusy as error:
            LOG.info('The %s is not deleted yet: %s', what, error.message)
            return [f'{what} is still in use']
        LOG.info('The %s was deleted', what)
        return []

    def _announce(self, what, ports):
        """Write the ports of the owner's project into the history, unless an audit is running."""
        announce = getattr(self._cloud, 'announce', None)
        if announce is not None:
            announce(what, {port.id: self._description(port) for port in ports
                            if port.project_id == self._project_id})

    def _description(self, port):
        """Return the words for a Port in messages to the owner, without ids of other projects."""
        if port.project_id not in (self._project_id, ''):
            return 'a port of another project'
        if is_of_server(port):
            return f'port {port.id} of server {port.device_id}'
        if is_interface(port):
            return f'port {port.id} of router {port.device_id}'
        return f'port {port.id}'


def is_interface(port):
    """Return whether a Port is the interface of a router."""
    return port.owner.startswith(_INTERFACES)


def goes_with_network(port):
    """Return whether Neutron deletes a Port with its network, such as a DHCP port."""
    return port.owner.startswith('network:') and not is_interface(port)


def is_of_server(port):
    """Return whether a Port belongs to a server of Nova."""
    return port.owner.startswith('compute:') and bool(port.device_id)


def _is_late(cloud, seconds):
    """Return whether the first attempt was at least this long ago; always False in an audit."""
    attempt = getattr(cloud, 'attempt', None)
    return attempt is not None and attempt.exceeds(seconds)


def not_yet(conf, cloud, pending):
    """Return the error for a network that cannot be removed yet.

    After end_minutes, the error asks the owner to act.

    :param pending: the result of `NetworkRemoval.advance`.
    """
    causes = ', '.join(pending[:_MOST_NAMED])
    if len(pending) > _MOST_NAMED:
        causes += f' and {len(pending) - _MOST_NAMED} more'
    reason = f'the network of the lease cannot be deleted yet: {causes}.'
    limit = conf[GROUP].end_minutes
    if _is_late(cloud, 60 * limit):
        return errors.CloudError.plain('Neutron', (
            f'{reason} Remove these resources; then delete the lease.'))
    return errors.StillBusy.plain('Neutron', reason, has_own_limit=bool(limit))
