# SPDX-License-Identifier: Apache-2.0
"""The removal of a network with what hangs on it, in the order that Neutron asks for.

Floating IPs let go of their ports, then trunks, servers, routers and other ports leave the network;
then Neutron deletes it. Each call does what is possible at that moment. Climate does all of it as
itself, so that it does not matter whether the owner or the trust still exists.
"""
import datetime

from oslo_log import log

from climate import errors
from climate.plugins.network import network_made

LOG = log.getLogger(__name__)

GROUP = 'virtual:network'
_DETACH = 'detach server from network'
_HELD_BACK = 'end held back by network'
_INTERFACES = (network_made.INTERFACE, 'network:ha_router_replicated_interface')
_FEW = 5
# Nova never detaches a port while its compute is down, nor if a user has merely written the server
# on the port. After that time the port is deleted all the same.
_NOVA_TAKES = datetime.timedelta(minutes=5)


class Clearing:
    """One try to remove a network and its router.

    :param keeps: whether what others than Climate put there stays, and the network with it.
    :param project_id: the owner's project.
    """

    def __init__(self, cloud, project_id, keeps):
        self._cloud = cloud
        self._neutron = cloud.as_service()
        self._parts = self._neutron.network_parts
        self._project_id = project_id
        self._keeps = keeps

    def advance(self, networks, routers):
        """Bring SegmentNetworks and Routers nearer to their end.

        :returns: what keeps them from being gone, as parts of a sentence; empty: they are gone.
        """
        router_ids = {each.id for each in routers}
        inside = {each.id: self._parts.ports(each.id) for each in networks}
        across = [port for router_id in sorted(router_ids)
                  for port in self._parts.ports_of(router_id)
                  if port.network_id not in inside and is_interface(port)]
        ports = [port for found in inside.values() for port in found]
        if self._keeps:
            # The router of the lease in its network is no reason to keep either.
            own = {each.id for each in ports if each.device_id in router_ids}
            kept = [each for each in (*ports, *across)
                    if each.id not in own and not goes_by_itself(each)]
            self._announce(_HELD_BACK, kept)
            if kept:
                return [self._told(each) for each in kept]
        self._announce(_DETACH, [each for each in ports if is_of_server(each)])
        pending = [why for port in self._in_order(ports, across) if (why := self._remove(port))]
        for router in routers:
            pending += self._deleted(self._parts.delete_router, f'router {router.id}', router.id)
        for network in networks:
            pending += self._deleted(self._neutron.segments.delete, f'network {network.id}',
                                     network.id)
        return pending

    def _in_order(self, ports, across):
        """Let floating IPs and trunks go of the ports; return the ports as they are removed."""
        inside = {each.id for each in ports}
        if inside:
            for each in self._neutron.floating_ips.every():
                if each.port_id in inside:
                    self._neutron.floating_ips.detach(each.id)
            self._leave_trunks(inside)
        return (*(each for each in ports if not is_interface(each)),
                *(each for each in ports if is_interface(each)), *across)

    def _leave_trunks(self, inside):
        """Delete trunks whose parent port is in the network; take other ports out of theirs."""
        for trunk in self._parts.trunks():
            here = sorted(inside.intersection(trunk.sub_port_ids))
            try:
                if trunk.port_id in inside:
                    self._parts.delete_trunk(trunk.id)
                elif here:
                    self._parts.remove_sub_ports(trunk.id, here)
            except errors.StillBusy as error:
                # Its ports are still there then, and say so.
                LOG.info('Trunk %s is not changed yet: %s', trunk.id, error.message)

    def _remove(self, port):
        """Begin to remove a Port; return why it is still there, or None."""
        try:
            if is_interface(port):
                self._parts.remove_interface(port.device_id, port.id)
            elif goes_by_itself(port):
                return None
            elif (is_of_server(port) and not _is_over(self._cloud, _NOVA_TAKES)
                  and self._neutron.attachments.detach_port(port.device_id, port.id)):
                return f'{self._told(port)} is being detached'
            else:
                self._parts.delete_port(port.id)
        except errors.StillBusy as error:
            LOG.info('Port %s is not removed yet: %s', port.id, error.message)
            return f'{self._told(port)} cannot be removed yet'
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
        """Write the owner's ports into the history, before the next step; an audit has none."""
        announce = getattr(self._cloud, 'announce', None)
        if announce is not None:
            announce(what, {each.id: self._told(each) for each in ports
                            if each.project_id == self._project_id})

    def _told(self, port):
        """Return a Port in words, without ids of other projects."""
        if port.project_id not in (self._project_id, ''):
            return 'a port of another project'
        if is_of_server(port):
            return f'port {port.id} of server {port.device_id}'
        if is_interface(port):
            return f'port {port.id} of router {port.device_id}'
        return f'port {port.id}'


def is_interface(port):
    """Return whether a Port connects a router."""
    return port.owner.startswith(_INTERFACES)


def goes_by_itself(port):
    """Return whether Neutron deletes a Port with its network, such as a DHCP port."""
    return port.owner.startswith('network:') and not is_interface(port)


def is_of_server(port):
    """Return whether a Port belongs to a server of Nova."""
    return port.owner.startswith('compute:') and bool(port.device_id)


def _is_over(cloud, span):
    """Return whether the action was first tried that long ago; an audit has no such limit."""
    attempt = getattr(cloud, 'attempt', None)
    return attempt is not None and attempt.now >= attempt.since + span


def not_yet(conf, cloud, pending):
    """Return the error for a network that cannot be removed yet.

    After end_minutes a person has to look.

    :param pending: what keeps it, as parts of a sentence.
    """
    told = ', '.join(pending[:_FEW])
    if len(pending) > _FEW:
        told += f' and {len(pending) - _FEW} more'
    reason = f'the network of the lease cannot be deleted yet: {told}.'
    most = conf[GROUP].end_minutes
    if most and _is_over(cloud, datetime.timedelta(minutes=most)):
        return errors.CloudError.plain('Neutron', (
            f'{reason} Remove what is still there; then delete the lease.'))
    return errors.StillBusy.plain('Neutron', reason, has_own_limit=bool(most))
